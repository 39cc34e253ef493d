package security

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
)

// tap passes connections on to a server and keeps what goes through, so that what an agent sends can be looked at.
type tap struct {
	url string

	mu    sync.Mutex
	flows []*bytes.Buffer
}

func newTap(t *testing.T, to string) *tap {
	t.Helper()
	var lc net.ListenConfig
	listener, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &tap{url: "http://" + listener.Addr().String()}
	ctx := context.WithoutCancel(t.Context())
	var work sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		for conn := range open {
			conn.Close()
		}
		mu.Unlock()
		work.Wait()
	})
	work.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := (&net.Dialer{}).DialContext(ctx, "tcp", to)
			if err != nil {
				near.Close()
				continue
			}
			mu.Lock()
			open[near], open[far] = true, true
			mu.Unlock()
			for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
				work.Go(func() {
					_, _ = io.Copy(io.MultiWriter(way[1], p.flow()), way[0])
					way[0].Close()
					way[1].Close()
				})
			}
		}
	})
	return p
}

// flow is a place for one direction of one connection.
func (p *tap) flow() io.Writer {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := &bytes.Buffer{}
	p.flows = append(p.flows, b)
	return lockedWriter{&p.mu, b}
}

type lockedWriter struct {
	mu *sync.Mutex
	to io.Writer
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

// messages are what went through WebSockets, in both directions, without what only frames it. What was no WebSocket is not
// in it: a registration has to carry its token.
func (p *tap) messages() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out bytes.Buffer
	for _, flow := range p.flows {
		head, rest, ok := bytes.Cut(flow.Bytes(), []byte("\r\n\r\n"))
		if ok && bytes.Contains(bytes.ToLower(head), []byte("upgrade: websocket")) {
			out.Write(payloads(rest))
		}
	}
	return out.String()
}

// payloads takes frames of RFC 6455 apart.
func payloads(b []byte) []byte {
	var out []byte
	for len(b) >= 2 {
		size, at := int(b[1]&0x7f), 2
		switch {
		case size == 126 && len(b) >= 4:
			size, at = int(binary.BigEndian.Uint16(b[2:])), 4
		case size == 127 && len(b) >= 10:
			size, at = int(binary.BigEndian.Uint64(b[2:])), 10 //nolint:gosec // what went through memory
		}
		var mask []byte
		if b[1]&0x80 != 0 && len(b) >= at+4 {
			mask, at = b[at:at+4], at+4
		}
		if len(b) < at+size {
			return out
		}
		for i, c := range b[at : at+size] {
			if mask != nil {
				c ^= mask[i%4]
			}
			out = append(out, c)
		}
		b = b[at+size:]
	}
	return out
}
