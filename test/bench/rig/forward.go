package rig

import (
	"fmt"
	"io"
	"net"
	"sync"
)

// Forward is an address of its own for a server.
type Forward struct {
	listener net.Listener
	to       string
	wait     sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

// NewForward passes connections on to an address until Close.
func NewForward(to string) (*Forward, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("make address for %s: %w", to, err)
	}
	f := &Forward{listener: listener, to: to, conns: map[net.Conn]struct{}{}}
	f.wait.Go(f.accept)
	return f, nil
}

// Address is host and port.
func (f *Forward) Address() string { return f.listener.Addr().String() }

func (f *Forward) accept() {
	for {
		from, err := f.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", f.to)
		if err != nil {
			_ = from.Close()
			continue
		}
		f.mu.Lock()
		f.conns[from], f.conns[to] = struct{}{}, struct{}{}
		f.mu.Unlock()
		f.wait.Go(func() { f.carry(to, from) })
		f.wait.Go(func() { f.carry(from, to) })
	}
}

// carry copies until one side ends, and then ends the other.
func (f *Forward) carry(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
	f.mu.Lock()
	delete(f.conns, from)
	f.mu.Unlock()
}

// Close ends all connections.
func (f *Forward) Close() {
	_ = f.listener.Close()
	f.mu.Lock()
	for conn := range f.conns {
		_ = conn.Close()
	}
	f.mu.Unlock()
	f.wait.Wait()
}
