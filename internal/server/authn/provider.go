package authn

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/outward"
)

// Provider is an identity provider that speaks OpenID Connect.
type Provider struct {
	// Name is how sessions and links name it, like an entity's name; Title is for people.
	Name  string `json:"name"`
	Title string `json:"title"`
	// Issuer is what the provider calls itself, to the letter.
	Issuer   string `json:"issuer"`
	ClientID string `json:"clientID"`
	// ClientSecretFile holds the secret, read at each sign-in; empty for a public client.
	ClientSecretFile string `json:"clientSecretFile"`
	// Scopes are asked for besides openid; default profile and email.
	Scopes []string `json:"scopes"`
	// GroupsClaim (default groups) and NameClaim (default preferred_username) are where groups and the user name are. A claim
	// within a claim is written with dots, such as realm_access.roles.
	GroupsClaim string `json:"groupsClaim"`
	NameClaim   string `json:"nameClaim"`
	// Groups are the ids of groups that follow from a value of the groups claim, besides those whose Claim it is.
	Groups map[string][]string `json:"groups"`
	// Domains are those that a verified mail address must be of; empty for any.
	Domains []string `json:"domains"`
	// TrustMail takes an address for verified where the provider does not say.
	TrustMail bool `json:"trustMail"`
	// CAFile has the certificates that the provider's is checked with, besides the system's.
	CAFile string `json:"caFile"`
}

func (p Provider) title() string {
	if p.Title != "" {
		return p.Title
	}
	return p.Name
}

// Bounds of what is read from a provider, and how long it may take.
const (
	maxAnswer     = 1 << 20
	maxSecretFile = 4 << 10
	providerWait  = 10 * time.Second
	discoverEvery = time.Hour
)

// provider is an identity provider, with its published configuration.
type provider struct {
	cfg      Provider
	client   *http.Client
	redirect string
	turn     chan struct{} // one asks, the others wait for it
	known    *discovered
}

// discovered is the published configuration of a provider.
type discovered struct {
	*oidc.Provider
	issParam bool // its answers identify it
	userInfo bool
	styles   []oauth2.AuthStyle // ways in which it takes the client's secret
	at       time.Time
}

func newProvider(cfg Provider, redirect string, outbound *outward.Policy) (*provider, error) {
	if err := api.CheckName(cfg.Name); err != nil {
		return nil, fmt.Errorf("identity provider: %w", err)
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("identity provider %s: %w", cfg.Name, fmt.Errorf(format, args...))
	}
	issuer, err := url.Parse(cfg.Issuer)
	if err != nil || issuer.Host == "" || issuer.User != nil || issuer.RawQuery != "" || issuer.Fragment != "" {
		return nil, wrong("the issuer is no URL: write it as the provider does, such as https://login.example.org/realms/main")
	}
	if issuer.Scheme != "https" && (issuer.Scheme != "http" || !loopback(issuer.Hostname())) {
		return nil, wrong("issuer %s is not https: an attacker on the network could sign in as any user", cfg.Issuer)
	}
	if cfg.ClientID == "" {
		return nil, wrong("the client id is missing: register %s there as a client and redirect URI, and give the id that it gets", redirect)
	}
	cfg.Scopes = slices.Compact(append([]string{oidc.ScopeOpenID}, orDefault(cfg.Scopes, "profile", "email")...))
	if cfg.GroupsClaim == "" {
		cfg.GroupsClaim = "groups"
	}
	if cfg.NameClaim == "" {
		cfg.NameClaim = "preferred_username"
	}
	p := &provider{cfg: cfg, redirect: redirect, turn: make(chan struct{}, 1)}
	if p.client, err = providerClient(cfg.CAFile, reachable(outbound, issuer.Hostname())); err != nil {
		return nil, wrong("%w", err)
	}
	if _, err := p.secret(); err != nil {
		return nil, wrong("%w", err)
	}
	return p, nil
}

