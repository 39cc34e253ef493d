package link

import (
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// State is how the link is.
type State string

// The states of a link.
const (
	StateStarting     State = "Starting"
	StateConnected    State = "Connected"
	StateConnecting   State = "Connecting"   // it is tried again
	StateUnregistered State = "Unregistered" // a token is missing
	StateTwin         State = "Twin"         // another cluster has an agent with this identity
	StateRefused      State = "Refused"      // the server does not take this agent
	StateStopped      State = "Stopped"
)

// Status is how the link is now. It appears in health, metrics and log.
type Status struct {
	State   State     `json:"state"`
	Since   time.Time `json:"since"`
	Message string    `json:"message,omitempty"`
	Server  string    `json:"server"`
	Agent   string    `json:"agent,omitempty"`
	// Insecure says that the server's certificate is not verified.
	Insecure bool `json:"insecure,omitempty"`
	// Pending is how many changes and events the server has not acknowledged.
	Pending int `json:"pending"`
	// Oldest is how long the first of them waits, in seconds.
	Oldest float64 `json:"oldestSeconds"`
	// Lost is how many events were dropped.
	Lost uint64 `json:"eventsLost"`
	// Sessions is how often the link was made; all but the first are reconnects.
	Sessions uint64 `json:"sessions"`
	// CertificateEnds is when the certificate that the agent shows expires.
	CertificateEnds time.Time `json:"certificateEnds,omitzero"`
	// Skew is how far the server's clock is before the agent's, in seconds.
	Skew float64 `json:"clockSkewSeconds,omitempty"`

	certificateLasts time.Duration
	at               time.Time // when this was so
}

// board is where the state is written.
type board struct {
	now func() time.Time

	logger *slog.Logger

	mu       sync.Mutex
	s        Status
	logged   string // the state and message that were logged last
	loggedAt time.Time
}

func newBoard(cfg Config) *board {
	b := &board{now: cfg.Now, logger: cfg.Log, s: Status{State: StateStarting, Since: cfg.Now(), Insecure: cfg.Transport.Insecure}}
	if cfg.Server != nil {
		b.s.Server = cfg.Server.String()
	}
	return b
}

// set changes the state; since moves with it alone.
func (b *board) set(state State, message string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.s.State != state {
		b.s.State, b.s.Since = state, b.now()
		if state == StateConnected {
			b.s.Sessions++
		}
	}
	b.s.Message = message
}

func (b *board) named(agent string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.s.Agent = agent
}

func (b *board) skewed(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.s.Skew = d.Round(time.Millisecond).Seconds()
}

// shows notes the certificate of the agent; nil for none.
func (b *board) shows(leaf *x509.Certificate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.s.CertificateEnds, b.s.certificateLasts = time.Time{}, 0
	if leaf != nil {
		b.s.CertificateEnds, b.s.certificateLasts = leaf.NotAfter, leaf.NotAfter.Sub(leaf.NotBefore)
	}
}

func (b *board) get() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.s
	out.at = b.now()
	return out
}

// lost says why there is no session.
func (b *board) lost(err error) {
	state := StateConnecting
	var refused *agentapi.Error
	switch {
	case errors.Is(err, errUnregistered):
		state = StateUnregistered
	case errors.Is(err, errToken), forbidden(err):
		state = StateRefused
	case errors.As(err, &refused) && refused.Code == agentapi.CodeTwin:
		state = StateTwin
	case errors.As(err, &refused) && (refused.Code == agentapi.CodeRevoked || refused.Code == agentapi.CodeProtocol ||
		refused.Code == agentapi.CodeEngine):
		state = StateRefused
	}
	message := ""
	if err != nil {
		message = err.Error()
	}
	b.set(state, message)
}

// forbidden reports whether the server does not take the agent's key.
func forbidden(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked) ||
		errors.Is(err, nats.ErrAccountAuthExpired)
}

