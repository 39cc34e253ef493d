package inlet

import (
	"container/list"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// gate keeps count of connections, and closes those that wait for their peer when there are too many.
type gate struct {
	limits  Limits
	proxies []netip.Prefix
	ended   func(Reason)

	mu   sync.Mutex
	open int
	// waiting has the connections that wait for their peer, the one that waits longest first; hosts has them by address.
	waiting *list.List
	hosts   map[netip.Addr]*list.List
	// lingering has the connections that are closed and still read, each with what ends with that; cut is true once none may be.
	lingering map[*conn]chan struct{}
	cut       bool
}

func newGate(cfg Config) *gate {
	return &gate{
		limits: cfg.Limits, proxies: cfg.Proxies, ended: cfg.Ended, waiting: list.New(), hosts: map[netip.Addr]*list.List{},
		lingering: map[*conn]chan struct{}{},
	}
}

func (g *gate) counts() (open, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open, g.waiting.Len()
}

// conn is a connection of a gate.
type conn struct {
	net.Conn
	gate *gate
	// host counts as one address; the zero one has no bound of its own.
	host netip.Addr
	// wrote is true once something was sent, over once the peer sends no more, and closed from Close on.
	wrote, over, closed atomic.Bool
	// reading is held by Read, and due by code that sets a deadline.
	reading, due sync.Mutex

	// What follows belongs to the gate. busy is how many whole requests are being answered; served that
	// there was a header.
	busy         int
	served, gone bool
	all, own     *list.Element
}

// bounded is a listener whose connections a gate counts.
type bounded struct {
	net.Listener
	gate *gate
}

// Accept waits for a connection that there is room for.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		raw, err := b.Listener.Accept()
		if err != nil {
			var soon interface{ Temporary() bool }
			if errors.As(err, &soon) && soon.Temporary() { // no more files: net/http tries again in a moment
				b.gate.relieve()
			}
			return nil, err
		}
		if c := b.gate.enter(raw); c != nil {
			return c, nil
		}
		_ = raw.Close() // nothing was sent
	}
}

// enter counts a new connection; nil where there is no room.
func (g *gate) enter(raw net.Conn) *conn {
	c := &conn{Conn: raw, gate: g, host: g.host(raw.RemoteAddr())}
	g.mu.Lock()
	oldest, why := g.tooMany(c)
	if why == ReasonFull && oldest == nil {
		g.mu.Unlock()
		g.ended(ReasonFull)
		return nil
	}
	if oldest != nil {
		g.leave(oldest)
	}
	g.open++
	g.queue(c)
	g.mu.Unlock()
	if oldest != nil {
		_ = oldest.Conn.Close() // the peer learns it soon enough
		g.ended(why)
	}
	return c
}

// tooMany returns the connection that has to make room for another one, and why; nothing where there is room.
func (g *gate) tooMany(c *conn) (*conn, Reason) {
	if host := g.hosts[c.host]; host != nil && host.Len() >= g.limits.PerAddress {
		return first(host), ReasonAddress
	}
	if g.waiting.Len() >= g.limits.Waiting {
		return first(g.waiting), ReasonWaiting
	}
	if g.open >= g.limits.Connections {
		return first(g.waiting), ReasonFull
	}
	return nil, ""
}

func first(l *list.List) *conn {
	front := l.Front()
	if front == nil {
		return nil
	}
	c, _ := front.Value.(*conn)
	return c
}

// relieve closes the connection that waits longest.
func (g *gate) relieve() {
	g.mu.Lock()
	oldest := first(g.waiting)
	if oldest != nil {
		g.leave(oldest)
	}
	g.mu.Unlock()
	if oldest != nil {
		_ = oldest.Conn.Close() // it makes room
		g.ended(ReasonFull)
	}
}

// host is what counts as one address: a client with an address of IPv6 has its /64.
func (g *gate) host(from net.Addr) netip.Addr {
	tcp, ok := from.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	for _, proxy := range g.proxies {
		if proxy.Contains(ip) {
			return netip.Addr{}
		}
	}
	if ip.Is4() {
		return ip
	}
	const network = 64
	prefix, err := ip.Prefix(network)
	if err != nil {
		return netip.Addr{}
	}
	return prefix.Addr()
}

// queue has a connection wait for its peer, behind all others. The caller holds mu.
func (g *gate) queue(c *conn) {
	if c.all != nil {
		return
	}
	c.all = g.waiting.PushBack(c)
	if !c.host.IsValid() {
		return
	}
	host := g.hosts[c.host]
	if host == nil {
		host = list.New()
		g.hosts[c.host] = host
	}
	c.own = host.PushBack(c)
}

// unqueue is the opposite of queue. The caller holds mu.
func (g *gate) unqueue(c *conn) {
	if c.all != nil {
		g.waiting.Remove(c.all)
	}
	if c.own != nil {
		host := g.hosts[c.host]
		if host.Remove(c.own); host.Len() == 0 {
			delete(g.hosts, c.host)
		}
	}
	c.all, c.own = nil, nil
}

// work notes that a connection has a whole request to be answered.
func (g *gate) work(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c.busy++
	c.served = true
	g.unqueue(c)
}

// hear notes that the header of a request arrived.
func (g *gate) hear(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c.served = true
}

// wait notes that a request was answered.
func (g *gate) wait(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.busy--; c.busy == 0 && !c.gone {
		g.queue(c)
	}
}

// leave forgets a connection, once. The caller holds mu.
func (g *gate) leave(c *conn) {
	if c.gone {
		return
	}
	c.gone = true
	g.open--
	g.unqueue(c)
}
