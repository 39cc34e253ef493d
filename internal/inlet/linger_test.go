package inlet_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-gitops/slipway/internal/inlet"
)

// real starts a server on loopback and returns how to connect to it.
func real(t *testing.T, secure bool, handler http.HandlerFunc) func() net.Conn {
	t.Helper()
	cfg := inlet.Config{Handler: handler}
	if secure {
		cfg.TLS = certificate(t)
	}
	listener, err := inlet.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := inlet.New(cfg)
	done := make(chan error, 1)
	go func() { done <- server.Serve(t.Context(), listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return func() net.Conn {
		var c net.Conn
		var err error
		if secure {
			c, err = (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(t.Context(), "tcp", listener.Addr().String()) //nolint:gosec // the other end is this test
		} else {
			c, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String())
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		return c
	}
}

func TestAnAnswerThatComesBeforeTheEndOfTheRequestArrives(t *testing.T) {
	t.Parallel()
	refuse := func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "the reason", http.StatusForbidden) }
	bound := func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, 1<<10)); err != nil {
			http.Error(w, "the reason", http.StatusRequestEntityTooLarge)
		}
	}
	const long = 3 << 20
	fixed := func(size int) string {
		return fmt.Sprintf("Content-Length: %d\r\n\r\n", size) + strings.Repeat("x", size)
	}
	chunks := "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("8000\r\n"+strings.Repeat("x", 0x8000)+"\r\n", long>>15) + "0\r\n\r\n"
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		rest    string
		want    string
	}{
		{"nothing of a short body is read", refuse, fixed(100 << 10), "the reason"},
		{"nothing of a long body is read", refuse, fixed(long), "the reason"},
		{"nothing of a body in chunks is read", refuse, chunks, "the reason"},
		{"a part of a short body is read", bound, fixed(100 << 10), "the reason"},
		{"a part of a long body is read", bound, fixed(long), "the reason"},
		{"a part of a body in chunks is read", bound, chunks, "the reason"},
		{"the header is too long", refuse, "X-Long: " + strings.Repeat("x", long) + "\r\n\r\n", "431"},
		{"the header is none", refuse, "no header\r\n\r\n" + strings.Repeat("x", long), "400"},
	} {
		for _, secure := range []bool{false, true} {
			for _, connection := range []string{"keep-alive", "close"} {
				t.Run(fmt.Sprintf("%s, TLS %v, %s", c.name, secure, connection), func(t *testing.T) {
					t.Parallel()
					at := real(t, secure, c.handler)()
					// A peer that reads only once it has written everything loses most.
					if _, err := io.WriteString(at, "POST / HTTP/1.1\r\nHost: a\r\nConnection: "+connection+"\r\n"+c.rest); err != nil {
						t.Fatalf("write: %v", err)
					}
					answer, err := io.ReadAll(at)
					if err != nil || !strings.Contains(string(answer), c.want) {
						t.Errorf("%q %v, want %q", answer, err, c.want)
					}
				})
			}
		}
	}
}

func TestWhatArrivesAfterAConnectionWasClosedIsNotRead(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("TLS %v", secure), func(t *testing.T) {
			t.Parallel()
			closed, read := make(chan struct{}), make(chan string, 1)
			at := real(t, secure, func(w http.ResponseWriter, _ *http.Request) {
				c, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				waits := make(chan struct{})
				go func() {
					close(waits)
					raw, _ := io.ReadAll(c)
					read <- string(raw)
				}()
				<-waits
				_, _ = io.WriteString(c, "goodbye")
				_ = c.Close()
				close(closed)
			})()
			if _, err := io.WriteString(at, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			<-closed
			if _, err := io.WriteString(at, strings.Repeat("late", 1<<10)); err != nil {
				t.Fatal(err)
			}
			if got := <-read; got != "" {
				t.Errorf("%q was read of a connection that was closed", got)
			}
			if answer, err := io.ReadAll(at); err != nil || string(answer) != "goodbye" {
				t.Errorf("%q %v", answer, err)
			}
		})
	}
}

// half is a pipe that says it can end what it sends.
type half struct{ from }

func (half) CloseWrite() error { return nil }

func (s *stand) dialHalf(address string) net.Conn {
	client, server := net.Pipe()
	s.pipes.next <- half{from{server, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(address), 1234))}}
	synctest.Wait()
	s.t.Cleanup(func() { client.Close() })
	return client
}

func TestWhatAPeerSendsAfterItsAnswerIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		bytes int
		every time.Duration
		least time.Duration
		most  time.Duration
	}{
		{"nothing", 0, time.Hour, time.Second, time.Second},
		{"a byte now and then", 1, 500 * time.Millisecond, 5 * time.Second, 5 * time.Second},
		{"without end", 1 << 20, 0, 0, 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, inlet.Config{}, http.NotFound)
				at := s.dialHalf("192.0.2.1")
				write(t, at, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n{")
				answer := bufio.NewReader(at)
				if line, err := answer.ReadString('\n'); err != nil || !strings.Contains(line, "404") {
					t.Fatal(line, err)
				}
				begun, sent := time.Now(), 0
				stopped := make(chan struct{})
				go func() {
					defer close(stopped)
					for {
						n, err := at.Write(make([]byte, c.bytes))
						if sent += n; err != nil {
							return
						}
						<-time.After(c.every)
						if c.bytes == 0 {
							return
						}
					}
				}()
				_, _ = io.Copy(io.Discard, answer)
				took := time.Since(begun)
				at.Close()
				<-stopped
				// net/http waits for half a second before it closes, since Go 1.27 also after such an answer.
				if took < c.least || took > c.most+time.Second/2 || sent > 17<<20 {
					t.Errorf("closed after %s and %d bytes, want %s to %s", took, sent, c.least, c.most)
				}
				s.wantEnded()
				if open, waiting := s.server.Counts(); open != 0 || waiting != 0 {
					t.Errorf("%d connections are open, %d wait", open, waiting)
				}
			})
		})
	}
}

func TestAConnectionWhoseAnswerWasSentMakesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inlet.Config{Limits: inlet.Limits{PerAddress: 1}}, http.NotFound)
		at := s.dialHalf("192.0.2.1")
		write(t, at, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n{")
		if line, err := bufio.NewReader(at).ReadString('\n'); err != nil || !strings.Contains(line, "404") {
			t.Fatal(line, err)
		}
		synctest.Wait()
		if open, waiting := s.server.Counts(); open != 1 || waiting != 1 {
			t.Errorf("%d connections are open, %d wait, want 1 that waits", open, waiting)
		}
		s.dialHalf("192.0.2.1")
		if _, err := at.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the connection that lingers was not closed: %v", err)
		}
		s.wantEnded(inlet.ReasonAddress)
	})
}

func TestAServerThatIsClosedDoesNotWaitForPeers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inlet.Config{}, http.NotFound)
		at := s.dialHalf("192.0.2.1")
		write(t, at, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n{")
		if line, err := bufio.NewReader(at).ReadString('\n'); err != nil || !strings.Contains(line, "404") {
			t.Fatal(line, err)
		}
		synctest.Wait()
		begun := time.Now()
		if err := s.server.Close(); err != nil || time.Since(begun) > 0 {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		if _, err := at.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("a connection is open after Close: %v", err)
		}
	})
}
