// Package client calls the REST interface of slipway-server. It needs the standard library only.
//
// Errors are those of the server (api.CodeOf returns their kind) or the reason why it was not reached; each names what to do
// next. What can be repeated without doing it twice is repeated: reads, and changes by their idempotency key.
package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

const (
	// root is where the interface begins.
	root = "/api/v1"
	// maxAnswer bounds what one answer may hold.
	maxAnswer = 64 << 20
	// attempts is how often a request is sent in all.
	attempts = 4
	// firstWait is the wait before the second attempt; it doubles, with jitter.
	firstWait = 200 * time.Millisecond
	// longestWait is what a server may ask to be waited for by Retry-After; beyond that the caller gets an error.
	longestWait = 10 * time.Second
)

// Config is the server, and the credentials of the caller.
type Config struct {
	// Server is its URL, https://HOST[:PORT], without a path.
	Server string
	// Token is sent with every request; "" for none.
	Token string
	// CA is PEM: certificates that sign the server's, beside those of the system.
	CA []byte
	// Insecure takes any certificate of the server, and lets the token go over plain HTTP. Never without being asked for.
	Insecure  bool
	UserAgent string
	// Timeout is how long one attempt may take until its answer begins; 90 s where it is 0. Streams last longer.
	Timeout time.Duration
}

// Client calls one server. It is safe for several goroutines.
type Client struct {
	base      *url.URL
	token     string
	userAgent string
	reason    string
	http      *http.Client
	timeout   time.Duration
	wait      time.Duration
	waits     func(api.Command)
}

// New makes a client. It does not talk to the server yet.
func New(cfg Config) (*Client, error) {
	base, err := ParseServer(cfg.Server)
	if err != nil {
		return nil, err
	}
	if base.Scheme == "http" && !cfg.Insecure && !loopback(base.Hostname()) {
		return nil, api.Errorf(api.CodeInvalid,
			"%s is plain HTTP, over which an attacker on the network can read the token: use https://, or allow it with --insecure", base)
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 90 * time.Second
	}
	transport, err := transport(cfg)
	if err != nil {
		return nil, err
	}
	c := &Client{base: base, token: cfg.Token, userAgent: cmp.Or(cfg.UserAgent, "slipway-client"), timeout: cfg.Timeout, wait: firstWait}
	c.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return c, nil
}

// Server is the URL of the server.
func (c *Client) Server() string { return c.base.String() }

// With is a client for the same server with another token.
func (c *Client) With(token string) *Client {
	other := *c
	other.token = token
	return &other
}

// Because is a client whose changes have this reason in the audit.
func (c *Client) Because(reason string) *Client {
	other := *c
	other.reason = reason
	return &other
}

// OnWait is a client that reports a command which its agent has not answered after some seconds: once, then it goes on
// waiting.
func (c *Client) OnWait(tell func(api.Command)) *Client {
	other := *c
	other.waits = tell
	return &other
}

// Close gives unused connections back.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// ParseServer reads the URL of a server: scheme and host, https where no scheme is given.
func ParseServer(text string) (*url.URL, error) {
	full := text
	if !strings.Contains(full, "://") {
		full = "https://" + full
	}
	u, err := url.Parse(full)
	if err != nil || u.Host == "" || u.Hostname() == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return nil, api.Errorf(api.CodeInvalid, "%.200q is no address of a server: write https://HOST or https://HOST:PORT", text)
	}
	if u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, api.Errorf(api.CodeInvalid, "the address of a server has nothing but scheme, host and port: write %s://%s", u.Scheme, u.Host)
	}
	return &url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host)}, nil
}

// call is one request.
type call struct {
	method string
	// path is below /api/v1, escaped.
	path  string
	query url.Values
	// version goes into If-Match; 0 for none.
	version int64
	body    any
	// once: it is sent again only where the server cannot have seen it, because its answer is shown once.
	once   bool
	header http.Header
	accept string
}

// ask is do for an answer of one type.
func ask[T any](ctx context.Context, c *Client, r call) (out T, err error) {
	err = c.do(ctx, r, &out)
	return out, err
}

// get reads what there is at a path.
func get[T any](ctx context.Context, c *Client, query url.Values, path ...string) (T, error) {
	return ask[T](ctx, c, call{method: http.MethodGet, path: at(path...), query: query})
}

// post has something made or done.
func post[T any](ctx context.Context, c *Client, query url.Values, body any, path ...string) (T, error) {
	return ask[T](ctx, c, call{method: http.MethodPost, path: at(path...), query: query, body: body})
}

// once is post for an answer that is shown once.
func once[T any](ctx context.Context, c *Client, query url.Values, body any, path ...string) (T, error) {
	return ask[T](ctx, c, call{method: http.MethodPost, path: at(path...), query: query, body: body, once: true})
}