func orDefault(have []string, otherwise ...string) []string {
	if len(have) > 0 {
		return slices.DeleteFunc(slices.Clone(have), func(s string) bool { return s == oidc.ScopeOpenID })
	}
	return otherwise
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// reachable is what a provider may have us connect to: its own host is the operator's choice, others are its own.
func reachable(outbound *outward.Policy, issuer string) *outward.Policy {
	p := *outbound
	p.Allow = outward.List{Networks: slices.Clone(p.Allow.Networks), Names: slices.Clone(p.Allow.Names)}
	if at, err := netip.ParseAddr(issuer); err == nil {
		p.Allow.Networks = append(p.Allow.Networks, netip.PrefixFrom(at, at.BitLen()))
	} else {
		p.Allow.Names = append(p.Allow.Names, strings.TrimSuffix(strings.ToLower(issuer), "."))
	}
	return &p
}

// Redirects that are not followed. What is secret goes to the address of the configuration alone.
const (
	errAway       = sentence("it redirects too often, or away from https: correct the addresses in its configuration")
	errSecretAway = sentence("it redirects a request with a secret, which is not followed: correct the addresses in its configuration")
)

// providerClient is a client with bounds, which goes through the proxy of the environment.
func providerClient(caFile string, outbound *outward.Policy) (*http.Client, error) {
	var pool *x509.CertPool // nil for the system's
	if caFile != "" {
		pem, err := readLimited(caFile, maxAnswer)
		if err != nil {
			return nil, err
		}
		if pool, err = outward.Authorities(pem); err != nil {
			return nil, fmt.Errorf("read file %s: %w", caFile, err)
		}
	}
	transport := outbound.Transport()
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	transport.TLSHandshakeTimeout, transport.ResponseHeaderTimeout, transport.IdleConnTimeout = providerWait, providerWait, time.Minute
	return &http.Client{
		Timeout:   providerWait,
		Transport: bounded{transport},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			switch {
			case len(via) > 5 || via[0].URL.Scheme == "https" && r.URL.Scheme != "https":
				return errAway
			case via[0].Method != http.MethodGet || via[0].Header.Get("Authorization") != "":
				return errSecretAway
			}
			return nil
		},
	}, nil
}

func readLimited(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = sentence(fmt.Sprintf("file %s has more than %d bytes", name, limit))
	}
	return b, err
}

// bounded keeps answers from growing without end.
type bounded struct{ next http.RoundTripper }

// RoundTrip asks, and ends the answer with an error where it is too long.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.next.RoundTrip(r)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, maxAnswer)
	}
	return answer, err
}

func (p *provider) secret() (string, error) {
	if p.cfg.ClientSecretFile == "" {
		return "", nil
	}
	b, err := readLimited(p.cfg.ClientSecretFile, maxSecretFile)
	if err != nil {
		return "", fmt.Errorf("client secret: %w", err)
	}
	if b = bytes.TrimSpace(b); len(b) == 0 {
		return "", sentence("client secret: file " + p.cfg.ClientSecretFile + " is empty")
	}
	return string(b), nil
}

// discover asks the provider for its addresses, once an hour. Its last configuration stays valid while it does not answer.
func (p *provider) discover(ctx context.Context, now time.Time) (*discovered, error) {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-p.turn }()
	if p.known != nil && now.Sub(p.known.at) < discoverEvery {
		return p.known, nil
	}
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.cfg.Issuer)
	if err != nil {
		if p.known != nil {
			return p.known, nil
		}
		return nil, p.fault("ask it for its configuration", err)
	}
	var says struct {
		IssParam bool     `json:"authorization_response_iss_parameter_supported"`
		PKCE     []string `json:"code_challenge_methods_supported"`
		UserInfo string   `json:"userinfo_endpoint"`
		Methods  []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := found.Claims(&says); err != nil {
		return nil, p.fault("read its configuration", err)
	}
	if len(says.PKCE) > 0 && !slices.Contains(says.PKCE, "S256") {
		return nil, p.fault("sign in", sentence("it does not know PKCE with S256: turn that on for our client"))
	}
	p.known = &discovered{found, says.IssParam, says.UserInfo != "", authStyles(says.Methods), now}
	return p.known, nil
}

