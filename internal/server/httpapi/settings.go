package httpapi

import (
	"context"
	"net/http"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// ServerRoutes are the settings of the server, and what it says of itself.
type ServerRoutes struct {
	Keeper             Keeper
	PublicURL, Version string
	Hosts, Demo        bool
}

type settingsInput struct {
	TryInput
	IfMatch string `header:"If-Match" maxLength:"64" doc:"ETag that was read: another way to give the version"`
	Body    api.Settings
}

// Routes are its rows of the table.
func (h *ServerRoutes) Routes() []Route {
	find := func(ctx context.Context) (target, error) {
		s, err := h.Keeper.Settings(ctx)
		return target{object: serverSettings(), value: s}, err
	}
	get := Route{
		Method: http.MethodGet, Path: "/api/v1/settings", Permission: api.PermSettingView,
		ID: "get-settings", Summary: "Get the settings of the server", Tag: "settings",
	}
	get.mount = mount(handler[empty, output[api.Settings]]{
		find: func(ctx context.Context, _ *call, _ *empty) (target, error) { return find(ctx) },
		do: func(_ context.Context, c *call, _ *empty) (*output[api.Settings], error) {
			s, _ := c.before.(api.Settings)
			return &output[api.Settings]{etag(s.Version), s}, nil
		},
	})
	put := Route{
		Method: http.MethodPut, Path: "/api/v1/settings", Permission: api.PermSettingEdit, Audit: "settings.update",
		ID: "update-settings", Summary: "Change the settings of the server", Tag: "settings",
		Example: `{"auditRetentionDays":365,"commandRetentionDays":30,"ledgerRetentionDays":400,"ledgerRetentionGiB":10}`,
	}
	put.mount = mount(handler[settingsInput, output[api.Settings]]{
		find: func(ctx context.Context, _ *call, _ *settingsInput) (target, error) { return find(ctx) },
		do: func(ctx context.Context, c *call, in *settingsInput) (*output[api.Settings], error) {
			asked, err := version(in.IfMatch)
			if err != nil {
				return nil, err
			}
			if asked > 0 {
				in.Body.Version = asked
			}
			if in.DryRun {
				c.quiet = true
				return &output[api.Settings]{etag(in.Body.Version), in.Body}, nil
			}
			s, err := h.Keeper.SetSettings(ctx, in.Body)
			if err != nil {
				return nil, err
			}
			c.after = s
			return &output[api.Settings]{etag(s.Version), s}, nil
		},
	})
	return []Route{get, put, h.overview(), h.info()}
}

func (h *ServerRoutes) overview() Route {
	type out struct{ Body api.Overview }
	return Route{
		Method: http.MethodGet, Path: "/api/v1/overview", Access: SignedIn, Within: true, ID: "overview", Tag: "overview",
		Summary: "Counts of what you may see",
		mount: mount(handler[empty, out]{do: func(ctx context.Context, c *call, _ *empty) (*out, error) {
			filter := func(p api.Permission) rbac.Filter { return c.policy.Filter(c.who.Subject, p) }
			o, err := h.Keeper.Overview(ctx, filter(api.PermAgentView), filter(api.PermApplicationView), filter(api.PermClusterView), filter(api.PermRepositoryView))
			return &out{o}, err
		}}),
	}
}

func (h *ServerRoutes) info() Route {
	type out struct{ Body api.ServerInfo }
	return Route{
		Method: http.MethodGet, Path: "/api/v1/info", Access: SignedIn, Within: true, ID: "server-info", Tag: "overview",
		Summary: "Version and address of the server, and what it offers",
		mount: mount(handler[empty, out]{do: func(context.Context, *call, *empty) (*out, error) {
			return &out{api.ServerInfo{Version: h.Version, PublicURL: h.PublicURL, Hosts: h.Hosts, Demo: h.Demo}}, nil
		}}),
	}
}
