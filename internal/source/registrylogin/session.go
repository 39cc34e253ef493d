package registrylogin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source/web"
)

// Kinds of failures to sign in, for errors.Is. Errors about the registry itself are those of package web.
var (
	ErrNoSecret = errors.New("the registry asks for a credential")
	ErrWay      = errors.New("the registry asks for a way to sign in that is not supported")
	ErrService  = errors.New("the token service of the registry cannot be used")
	ErrIdentity = errors.New("the identity of the agent's pod cannot be used")
)

// Error is a failure to sign in, fit to be shown to a user: it holds neither a secret nor a word of a server.
type Error struct {
	Kind  error  // one of the sentinels
	Host  string // of the registry
	Hint  string // what to do
	cause error
}

// Error says what failed and what to do.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %s", e.Host, e.Kind)
	if e.cause != nil {
		text += " (" + e.cause.Error() + ")"
	}
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	return text
}

// Unwrap gives the kind, and the cause where there is one.
func (e *Error) Unwrap() []error {
	if e.cause != nil {
		return []error{e.Kind, e.cause}
	}
	return []error{e.Kind}
}

// maxTokens bounds the repositories of a session whose tokens are kept.
const maxTokens = 1000

// Options configure a Session.
type Options struct {
	// Client reaches the registry, which is its home, and has no credential of its own.
	Client *web.Client
	Keeper Keeper // nil for anonymous access
	// Elsewhere says whether the operator allows a token service at a host that has another domain than the registry; nil for none.
	Elsewhere func(host string) bool
	Now       func() time.Time // nil for time.Now
}

// Session signs requests to one registry in, with one keeper of secrets. What it learned of the registry, and tokens, serve the
// next requests. It is safe for concurrent use.
type Session struct {
	opts Options
	home *url.URL

	mu     sync.Mutex
	way    way // how the registry wants it; the zero value until it asked
	tokens map[string]*slot
}

// way is how a registry wants a client to sign in.
type way struct {
	basic   bool
	realm   *url.URL // of the token service
	service string
}

func (w way) unknown() bool { return !w.basic && w.realm == nil }

// NewSession makes a session. It asks nothing of the registry yet.
func NewSession(o Options) *Session {
	if o.Keeper == nil {
		o.Keeper = Fixed{}
	}
	if o.Elsewhere == nil {
		o.Elsewhere = func(string) bool { return false }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Session{opts: o, home: o.Client.Home(), tokens: map[string]*slot{}}
}

// Do sends a request without a body to the registry, signed in to pull from a repository. Answers of every status are returned;
// the caller closes their bodies. An answer with status 401 means that the registry does not accept the secret.
func (s *Session) Do(req *http.Request, repository string) (*http.Response, error) {
	ctx := req.Context()
	used, err := s.authorization(ctx, repository, "")
	if err != nil {
		return nil, err
	}
	resp, err := s.send(req, used)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	if resp.Request != nil && !sameHost(resp.Request.URL, s.home) {
		return resp, nil // a host that the registry redirects to has no say in how to sign in to it
	}
	drain(resp)
	if err := s.learn(challengesOf(resp.Header)); err != nil {
		return nil, err
	}
	again, err := s.authorization(ctx, repository, used)
	if err != nil {
		return nil, err
	}
	if again == used { // it was refused already
		return nil, s.refused()
	}
	resp, err = s.send(req, again)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	drain(resp)
	return nil, s.refused()
}

func (s *Session) refused() error {
	return &web.Error{
		Kind: web.ErrAuth, URL: web.Shown(s.home),
		Hint: "the registry does not accept the credential for this repository: check user name, password or token, and that it has not expired",
	}
}

func (s *Session) send(req *http.Request, authorization string) (*http.Response, error) {
	out := req.Clone(req.Context())
	if authorization != "" {
		out.Header.Set("Authorization", authorization)
	}
	return s.opts.Client.Do(out)
}

// drain ends an answer, so that its connection serves the next request.
func drain(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	_ = resp.Body.Close()
}

// learn remembers how the registry wants a client to sign in. It prefers tokens, which reveal no password to the registry.
func (s *Session) learn(offered []challenge) error {
	var found way
	for _, c := range offered {
		switch c.scheme {
		case "bearer":
			realm, err := s.judge(c.parameters["realm"])
			if err != nil {
				return err
			}
			found = way{realm: realm, service: c.parameters["service"]}
		case "basic":
			found.basic = true
		}
		if found.realm != nil {
			break
		}
	}
	if found.unknown() {
		return &Error{Kind: ErrWay, Host: s.home.Host, Hint: "Basic and Bearer are: check the address, and what is in front of the registry"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.way.service != found.service || s.way.basic != found.basic || (s.way.realm == nil) != (found.realm == nil) ||
		found.realm != nil && s.way.realm.String() != found.realm.String() {
		s.way = found
		clear(s.tokens)
	}
	return nil
}

// authorization is the header that signs a request for a repository in; "" where it goes out without one. spent is what the
// registry refused just now.
func (s *Session) authorization(ctx context.Context, repository, spent string) (string, error) {
	s.mu.Lock()
	now := s.way
	s.mu.Unlock()
	if now.unknown() {
		return "", nil
	}
	secret, err := s.secret(ctx, repository)
	switch {
	case err != nil:
		return "", err
	case secret.Token != "":
		return "Bearer " + secret.Token, nil
	case now.realm != nil:
		token, err := s.token(ctx, now, secret, repository, strings.TrimPrefix(spent, "Bearer "))
		if err != nil {
			return "", err
		}
		return "Bearer " + token, nil
	case secret.Password == "" && secret.Username == "":
		return "", &Error{
			Kind: ErrNoSecret, Host: s.home.Host,
			Hint: "the repository is private or does not exist: check the address and add a credential",
		}
	}
	req := http.Request{Header: http.Header{}}
	req.SetBasicAuth(secret.Username, secret.Password)
	return req.Header.Get("Authorization"), nil
}

// secret asks the keeper.
func (s *Session) secret(ctx context.Context, repository string) (Secret, error) {
	secret, err := s.opts.Keeper.Secret(ctx, s.home.Host, repository)
	if err == nil {
		err = secret.Check()
	}
	if err != nil {
		return Secret{}, err
	}
	if secret.Refresh != "" && secret.Token == "" {
		secret.Password = ""
	}
	return secret, nil
}

// judge decides whether the token service at realm is asked. What answers at the registry's address chooses it: a service at
// another host would get the credential, and could be any address that the agent reaches. The registry's own host and hosts of
// its domain are asked, others where the operator allows them. The policy of outbound connections comes on top.
func (s *Session) judge(realm string) (*url.URL, error) {
	wrong := func(hint string) error { return &Error{Kind: ErrService, Host: s.home.Host, Hint: hint} }
	u, err := s.home.Parse(realm) // olareg writes it without its own host
	if err != nil || realm == "" || len(realm) > 2000 || u.Hostname() == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, wrong("what the registry gives as its address is none: check what answers at the address of the registry")
	}
	if u.Scheme != "https" && s.home.Scheme == "https" {
		return nil, wrong("it has no TLS although the registry has: correct the configuration of the registry")
	}
	u.Fragment, u.RawFragment = "", ""
	host := u.Hostname()
	if !sameDomain(host, s.home.Hostname()) && !s.opts.Elsewhere(host) {
		return nil, &Error{Kind: ErrService, Host: s.home.Host, cause: &outward.Refused{
			Host: shownHost(host), Why: "has another domain than the registry, which names it as its token service",
			Hint: "check the address, or have the operator allow it with --outbound-allow",
		}}
	}
	return u, nil
}