// authStyles are the ways to try, in the order of the standard's preference; a provider that says nothing knows the
// first.
func authStyles(methods []string) []oauth2.AuthStyle {
	var out []oauth2.AuthStyle
	if len(methods) == 0 || slices.Contains(methods, "client_secret_basic") {
		out = append(out, oauth2.AuthStyleInHeader)
	}
	if slices.Contains(methods, "client_secret_post") || len(out) == 0 {
		out = append(out, oauth2.AuthStyleInParams)
	}
	return out
}

func (p *provider) oauth(found *discovered) *oauth2.Config {
	return &oauth2.Config{ClientID: p.cfg.ClientID, Endpoint: found.Endpoint(), RedirectURL: p.redirect, Scopes: p.cfg.Scopes}
}

// redeem gets the tokens for a code. A client can be registered for one of the ways to send its secret only, and which
// one is not published.
func (p *provider) redeem(ctx context.Context, found *discovered, code, verifier string) (*oauth2.Token, error) {
	config, styles := p.oauth(found), found.styles
	var err error
	if config.ClientSecret, err = p.secret(); err != nil {
		return nil, err
	}
	if config.ClientSecret == "" {
		styles = []oauth2.AuthStyle{oauth2.AuthStyleInParams}
	}
	var token *oauth2.Token
	for _, style := range styles {
		config.Endpoint.AuthStyle = style
		token, err = config.Exchange(ctx, code, oauth2.VerifierOption(verifier))
		var refused *oauth2.RetrieveError
		if !errors.As(err, &refused) || refused.ErrorCode != "invalid_client" {
			break
		}
	}
	return token, err
}

// fault says what went wrong between the server and the provider, and what to do. Answers of the provider are not shown
// as they are: they can hold what it was sent.
func (p *provider) fault(doing string, err error) error {
	return &api.Error{
		Code:    api.CodeUnavailable,
		Message: fmt.Sprintf("identity provider %s: cannot %s: %s", p.cfg.Name, doing, advice(p.cfg, p.redirect, err)),
	}
}

// sentence is an error in words of ours. It is shown as it is; all others are shown by what they are.
type sentence string

// Error is the sentence.
func (s sentence) Error() string { return string(s) }

// Messages for errors that come with a type or with a text alone.
const (
	noTLS   = "what answers there does not speak TLS: look whether the port of the issuer is right, or whether a proxy is in between"
	tooLong = "its answer is longer than 1 MiB: look whether the issuer is right, or whether a proxy answers instead"
)

// advice turns an error of the back channel into a sentence for the operator of the server.
func advice(cfg Provider, redirect string, err error) string {
	var (
		refused   *oauth2.RetrieveError
		mismatch  *oidc.IssuerMismatchError
		expired   *oidc.TokenExpiredError
		unknownCA x509.UnknownAuthorityError
		hostname  x509.HostnameError
		invalid   x509.CertificateInvalidError
		dns       *net.DNSError
		refusal   *net.OpError
		flood     *http.MaxBytesError
		clear     tls.RecordHeaderError
		own       sentence
		file      *os.PathError
		call      *os.SyscallError
	)
	if reach := new(outward.Refused); errors.As(err, &reach) { // without the host: the provider chose it
		return fmt.Sprintf("its configuration names a host that %s, which this server does not connect to: %s", reach.Why, reach.Hint)
	}
	switch {
	case errors.As(err, &own):
		return own.Error()
	case errors.As(err, &file):
		return fmt.Sprintf("file %s cannot be read: %s", file.Path, file.Err)
	case errors.As(err, &refused):
		return refusalAdvice(cfg, redirect, refused)
	case errors.As(err, &mismatch):
		return fmt.Sprintf("it does not call itself %.200q, which is the issuer that is configured: write it to the letter as it does, "+
			"in /.well-known/openid-configuration", mismatch.Provided)
	case errors.As(err, &expired):
		return "its ID token has expired: look whether the clocks of the server and of the provider agree"
	case errors.As(err, &unknownCA):
		return "its certificate is of an authority that is not known here: give that authority's certificate as CA file"
	case errors.As(err, &hostname):
		return "its certificate is for another host: look whether the issuer's host is right, or whether a proxy is in between"
	case errors.As(err, &invalid):
		return outward.Reason(err)
	case errors.As(err, &clear):
		return noTLS
	case errors.As(err, &dns):
		return "a host is not found: look at the issuer, at the addresses in its configuration, and at this server's DNS"
	case errors.As(err, &flood):
		return tooLong
	case errors.Is(err, context.DeadlineExceeded) || os.IsTimeout(err):
		return fmt.Sprintf("it did not answer within %s: look whether this server may reach it, directly or by HTTPS_PROXY", providerWait)
	case errors.As(err, &refusal) && errors.As(refusal.Err, &call):
		return "it cannot be reached: " + call.Err.Error() +
			"; look whether it runs, and whether this server may reach it, directly or by HTTPS_PROXY"
	}
	return plain(err)
}

