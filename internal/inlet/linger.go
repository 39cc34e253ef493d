package inlet

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"time"
)

// A connection that is closed with bytes unread is reset, and the reset destroys an answer that the peer has not read yet: the
// peer sees "connection reset by peer" instead of the reason. So a connection that something was sent on ends in two steps. The
// Server ends what it sends and reads on, until the peer closes or one of these bounds is reached. Such a connection waits for
// its peer like any other and is the first to make room.
const (
	// lingerSilence is how long the Server waits for a peer that sends nothing.
	lingerSilence = time.Second
	// lingerTime and lingerBytes bound what a peer may still send.
	lingerTime  = 5 * time.Second
	lingerBytes = 16 << 20
	// lingerPiece is the memory that each of these connections takes.
	lingerPiece = 4 << 10
)

// halfCloser is a connection that can end what it sends and still read.
type halfCloser interface{ CloseWrite() error }

// Read notes a peer that never sent a whole header, and one that sends no more.
func (c *conn) Read(p []byte) (int, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	n, err := c.Conn.Read(p)
	if c.closed.Load() { // what came after Close is discarded
		return 0, net.ErrClosed
	}
	if err == nil {
		return n, nil
	}
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		c.over.Store(true)
		return n, err
	}
	c.gate.mu.Lock()
	silent := !c.served && !c.gone
	c.served = c.served || silent // it is counted once
	c.gate.mu.Unlock()
	if silent {
		c.gate.ended(ReasonHeader)
	}
	return n, err
}

// Write notes that there is something for the peer to read.
func (c *conn) Write(p []byte) (int, error) {
	c.wrote.Store(true)
	return c.Conn.Write(p)
}

// SetDeadline bounds reads and writes, until Close.
func (c *conn) SetDeadline(t time.Time) error { return c.bound(t, c.Conn.SetDeadline) }

// SetReadDeadline bounds reads, until Close.
func (c *conn) SetReadDeadline(t time.Time) error { return c.bound(t, c.Conn.SetReadDeadline) }

// SetWriteDeadline bounds writes, until Close.
func (c *conn) SetWriteDeadline(t time.Time) error { return c.bound(t, c.Conn.SetWriteDeadline) }

func (c *conn) bound(t time.Time, set func(time.Time) error) error {
	c.due.Lock()
	defer c.due.Unlock()
	if c.closed.Load() {
		return net.ErrClosed
	}
	return set(t)
}

// Close ends the connection: reads and writes fail from now on. The peer gets what was sent; Close does not wait for that.
func (c *conn) Close() error {
	c.due.Lock()
	defer c.due.Unlock()
	if !c.closed.CompareAndSwap(false, true) {
		return net.ErrClosed
	}
	half, able := c.Conn.(halfCloser)
	if !able || !c.wrote.Load() || c.over.Load() || !c.gate.linger(c) {
		c.gate.mu.Lock()
		c.gate.leave(c)
		c.gate.mu.Unlock()
		return c.Conn.Close()
	}
	err := c.Conn.SetDeadline(time.Unix(1, 0)) // it ends a Read and a Write that wait
	go c.drain(half)
	return err
}

// CloseWrite ends what is sent, where the connection can.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(halfCloser); ok {
		return half.CloseWrite()
	}
	return nil
}

// drain reads what the peer still sends, within the bounds above, and closes the connection.
func (c *conn) drain(half halfCloser) {
	defer c.gate.lingered(c)
	c.reading.Lock()
	defer c.reading.Unlock()
	if half.CloseWrite() != nil {
		return
	}
	end := time.Now().Add(lingerTime)
	piece := make([]byte, lingerPiece)
	for left := lingerBytes; left > 0; {
		due := time.Now().Add(lingerSilence)
		if due.After(end) {
			due = end
		}
		if c.Conn.SetReadDeadline(due) != nil {
			return
		}
		n, err := c.Conn.Read(piece)
		if left -= n; err != nil {
			return
		}
	}
}

// linger has a connection be read for a while after it was closed; false where it may not.
func (g *gate) linger(c *conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.gone || g.cut {
		return false
	}
	g.lingering[c] = make(chan struct{})
	c.busy = 0
	g.queue(c)
	return true
}

// lingered closes a connection that was read long enough.
func (g *gate) lingered(c *conn) {
	_ = c.Conn.Close() // its answer was sent
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leave(c)
	close(g.lingering[c])
	delete(g.lingering, c)
}

// settle waits until the connections that linger are closed, or ctx ends.
func (g *gate) settle(ctx context.Context) error {
	g.mu.Lock()
	all := slices.Collect(maps.Values(g.lingering))
	g.mu.Unlock()
	for _, one := range all {
		select {
		case <-one:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// sever closes the connections that linger, waits for that, and lets no other one linger.
func (g *gate) sever() {
	g.mu.Lock()
	g.cut = true
	for c := range g.lingering {
		_ = c.Conn.Close() // it ends drain
	}
	all := slices.Collect(maps.Values(g.lingering))
	g.mu.Unlock()
	for _, one := range all {
		<-one
	}
}
