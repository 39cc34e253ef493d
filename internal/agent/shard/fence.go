package shard

import (
	"context"
	"fmt"
	"net/http"

	"github.com/slipway-gitops/slipway/internal/clock"
)

// fenceKey is the key of the holding in the context of a turn, and of a command.
type fenceKey struct{}

// over reports whether the Lease may be another's by now. The clock on the wall counts beside that of the process: the latter
// stands still while a virtual machine does, and the former may be set back.
func (h *holding) over() bool {
	return h.ctx.Err() != nil || h.until.Load().Passed(h.now())
}

// Lost reports whether the Lease that a turn or a command goes by, of the shard or of the leader, may be another's.
func Lost(ctx context.Context) bool {
	h, ok := ctx.Value(fenceKey{}).(*holding)
	return ok && h.over()
}

// Fenced lets no request of a turn or a command pass when the Lease that it goes by may be another's. A context that ends would
// show it, but not immediately: in a process that was stopped for a while, what was about to write is faster than the timer.
func Fenced(next http.RoundTripper) http.RoundTripper { return fence{next} }

type fence struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (f fence) RoundTrip(req *http.Request) (*http.Response, error) {
	if Lost(req.Context()) {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, ErrLost)
	}
	return f.RoundTripper.RoundTrip(req)
}

// Under is a context of what goes by a lease that is held until a time, which renew moves.
func Under(ctx context.Context, until clock.Instant) (_ context.Context, renew func(clock.Instant)) {
	h := &holding{ctx: ctx, now: clock.Now}
	h.until.Store(&until)
	return context.WithValue(ctx, fenceKey{}, h), func(until clock.Instant) { h.until.Store(&until) }
}
