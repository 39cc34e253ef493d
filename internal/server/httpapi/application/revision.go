package application

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
)

type revisionInput struct {
	item.Input
	Revision string `path:"revision" maxLength:"64" pattern:"^[0-9A-Fa-f]{40,64}$" doc:"The full id of a commit" example:"3f2a9c1e0b7d4c5a69788796a5b4c3d2e1f0a9b8"`
}

type revisionsInput struct {
	item.Input
	Revision []string `query:"revision,explode" required:"true" minItems:"1" maxItems:"50" doc:"Full ids of commits"`
}

// revisionRoutes return the authors and messages of commits of an application's repositories.
func (h *Routes) revisionRoutes() []core.Route {
	order := func(in *item.Input, revisions []string) item.Order {
		return in.Order("application.revisions", api.RevisionsRequest{Revisions: revisions})
	}
	one := h.applicationRoute("/revisions/{revision}", "get-revision",
		"Get the author and the message of a commit of an application's repositories")
	type oneOutput struct{ Body api.RevisionInfo }
	one.Mount = core.Mount(core.Answer[revisionInput, oneOutput]{
		Find: item.Application[revisionInput](h.Clusters),
		Do: func(ctx context.Context, c *core.Call, in *revisionInput) (*oneOutput, error) {
			var got api.RevisionsAnswer
			if err := h.Ask(ctx, c, order(&in.Input, []string{in.Revision}), &got); err != nil {
				return nil, err
			}
			if len(got.Items) != 1 || !got.Items[0].Known {
				return nil, api.Errorf(api.CodeNotFound,
					"commit %s is not known: it is not in the agent's copy of the application's repositories; ask for one of its history", in.Revision)
			}
			return &oneOutput{got.Items[0]}, nil
		},
	})
	many := asked[api.RevisionsAnswer](h.applicationRoute("/revisions", "list-revisions",
		"Get the authors and messages of some commits of an application's repositories"), h.Clusters,
		item.Application[revisionsInput](h.Clusters), func(in *revisionsInput) item.Order { return order(&in.Input, in.Revision) })
	return []core.Route{one, many}
}
