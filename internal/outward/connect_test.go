package outward

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// ending is a connection to a proxy whose context ends while it answers. Behind the answer, the server begins to speak.
type ending struct {
	net.Conn
	answer io.Reader
	end    context.CancelFunc

	mu  sync.Mutex
	cut time.Time
}

func (c *ending) Write(p []byte) (int, error) { return len(p), nil }

func (c *ending) Read(p []byte) (int, error) {
	c.end()
	for range 1000 { // what waits for the end of the context runs meanwhile; it is not synchronized with what follows
		runtime.Gosched()
	}
	return c.answer.Read(p)
}

func (c *ending) SetDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = at
	return nil
}

// TestATunnelMayEndWhileItIsMade fails with the race detector where the end of the context looks at a connection that is replaced.
func TestATunnelMayEndWhileItIsMade(t *testing.T) {
	t.Parallel()
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		near := &ending{answer: strings.NewReader("HTTP/1.1 200 OK\r\n\r\nSSH-2.0-none\r\n"), end: cancel}
		far, early, err := Connect(ctx, near, &url.URL{Scheme: "http", Host: "proxy.example:3128"}, "git.example:22")
		if err != nil || !early {
			t.Fatal(early, err)
		}
		begun := make([]byte, 64)
		if n, err := far.Read(begun); err != nil || string(begun[:n]) != "SSH-2.0-none\r\n" {
			t.Errorf("what came with the answer of the proxy is %q: %v", begun[:n], err)
		}
	}
}

func TestAProxyThatOpensNoTunnelIsNotBelieved(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]int{
		"HTTP/1.1 407 Zaubernuss\r\nContent-Length: 0\r\n\r\n": 407, "HTTP/1.1 502 Zaubernuss\r\n\r\n": 502, "HTTP/1.1 204 Zaubernuss\r\n\r\n": 204,
		"SSH-2.0-none\r\n": 0, "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxConnect) + "\r\n\r\n": 0, "": 0,
	} {
		near := &ending{answer: strings.NewReader(answer), end: func() {}}
		tunnel, _, err := Connect(t.Context(), near, &url.URL{Scheme: "http"}, "git.example:22")
		var refused *ProxyRefused
		if tunnel != nil || err == nil || errors.As(err, &refused) != (want != 0) || want != 0 && (refused.Code != want || strings.Contains(err.Error(), "Zaubernuss")) {
			t.Errorf("%.40q: %v, %v", answer, tunnel, err)
		}
	}
}

func TestUserAndPasswordGoToTheProxyAlone(t *testing.T) {
	t.Parallel()
	near, proxy := net.Pipe()
	defer near.Close()
	asked := make(chan string, 1)
	go func() {
		defer proxy.Close()
		raw := make([]byte, 4096)
		n, _ := proxy.Read(raw)
		asked <- string(raw[:n])
		_, _ = io.WriteString(proxy, "HTTP/1.1 200 OK\r\n\r\n")
	}()
	tunnel, early, err := Connect(t.Context(), near, &url.URL{Scheme: "http", User: url.UserPassword("ann", "pw")}, "[2001:db8::1]:443")
	if err != nil || early || tunnel != near {
		t.Fatal(tunnel, early, err)
	}
	got := <-asked
	for _, part := range []string{"CONNECT [2001:db8::1]:443 HTTP/1.1\r\n", "\r\nHost: [2001:db8::1]:443\r\n", "\r\nProxy-Authorization: Basic YW5uOnB3\r\n"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q lacks %q", got, part)
		}
	}
}