// Status returns how the link is. It reads no file: it is asked for each heartbeat, scrape and page.
func (l *Link) Status() Status {
	s := l.status.get()
	b := l.buffer.backlog()
	s.Pending, s.Oldest, s.Lost = b.pending, b.oldest.Seconds(), b.lost
	return s
}

// Component is the link as part of an agent's health. It is healthy while there is a session.
func (s Status) Component() agentapi.Component {
	c := agentapi.Component{Name: "link", Status: agentapi.ComponentHealthy}
	switch {
	case s.State != StateConnected:
		c.Status, c.Message = agentapi.ComponentDegraded, fmt.Sprintf("%s: %s", s.State, s.Message)
	case s.Lost > 0:
		c.Message = fmt.Sprintf("%d events were lost since the agent started", s.Lost)
	case s.Skew > 60 || s.Skew < -60:
		c.Message = fmt.Sprintf("the clocks of server and agent differ by %.0f s", s.Skew)
	}
	s.certified(&c)
	return c
}

// Pauses before the next attempt. A failed attempt costs some packets, so that a network that is back is noticed
// immediately; one that a server has to answer costs more, and many agents come back at a time.
const (
	firstPause     = 50 * time.Millisecond
	pauseDown      = 1300 * time.Millisecond // if nothing is reached
	pauseFault     = 15 * time.Second        // if something answers, and it does not work
	pauseForbidden = time.Minute
	steady         = 5 * time.Second // a session that lasted so long was a good one
)

// pace is how fast attempts follow each other.
type pace struct{ next time.Duration }

// after returns the pause after an attempt that ended with err and lasted so long. It grows and has jitter.
func (p *pace) after(err error, lasted time.Duration) time.Duration {
	if lasted > steady {
		p.next = 0
	}
	p.next = max(firstPause, 2*p.next)
	limit := pauseFault
	var u *unreachable
	var refused *agentapi.Error
	switch {
	case errors.As(err, &u), errors.Is(err, errSessionOver):
		limit = pauseDown
	case forbidden(err), errors.Is(err, errUnregistered), errors.Is(err, errToken):
		limit = pauseForbidden
		p.next = max(p.next, time.Second)
	case errors.As(err, &refused):
		if wait := time.Duration(refused.RetryAfter) * time.Second; wait > 0 {
			return jittered(min(wait, time.Hour))
		}
		switch refused.Code {
		case agentapi.CodeTwin:
			return jittered(agentapi.TwinRetry)
		case agentapi.CodeRevoked, agentapi.CodeProtocol:
			limit = pauseForbidden
			p.next = max(p.next, 5*time.Second)
		}
	}
	p.next = min(p.next, limit)
	return spread(p.next)
}

// jittered returns d or up to a fifth more: never less than what the other side asked for.
func jittered(d time.Duration) time.Duration { return d + rand.N(d/5+1) }

// spread returns between a half of d and d.
func spread(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }

// log writes why there is no session: once in a while where that goes on, and loudly where an administrator must act.
func (b *board) log(err error, pause time.Duration) {
	b.mu.Lock()
	s := b.s
	key := string(s.State) + s.Message
	again := b.logged == key && b.now().Sub(b.loggedAt) < logEvery
	if !again {
		b.logged, b.loggedAt = key, b.now()
	}
	b.mu.Unlock()
	level := b.logger.Debug
	switch {
	case again:
	case s.State == StateTwin:
		b.logger.Error("TWIN: another cluster has an agent with this identity; this one continues and is not seen by the server: "+
			"register one of the two again", "err", err, "next_try", pause.Round(time.Second).String())
		return
	case s.State == StateRefused || s.State == StateUnregistered:
		b.logger.Error("the server does not know this agent", "err", err, "next_try", pause.Round(time.Millisecond).String())
		return
	default:
		level = b.logger.Warn
	}
	level("no link to the server; the agent works on", "err", err, "next_try", pause.Round(time.Millisecond).String())
}

// logEvery is how often one and the same trouble is logged.
const logEvery = 5 * time.Minute
