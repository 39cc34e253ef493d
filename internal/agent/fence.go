package agent

import (
	"context"
	"fmt"
	"net/http"
)

// fenceKey is the key of the holding in the context of a turn.
type fenceKey struct{}

// over reports whether the Lease may be another's by now. The clock on the wall counts beside that of the process: the latter
// stands still while a virtual machine does, and the former may be set back.
func (h *holding) over() bool {
	return h.ctx.Err() != nil || h.until.Load().Passed(h.now())
}

// lost reports whether the Lease of the shard that a turn is in may be another's.
func lost(turn context.Context) bool {
	h, ok := turn.Value(fenceKey{}).(*holding)
	return ok && h.over()
}

// fenced lets no request of a turn pass when the Lease of its shard may be another's. A context that ends would tell, but not
// at once: in a process that was stopped for a while, what was about to write is faster than the timer.
func fenced(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		if lost(req.Context()) {
			if req.Body != nil {
				_ = req.Body.Close()
			}
			return nil, fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, errLeaseLost)
		}
		return next.RoundTrip(req)
	})
}
