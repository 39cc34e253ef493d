package cloud

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	obtainLimit  = 30 * time.Second
	spare        = 30 * time.Second // a token that ends earlier is not used any more: a fetch has to begin with it
	firstBackoff = 2 * time.Second
	maxBackoff   = 5 * time.Minute
	refusedPause = time.Minute      // between two renewals because a server refused a token
	shortest     = 10 * time.Second // that a token is used for although it ends soon
)

// Obtain gets a new token, within 30 s. One caller at a time does.
type Obtain func(ctx context.Context) (Token, error)

// Holder keeps one token, and renews it before it ends. It is safe for concurrent use.
type Holder struct {
	ask      Obtain
	identity string
	now      func() time.Time
	turn     chan struct{} // holds one token: the right to ask

	mu     sync.Mutex
	token  Token
	renew  time.Time // when to ask for the next one, before this one ends
	until  time.Time // when it is not used any more
	failed int       // in a row
	err    error     // of the last attempt; nil after a good one
	retry  time.Time // no attempt before
	forced time.Time // when it was last renewed because a server refused it
}

// NewHolder makes a holder that no Keeper shares.
func NewHolder(now func() time.Time, ask Obtain) *Holder {
	return &Holder{ask: ask, now: now, turn: make(chan struct{}, 1)}
}

// Identity identifies the grant without revealing it. It stays the same when the token changes.
func (h *Holder) Identity() string { return h.identity }

// Token returns a token that can be used now. A refused one is one that a server did not accept: it is renewed, at most once a
// minute. While the service fails, the old token is returned until it ends, and then the last error.
func (h *Holder) Token(ctx context.Context, refused string) (Token, error) {
	have, usable, due := h.look(refused)
	if usable && !due {
		return have, nil
	}
	if usable {
		select { // another caller renews it already
		case h.turn <- struct{}{}:
		default:
			return have, nil
		}
	} else {
		select {
		case h.turn <- struct{}{}:
		case <-ctx.Done():
			return Token{}, context.Cause(ctx)
		}
	}
	defer func() { <-h.turn }()
	if have, usable, due = h.look(refused); usable && !due {
		return have, nil
	}
	if err := h.held(); err != nil {
		return Token{}, err
	}
	got, err := h.obtain(ctx, refused)
	if err != nil && usable {
		return have, nil
	}
	return got, err
}

// look returns the token as it is, whether it can be used, and whether it is time to renew it.
func (h *Holder) look(refused string) (have Token, usable, due bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	usable = h.token.Secret != "" && now.Before(h.until)
	if usable && refused != "" && h.token.Secret == refused && now.Sub(h.forced) >= refusedPause {
		return h.token, false, true
	}
	return h.token, usable, !now.Before(h.renew) && !now.Before(h.retry)
}

// held returns the last error while a service that fails is left alone.
func (h *Holder) held() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil && h.now().Before(h.retry) {
		return h.err
	}
	return nil
}

// obtain gets a new token. The turn is held.
func (h *Holder) obtain(ctx context.Context, refused string) (Token, error) {
	limited, cancel := context.WithTimeout(ctx, obtainLimit)
	defer cancel()
	got, err := h.ask(limited)
	if err != nil && ctx.Err() != nil {
		return Token{}, context.Cause(ctx) // the caller gave up, which says nothing about the service
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if refused != "" {
		h.forced = now
	}
	if err == nil && !now.Before(got.Ends) {
		err = errors.New("the token that was given has ended already: compare the clocks of this machine and of the service")
	}
	if err != nil {
		h.failed++
		h.err, h.retry = err, now.Add(backoff(h.failed))
		return Token{}, err
	}
	h.token, h.failed, h.err, h.retry = got, 0, nil, time.Time{}
	h.renew, h.until = now.Add(early(got.Ends.Sub(now))), got.Ends.Add(-spare)
	if soon := now.Add(shortest); h.until.Before(soon) {
		h.until = got.Ends
		if soon.Before(got.Ends) {
			h.until = soon
		}
	}
	return got, nil
}

// early is when to renew what lasts for a while: after three quarters of it, give or take a twentieth, so that not all tokens are
// renewed together.
func early(lasts time.Duration) time.Duration {
	return time.Duration(float64(lasts) * (0.7 + 0.1*rand.Float64()))
}

// backoff is how long to leave a service alone after its nth failure in a row.
func backoff(n int) time.Duration {
	d := firstBackoff
	for range min(n-1, 10) {
		d = min(2*d, maxBackoff)
	}
	return time.Duration(float64(d) * (0.9 + 0.2*rand.Float64()))
}
