package core

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/trace"
)

const (
	// maxBody is how much a request may hold: an Application is at most 1.5 MiB in etcd.
	maxBody = 2 << 20
)

// Base is what every request needs, whatever it is about.
type Base struct {
	Authn    Authn
	Policies Policies
	Audits   Audits
	Events   Events
	Keeper   Keeper

	Log *slog.Logger
	// Now is time.Now where it is nil.
	Now func() time.Time
	// PublicURL is where people and agents reach the server, without a slash at the end.
	PublicURL string
	// TrustedProxies may say where a request comes from, in X-Forwarded-For.
	TrustedProxies []netip.Prefix
	// AllowedOrigins may call the API from a browser, with a token.
	AllowedOrigins []string
	Limits         Limits
	// FingerprintKey is a secret of at least 32 bytes that is not in the database, the same at every server of an
	// installation: what is kept to distinguish requests is keyed with it.
	FingerprintKey []byte
	// Pages are the user interface; nil for none.
	Pages Pages
	// Metrics answers GET /metrics, to users who may see the settings; nil for none.
	Metrics http.Handler
	// Observe is called for every finished request; nil for none.
	Observe func(route string, status int, took time.Duration)
	// Tracer makes spans; nil for none. TrustTraces lets callers decide which of their traces are kept.
	Tracer      *trace.Tracer
	TrustTraces bool
}

// Core answers HTTP: it takes requests as far as the routes of nouns.
type Core struct {
	cfg    Base
	Log    *slog.Logger
	Now    func() time.Time
	Limits *limiter
	routes []Route
	mux    *http.ServeMux
	doc    *huma.OpenAPI
	chain  http.Handler
	// sameOrigin is true for a browser's request that a page of ours made.
	sameOrigin *http.CrossOriginProtection
}

// Serve answers routes.
func Serve(cfg Base, routes []Route) (*Core, error) {
	h := &Core{cfg: cfg, Log: cfg.Log, Now: cfg.Now, mux: http.NewServeMux(), sameOrigin: http.NewCrossOriginProtection()}
	if len(cfg.FingerprintKey) < sha256.Size {
		return nil, fmt.Errorf("the key for fingerprints of requests has %d bytes: it needs %d", len(cfg.FingerprintKey), sha256.Size)
	}
	if h.Log == nil {
		h.Log = slog.New(slog.DiscardHandler)
	}
	if h.Now == nil {
		h.Now = time.Now
	}
	h.sameOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		WriteProblem(w, api.Errorf(api.CodeForbidden,
			"a page of another origin asked for this: use the API with a token, or have the origin allowed with --allowed-origins"),
			requestID(r.Context()))
	}))
	h.Limits = newLimiter(cfg.Limits, h.Now)
	if cfg.PublicURL != "" {
		origin, err := originOf(cfg.PublicURL)
		if err != nil {
			return nil, err
		}
		if err := h.sameOrigin.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("trust the origin of the public URL: %w", err)
		}
	}
	for _, origin := range cfg.AllowedOrigins {
		if err := h.sameOrigin.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("allow origin %q: %w: write https://HOST", origin, err)
		}
	}
	h.routes = routes
	h.describe()
	h.mux.HandleFunc("GET /healthz", h.healthz)
	h.mux.HandleFunc("GET /readyz", h.readyz)
	if cfg.Metrics != nil {
		h.mux.HandleFunc("GET /metrics", h.metrics)
	}
	h.chain = h.protect(h.sameOrigin.Handler(http.HandlerFunc(h.route)))
	return h, nil
}

// ServeHTTP answers a request.
func (h *Core) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.chain.ServeHTTP(w, r) }

// Routes is the table.
func (h *Core) Routes() []Route { return h.routes }

// describe registers the routes, which describes them too.
func (h *Core) describe() {
	config := description()
	config.Transformers = []huma.Transformer{func(ctx huma.Context, _ string, v any) (any, error) {
		if m, ok := v.(*huma.ErrorModel); ok {
			id := ""
			if c := callOf(ctx.Context()); c != nil {
				id = c.ID
			}
			v = fromHuma(m, id)
		}
		if p, ok := v.(*Problem); ok && p.TraceID == "" {
			traced := *p
			traced.TraceID = trace.ID(trace.Parent(ctx.Context()))
			return &traced, nil
		}
		return v, nil
	}}
	to := humago.New(h.mux, config)
	h.doc = to.OpenAPI()
	for i := range h.routes {
		route := &h.routes[i]
		op := route.operation()
		op.Middlewares = huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) {
			r, w := humago.Unwrap(ctx)
			h.serve(route, w, r, func(w http.ResponseWriter, r *http.Request) { next(humago.NewContext(ctx.Operation(), r, w)) })
		}}
		route.Mount(to, op)
		described := h.described(route)
		route.parameters, route.lists = queryNames(described)
		route.addExample(described)
		route.addAccess(described)
	}
}

type requestKey struct{}

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}

