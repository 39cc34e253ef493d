package account

import (
	"context"
	"net/http"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// ServerRoutes are the settings of the server, and what it says of itself.
type ServerRoutes struct {
	Keeper             core.Keeper
	PublicURL, Version string
	Hosts, Demo        bool
}

type settingsInput struct {
	core.TryInput
	IfMatch string `header:"If-Match" maxLength:"64" doc:"ETag that was read: another way to give the version"`
	Body    api.Settings
}

// Routes are its rows of the table.
func (h *ServerRoutes) Routes() []core.Route {
	find := func(ctx context.Context) (core.Target, error) {
		s, err := h.Keeper.Settings(ctx)
		return core.Target{Object: core.ServerSettings(), Value: s}, err
	}
	get := core.Route{
		Method: http.MethodGet, Path: "/api/v1/settings", Permission: api.PermSettingView,
		ID: "get-settings", Summary: "Get the settings of the server", Tag: "settings",
	}
	get.Mount = core.Mount(core.Answer[core.Empty, core.Output[api.Settings]]{
		Find: func(ctx context.Context, _ *core.Call, _ *core.Empty) (core.Target, error) { return find(ctx) },
		Do: func(_ context.Context, c *core.Call, _ *core.Empty) (*core.Output[api.Settings], error) {
			s, _ := c.Before.(api.Settings)
			return &core.Output[api.Settings]{ETag: core.ETag(s.Version), Body: s}, nil
		},
	})
	put := core.Route{
		Method: http.MethodPut, Path: "/api/v1/settings", Permission: api.PermSettingEdit, Audit: "settings.update",
		ID: "update-settings", Summary: "Change the settings of the server", Tag: "settings",
		Example: `{"auditRetentionDays":365,"commandRetentionDays":30,"ledgerRetentionDays":400,"ledgerRetentionGiB":10}`,
	}
	put.Mount = core.Mount(core.Answer[settingsInput, core.Output[api.Settings]]{
		Find: func(ctx context.Context, _ *core.Call, _ *settingsInput) (core.Target, error) { return find(ctx) },
		Do: func(ctx context.Context, c *core.Call, in *settingsInput) (*core.Output[api.Settings], error) {
			asked, err := core.Version(in.IfMatch)
			if err != nil {
				return nil, err
			}
			if asked > 0 {
				in.Body.Version = asked
			}
			if in.DryRun {
				c.Quiet = true
				return &core.Output[api.Settings]{ETag: core.ETag(in.Body.Version), Body: in.Body}, nil
			}
			s, err := h.Keeper.SetSettings(ctx, in.Body)
			if err != nil {
				return nil, err
			}
			c.After = s
			return &core.Output[api.Settings]{ETag: core.ETag(s.Version), Body: s}, nil
		},
	})
	return []core.Route{get, put, h.overview(), h.info()}
}

func (h *ServerRoutes) overview() core.Route {
	type out struct{ Body api.Overview }
	return core.Route{
		Method: http.MethodGet, Path: "/api/v1/overview", Access: core.SignedIn, Within: true, ID: "overview", Tag: "overview",
		Summary: "Counts of what you may see",
		Mount: core.Mount(core.Answer[core.Empty, out]{Do: func(ctx context.Context, c *core.Call, _ *core.Empty) (*out, error) {
			filter := func(p api.Permission) rbac.Filter { return c.Policy.Filter(c.Who.Subject, p) }
			o, err := h.Keeper.Overview(ctx, filter(api.PermAgentView), filter(api.PermApplicationView), filter(api.PermClusterView), filter(api.PermRepositoryView))
			return &out{o}, err
		}}),
	}
}

func (h *ServerRoutes) info() core.Route {
	type out struct{ Body api.ServerInfo }
	return core.Route{
		Method: http.MethodGet, Path: "/api/v1/info", Access: core.SignedIn, Within: true, ID: "server-info", Tag: "overview",
		Summary: "Version and address of the server, and what it offers",
		Mount: core.Mount(core.Answer[core.Empty, out]{Do: func(context.Context, *core.Call, *core.Empty) (*out, error) {
			return &out{api.ServerInfo{Version: h.Version, PublicURL: h.PublicURL, Hosts: h.Hosts, Demo: h.Demo}}, nil
		}}),
	}
}
