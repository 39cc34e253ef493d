package authn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/outward"
)

// Config is what sign-in stands on.
type Config struct {
	Users           Users
	ServiceAccounts ServiceAccounts
	Sessions        Sessions
	Tokens          Tokens
	Attempts        Attempts
	Pendings        Pendings

	// URL is where browsers find the server, such as https://slipway.example.org. With http:// cookies are sent in clear.
	URL string
	// Providers are the identity providers, the first of which is offered first.
	Providers []Provider
	// NoPasswords turns local users off, once people sign in by a provider.
	NoPasswords bool
	// Idle and Longest bound a browser's session: since it was last used (default 12 h), and altogether (default 7 days).
	Idle, Longest time.Duration
	// GroupsLast bounds a sign-in by a provider (default Longest): as long as the groups are valid that followed from
	// it, so that a session keeps its groups.
	GroupsLast time.Duration
	// Hash is how much work a password's hash is; default [DefaultParams].
	Hash Params
	// Outbound is what providers may have this server connect to, besides the hosts of the configured issuers; nil for all
	// but this machine, the link and services of clouds.
	Outbound *outward.Policy

	Now func() time.Time
	Log *slog.Logger
}

// Authn finds out who asks.
type Authn struct {
	cfg       Config
	base      *url.URL
	hasher    *hasher
	providers []*provider
}

// New reads the configuration. It asks no provider yet: one that is away does not keep the server from starting.
func New(cfg Config) (*Authn, error) {
	if cfg.Idle == 0 {
		cfg.Idle = 12 * time.Hour
	}
	if cfg.Longest == 0 {
		cfg.Longest = 7 * 24 * time.Hour
	}
	if cfg.GroupsLast == 0 || cfg.GroupsLast > cfg.Longest {
		cfg.GroupsLast = cfg.Longest
	}
	if cfg.Hash == (Params{}) {
		cfg.Hash = DefaultParams()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Outbound == nil {
		cfg.Outbound = &outward.Policy{Private: true}
	}
	if cfg.Idle < time.Minute || cfg.Longest < cfg.Idle {
		return nil, fmt.Errorf("a session may be idle for %s and last for %s: the first is at least a minute, the second at least as long",
			cfg.Idle, cfg.Longest)
	}
	base, err := url.Parse(strings.TrimSuffix(cfg.URL, "/"))
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" || base.User != nil || base.RawQuery != "" ||
		base.Path != "" {
		return nil, errors.New("the server's own URL cannot be used: write it as https://slipway.example.org")
	}
	a := &Authn{cfg: cfg, base: base}
	if a.hasher, err = newHasher(cfg.Hash); err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, p := range cfg.Providers {
		read, err := newProvider(p, a.callback(), cfg.Outbound)
		if err != nil {
			return nil, err
		}
		if names[p.Name] {
			return nil, fmt.Errorf("identity provider %s is there twice: give each a name of its own", p.Name)
		}
		names[p.Name] = true
		a.providers = append(a.providers, read)
	}
	if cfg.NoPasswords && len(a.providers) == 0 {
		return nil, errors.New("no user could sign in: passwords are turned off, and there is no identity provider")
	}
	return a, nil
}

// Methods says how one can sign in.
func (a *Authn) Methods(context.Context) api.SignInMethods {
	out := api.SignInMethods{Password: !a.cfg.NoPasswords}
	if len(a.providers) > 0 {
		out.OIDC, out.OIDCName = beginPath, a.providers[0].cfg.title()
	}
	return out
}

// Clean forgets what has expired. Call it every some minutes.
func (a *Authn) Clean(ctx context.Context) error {
	now := a.cfg.Now()
	return errors.Join(
		a.cfg.Sessions.DeleteOldSessions(ctx, now, now.Add(-a.cfg.Idle)),
		a.cfg.Attempts.DeleteOldAttempts(ctx, now.Add(-forgetAfter)),
		a.cfg.Pendings.DeleteOldPending(ctx, now),
	)
}
