// Package grant obtains short-lived tokens for long-lived credentials: GitHub Apps, service accounts of Google Cloud, and
// applications of Microsoft Entra. Tokens are kept in memory only.
package grant

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source/web"
)

// Token is what signs in for a while. Printing or logging one shows nothing of it.
type Token struct {
	Username string    // for Secret as a password; "" where Secret is a bearer token
	Secret   string    // the token
	Ends     time.Time // from then on it is worth nothing
}

// String shows no secret.
func (t Token) String() string { return "token(until " + t.Ends.UTC().Format(time.RFC3339) + ")" }

// GoString shows no secret.
func (t Token) GoString() string { return t.String() }

// LogValue shows no secret.
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalJSON shows no secret.
func (t Token) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

// Grant is a long-lived credential, and the service that gives tokens for it.
type Grant interface {
	// fields are all that decides which tokens are given, secrets included; only their hash leaves the package.
	fields() []string
	// home is the address of the service.
	home() string
	// obtain asks the service for a token.
	obtain(ctx context.Context, client *web.Client, now time.Time) (Token, error)
}

// Home is the address of the service that gives tokens for a grant.
func Home(g Grant) string { return g.home() }

const (
	obtainLimit  = 30 * time.Second
	answerBytes  = 1 << 20
	spare        = 30 * time.Second // a token that ends earlier is not used any more: a fetch has to begin with it
	firstBackoff = 2 * time.Second
	maxBackoff   = 5 * time.Minute
	refusedPause = time.Minute // between two renewals because a server refused a token
	maxHolders   = 10_000
)

// Keeper keeps the tokens of all grants. It is safe for concurrent use.
type Keeper struct {
	policy *outward.Policy
	now    func() time.Time

	mu      sync.Mutex
	holders map[string]*Holder
}

// NewKeeper connects to what a policy allows.
func NewKeeper(policy *outward.Policy, now func() time.Time) *Keeper {
	return &Keeper{policy: policy, now: now, holders: map[string]*Holder{}}
}

// Of returns the holder of a grant's tokens, the same one for equal grants that are reached in the same way.
func (k *Keeper) Of(g Grant, a web.Access) (*Holder, error) {
	a = a.WithoutSecrets()
	id := identity(g, a)
	k.mu.Lock()
	defer k.mu.Unlock()
	if h := k.holders[id]; h != nil {
		return h, nil
	}
	client, err := web.Open(g.home(), k.policy, a, web.Options{Bytes: answerBytes})
	if err != nil {
		return nil, err
	}
	if len(k.holders) >= maxHolders { // those that are in use go on without being shared
		clear(k.holders)
	}
	h := &Holder{grant: g, client: client, identity: id, now: k.now, turn: make(chan struct{}, 1)}
	k.holders[id] = h
	return h, nil
}

func identity(g Grant, a web.Access) string {
	h := sha256.New()
	for _, f := range append(g.fields(), g.home(), a.Scope()) {
		fmt.Fprintf(h, "%d:%s", len(f), f)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Holder keeps the token of one grant, and renews it before it ends.
type Holder struct {
	grant    Grant
	client   *web.Client
	identity string
	now      func() time.Time
	turn     chan struct{} // holds one token: the right to ask the service

	mu     sync.Mutex
	token  Token
	renew  time.Time // when to ask for the next one, before this one ends
	failed int       // in a row
	err    error     // of the last attempt; nil after a good one
	retry  time.Time // no attempt before
	forced time.Time // when it was last renewed because a server refused it
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
	got, err := h.ask(ctx, refused)
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
	usable = h.token.Secret != "" && now.Add(spare).Before(h.token.Ends)
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

// ask gets a new token. The turn is held.
func (h *Holder) ask(ctx context.Context, refused string) (Token, error) {
	limited, cancel := context.WithTimeout(ctx, obtainLimit)
	defer cancel()
	got, err := h.grant.obtain(limited, h.client, h.now())
	if err != nil && ctx.Err() != nil {
		return Token{}, context.Cause(ctx) // the caller gave up, which says nothing about the service
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if refused != "" {
		h.forced = now
	}
	if err == nil && !now.Add(spare).Before(got.Ends) {
		err = fmt.Errorf("%s: the token that it gives has ended already: compare the clocks of this machine and of the service",
			web.Shown(h.client.Home()))
	}
	if err != nil {
		h.failed++
		h.err, h.retry = err, now.Add(backoff(h.failed))
		return Token{}, err
	}
	h.token, h.failed, h.err, h.retry = got, 0, nil, time.Time{}
	h.renew = now.Add(early(got.Ends.Sub(now)))
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
