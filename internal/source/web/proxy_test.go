package web_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// proxy is an HTTP proxy that sends every connection to one address, and requires a user.
func proxy(t testing.TB, to string, used *seen) *httptest.Server {
	t.Helper()
	var work sync.WaitGroup
	t.Cleanup(work.Wait)
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		used.add(r.Clone(context.WithoutCancel(r.Context())))
		if r.Header.Get("Proxy-Authorization") == "" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		r.Header.Del("Proxy-Authorization")
		back, err := net.Dial("tcp", to)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		front, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			_ = back.Close()
			return
		}
		if r.Method == http.MethodConnect {
			_, _ = io.WriteString(front, "HTTP/1.1 200 OK\r\n\r\n")
		} else {
			_ = r.WriteProxy(back)
		}
		pipe(&work, front, back)
	})
}

func pipe(work *sync.WaitGroup, a, b net.Conn) {
	work.Go(func() { _, _ = io.Copy(a, b); _ = a.Close(); _ = b.Close() })
	work.Go(func() { _, _ = io.Copy(b, a); _ = a.Close(); _ = b.Close() })
}

func TestAProxyIsUsedForAllHostsButSome(t *testing.T) {
	t.Parallel()
	var direct seen
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { direct.add(r); _, _ = io.WriteString(w, "from "+r.Host) })
	tlsServer := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "from "+r.Host) }))
	t.Cleanup(tlsServer.Close)
	var used, usedTLS seen
	plain := proxy(t, s.Listener.Addr().String(), &used)
	tunnel := proxy(t, tlsServer.Listener.Addr().String(), &usedTLS)
	with := func(p *httptest.Server) string { return strings.Replace(p.URL, "http://", "http://robot:hunter2@", 1) }
	for name, c := range map[string]struct {
		address string
		access  web.Access
		used    *seen
	}{
		"plain HTTP": {"http://charts.example.test", web.Access{Proxy: with(plain)}, &used},
		"a tunnel":   {"https://charts.example.test", web.Access{Proxy: with(tunnel), Insecure: true}, &usedTLS},
		"SOCKS":      {"http://charts.example.test", web.Access{Proxy: strings.Replace(testenv.Tunnel(t, s.Listener.Addr().String()), "http://", "socks5://", 1)}, nil},
	} {
		client := open(t, c.address, c.access, web.Options{})
		text, err := get(t, client, c.address+"/x")
		if err != nil || text != "from charts.example.test" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if c.used != nil {
			if got := c.used.last(t).Header.Get("Proxy-Authorization"); !strings.HasPrefix(got, "Basic ") {
				t.Errorf("%s: the proxy got no user", name)
			}
		}
	}
	if h := direct.last(t).Header.Get("Proxy-Authorization"); h != "" {
		t.Errorf("the server got %q, which is for the proxy", h)
	}
	address := "http://charts.invalid"
	client := open(t, address, web.Access{Proxy: with(plain), NoProxy: "other.test, .invalid"}, web.Options{})
	if _, err := get(t, client, address); !errors.Is(err, web.ErrName) {
		t.Errorf("a host of noProxy: %v, want %v", err, web.ErrName)
	}
}