// plain is an error of the libraries without what the provider wrote.
func plain(err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, "HTTP response to HTTPS client"):
		return noTLS
	case strings.Contains(text, "body too large"):
		return tooLong
	case strings.HasPrefix(text, "404"):
		return "there is no /.well-known/openid-configuration below the issuer: write the issuer as the provider's pages have it"
	case answered.MatchString(text):
		return "it answers with status " + text[:3]
	case strings.Contains(text, "get keys failed"):
		return "its keys cannot be fetched: look whether this server may reach the jwks_uri of its configuration"
	case strings.Contains(text, "expected audience"):
		return "its ID token is for another client: look at the client id"
	case strings.Contains(text, "before the nbf"):
		return "its ID token is not valid yet: look whether the clocks of the server and of the provider agree"
	case strings.Contains(text, "different provider"):
		return "its ID token is of another issuer: write the issuer as the provider does"
	case strings.Contains(text, "verify"), strings.Contains(text, "malformed"), strings.Contains(text,
		"unsupported"), strings.Contains(text, "not signed"):
		return "the signature of its ID token is invalid: check that it signs with RS256 or ES256, and with a key that it publishes"
	case strings.Contains(text, "decode"), strings.Contains(text, "unmarshal"):
		return "its answer is no JSON of OpenID Connect: look whether the issuer is right, or whether a proxy answers instead"
	}
	if talk := new(url.Error); errors.As(err, &talk) { // it quotes what came
		return outward.Reason(err)
	}
	return "its answer is not understood: look at its log"
}

// answered is how the library begins an error about the status of an answer.
var answered = regexp.MustCompile(`^[1-9]\d\d\b`)

// oauthErrors are what RFC 6749 lets a token endpoint say.
//
//nolint:gochecknoglobals // table
var oauthErrors = []string{
	"invalid_request", "invalid_scope", "unsupported_grant_type", "access_denied", "server_error", "temporarily_unavailable",
}

// refusalAdvice is for errors of the token endpoint.
func refusalAdvice(cfg Provider, redirect string, err *oauth2.RetrieveError) string {
	switch err.ErrorCode {
	case "invalid_client", "unauthorized_client":
		secret := "no client secret is configured"
		if cfg.ClientSecretFile != "" {
			secret = "the secret is read from " + cfg.ClientSecretFile
		}
		return fmt.Sprintf("it does not accept our client %q (%s): compare id, secret and kind of the client with what is registered there",
			cfg.ClientID, secret)
	case "invalid_grant":
		return "it does not accept the code: the sign-in took too long or was sent twice, or its redirect URI is not " + redirect +
			"; sign in again"
	case "":
		status := 0
		if err.Response != nil {
			status = err.Response.StatusCode
		}
		return fmt.Sprintf("it answers with status %d: look at its log", status)
	}
	if !slices.Contains(oauthErrors, err.ErrorCode) { // only these are words of the standard, and not its own
		return "it refuses, with an error that no standard has: look at its log"
	}
	return fmt.Sprintf("it answers %q: look at its log", err.ErrorCode)
}