// protect is what every request goes through, whatever it asks for.
func (h *Core) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := rand.Text()
		start := h.Now()
		out := &recorder{ResponseWriter: w}
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, id))
		out.Header().Set("X-Request-Id", id)
		r, span := h.traced(out.Header(), r)
		h.headers(out.Header(), r)
		defer func() {
			cause := recover()
			if cause == http.ErrAbortHandler { //nolint:errorlint,err113 // it is the value itself that net/http looks for
				panic(cause) //nolint:forbidigo // a half answer must not look like a whole one
			}
			if cause != nil {
				h.Log.Error("panic", "request_id", id, "method", r.Method, "path", r.URL.Path, "cause", fmt.Sprint(cause),
					"stack", string(debug.Stack()))
				if !out.written {
					WriteProblem(out, errors.New("panic"), id)
				}
			}
			span.end(r.Pattern, out.status)
			took := h.Now().Sub(start)
			h.Log.Debug("request", "request_id", id, "method", r.Method, "path", r.URL.Path, "status", out.status, "took", took)
			if h.cfg.Observe != nil {
				h.cfg.Observe(r.Pattern, out.status, took)
			}
		}()
		if h.preflight(out, r) {
			return
		}
		next.ServeHTTP(out, r)
	})
}

// Route finds the handler, and answers itself without one.
func (h *Core) route(w http.ResponseWriter, r *http.Request) {
	_, pattern := h.mux.Handler(r)
	if pattern == "" {
		if h.showed(w, r) {
			return
		}
		probe := &verdict{header: http.Header{}}
		h.mux.ServeHTTP(probe, r)
		if allow := probe.header.Get("Allow"); allow != "" {
			w.Header().Set("Allow", allow)
			p := NewProblem(api.Errorf(api.CodeNotFound, "%s is not possible here: use one of %s", r.Method, allow), requestID(r.Context()))
			p.Status, p.Title = http.StatusMethodNotAllowed, http.StatusText(http.StatusMethodNotAllowed)
			writeStatus(w, p)
			return
		}
		WriteProblem(w, api.Errorf(api.CodeNotFound, "there is nothing at this path: GET /api/v1/openapi.json describes what there is"),
			requestID(r.Context()))
		return
	}
	h.mux.ServeHTTP(w, r)
}

// verdict takes what the multiplexer says where nothing matches.
type verdict struct{ header http.Header }

func (v *verdict) Header() http.Header         { return v.header }
func (v *verdict) Write(b []byte) (int, error) { return len(b), nil }
func (v *verdict) WriteHeader(int)             {}

// serve is the wrapper of a route: caller, rate, content, and once.
func (h *Core) serve(route *Route, w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	c := &Call{Core: h, Route: route, ID: requestID(r.Context()), Client: h.client(r)}
	refuse := func(err error) { c.refuse(w, err) }
	if err := h.Limits.address(c.Client.IP, route); err != nil {
		refuse(err)
		return
	}
	if route.Access != Public {
		if err := h.identify(c, r); err != nil {
			refuse(err)
			return
		}
	}
	if err := cmp.Or(checkTexts(r.URL.Path, r.URL.Query()), route.checkQuery(r.URL.RawQuery)); err != nil {
		refuse(err)
		return
	}
	if err := checkHeaders(r.Header); err != nil {
		refuse(err)
		return
	}
	body, err := readBody(w, r)
	if err == nil && len(body) > 0 {
		err = checkCoding(r.Header)
	}
	if err != nil {
		refuse(err)
		return
	}
	c.Reason = legible.Cut(r.Header.Get("X-Slipway-Reason"), 1000)
	r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
	r.Body = io.NopCloser(bytes.NewReader(body))
	c.Request = r
	key := r.Header.Get("Idempotency-Key")
	if key == "" || route.Method != http.MethodPost || route.Access == Public || route.Audit == "" {
		next(w, r)
		return
	}
	if err := h.once(w, r, c, key, body, next); err != nil {
		refuse(err)
	}
}

// Refuse answers a request that does not reach its route.
func (c *Call) refuse(w http.ResponseWriter, err error) {
	if Untold(err) {
		c.Log.Error("request", "request_id", c.ID, "method", c.Route.Method, "path", c.Route.Path, "err", err)
	}
	if api.CodeOf(err) == api.CodeUnauthenticated {
		w.Header().Set("WWW-Authenticate", `Bearer realm="slipway"`)
	}
	WriteProblem(w, err, c.ID)
}

// Identify finds out who asks and what the rules are.
func (h *Core) identify(c *Call, r *http.Request) error {
	// An allowed origin is still one of the pages of others: what the browser keeps for ours is not theirs.
	if r.Header.Get("Authorization") == "" && h.foreign(r) {
		return api.Errorf(api.CodeUnauthenticated, "a page of another origin needs a token: send it as Authorization: Bearer slp_…")
	}
	var err error
	if c.Who, err = h.cfg.Authn.Identify(r); err != nil {
		return err
	}
	if err := h.Limits.principal(c.Who.Principal); err != nil {
		return err
	}
	if c.Who.MustChangePassword && !c.Route.Unsettled {
		return api.Errorf(api.CodeForbidden,
			"your password was set for you: choose your own first, with POST /api/v1/session/password or `slipway password`")
	}
	if c.Policy, err = h.cfg.Policies.Policy(r.Context()); err != nil {
		return fmt.Errorf("read policy: %w", err)
	}
	return nil
}

// readBody reads the body within its limit of size. The server sets the deadline, which is an error of the body.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody || r.Header.Get("Upgrade") != "" {
		return nil, nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	var timeout net.Error
	switch {
	case errors.As(err, &large):
		return nil, api.Errorf(api.CodeTooLarge, "the body is larger than %d bytes: send less", maxBody)
	case errors.As(err, &timeout) && timeout.Timeout():
		return nil, api.Errorf(api.CodeInvalid, "the body came too slowly: send it faster, or less of it")
	case err != nil:
		return nil, api.Errorf(api.CodeInvalid, "the body ended early: send it again")
	}
	return body, nil
}
