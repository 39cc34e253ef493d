// Package web is the HTTP client of sources: it connects to what the policy allows and nothing else, keeps credentials at the
// host that they are for, follows few redirects, and has a bound for all that a server may send and for the time it may take.
package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/address"
	"github.com/slipway-gitops/slipway/internal/outward"
)

// Defaults of Options.
const (
	DefaultIdle  = 30 * time.Second
	DefaultBytes = 512 << 20
)

const (
	maxRedirects = 5
	maxAddress   = 4096 // bytes of an address
)

// Options configure a Client. The zero value of a field means its default.
type Options struct {
	Idle  time.Duration // after which a server that sends nothing is given up
	Bytes int64         // of one answer
	Agent string        // the User-Agent, default "slipway"
	// SameHost refuses redirects to other hosts: the caller may see what is at this one only.
	SameHost bool
}

// Client reaches one address, its home, and what is named there. It is safe for concurrent use.
type Client struct {
	home   *url.URL
	access Access
	bounds []*url.URL // what the access is for; none for all of the home
	opts   Options
	own    *http.Transport // for the home
	named  *http.Transport // for other hosts that get the credential
	other  *http.Transport // for all others
}

// Open makes a client for an address that begins with https:// or http://. A user and a password in it are used where the access
// has none. Nothing is asked of the server yet: an error means that address or access can never work.
func Open(address string, policy *outward.Policy, a Access, o Options) (*Client, error) {
	home, err := ParseAddress(address)
	if err != nil {
		return nil, err
	}
	home, a = login(home, a)
	if err := a.check(); err != nil {
		return nil, err
	}
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.Bytes <= 0 {
		o.Bytes = DefaultBytes
	}
	if o.Agent == "" {
		o.Agent = "slipway"
	}
	c := &Client{home: home, access: a, opts: o}
	if c.bounds, err = bounds(a); err != nil {
		return nil, err
	}
	for _, t := range []struct {
		to           **http.Transport
		home, secret bool
	}{{&c.own, true, true}, {&c.named, false, true}, {&c.other, false, false}} {
		if *t.to, err = transport(policy, a, t.home, t.secret); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// login takes user and password out of an address, and into the access where that has none.
func login(home *url.URL, a Access) (*url.URL, Access) {
	if home.User != nil && a.Username == "" && a.Password == "" && a.Bearer == "" {
		a.Username = home.User.Username()
		a.Password, _ = home.User.Password()
	}
	return bare(home), a
}

// bare is an address without user and fragment.
func bare(u *url.URL) *url.URL {
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}
}

// ParseAddress reads an address that begins with https:// or http://, and spells it one way: two spellings of one address (letter
// case of the host, default port, slash at the end) give the same.
func ParseAddress(text string) (*url.URL, error) {
	s := strings.TrimSpace(text)
	if s == "" || len(s) > maxAddress || strings.ContainsAny(s, "\x00\r\n\t ") {
		return nil, errors.New("parse address: it is empty, too long or holds spaces: write it as https://host/path")
	}
	u, err := url.Parse(s)
	if err != nil {
		// The error of url.Parse quotes the address, and with it a password that may be inside.
		return nil, errors.New("parse address: it is not a URL: write it as https://host/path")
	}
	if u.Scheme != "https" && u.Scheme != "http" { // url.Parse makes it lower case
		return nil, fmt.Errorf("address with scheme %.20q is not allowed: use https", u.Scheme)
	}
	if u.Hostname() == "" {
		return nil, errors.New("parse address: the host is missing: write it as https://host/path")
	}
	if u.Host, err = address.Host(u); err != nil {
		return nil, fmt.Errorf("parse address: %w", err)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// hostOf is host and port in one spelling, to compare; as it is written where it has none.
func hostOf(u *url.URL) string {
	host, err := address.Host(u)
	if err != nil {
		return u.Host
	}
	return host
}

// Home is the address of the client, without user information.
func (c *Client) Home() *url.URL {
	return bare(c.home)
}

// Scope identifies (address, access) without revealing the access, also over restarts.
func (c *Client) Scope() string { return c.home.String() + " " + c.access.Scope() }

// Close ends the connections that are kept open.
func (c *Client) Close() {
	for _, t := range []*http.Transport{c.own, c.named, c.other} {
		t.CloseIdleConnections()
	}
}

// Get asks for an address, and returns an answer with a status of 2xx or an *Error. header may be nil.
func (c *Client) Get(ctx context.Context, at *url.URL, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, &Error{Kind: ErrAnswer, URL: Shown(at), Hint: "the address cannot be asked for: correct it"}
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusNotModified && (req.Header.Get("If-None-Match") != "" || req.Header.Get("If-Modified-Since") != "") {
		return resp, nil
	}
	if err := Check(at, resp); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// Do sends a request and follows redirects. It adds the credential of the access to requests for the home that have none. Answers
// of every status are returned; failures are an *Error. The body is bounded in bytes, and in the time in which nothing arrives.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	first := req.URL
	resp, err := c.follow(ctx, req)
	if err != nil {
		err = explain(ctx, first, err)
		cancel(nil)
		return nil, err
	}
	resp.Body = newBody(ctx, cancel, first, resp.Body, c.opts)
	return resp, nil
}

// follow sends a request as often as it is redirected.
func (c *Client) follow(ctx context.Context, req *http.Request) (*http.Response, error) {
	at, header, away := req.URL, req.Header, false
	for hop := 0; ; hop++ {
		resp, err := c.send(ctx, req, at, header, away)
		if err != nil {
			return nil, err
		}
		to, err := redirected(req, at, resp)
		if err != nil || to == nil {
			if err != nil {
				_ = resp.Body.Close()
			}
			return resp, err
		}
		_ = resp.Body.Close()
		if hop == maxRedirects {
			return nil, moved(req.URL, "it redirects too often")
		}
		if !sameOrigin(to, at) {
			if c.opts.SameHost && hostOf(to) != hostOf(at) {
				return nil, moved(req.URL, "it redirects to another host, which is not followed here")
			}
			// What the caller set is for the host that it asked. A host that redirects back gets no credential used either.
			away = true
			header = withoutCredentials(header)
		}
		at = to
	}
}

// send sends one request. A host that is not the home gets neither credential nor client certificate, unless that is wanted.
func (c *Client) send(ctx context.Context, req *http.Request, at *url.URL, header http.Header, away bool) (*http.Response, error) {
	out := req.Clone(ctx)
	out.URL, out.Host, out.Header = bare(at), "", header.Clone()
	if out.Header == nil {
		out.Header = http.Header{}
	}
	if out.Header.Get("User-Agent") == "" {
		out.Header.Set("User-Agent", c.opts.Agent)
	}
	through := c.transportTo(at, away)
	if through == c.other {
		return through.RoundTrip(out)
	}
	if out.Header.Get("Authorization") == "" {
		switch {
		case c.access.Bearer != "":
			out.Header.Set("Authorization", "Bearer "+c.access.Bearer)
		case c.access.Username != "" || c.access.Password != "":
			out.SetBasicAuth(c.access.Username, c.access.Password)
		}
	}
	return through.RoundTrip(out)
}

// transportTo decides whether an address may get what is secret: what the access is for at the home, and others only where that is
// wanted, TLS is not given up, and no redirect led there.
func (c *Client) transportTo(at *url.URL, away bool) *http.Transport {
	switch {
	case away:
		return c.other
	case sameOrigin(at, c.home):
		if c.within(at) || c.access.PassCredentials {
			return c.own
		}
	case c.access.PassCredentials && (at.Scheme == "https" || c.home.Scheme == "http"):
		return c.named
	}
	return c.other
}

// redirected returns where an answer leads to; nil where it is the last one.
func redirected(req *http.Request, at *url.URL, resp *http.Response) (*url.URL, error) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		return nil, nil // its body would have to be sent again: the caller decides
	}
	location := resp.Header.Get("Location")
	to, err := at.Parse(location)
	if location == "" || len(location) > maxAddress || err != nil || to.Hostname() == "" || to.Scheme != "https" && to.Scheme != "http" {
		return nil, moved(req.URL, "it redirects to what is no address")
	}
	if at.Scheme == "https" && to.Scheme != "https" {
		return nil, moved(req.URL, "it redirects away from https")
	}
	return bare(to), nil
}

func moved(first *url.URL, detail string) error {
	return &Error{Kind: ErrMoved, URL: Shown(first), Detail: detail, Hint: "use the address that the content is at"}
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && hostOf(a) == hostOf(b) }

// withoutCredentials is a copy of a header without what another host must not see.
func withoutCredentials(header http.Header) http.Header {
	out := header.Clone()
	for _, name := range []string{"Authorization", "Cookie", "Proxy-Authorization"} {
		out.Del(name)
	}
	return out
}
