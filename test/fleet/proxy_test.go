package fleet

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// proxy passes connections on until it is cut, and counts what goes up.
type proxy struct {
	t       *testing.T
	to      string
	address string
	up      atomic.Int64

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	work     sync.WaitGroup
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	p := &proxy{t: t, to: to, address: testenv.Address(t), conns: map[net.Conn]bool{}}
	p.restore()
	t.Cleanup(p.cut)
	return p
}

// cut ends the proxy with all its connections.
func (p *proxy) cut() {
	p.mu.Lock()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
	for conn := range p.conns {
		_ = conn.Close()
	}
	p.mu.Unlock()
	p.work.Wait()
}

// restore starts it at the same address, with nothing counted.
func (p *proxy) restore() {
	p.t.Helper()
	l, err := (&net.ListenConfig{}).Listen(context.WithoutCancel(p.t.Context()), "tcp", p.address)
	if err != nil {
		p.t.Fatal(err)
	}
	p.up.Store(0)
	p.mu.Lock()
	p.listener = l
	p.mu.Unlock()
	p.work.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := (&net.Dialer{}).DialContext(context.WithoutCancel(p.t.Context()), "tcp", p.to)
			if err != nil {
				_ = near.Close()
				continue
			}
			if !p.keep(near, far) {
				return
			}
			p.work.Go(func() { _, _ = io.Copy(far, io.TeeReader(near, counting{&p.up})); p.drop(near, far) })
			p.work.Go(func() { _, _ = io.Copy(near, far); p.drop(near, far) })
		}
	})
}

// counting counts what is written to it.
type counting struct{ n *atomic.Int64 }

func (c counting) Write(b []byte) (int, error) {
	c.n.Add(int64(len(b)))
	return len(b), nil
}

func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		if p.listener == nil {
			_ = conn.Close()
			continue
		}
		p.conns[conn] = true
	}
	return p.listener != nil
}

func (p *proxy) drop(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		_ = conn.Close()
		delete(p.conns, conn)
	}
}
