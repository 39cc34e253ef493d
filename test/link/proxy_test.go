package link

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// cutter passes connections on to an address until it is cut.
type cutter struct {
	t  *testing.T
	to string

	mu       sync.Mutex
	listener net.Listener
	address  string
	conns    map[net.Conn]bool
	hushed   map[net.Conn]bool
	work     sync.WaitGroup
}

func newCutter(t *testing.T, to string) *cutter {
	t.Helper()
	c := &cutter{t: t, to: to, conns: map[net.Conn]bool{}, hushed: map[net.Conn]bool{}, address: testenv.Address(t)}
	c.restore()
	t.Cleanup(c.cut)
	return c
}

func (c *cutter) url() string { return "https://" + c.address }

// cut kills the proxy with all its connections.
func (c *cutter) cut() {
	c.mu.Lock()
	if c.listener != nil {
		c.listener.Close()
		c.listener = nil
	}
	for conn := range c.conns {
		conn.Close()
	}
	c.mu.Unlock()
	c.work.Wait()
}

// restore starts it again at the same address.
func (c *cutter) restore() {
	l := listen(c.t, c.address)
	c.mu.Lock()
	c.listener = l
	c.mu.Unlock()
	c.work.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := (&net.Dialer{}).DialContext(context.WithoutCancel(c.t.Context()), "tcp", c.to)
			if err != nil {
				near.Close()
				continue
			}
			if !c.keep(near, far) {
				return
			}
			c.work.Go(func() { _, _ = io.Copy(&faint{far, c}, near); c.drop(near, far) })
			c.work.Go(func() { _, _ = io.Copy(&faint{near, c}, far); c.drop(near, far) })
		}
	})
}

// hush has all present connections lose what comes, in both directions, and stay open. Later ones are as they should be.
func (c *cutter) hush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.conns {
		c.hushed[conn] = true
	}
}

// faint is a connection that may lose what is written.
type faint struct {
	net.Conn
	of *cutter
}

// Write implements io.Writer.
func (f *faint) Write(p []byte) (int, error) {
	f.of.mu.Lock()
	hushed := f.of.hushed[f.Conn]
	f.of.mu.Unlock()
	if hushed {
		return len(p), nil
	}
	return f.Conn.Write(p)
}

func (c *cutter) keep(conns ...net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range conns {
		if c.listener == nil {
			conn.Close()
			continue
		}
		c.conns[conn] = true
	}
	return c.listener != nil
}

func (c *cutter) drop(conns ...net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range conns {
		conn.Close()
		delete(c.conns, conn)
	}
}
