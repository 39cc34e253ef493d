package application

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/inspect"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
)

// timelineRoute returns an operation. What comes next only the agent knows; what was done is in the server's copy.
func (h *Routes) timelineRoute() core.Route {
	r := h.applicationRoute("/operation", "get-operation", "The last or running operation of an application, step by step")
	type out struct{ Body api.OperationTimeline }
	r.Mount = core.Mount(core.Answer[item.Input, out]{
		Find: item.Application[item.Input](h.Clusters),
		Do: func(ctx context.Context, c *core.Call, in *item.Input) (*out, error) {
			var o out
			err := h.Ask(ctx, c, in.Order("application.operation", nil), &o.Body)
			if err == nil && o.Body.Steps != nil {
				return &o, nil
			}
			detail, app, err := known(c)
			if err != nil {
				return nil, err
			}
			o.Body = inspect.Timeline(app, nil)
			o.Body.Warnings = append(o.Body.Warnings, absence(detail)...)
			return &o, nil
		},
	})
	return r
}
