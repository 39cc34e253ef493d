package inlet_test

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-gitops/slipway/internal/inlet"
)

// pipes is a listener in memory, so that the time of a bubble counts for its connections.
type pipes struct {
	next   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.next:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// from is a connection from an address.
type from struct {
	net.Conn
	addr net.Addr
}

func (f from) RemoteAddr() net.Addr { return f.addr }

// stand is a server in a bubble.
type stand struct {
	t      *testing.T
	server *inlet.Server
	pipes  *pipes
	mu     sync.Mutex
	ended  []inlet.Reason
}

func serve(t *testing.T, cfg inlet.Config, handler http.HandlerFunc) *stand {
	t.Helper()
	s := &stand{t: t, pipes: &pipes{next: make(chan net.Conn), closed: make(chan struct{})}}
	cfg.Handler = handler
	cfg.Ended = func(why inlet.Reason) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended = append(s.ended, why)
	}
	s.server = inlet.New(cfg)
	done := make(chan error, 1)
	go func() { done <- s.server.Serve(t.Context(), s.pipes) }()
	t.Cleanup(func() {
		_ = s.server.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		synctest.Sleep(time.Second) // net/http ends a connection half a second after its last answer
	})
	return s
}

func (s *stand) dial(address string) net.Conn {
	client, server := net.Pipe()
	s.pipes.next <- from{server, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(address), 1234))}
	synctest.Wait()
	s.t.Cleanup(func() { client.Close() })
	return client
}

// rest reads until the server closes, and says how long that took.
func rest(t *testing.T, c net.Conn) (string, time.Duration) {
	t.Helper()
	begun := time.Now()
	raw, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), time.Since(begun)
}

func write(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

func (s *stand) wantEnded(want ...inlet.Reason) {
	s.t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if fmt.Sprint(s.ended) != fmt.Sprint(want) {
		s.t.Errorf("ended for %v, want %v", s.ended, want)
	}
}

func reads(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		http.Error(w, "too slow", http.StatusRequestTimeout)
		return
	}
	_, _ = io.WriteString(w, "whole")
}

func TestEveryPhaseOfAConnectionHasADeadline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, send string
		handler    http.HandlerFunc
		answer     string
		within     time.Duration
		why        []inlet.Reason
	}{
		{"nothing is sent", "", reads, "", 10 * time.Second, []inlet.Reason{inlet.ReasonHeader}},
		{"half a header", "GET / HTTP/1.1\r\nHost: a\r\nX-", reads, "", 10 * time.Second, []inlet.Reason{inlet.ReasonHeader}},
		{"one byte of a body", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n{", reads, "408", 12 * time.Second, []inlet.Reason{inlet.ReasonBody}},
		{"one chunk of a body", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", reads, "408", 12 * time.Second, []inlet.Reason{inlet.ReasonBody}},
		{"a GET with a body", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n{", reads, "408", 12 * time.Second, []inlet.Reason{inlet.ReasonBody}},
		{"a body that nobody reads", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n{", http.NotFound, "404", 2 * time.Second, nil},
		{"a body of chunks that nobody reads", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", http.NotFound, "404", 2 * time.Second, nil},
		{"a body that waits to be asked for", "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 200000\r\n\r\n", http.NotFound, "404", 2 * time.Second, nil},
		{"a large body that nobody reads", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n{", http.NotFound, "404", 2 * time.Second, nil},
		{"a body and no answer", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n{", func(http.ResponseWriter, *http.Request) {}, "200", 2 * time.Second, nil},
		{"nothing after a request", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", reads, "200", 2*time.Minute + time.Second, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, inlet.Config{}, c.handler)
				at := s.dial("192.0.2.1")
				write(t, at, c.send)
				text, took := rest(t, at)
				if took > c.within || !strings.HasPrefix(text, strings.TrimSuffix("HTTP/1.1 "+c.answer, "HTTP/1.1 ")) {
					t.Errorf("closed after %s, want %s at most, with answer %q", took, c.within, text)
				}
				if c.answer != "" && c.within < time.Minute && !strings.Contains(text, "Connection: close") {
					t.Errorf("the early answer does not say that it closes the connection: %q", text)
				}
				s.wantEnded(c.why...)
				if open, waiting := s.server.Counts(); open != 0 || waiting != 0 {
					t.Errorf("%d connections are open, %d wait", open, waiting)
				}
			})
		})
	}
}

func TestABodyMustKeepARate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		bytes int // a second
		want  string
	}{{"a slow one ends", 500, "408"}, {"a quick one lasts", 100_000, "200"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, inlet.Config{}, reads)
				at := s.dial("192.0.2.1")
				write(t, at, fmt.Sprintf("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", c.bytes*60))
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					tick := time.NewTicker(time.Second)
					defer tick.Stop()
					for range 60 {
						if _, err := at.Write(make([]byte, c.bytes)); err != nil {
							return
						}
						<-tick.C
					}
				}()
				line, err := bufio.NewReader(at).ReadString('\n')
				if err != nil || !strings.Contains(line, c.want) {
					t.Errorf("%q %v, want %s", line, err, c.want)
				}
				at.Close()
				<-sent
			})
		})
	}
}

func TestAHandlerMayAllowABodyLessTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inlet.Config{}, func(w http.ResponseWriter, r *http.Request) {
			if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(3 * time.Second)); err != nil {
				t.Error(err)
			}
			reads(w, r)
		})
		at := s.dial("192.0.2.1")
		write(t, at, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n{")
		if text, took := rest(t, at); took > 5*time.Second || !strings.Contains(text, " 408 ") {
			t.Errorf("%q after %s", text, took)
		}
	})
}

