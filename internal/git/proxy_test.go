package git

import (
	"context"
	"io"
	"net"
	"net/netip"
	"net/url"
	"runtime"
	"slices"
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
		far, wrong := tunnel(ctx, near, &url.URL{Scheme: "http", Host: "proxy.example:3128"}, "git.example:22", nil)
		if wrong != "" {
			t.Fatal(wrong)
		}
		begun := make([]byte, 64)
		if n, err := far.Read(begun); err != nil || string(begun[:n]) != "SSH-2.0-none\r\n" {
			t.Errorf("what came with the answer of the proxy is %q: %v", begun[:n], err)
		}
	}
}

func TestAnAddressIsTriedOnceAndThoseOfIPv4First(t *testing.T) {
	t.Parallel()
	at := netip.MustParseAddr
	found := []netip.Addr{at("2001:db8::1"), at("192.0.2.1"), at("2001:db8::2"), at("::ffff:192.0.2.2")}
	got := byPreference(found)
	if want := []netip.Addr{found[1], found[3], found[0], found[2]}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if found[0] != at("2001:db8::1") {
		t.Error("what was found is in another order now")
	}
}
