package gateway

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
)

// maxArriving is how many connections to the link may be open whose agent has not proven its key. An agent proves it within
// milliseconds; a client that does not holds memory of the broker for as long as authTimeout. The oldest makes room for a new
// one.
const maxArriving = 128

// arrivals are connections to the link whose agent has not proven its key.
type arrivals struct {
	mu     sync.Mutex
	oldest *list.List
	// ports has them by their port at the broker, which is all that it knows of them.
	ports map[int]*arrival
}

type arrival struct {
	cut  func()
	port int
	at   *list.Element // nil once the key was proven, or the connection is over
}

func newArrivals() *arrivals { return &arrivals{oldest: list.New(), ports: map[int]*arrival{}} }

// enter adds a connection until it is settled or over is called. The request that it gives is the one to pass on.
func (a *arrivals) enter(r *http.Request) (with *http.Request, over func()) {
	ctx, cancel := context.WithCancel(r.Context())
	one := &arrival{cut: cancel}
	a.mu.Lock()
	if a.oldest.Len() >= maxArriving {
		if first, ok := a.oldest.Front().Value.(*arrival); ok {
			a.remove(first)
			defer first.cut()
		}
	}
	one.at = a.oldest.PushBack(one)
	a.mu.Unlock()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if local, ok := info.Conn.LocalAddr().(*net.TCPAddr); ok && one.at != nil {
			one.port = local.Port
			a.ports[local.Port] = one
		}
	}})
	return r.WithContext(ctx), func() {
		a.mu.Lock()
		a.remove(one)
		a.mu.Unlock()
		cancel()
	}
}

// settle notes that the agent of a connection has proven its key.
func (a *arrivals) settle(at net.Addr) {
	remote, ok := at.(*net.TCPAddr)
	if !ok { // the server's own
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if one := a.ports[remote.Port]; one != nil {
		a.remove(one)
	}
}

// remove forgets a connection, once. The caller holds mu.
func (a *arrivals) remove(one *arrival) {
	if one.at == nil {
		return
	}
	a.oldest.Remove(one.at)
	one.at = nil
	if a.ports[one.port] == one {
		delete(a.ports, one.port)
	}
}
