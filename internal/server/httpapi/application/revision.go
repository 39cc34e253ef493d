package application

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
)

type revisionInput struct {
	item.Input
	Revision string `path:"revision" maxLength:"64" pattern:"^[0-9A-Fa-f]{40,64}$" doc:"A commit, by its whole id" example:"3f2a9c1e0b7d4c5a69788796a5b4c3d2e1f0a9b8"`
}

type revisionsInput struct {
	item.Input
	Revision []string `query:"revision,explode" required:"true" minItems:"1" maxItems:"50" doc:"Commits, each by its whole id"`
}

// revisionRoutes tell who made commits of an application's repositories.
func (h *Routes) revisionRoutes() []core.Route {
	ask := func(ctx context.Context, c *core.Call, in *item.Input, revisions []string) (api.RevisionsAnswer, error) {
		var out api.RevisionsAnswer
		err := h.Ask(ctx, c, in.Order("application.revisions", api.RevisionsRequest{Revisions: revisions}), &out)
		return out, err
	}
	one := h.applicationRoute("/revisions/{revision}", "get-revision", "Who made a commit of an application's repositories, and what for")
	type oneOutput struct{ Body api.RevisionInfo }
	one.Mount = core.Mount(core.Answer[revisionInput, oneOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *revisionInput) (core.Target, error) {
			return h.FindApplication(ctx, in.Input)
		},
		Do: func(ctx context.Context, c *core.Call, in *revisionInput) (*oneOutput, error) {
			got, err := ask(ctx, c, &in.Input, []string{in.Revision})
			if err != nil {
				return nil, err
			}
			if len(got.Items) != 1 || !got.Items[0].Known {
				return nil, api.Errorf(api.CodeNotFound, "commit %s is not known: it is not in the agent's copy of the application's repositories; ask for one of its history", in.Revision)
			}
			return &oneOutput{got.Items[0]}, nil
		},
	})
	many := h.applicationRoute("/revisions", "list-revisions", "Who made some commits of an application's repositories, and what for")
	type manyOutput struct{ Body api.RevisionsAnswer }
	many.Mount = core.Mount(core.Answer[revisionsInput, manyOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *revisionsInput) (core.Target, error) {
			return h.FindApplication(ctx, in.Input)
		},
		Do: func(ctx context.Context, c *core.Call, in *revisionsInput) (*manyOutput, error) {
			got, err := ask(ctx, c, &in.Input, in.Revision)
			return &manyOutput{got}, err
		},
	})
	return []core.Route{one, many}
}
