package core

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/internal/trace"
)

// requestSpan is the span of a request; nil inside where there is none.
type requestSpan struct {
	*trace.Span
	method string
}

// traced puts a request into the trace that it names, or into one of its own, and returns it to the caller. Only the API is
// traced: pages and probes are not worth it.
func (h *Core) traced(answer http.Header, r *http.Request) (*http.Request, requestSpan) {
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		return r, requestSpan{}
	}
	ctx, said := r.Context(), r.Header.Get(trace.Header)
	if h.cfg.TrustTraces {
		ctx = trace.Trusted(ctx, said)
	} else if said != "" {
		ctx = h.cfg.Tracer.Caller(ctx, said)
	}
	ctx, span := h.cfg.Tracer.Start(ctx, r.Method, "http.request.method", r.Method)
	if parent := trace.Parent(ctx); parent != "" {
		answer.Set(trace.Header, parent)
		r = r.WithContext(ctx)
	}
	return r, requestSpan{span, r.Method}
}

// end ends it under the name of its route, never of its path: that may hold what is private.
func (s requestSpan) end(route string, status int) {
	if s.Span == nil {
		return
	}
	if route != "" {
		s.Call(s.method + " " + strings.TrimPrefix(route, s.method+" "))
	}
	s.Set("http.route", route, "http.response.status_code", strconv.Itoa(status))
	if status >= http.StatusInternalServerError {
		s.Fail(strconv.Itoa(status))
	}
	s.Done()
}