// put writes what is to be at a path.
func put[T any](ctx context.Context, c *Client, query url.Values, body any, path ...string) (T, error) {
	return ask[T](ctx, c, call{method: http.MethodPut, path: at(path...), query: query, body: body})
}

// delete removes what is at a path.
func (c *Client) delete(ctx context.Context, query url.Values, path ...string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: at(path...), query: query}, nil)
}

// do sends a request, again where that makes sense, and decodes the answer into out; nil for an answer without one.
func (c *Client) do(ctx context.Context, r call, out any) error {
	_, err := c.exchange(ctx, r, out)
	return err
}

// exchange is do that also returns the header of the answer.
func (c *Client) exchange(ctx context.Context, r call, out any) (http.Header, error) {
	body, err := encode(r)
	if err != nil {
		return nil, err
	}
	if r.header == nil {
		r.header = http.Header{}
	}
	if r.method == http.MethodPost {
		r.header.Set("Idempotency-Key", rand.Text())
	}
	for attempt := 1; ; attempt++ {
		header, again, err := c.try(ctx, r, body, out)
		if err == nil || again < 0 || attempt == attempts {
			return header, err
		}
		if sleepErr := sleep(ctx, max(again, jitter(c.wait<<(attempt-1)))); sleepErr != nil {
			return nil, errors.Join(sleepErr, err)
		}
	}
}

func encode(r call) ([]byte, error) {
	if r.body == nil {
		return nil, nil
	}
	raw, err := json.Marshal(r.body)
	if err != nil {
		return nil, fmt.Errorf("encode request %s %s: %w", r.method, r.path, err)
	}
	return raw, nil
}

// try sends a request once. Again is how long to wait at least before another attempt; below 0 where none makes sense.
func (c *Client) try(ctx context.Context, r call, body []byte, out any) (header http.Header, again time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	answer, err := c.send(ctx, r, body)
	if err != nil {
		if ctx.Err() != nil || (r.once && !unsent(err)) || final(err) {
			return nil, -1, err
		}
		return nil, 0, err
	}
	defer func() { _ = answer.Body.Close() }() // it was read as far as it matters
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		err = fmt.Errorf("read answer of %s: %w: try again", c.base, err)
		if r.once {
			return nil, -1, err
		}
		return nil, 0, err
	}
	if len(raw) > maxAnswer {
		return nil, -1, fmt.Errorf("the answer of %s has more than %d MiB: ask for less", c.base, maxAnswer>>20)
	}
	if answer.StatusCode >= http.StatusMultipleChoices {
		again, err := c.refusal(answer, raw, r)
		return answer.Header, again, err
	}
	return answer.Header, -1, decode(answer, raw, out)
}

func decode(answer *http.Response, raw []byte, out any) error {
	switch v := out.(type) {
	case nil:
		return nil
	case *[]byte:
		*v = raw
		return nil
	}
	if len(raw) == 0 && answer.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("read answer of %s: it is not what this version expects (%w): use a slipway of the server's version",
			answer.Request.URL.Redacted(), err)
	}
	return nil
}

// send makes the request and gives the answer, whatever its status. Its body has to be closed.
func (c *Client) send(ctx context.Context, r call, body []byte) (*http.Response, error) {
	text := c.base.Scheme + "://" + c.base.Host + r.path
	if query := r.query.Encode(); query != "" {
		text += "?" + query
	}
	req, err := http.NewRequestWithContext(ctx, r.method, text, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make request %s %s: %w", r.method, r.path, err)
	}
	maps.Copy(req.Header, r.header)
	c.sign(req.Header)
	req.Header.Set("Accept", cmp.Or(r.accept, "application/json"))
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.version > 0 {
		req.Header.Set("If-Match", fmt.Sprintf("%q", fmt.Sprint(r.version)))
	}
	if c.reason != "" && r.method != http.MethodGet {
		req.Header.Set("X-Slipway-Reason", oneLine(c.reason))
	}
	answer, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreached(ctx, err)
	}
	return answer, nil
}

// sign adds the credentials of the caller.
func (c *Client) sign(header http.Header) {
	header.Set("User-Agent", c.userAgent)
	if c.token != "" {
		header.Set("Authorization", "Bearer "+c.token)
	}
}

func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// at is a path below /api/v1 with its variable parts escaped.
func at(parts ...string) string {
	var b strings.Builder
	b.WriteString(root)
	for _, part := range parts {
		b.WriteString("/" + url.PathEscape(part))
	}
	return b.String()
}

func jitter(d time.Duration) time.Duration {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(d/2)+1))
	if err != nil {
		return d
	}
	return d/2 + time.Duration(n.Int64())
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
