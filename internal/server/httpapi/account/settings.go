package account

import (
	"context"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// ServerRoutes are the settings of the server, and its self-description.
type ServerRoutes struct {
	Keeper             core.Keeper
	PublicURL, Version string
	Hosts, Demo        bool
}

// maxBanner is the longest text of a banner in bytes: 500 characters.
const maxBanner = 500 * utf8.UTFMax

type settingsInput struct {
	core.TryInput
	IfMatch string `header:"If-Match" maxLength:"64" doc:"ETag that was read, instead of the version"`
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
			if err := checkBanner(&in.Body.Banner); err != nil {
				return nil, err
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

// checkBanner makes the text of a banner legible, and refuses one that leads to anything but a page or a mail.
func checkBanner(b *api.Banner) error {
	b.Text = legible.Text(strings.TrimSpace(b.Text), maxBanner)
	switch {
	case b.Text == "" && *b != (api.Banner{}):
		return &api.Error{Code: api.CodeInvalid, Field: "body.banner.text", Message: "a banner needs a text: give one, or leave the banner out"}
	case b.URL != "" && !legible.Link(b.URL):
		return &api.Error{
			Code: api.CodeInvalid, Field: "body.banner.url",
			Message: "the address of a banner begins with https://, http:// or mailto:",
		}
	}
	return nil
}

func (h *ServerRoutes) overview() core.Route {
	type out struct{ Body api.Overview }
	return core.Route{
		Method: http.MethodGet, Path: "/api/v1/overview", Access: core.SignedIn, Within: true, ID: "overview", Tag: "overview",
		Summary: "Counts of what you may see",
		Mount: core.Mount(core.Answer[core.Empty, out]{Do: func(ctx context.Context, c *core.Call, _ *core.Empty) (*out, error) {
			filter := func(p api.Permission) rbac.Filter { return c.Policy.Filter(c.Who.Subject, p) }
			o, err := h.Keeper.Overview(ctx, filter(api.PermAgentView), filter(api.PermApplicationView), filter(api.PermClusterView),
				filter(api.PermRepositoryView))
			return &out{o}, err
		}}),
	}
}

func (h *ServerRoutes) info() core.Route {
	type out struct{ Body api.ServerInfo }
	return core.Route{
		Method: http.MethodGet, Path: "/api/v1/info", Access: core.SignedIn, Within: true, ID: "server-info", Tag: "overview",
		Summary: "Version and address of the server, and what it offers",
		Mount: core.Mount(core.Answer[core.Empty, out]{Do: func(ctx context.Context, c *core.Call, _ *core.Empty) (*out, error) {
			s, err := h.Keeper.Settings(ctx)
			if err != nil { // the rest is known without the database
				c.Log.Warn("info without the banner", "request_id", c.ID, "err", err)
			}
			info := api.ServerInfo{Version: h.Version, PublicURL: h.PublicURL, Hosts: h.Hosts, Demo: h.Demo, Badges: s.Badges}
			if s.Banner.Text != "" {
				info.Banner = &s.Banner
			}
			return &out{info}, nil
		}}),
	}
}
