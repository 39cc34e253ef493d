package registrylogin

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/strict"
)

const (
	maxAnswer    = 256 << 10 // bytes of an answer with a token
	maxToken     = 64 << 10
	defaultLife  = time.Minute // of a token whose end is not given, as the specification has it
	longestLife  = time.Hour   // a longer life is cut to this
	serviceLimit = 30 * time.Second
	clientID     = "slipway"
)

// token is what a token service gave for one repository.
type token struct {
	value string
	renew time.Time // from here on, another one is asked for
	ends  time.Time
}

// slot is where the token of one repository is kept.
type slot struct {
	turn chan struct{} // holds one token: the right to ask the service
	have token
}

// token returns a token to pull from a repository: the one that is kept, unless it is about to end or was refused.
func (s *Session) token(ctx context.Context, by way, secret Secret, repository, refused string) (string, error) {
	s.mu.Lock()
	at := s.tokens[repository]
	if at == nil {
		if len(s.tokens) >= maxTokens {
			clear(s.tokens)
		}
		at = &slot{turn: make(chan struct{}, 1)}
		s.tokens[repository] = at
	}
	s.mu.Unlock()
	select {
	case at.turn <- struct{}{}:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	defer func() { <-at.turn }()
	now := s.opts.Now()
	if at.have.value != refused && now.Before(at.have.renew) {
		return at.have.value, nil
	}
	got, err := s.request(ctx, by, secret, repository)
	if err != nil {
		if at.have.value != refused && now.Before(at.have.ends) && ctx.Err() == nil {
			return at.have.value, nil // it is good still: the next request asks for another one again
		}
		return "", err
	}
	at.have = got
	return got.value, nil
}

// request asks the token service for a token. Whatever the registry asks for, it is one to pull from the one repository.
func (s *Session) request(ctx context.Context, by way, secret Secret, repository string) (token, error) {
	ctx, cancel := context.WithTimeout(ctx, serviceLimit)
	defer cancel()
	values := url.Values{}
	if repository != "" {
		values.Set("scope", "repository:"+repository+":pull")
	}
	if by.service != "" {
		values.Set("service", by.service)
	}
	req, err := tokenRequest(ctx, by.realm, values, secret)
	if err != nil {
		return token{}, s.noService(nil, "its address cannot be asked for: check the configuration of the registry")
	}
	began := s.opts.Now()
	resp, err := s.opts.Client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return token{}, err
		}
		return token{}, s.noService(err, "")
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.Request != nil && !sameHost(resp.Request.URL, by.realm) {
		return token{}, s.noService(nil, "it redirects to another host: correct the configuration of the registry")
	}
	if err := web.Check(by.realm, resp); err != nil {
		if errors.Is(err, web.ErrAuth) || errors.Is(err, web.ErrDenied) || resp.StatusCode == http.StatusBadRequest {
			return token{}, s.denied(secret)
		}
		return token{}, s.noService(err, "")
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return token{}, s.noService(err, "")
	}
	got, ok := readToken(raw, began)
	if !ok {
		return token{}, s.noService(nil, "its answer has no token that can be used: check what answers there")
	}
	return got, nil
}

func (s *Session) noService(cause error, hint string) error {
	return &Error{Kind: ErrService, Host: s.home.Host, Hint: hint, cause: cause}
}

func (s *Session) denied(secret Secret) error {
	if secret.IsZero() {
		return &Error{
			Kind: ErrNoSecret, Host: s.home.Host,
			Hint: "the repository is private or does not exist: check the address and add a credential",
		}
	}
	return s.refused()
}

// tokenRequest asks with a refresh token in a form, or with a password in a header.
func tokenRequest(ctx context.Context, realm *url.URL, values url.Values, secret Secret) (*http.Request, error) {
	if secret.Refresh != "" {
		values.Set("grant_type", "refresh_token")
		values.Set("refresh_token", secret.Refresh)
		values.Set("client_id", clientID)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, realm.String(), strings.NewReader(values.Encode()))
		if err == nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		return req, err
	}
	at := *realm
	query := at.Query()
	for name, value := range values {
		query[name] = value
	}
	at.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err == nil && (secret.Username != "" || secret.Password != "") {
		req.SetBasicAuth(secret.Username, secret.Password)
	}
	return req, err
}

// readToken reads the answer of a token service that was asked at began.
func readToken(raw []byte, began time.Time) (token, bool) {
	var answer struct {
		Token       string  `json:"token"`
		AccessToken string  `json:"access_token"`
		ExpiresIn   float64 `json:"expires_in"` // seconds
	}
	if len(raw) > maxAnswer || strict.Decode(raw, &answer, strict.Foreign) != nil {
		return token{}, false
	}
	value := answer.Token
	if value == "" {
		value = answer.AccessToken
	}
	if value == "" || len(value) > maxToken || strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return token{}, false
	}
	life := defaultLife
	if answer.ExpiresIn > 0 {
		life = time.Duration(min(answer.ExpiresIn, longestLife.Seconds()) * float64(time.Second))
	}
	return token{value: value, renew: began.Add(life * 4 / 5), ends: began.Add(life)}, true
}

// sameDomain reports whether two hosts are one, or are of one registered domain.
func sameDomain(a, b string) bool {
	a, b = strings.TrimSuffix(strings.ToLower(a), "."), strings.TrimSuffix(strings.ToLower(b), ".")
	if a == b {
		return true
	}
	if net.ParseIP(a) != nil || net.ParseIP(b) != nil {
		return false
	}
	of, err := publicsuffix.EffectiveTLDPlusOne(a)
	if err != nil {
		return false
	}
	other, err := publicsuffix.EffectiveTLDPlusOne(b)
	return err == nil && of == other
}

func sameHost(a, b *url.URL) bool { return strings.EqualFold(a.Host, b.Host) && a.Scheme == b.Scheme }

// shownHost is a host that a server named, for messages.
func shownHost(host string) string { return legible.Line(host, 80) }
