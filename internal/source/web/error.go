package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/slipway-gitops/slipway/internal/outward"
)

// What can go wrong, for errors.Is. The text of the error around one says what to do.
var (
	ErrRefused  = errors.New("address may not be connected to")
	ErrName     = errors.New("name of the host is not known")
	ErrConnect  = errors.New("host cannot be reached")
	ErrProxy    = errors.New("proxy does not connect")
	ErrTLS      = errors.New("secure connection failed")
	ErrTimeout  = errors.New("no answer in time")
	ErrAuth     = errors.New("authentication failed")
	ErrDenied   = errors.New("access denied")
	ErrNotFound = errors.New("not found")
	ErrMoved    = errors.New("address has moved")
	ErrBusy     = errors.New("server limits the rate of requests")
	ErrServer   = errors.New("server answers with an error")
	ErrAnswer   = errors.New("answer is not what was expected")
	ErrTooLarge = errors.New("answer is larger than the limit")
)

// Error is a failure of a source over HTTP, fit to be shown to its user: it names the address and what to do, and holds neither
// a secret nor a word of the server.
type Error struct {
	Kind   error  // one of the sentinels
	URL    string // as it was asked for, without user information and query
	Detail string // more about it, in words of ours; may be ""
	Hint   string // what to do
	cause  error
}

// Error says what failed and what to do.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", e.URL, e.Kind)
	if e.Detail != "" {
		b.WriteString(" (" + e.Detail + ")")
	}
	if e.Hint != "" {
		b.WriteString(": " + e.Hint)
	}
	return b.String()
}

// Unwrap gives the kind, and the cause where there is one.
func (e *Error) Unwrap() []error {
	if e.cause != nil {
		return []error{e.Kind, e.cause}
	}
	return []error{e.Kind}
}

// Layer is the step of a request that failed.
type Layer string

// The steps in order.
const (
	LayerPolicy         Layer = "policy"
	LayerName           Layer = "name"
	LayerConnection     Layer = "connection"
	LayerTLS            Layer = "TLS"
	LayerAuthentication Layer = "authentication"
	LayerServer         Layer = "server"
	LayerContent        Layer = "content"
)

// layers says which step each kind of failure is of. What is not among them is about content.
var layers = map[error]Layer{ //nolint:gochecknoglobals // a table
	ErrRefused: LayerPolicy, ErrName: LayerName, ErrConnect: LayerConnection, ErrProxy: LayerConnection, ErrTimeout: LayerConnection,
	ErrTLS: LayerTLS, ErrAuth: LayerAuthentication, ErrDenied: LayerAuthentication, ErrServer: LayerServer, ErrBusy: LayerServer,
}

// Layer returns the step that failed.
func (e *Error) Layer() Layer { return cmp.Or(layers[e.Kind], LayerContent) }

// LayerOf returns the step at which err, or what it wraps, failed; "" where no request did.
func LayerOf(err error) Layer {
	var e *Error
	if errors.As(err, &e) {
		return e.Layer()
	}
	return ""
}

// errIdle ends a request whose server sends nothing more.
var errIdle = errors.New("the server stopped sending")

// explain turns the failure of a request into an *Error. It leaves what the caller gave up as it is.
func explain(ctx context.Context, at *url.URL, err error) error {
	if err == nil {
		return nil
	}
	if e := new(Error); errors.As(err, &e) {
		return e
	}
	e := &Error{Kind: ErrConnect, URL: Shown(at), Hint: outward.Reason(err), cause: err}
	var refused *outward.Refused
	var dns *net.DNSError
	var op *net.OpError
	var proxy *outward.ProxyRefused
	switch {
	case errors.As(err, &refused):
		e.Kind, e.Hint = ErrRefused, refused.Error()
	case errors.Is(context.Cause(ctx), errIdle):
		e.Kind, e.Hint, e.cause = ErrTimeout, "the server stopped sending: check the network, and the load of the server", errIdle
	case errors.Is(ctx.Err(), context.Canceled):
		return context.Cause(ctx)
	case errors.As(err, &proxy):
		e.Kind, e.Detail = ErrProxy, outward.Status(proxy.Code)
		e.Hint = "check the address of the proxy, and user and password in it"
	case errors.As(err, &op) && (op.Op == "proxyconnect" || op.Op == "socks connect"):
		e.Kind, e.Hint = ErrProxy, "check the address of the proxy: "+outward.Reason(err)
	case outward.IsTLS(err):
		e.Kind = ErrTLS
	case errors.As(err, &dns) && !dns.IsTimeout:
		e.Kind, e.Hint = ErrName, "check the address, and the name server of the agent"
	case outward.IsTimeout(err):
		e.Kind, e.Hint = ErrTimeout, "check address, proxy and firewall"
	case !errors.As(err, &op) && !outward.IsBroken(err):
		e.Kind, e.Hint = ErrAnswer, "what answers there does not speak HTTP: check address and port"
	}
	return e
}

// Check returns an error for the status of an answer that is not 2xx. It does not close the body.
func Check(at *url.URL, resp *http.Response) error {
	code := resp.StatusCode
	if code >= http.StatusOK && code < http.StatusMultipleChoices {
		return nil
	}
	e := &Error{Kind: ErrAnswer, URL: Shown(at), Detail: outward.Status(code), Hint: "check the address"}
	switch {
	case code == http.StatusUnauthorized:
		e.Kind, e.Hint = ErrAuth, "add a credential for this address, or check user name, password or token and that it has not expired"
	case code == http.StatusProxyAuthRequired:
		e.Kind, e.Hint = ErrProxy, "check user and password in the address of the proxy"
	case code == http.StatusForbidden:
		e.Kind, e.Hint = ErrDenied, "the credential may not read this, or the server wants one: grant it read access"
	case code == http.StatusNotFound, code == http.StatusGone:
		e.Kind, e.Hint = ErrNotFound, "check the address, and that the credential may read it"
	case code == http.StatusTooManyRequests:
		e.Kind, e.Hint = ErrBusy, "poll less often, or give the agent a credential with a higher limit"
	case code >= http.StatusInternalServerError:
		e.Kind, e.Hint = ErrServer, "try again later, or look into the log of the server"
	}
	return e
}

// Shown is an address for messages, without user information, query and fragment, which may hold secrets.
func Shown(u *url.URL) string {
	out := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return out.String()
}
