package testenv

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

// DelayEnv names the variable that slows tests down, such as SLIPWAY_TEST_DELAY=40ms: what programs of ours say to an API
// server and to each other arrives up to so much later, and stand-ins take up to so much longer. A test's own requests are
// as fast as ever. So a test that looks before it may sees what is not there yet.
const DelayEnv = "SLIPWAY_TEST_DELAY"

// chunk is how many bytes are delayed together, at most.
const chunk = 256 << 10

// delay is what DelayEnv says; 0 for none.
func delay() (time.Duration, error) {
	text := os.Getenv(DelayEnv)
	if text == "" {
		return 0, nil
	}
	return time.ParseDuration(text)
}

// Dawdle waits as long as DelayEnv has a stand-in wait before it acts, and returns early with ctx.
func Dawdle(ctx context.Context) {
	longest, err := delay()
	if err != nil || longest <= 0 {
		return
	}
	timer := time.NewTimer(rand.N(longest))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// DelayedEnv is what a program of ours needs in its environment so that each of its watches is late on its own: a connection
// that they share would keep their order.
func DelayedEnv() []string {
	if os.Getenv(DelayEnv) == "" {
		return nil
	}
	return []string{"DISABLE_HTTP2=1"}
}

// Delayed returns an address of loopback behind which address (host:port) is, slower by what DelayEnv says, until the end
// of the test; address itself where it says nothing. Nothing needs to listen at address yet.
func Delayed(t testing.TB, address string) string {
	t.Helper()
	longest, err := delay()
	if err != nil {
		t.Fatalf("read %s: %v", DelayEnv, err)
	}
	if longest <= 0 {
		return address
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen for %s: %v", address, err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	r := &relay{to: address}
	r.ways.Go(func() { r.run(ctx, listener) })
	t.Cleanup(func() {
		cancel()
		_ = listener.Close()
		r.ways.Wait()
	})
	return listener.Addr().String()
}

// DelayedKubeconfig returns Kubeconfig, or one for the same cluster behind Delayed.
func DelayedKubeconfig(t testing.TB) string {
	t.Helper()
	path := Kubeconfig(t)
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatalf("read kubeconfig: %v", err)
	}
	changed := false
	for _, cluster := range config.Clusters {
		at, err := url.Parse(cluster.Server)
		if err != nil {
			t.Fatalf("read kubeconfig: %v", err)
		}
		slow := Delayed(t, at.Host)
		changed = changed || slow != at.Host
		at.Host = slow
		cluster.Server = at.String()
	}
	if !changed {
		return path
	}
	path = filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatalf("write kubeconfig: %v", err)
	}
	return path
}

// relay hands on what arrives, later.
type relay struct {
	to   string
	ways sync.WaitGroup
}

func (r *relay) run(ctx context.Context, listener net.Listener) {
	for ctx.Err() == nil {
		if from, err := listener.Accept(); err == nil {
			r.ways.Go(func() { r.serve(ctx, from) })
		} else if errors.Is(err, net.ErrClosed) {
			return
		}
	}
}

// serve connects one client, until both ends have sent everything or ctx is done.
func (r *relay) serve(ctx context.Context, from net.Conn) {
	defer func() { _ = from.Close() }()
	to, err := (&net.Dialer{}).DialContext(ctx, "tcp", r.to)
	if err != nil {
		return // the client sees a connection that ends immediately
	}
	defer func() { _ = to.Close() }()
	defer context.AfterFunc(ctx, func() {
		_ = from.Close()
		_ = to.Close()
	})()
	var ways sync.WaitGroup
	ways.Go(func() { carry(ctx, to, from) })
	ways.Go(func() { carry(ctx, from, to) })
	ways.Wait()
}

// carry hands on what one end says, and its end.
func carry(ctx context.Context, to, from net.Conn) {
	buffer := make([]byte, chunk)
	for {
		n, err := from.Read(buffer)
		Dawdle(ctx)
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				_ = from.Close() // nothing receives it
				return
			}
		}
		if errors.Is(err, io.EOF) {
			if half, ok := to.(*net.TCPConn); ok {
				_ = half.CloseWrite()
			}
			return
		}
		if err != nil {
			_ = to.Close() // it was broken off
			return
		}
	}
}