func TestAHandlerThatIsBusyTakesNoTimeFromTheBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inlet.Config{}, func(w http.ResponseWriter, r *http.Request) {
			<-time.After(time.Minute)
			reads(w, r)
		})
		at := s.dial("192.0.2.1")
		write(t, at, "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1\r\n\r\n{")
		if text, _ := rest(t, at); !strings.Contains(text, " 200 ") {
			t.Errorf("%q", text)
		}
	})
}

func TestAPeerThatReadsNothingIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 1)
		s := serve(t, inlet.Config{}, func(w http.ResponseWriter, _ *http.Request) {
			_, err := w.Write(make([]byte, 10<<20))
			failed <- err
		})
		begun := time.Now()
		write(t, s.dial("192.0.2.1"), "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		if err := <-failed; err == nil || time.Since(begun) > 31*time.Second {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		s.wantEnded(inlet.ReasonAnswer)
	})
}

func TestAStreamLastsAsLongAsItIsRead(t *testing.T) {
	t.Parallel()
	for _, plexed := range []bool{false, true} {
		t.Run(fmt.Sprintf("http2 %v", plexed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, inlet.Config{TLS: certificate(t)}, func(w http.ResponseWriter, r *http.Request) {
					if _, err := io.Copy(io.Discard, r.Body); err != nil {
						t.Error(err)
					}
					tick := time.NewTicker(time.Minute)
					defer tick.Stop()
					for range 60 {
						select {
						case <-r.Context().Done():
							t.Error("the request ended")
							return
						case <-tick.C:
							_, _ = io.WriteString(w, "still here\n")
							_ = http.NewResponseController(w).Flush()
						}
					}
				})
				response, err := s.client(plexed).Post("https://server/", "text/plain", strings.NewReader("some"))
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				raw, err := io.ReadAll(response.Body)
				if err != nil || strings.Count(string(raw), "still here") != 60 || response.ProtoMajor == 2 != plexed {
					t.Errorf("%s: %d lines, %v", response.Proto, strings.Count(string(raw), "still here"), err)
				}
				s.wantEnded()
			})
		})
	}
}

