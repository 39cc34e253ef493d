// Package cloud obtains short-lived tokens, for long-lived credentials or for the identity that a cloud gives to the agent's pod: of
// GitHub Apps, AWS, Google Cloud and Microsoft Entra. Tokens are kept in memory only.
package cloud

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
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

// Grant is a long-lived credential or an identity, and the service that gives tokens for it.
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
	answerBytes = 1 << 20
	maxHolders  = 10_000
)

// Options configure a Keeper. They are the operator's alone. The zero value of a field means its default.
type Options struct {
	// Outbound is the policy for services; nil for all but this machine and the link.
	Outbound *outward.Policy
	// Getenv reads the variables with which clouds give an identity to a pod; nil for os.Getenv.
	Getenv func(name string) string
	// Access is how the services of the pod's identity are reached, without a credential: authorities.
	Access web.Access
	Now    func() time.Time // nil for time.Now
}

// Keeper keeps the tokens of all grants. It is safe for concurrent use.
type Keeper struct {
	opts Options

	mu      sync.Mutex
	holders map[string]*Holder
}

// NewKeeper makes a Keeper. It asks no service yet.
func NewKeeper(o Options) *Keeper {
	if o.Outbound == nil {
		o.Outbound = &outward.Policy{Private: true}
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Keeper{opts: o, holders: map[string]*Holder{}}
}

// Of returns the holder of a grant's tokens, the same one for equal grants that are reached in the same way.
func (k *Keeper) Of(g Grant, a web.Access) (*Holder, error) {
	a = a.WithoutSecrets()
	return k.Holder(func() (Obtain, error) {
		client, err := web.Open(g.home(), k.policy(g), a, web.Options{Bytes: answerBytes, SameHost: true})
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) (Token, error) { return g.obtain(ctx, client, k.opts.Now()) }, nil
	}, append(g.fields(), g.home(), a.Scope())...)
}

// Own is Of for an identity of the agent's own pod.
func (k *Keeper) Own(g Grant) (*Holder, error) { return k.Of(g, k.opts.Access) }

// Now is the time of the keeper.
func (k *Keeper) Now() time.Time { return k.opts.Now() }

// Getenv is a variable of the agent.
func (k *Keeper) Getenv(name string) string { return k.opts.Getenv(name) }

// Holder returns the holder of what begin makes, the same one for the same id, of which only a hash is kept.
func (k *Keeper) Holder(begin func() (Obtain, error), id ...string) (*Holder, error) {
	sum := sha256.New()
	for _, f := range id {
		fmt.Fprintf(sum, "%d:%s", len(f), f)
	}
	called := hex.EncodeToString(sum.Sum(nil)[:16])
	have := func(made *Holder) *Holder {
		k.mu.Lock()
		defer k.mu.Unlock()
		if h := k.holders[called]; h != nil || made == nil {
			return h
		}
		if len(k.holders) >= maxHolders { // those that are in use go on without being shared
			clear(k.holders)
		}
		k.holders[called] = made
		return made
	}
	if h := have(nil); h != nil {
		return h, nil
	}
	ask, err := begin()
	if err != nil {
		return nil, err
	}
	made := NewHolder(k.opts.Now, ask)
	made.identity = called
	return have(made), nil
}

// policy is which addresses a grant's service may have. That of the metadata of the pod's own machine is allowed by its name alone.
func (k *Keeper) policy(g Grant) *outward.Policy {
	if at, ok := g.(*metadata); ok {
		return k.allowing(at.host)
	}
	return k.opts.Outbound
}

// allowing is the operator's policy for a host that the environment of the agent, or the cloud, names: it is allowed, unless the
// operator refuses it by its name or its address.
func (k *Keeper) allowing(host string) *outward.Policy {
	p := outward.Policy{Private: true, Allow: outward.List{
		Networks: slices.Clone(k.opts.Outbound.Allow.Networks), Names: slices.Clone(k.opts.Outbound.Allow.Names),
	}, Deny: k.opts.Outbound.Deny}
	if u, err := url.Parse("http://" + host); err == nil {
		host = u.Hostname()
	}
	if one, err := outward.ReadList([]string{host}); err == nil {
		p.Allow.Networks, p.Allow.Names = append(p.Allow.Networks, one.Networks...), append(p.Allow.Names, one.Names...)
	}
	return &p
}
