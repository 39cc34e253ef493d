package application

import (
	"context"
	"net/http"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
)

type planInput struct {
	item.Input
	Body api.SyncRequest
}

// planRoute reads, although it takes the body of a sync.
func (h *Routes) planRoute() core.Route {
	r := h.applicationRoute("/plan", "plan-sync", "Preview a sync: its steps in order, and what would prevent it; nothing is changed")
	r.Method, r.Reads, r.Tag, r.Example = http.MethodPost, true, "operations", `{"prune":true}`
	type out struct{ Body api.SyncPlan }
	r.Mount = core.Mount(core.Answer[planInput, out]{
		Find: item.Application[planInput](h.Clusters),
		Do: func(ctx context.Context, c *core.Call, in *planInput) (*out, error) {
			if len(in.Body.Manifests) > 0 { // what is live shows in the differences, also of objects that are not the application's
				t, err := h.FindApplication(ctx, in.Input)
				if err == nil {
					err = c.May(api.PermApplicationSync, t)
				}
				if err != nil {
					return nil, err
				}
			}
			var o out
			return &o, h.Ask(ctx, c, in.Order("application.plan", in.Body), &o.Body)
		},
	})
	return r
}
