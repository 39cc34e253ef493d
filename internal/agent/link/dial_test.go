package link

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// authority signs certificates for a test, as files.
type authority struct {
	*testenv.Authority
	file string // its certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{testenv.NewAuthority(t), filepath.Join(t.TempDir(), "ca.pem")}
	if err := os.WriteFile(a.file, a.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// issue makes a certificate for 127.0.0.1 and a name.
func (a *authority) issue(t *testing.T, name string) (cert tls.Certificate, certFile, keyFile string) {
	t.Helper()
	return a.issueUntil(t, name, time.Now().Add(time.Hour))
}

func (a *authority) issueUntil(t *testing.T, name string, ends time.Time) (cert tls.Certificate, certFile, keyFile string) {
	t.Helper()
	made := a.IssueUntil(ends, name, "127.0.0.1")
	certFile, keyFile = made.Files(t, t.TempDir())
	return made.TLS, certFile, keyFile
}

// serve starts a server that says who called.
func serve(t *testing.T, cfg *tls.Config) *url.URL {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "nobody"
		if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
			name = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		_, _ = io.WriteString(w, "hello "+name)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if cfg != nil {
		s.TLS = cfg
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func to(u *url.URL) func(*url.URL) (*url.URL, error) {
	return func(*url.URL) (*url.URL, error) { return u, nil }
}

// greet dials and returns what the server says.
func greet(ctx context.Context, tr Transport, server *url.URL) (string, error) {
	conn, err := tr.dial(ctx, server)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, server.String(), nil)
	if err := req.Write(conn); err != nil {
		return "", err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return string(raw), err
}

func TestTheServerIsReachedThroughAProxyWithItsOwnAuthority(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	cert, _, _ := ca.issue(t, "server")
	server := serve(t, &tls.Config{Certificates: []tls.Certificate{cert}})
	p := testenv.NewProxy(t, "ann", "pw")
	got, err := greet(t.Context(), Transport{CAFile: ca.file, Proxy: to(p.URL())}, server)
	if err != nil || got != "hello nobody" || p.Used() != 1 {
		t.Errorf("got %q, %v, over the proxy %d times", got, err, p.Used())
	}
	_, err = greet(t.Context(), Transport{Proxy: to(p.URL())}, server)
	if err == nil || !strings.Contains(err.Error(), "--server-ca") {
		t.Errorf("without the authority: %v", err)
	}
	if got, err := greet(t.Context(), Transport{Insecure: true, Proxy: to(nil)}, server); err != nil || got != "hello nobody" {
		t.Errorf("insecure: %q, %v", got, err)
	}
}

func TestTheAgentShowsItsCertificate(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	cert, _, _ := ca.issue(t, "server")
	_, certFile, keyFile := ca.issue(t, "agent-7")
	server := serve(t, &tls.Config{Certificates: []tls.Certificate{cert}, ClientCAs: ca.Pool(), ClientAuth: tls.RequireAndVerifyClientCert})
	tr := Transport{CAFile: ca.file, CertFile: certFile, KeyFile: keyFile, Proxy: to(nil)}
	if got, err := greet(t.Context(), tr, server); err != nil || got != "hello agent-7" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := greet(t.Context(), Transport{CAFile: ca.file, Proxy: to(nil)}, server); err == nil {
		t.Errorf("without a certificate: %q", got)
	}
}

func TestAServerThatRefusesTheCertificateSaysWhy(t *testing.T) {
	t.Parallel()
	ca, other := newAuthority(t), newAuthority(t)
	cert, _, _ := ca.issue(t, "server")
	_, goodCert, goodKey := ca.issue(t, "agent-7")
	_, oldCert, oldKey := ca.issueUntil(t, "agent-6", time.Now().Add(-time.Minute))
	_, wrongCert, wrongKey := other.issue(t, "agent-5")
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		server := serve(t, &tls.Config{Certificates: []tls.Certificate{cert}, ClientCAs: ca.Pool(), ClientAuth: tls.RequireAndVerifyClientCert, MaxVersion: version})
		for _, c := range []struct{ name, cert, key, want string }{
			{"a good one", goodCert, goodKey, ""},
			{"none", "", "", "give --client-cert and --client-key"},
			{"one that expired", oldCert, oldKey, "expired at"},
			{"one of another authority", wrongCert, wrongKey, "--client-ca"},
			{"one with another key", goodCert, wrongKey, "belong together"},
			{"one that is not there", filepath.Join(t.TempDir(), "none.pem"), goodKey, "read --client-cert"},
		} {
			t.Run(tls.VersionName(version)+" "+c.name, func(t *testing.T) {
				t.Parallel()
				got, err := greet(t.Context(), Transport{CAFile: ca.file, CertFile: c.cert, KeyFile: c.key, Proxy: to(nil)}, server)
				if c.want == "" {
					if err != nil || got != "hello agent-7" {
						t.Errorf("got %q, %v", got, err)
					}
					return
				}
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %q, %v, want %q", got, err, c.want)
				}
			})
		}
	}
}

func TestRenewedFilesEndASessionOnceTheyFit(t *testing.T) {
	t.Parallel()
	ca, other := newAuthority(t), newAuthority(t)
	_, certFile, keyFile := ca.issue(t, "agent-7")
	_, nextCert, nextKey := other.issue(t, "agent-7")
	l := New(Config{Transport: Transport{CAFile: ca.file, CertFile: certFile, KeyFile: keyFile}, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	l.renew = time.Millisecond
	done := make(chan error, 1)
	before := l.cfg.Transport.print()
	go func() { done <- l.renewals(t.Context(), before) }()
	move := func(from, to string) {
		t.Helper()
		raw, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+".new", raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(to+".new", to); err != nil {
			t.Fatal(err)
		}
	}
	move(nextCert, certFile)
	if _, err := l.cfg.Transport.tls(""); err == nil {
		t.Fatal("a certificate with the key of another one fits")
	}
	select {
	case err := <-done:
		t.Fatalf("half of a renewal ended the session: %v", err)
	default:
	}
	move(nextKey, keyFile)
	if err := <-done; !errors.Is(err, errSessionOver) {
		t.Errorf("the renewal ended with %v", err)
	}
	if s := l.Status(); s.CertificateEnds.IsZero() {
		t.Error("the status does not say when the certificate ends")
	}
}

func TestACertificateThatEndsSoonIsInTheHealthOfTheLink(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	ends := time.Now().Add(10 * time.Hour).Truncate(time.Second)
	_, certFile, keyFile := ca.issueUntil(t, "agent", ends)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	now := time.Now()
	l := New(Config{
		Server:    &url.URL{Scheme: "https", Host: closed.Addr().String()},
		Transport: Transport{CertFile: certFile, KeyFile: keyFile, Proxy: to(nil)},
		Now:       func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
	})
	id, err := newIdentity()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.connect(t.Context(), id, "cluster"); err == nil {
		t.Fatal("there is no server, and a session")
	}
	for _, file := range []string{certFile, keyFile} { // the status reads none
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	for left, want := range map[time.Duration]bool{9 * time.Hour: false, 5 * time.Minute: true, -time.Minute: true} {
		now = ends.Add(-left)
		s := l.Status()
		s.State = StateConnected
		if c := s.Component(); strings.Contains(c.Message, "expires at") != want || c.Status != "Healthy" || !s.CertificateEnds.Equal(ends) {
			t.Errorf("%s before it ends: %+v, %s", left, c, s.CertificateEnds)
		}
	}
}

func TestATroubleOnTheWaySaysWhatToDo(t *testing.T) {
	t.Parallel()
	server := serve(t, nil)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := &url.URL{Scheme: "http", Host: closed.Addr().String()}
	closed.Close()
	strict, loose := testenv.NewProxy(t, "ann", "pw"), testenv.NewProxy(t, "", "")
	without := strict.URL()
	without.User = nil
	web := serve(t, nil)
	tests := []struct {
		name, want  string
		proxy       *url.URL
		server      *url.URL
		unreachable bool
	}{
		{"nobody there", "reach the server", nil, nobody, true},
		{"no proxy there", "reach the proxy", nobody, server, true},
		{"a proxy that wants a password", "HTTPS_PROXY", without, server, false},
		{"a proxy that reaches nobody", "502", loose.URL(), nobody, true},
		{"a proxy of another kind", "socks5", &url.URL{Scheme: "socks5", Host: "127.0.0.1:1"}, server, false},
		{"no proxy at all", "more than its answer", web, server, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := greet(t.Context(), Transport{Proxy: to(tt.proxy)}, tt.server)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			var u *unreachable
			if errors.As(err, &u) != tt.unreachable {
				t.Errorf("unreachable: %v", !tt.unreachable)
			}
		})
	}
}

func TestAServerIsNamedByAURLWithTLS(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in       string
		insecure bool
		ok       bool
	}{
		{"https://slipway.example", false, true},
		{"https://slipway.example:8443/base/", false, true},
		{"http://127.0.0.1:8080", false, true},
		{"http://localhost:8080", false, true},
		{"http://slipway.example", false, false},
		{"http://slipway.example", true, true},
		{"https://ann:s3cret@slipway.example", false, false},
		{"slipway.example", false, false},
		{"ftp://slipway.example", true, false},
		{"https://slipway.example?x=1", false, false},
		{"https://", false, false},
		{"https://%zz", false, false},
	}
	for _, tt := range tests {
		u, err := ParseServer(tt.in, tt.insecure)
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.in, err)
		}
		if err == nil && strings.HasSuffix(u.String(), "/") {
			t.Errorf("%s became %s", tt.in, u)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: the error has the password: %v", tt.in, err)
		}
	}
}
