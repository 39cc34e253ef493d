// Package inlet serves HTTP to peers that are slow, silent or many. Every read and every write has a deadline, and the
// connections that wait for their peer are bounded, for one address and in all. All servers of this repository are made
// here.
package inlet

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Limits bounds the connections of a Server. A field that is 0 has its default.
type Limits struct {
	// Connections is how many may be open in all: 16384. A new one takes the place of the oldest that waits for its peer;
	// where none does, the Server closes the new one.
	Connections int
	// Waiting is how many of them may wait for their peer, which has not sent a whole request yet or is idle: 4096. The oldest
	// makes room for a new one.
	Waiting int
	// PerAddress is how many of one IPv4 address, or of one /64 of IPv6, may wait for their peer: 512. A connection whose
	// request is answered, an event stream and the link of an agent are not included: many of them may share one address.
	PerAddress int

	// Header bounds a TLS handshake, and the header of a request: 10 s.
	Header time.Duration
	// Body is how long a body may take besides the time that it has for its bytes: 10 s.
	Body time.Duration
	// BodyRate is how many bytes of a body must arrive in a second: 8 KiB.
	BodyRate int
	// Answer is how long a peer may take to accept the next 64 KiB of an answer: 30 s.
	Answer time.Duration
	// Idle is how long a connection may stay open between two requests: 2 minutes.
	Idle time.Duration
	// HeaderBytes bounds the header of a request: 64 KiB.
	HeaderBytes int
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Connections: cmp.Or(l.Connections, 16<<10), Waiting: cmp.Or(l.Waiting, 4<<10), PerAddress: cmp.Or(l.PerAddress, 512),
		Header: cmp.Or(l.Header, 10*time.Second), Body: cmp.Or(l.Body, 10*time.Second), BodyRate: cmp.Or(l.BodyRate, 8<<10),
		Answer: cmp.Or(l.Answer, 30*time.Second), Idle: cmp.Or(l.Idle, 2*time.Minute), HeaderBytes: cmp.Or(l.HeaderBytes, 64<<10),
	}
}

const (
	// piece is how much of an answer one deadline is for.
	piece = 64 << 10
	// maxStreams is how many requests one connection of HTTP/2 may have open.
	maxStreams = 128
)

// Reason is why a Server ended a connection or a request.
type Reason string

// The reasons.
const (
	// ReasonAddress: too many connections of one address waited for their peer.
	ReasonAddress Reason = "address"
	// ReasonWaiting: too many connections in all waited for their peer.
	ReasonWaiting Reason = "waiting"
	// ReasonFull: too many connections were open, and none waited for its peer.
	ReasonFull Reason = "full"
	// ReasonHeader: no handshake or header arrived in time on a new connection.
	ReasonHeader Reason = "header"
	// ReasonBody: the body of a request was too slow.
	ReasonBody Reason = "body"
	// ReasonAnswer: the peer did not read the answer in time.
	ReasonAnswer Reason = "answer"
)

// Reasons lists all reasons.
func Reasons() []Reason {
	return []Reason{ReasonAddress, ReasonWaiting, ReasonFull, ReasonHeader, ReasonBody, ReasonAnswer}
}

// Config is what a Server needs.
type Config struct {
	Handler http.Handler
	// TLS is nil for plain HTTP.
	TLS    *tls.Config
	Limits Limits
	// Proxies have no bound of their own on connections: those of many peers come from one address.
	Proxies []netip.Prefix
	// Log gets what net/http reports, at level debug; nil for nowhere.
	Log *slog.Logger
	// Ended is called for every connection or request that a limit ended; nil for none. It must not block.
	Ended func(Reason)
}

// Server is an HTTP server. Make it with New.
type Server struct {
	cfg  Config
	http *http.Server
	gate *gate
}

