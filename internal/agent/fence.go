package agent

import (
	"context"
	"fmt"
	"net/http"

	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
)

// fenceKey is the key of the holding in the context of a turn, and of a command.
type fenceKey struct{}

// over reports whether the Lease may be another's by now. The clock on the wall counts beside that of the process: the latter
// stands still while a virtual machine does, and the former may be set back.
func (h *holding) over() bool {
	return h.ctx.Err() != nil || h.until.Load().Passed(h.now())
}

// lost reports whether the Lease that a turn or a command goes by, of the shard or of the leader, may be another's.
func lost(ctx context.Context) bool {
	h, ok := ctx.Value(fenceKey{}).(*holding)
	return ok && h.over()
}

// fell reports whether the Lease that a turn goes by may be another's. If it still is this agent's, as after the clock on the
// wall was set, the Application has another turn.
func (a *Agent) fell(turn context.Context, id registry.Name) bool {
	if !lost(turn) {
		return false
	}
	a.queue.AddAfter(id, writePause)
	return true
}

// fenced lets no request of a turn or a command pass when the Lease that it goes by may be another's. A context that ends would tell, but not
// at once: in a process that was stopped for a while, what was about to write is faster than the timer.
func fenced(next http.RoundTripper) http.RoundTripper {
	return place.RoundTripper(func(req *http.Request) (*http.Response, error) {
		if lost(req.Context()) {
			if req.Body != nil {
				_ = req.Body.Close()
			}
			return nil, fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, errLeaseLost)
		}
		return next.RoundTrip(req)
	})
}
