package fleet

import (
	"context"
	"net/http"
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// CommandRoutes return the results of commands.
type CommandRoutes struct {
	*item.Clusters
	Find core.Finder
}

// Routes are its rows of the table.
func (h *CommandRoutes) Routes() []core.Route {
	get := core.Route{
		Method: http.MethodGet, Path: "/api/v1/commands/{id}", Access: core.SignedIn, Within: true, ID: "get-command", Tag: "commands",
		Summary: "Get a command for an object that you may see, with its result",
	}
	type out struct{ Body api.Command }
	get.Mount = core.Mount(core.Answer[core.IDInput, out]{Do: func(ctx context.Context, c *core.Call, in *core.IDInput) (*out, error) {
		cmd, err := h.Commands.GetCommand(ctx, in.ID)
		if api.CodeOf(err) == api.CodeNotFound {
			return nil, core.NotFound("command", in.ID)
		}
		if err != nil {
			return nil, err
		}
		if err := h.sight(ctx, c, &cmd); err != nil {
			return nil, err
		}
		return &out{cmd}, nil
	}})
	return []core.Route{get}
}

// sight lets see a command who may see now what it is about. The author, if they may still do anything with it, sees its
// result without the object. No other user learns that there is such a command.
func (h *CommandRoutes) sight(ctx context.Context, c *core.Call, cmd *api.Command) error {
	kind := item.TypeOf(cmd.Object.Type)
	t, err := h.Find(ctx, kind, cmd.Object.ID)
	gone := err != nil
	if code := api.CodeOf(err); gone && code != api.CodeNotFound && code != api.CodeInvalid {
		return err
	}
	if gone {
		t = core.Target{Object: rbac.Object{Type: kind, Scope: rbac.Scope(cmd.Object.Scope), ID: cmd.Object.ID, Asserted: true}}
	}
	mine := cmd.By == c.Who.Principal
	can := func(want api.Permission) bool {
		// Of what is gone the labels are not known any more.
		return c.Policy.Can(c.Who.Subject, want, t.Object).Allowed || gone && mine && c.Policy.Filter(c.Who.Subject, want).Meets(t.Object.Scope)
	}
	if can(api.Permission(kind + "_view")) {
		return nil
	}
	if mine && slices.ContainsFunc(api.Permissions(), func(p api.Permission) bool { return p.Type() == kind && can(p) }) {
		cmd.Result = nil
		return nil
	}
	return core.NotFound("command", cmd.ID)
}