func TestASlowBodyDoesNotEndItsNeighborsInHTTP2(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inlet.Config{TLS: certificate(t)}, reads)
		c := s.client(true)
		r, w := io.Pipe()
		defer w.Close()
		go io.WriteString(w, "{")
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://server/", r)
		if err != nil {
			t.Fatal(err)
		}
		request.ContentLength = 200_000
		begun := time.Now()
		response, err := c.Do(request)
		if err == nil {
			_, err = io.ReadAll(response.Body)
		}
		if took := time.Since(begun); took > 12*time.Second || took < 9*time.Second {
			t.Errorf("ended after %s: %v", took, err)
		}
		response, err = c.Post("https://server/", "text/plain", strings.NewReader("all"))
		if err != nil || response.StatusCode != http.StatusOK || response.ProtoMajor != 2 {
			t.Fatal(response, err)
		}
		response.Body.Close()
		s.wantEnded(inlet.ReasonBody)
	})
}

func TestAHandshakeHasADeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inlet.Config{TLS: certificate(t)}, reads)
		at := s.dial("192.0.2.1")
		write(t, at, "\x16\x03\x01\x02")
		if _, took := rest(t, at); took > 11*time.Second {
			t.Errorf("closed after %s", took)
		}
		s.wantEnded(inlet.ReasonHeader)
	})
}

func TestWhoWaitsLongestMakesRoom(t *testing.T) {
	t.Parallel()
	open := func(c net.Conn) bool {
		_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
		_, err := c.Read(make([]byte, 1))
		var timeout net.Error
		return errors.As(err, &timeout) && timeout.Timeout()
	}
	check := func(t *testing.T, what string, c net.Conn, want bool) {
		t.Helper()
		if open(c) != want {
			t.Errorf("%s is open: %v, want %v", what, !want, want)
		}
	}
	waits := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	t.Run("of one address", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := serve(t, inlet.Config{Limits: inlet.Limits{PerAddress: 2}, Proxies: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}}, waits)
			other := s.dial("192.0.2.2")
			works := s.dial("192.0.2.1")
			write(t, works, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			first, second, third := s.dial("192.0.2.1"), s.dial("192.0.2.1"), s.dial("192.0.2.1")
			check(t, "the other address", other, true)
			check(t, "who is answered", works, true)
			check(t, "the first", first, false)
			check(t, "the second", second, true)
			check(t, "the third", third, true)
			a, b, c := s.dial("2001:db8::1"), s.dial("2001:db8::2"), s.dial("2001:db8::3")
			check(t, "the oldest of a network", a, false)
			check(t, "the next of a network", b, true)
			check(t, "the last of a network", c, true)
			for range 5 {
				defer check(t, "one of a proxy", s.dial("198.51.100.7"), true)
			}
			s.wantEnded(inlet.ReasonAddress, inlet.ReasonAddress)
		})
	})
	t.Run("of all", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := serve(t, inlet.Config{Limits: inlet.Limits{Waiting: 2, Connections: 3}}, waits)
			works := s.dial("192.0.2.1")
			write(t, works, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			first, second, third := s.dial("192.0.2.2"), s.dial("192.0.2.3"), s.dial("192.0.2.4")
			check(t, "the first", first, false)
			check(t, "the second", second, true)
			write(t, third, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			write(t, second, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			check(t, "one for which there is no room", s.dial("192.0.2.5"), false)
			check(t, "who is answered", works, true)
			check(t, "who is answered too", second, true)
			s.wantEnded(inlet.ReasonWaiting, inlet.ReasonFull)
		})
	})
}

// client speaks HTTP through the pipes.
func (s *stand) client(plexed bool) *http.Client {
	to := &http.Transport{
		DialContext:     func(context.Context, string, string) (net.Conn, error) { return s.dial("192.0.2.1"), nil },
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: plexed, //nolint:gosec // the other end is this test
	}
	if !plexed {
		to.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	}
	s.t.Cleanup(to.CloseIdleConnections)
	return &http.Client{Transport: to}
}

func certificate(t *testing.T) *tls.Config {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Now().AddDate(100, 0, 0), DNSNames: []string{"server"}}
	der, err := x509.CreateCertificate(nil, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: private}}, MinVersion: tls.VersionTLS12}
}