// New makes a Server.
func New(cfg Config) *Server {
	cfg.Limits = cfg.Limits.withDefaults()
	if cfg.Ended == nil {
		cfg.Ended = func(Reason) {}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: cfg, gate: newGate(cfg)}
	s.http = &http.Server{
		Handler: http.HandlerFunc(s.serve), TLSConfig: cfg.TLS,
		// ReadTimeout and WriteTimeout would end streams that may last: serve sets deadlines for each body and each piece.
		ReadHeaderTimeout: cfg.Limits.Header, IdleTimeout: cfg.Limits.Idle, MaxHeaderBytes: cfg.Limits.HeaderBytes,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams, SendPingTimeout: cfg.Limits.Answer, PingTimeout: cfg.Limits.Header,
			WriteByteTimeout: cfg.Limits.Answer,
		},
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if secure, ok := c.(*tls.Conn); ok {
				c = secure.NetConn()
			}
			return context.WithValue(ctx, connKey{}, c)
		},
		ErrorLog: slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
	}
	return s
}

// Listen takes a TCP address.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", address)
}

// Serve answers what arrives at the listener until Shutdown or Close, and closes it. Requests have base as their context.
func (s *Server) Serve(base context.Context, listener net.Listener) error {
	s.http.BaseContext = func(net.Listener) context.Context { return base }
	bounded := &bounded{listener, s.gate}
	var err error
	if s.cfg.TLS != nil {
		err = s.http.ServeTLS(bounded, "", "")
	} else {
		err = s.http.Serve(bounded)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Shutdown stops listening, and waits until requests have been answered and peers have the answers, or ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	return errors.Join(s.http.Shutdown(ctx), s.gate.settle(ctx))
}

// Close stops listening and cuts off what is open.
func (s *Server) Close() error {
	s.gate.sever()
	return s.http.Close()
}

// Handler answers without a connection, for tests.
func (s *Server) Handler() http.Handler { return s.cfg.Handler }

// Counts returns how many connections are open, and how many of them wait for their peer.
func (s *Server) Counts() (open, waiting int) { return s.gate.counts() }

type connKey struct{}

// serve holds one request to its deadlines.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	at, _ := r.Context().Value(connKey{}).(*conn)
	control := http.NewResponseController(w)
	out := &answer{ResponseWriter: w, control: control, server: s, conn: at, plexed: r.ProtoMajor > 1}
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		out.begin()
	} else {
		if at != nil {
			at.gate.hear(at)
		}
		out.body = &body{ReadCloser: r.Body, out: out}
		with := *r // net/http looks at the body of its own request by its type
		with.Body = out.body
		r = &with
	}
	defer out.end()
	s.cfg.Handler.ServeHTTP(out, r)
}

// body is that of a request. It must arrive at a rate.
type body struct {
	io.ReadCloser
	out   *answer
	begun time.Time // of the first read: a handler may be busy before
	read  int64
	// bound is the deadline that the handler set, and armed the one in force; zero for none.
	bound, armed time.Time
	whole        bool
}

// arm sets the deadline that follows from what was read.
func (b *body) arm() {
	if b.begun.IsZero() {
		b.begun = time.Now()
	}
	limits := &b.out.server.cfg.Limits
	due := b.begun.Add(limits.Body + time.Duration(b.read)*time.Second/time.Duration(limits.BodyRate))
	if !b.bound.IsZero() && b.bound.Before(due) {
		due = b.bound
	}
	if late := due.Sub(b.armed); late >= 0 && late < time.Second { // a timer for each read would cost more than the read
		return
	}
	b.armed = due
	_ = b.out.control.SetReadDeadline(due) // not every writer can, in tests
}

// Read reads on, as long as the peer is quick enough.
func (b *body) Read(p []byte) (int, error) {
	b.arm()
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	var timeout net.Error
	switch {
	case errors.Is(err, io.EOF) && !b.whole:
		b.whole = true
		_ = b.out.control.SetReadDeadline(time.Time{}) // what follows may take its time
		b.out.begin()
	case errors.As(err, &timeout) && timeout.Timeout():
		b.out.server.cfg.Ended(ReasonBody)
	}
	return n, err
}

// Close leaves the rest of the body to the end of the request: closing it here would wait for it.
func (b *body) Close() error { return nil }
