package application

import (
	"context"
	"net/http"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
)

type applicationPreviewInput struct {
	item.AgentInput
	Quick     bool `query:"quick" doc:"Check the resource and its Argo project only, while a user types: neither repositories nor the destination are read"`
	Manifests bool `query:"manifests" doc:"Include the rendered objects, secrets masked"`
	Body      api.PreviewRequest
}

// changes says whether the preview is of a change of an application that is there.
func (in *applicationPreviewInput) changes(m *manifest) bool {
	return in.Body.Update || m.Metadata.ResourceVersion != "" || m.Metadata.UID != ""
}

type applicationPreviewOutput struct{ Body api.Preview }

// previewRoute says what an application would do. It takes what making the application takes, and what reading it afterwards
// would: it shows nothing that the caller could not deploy and see.
func (h *ObjectRoutes) previewRoute() core.Route {
	n := h.applicationObjects()
	r := n.route(http.MethodPost, "/preview", "edit", "preview-application",
		"Preview an application, or a change of one; nothing is written. Requires application_view as well")
	r.Reads, r.Example = true, n.example
	r.Mount = core.Mount(core.Answer[applicationPreviewInput, applicationPreviewOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *applicationPreviewInput) (core.Target, error) {
			m, err := n.read(in.Body.Resource)
			if err != nil {
				return core.Target{}, err
			}
			if in.changes(m) {
				return n.h.FindItem(ctx, n.kind, in.Agent, m.Metadata.Namespace, m.Metadata.Name)
			}
			return n.wanted(ctx, in.Agent, m)
		},
		Do: func(ctx context.Context, c *core.Call, in *applicationPreviewInput) (*applicationPreviewOutput, error) {
			order, err := n.preview(ctx, c, in)
			if err != nil {
				return nil, err
			}
			var out applicationPreviewOutput
			return &out, n.h.Ask(ctx, c, order, &out.Body)
		},
	})
	return r
}

// preview asks for the rights that are left to be asked for, and makes the question to the agent.
func (n *manifestNoun) preview(ctx context.Context, c *core.Call, in *applicationPreviewInput) (item.Order, error) {
	m, err := n.read(in.Body.Resource)
	if err != nil {
		return item.Order{}, err
	}
	to, err := n.wanted(ctx, in.Agent, m)
	if err != nil {
		return item.Order{}, err
	}
	if err := c.MayBecome(to); err != nil {
		return item.Order{}, err
	}
	// Users who may see what is there can see what is made: of something new the labels are not known yet.
	to.Object.Asserted = c.Found.Value == nil
	if err := c.May(api.PermApplicationView, to); err != nil {
		return item.Order{}, err
	}
	base, err := n.base(in.Body.Base)
	if err != nil {
		return item.Order{}, err
	}
	judged := agentapi.JudgedProject{Wanted: m.project}
	body := agentapi.Preview{
		Object: m.normal, Base: base, Quick: in.Quick, Manifests: in.Manifests,
		Update: in.changes(m),
	}
	if body.Update {
		// A change takes the rights for what is there: what it would become was asked for above.
		there, err := n.h.FindItem(ctx, n.kind, in.Agent, m.Metadata.Namespace, m.Metadata.Name)
		if err != nil {
			return item.Order{}, err
		}
		for _, permission := range []api.Permission{api.PermApplicationView, api.PermApplicationEdit} {
			if err := c.May(permission, there); err != nil {
				return item.Order{}, err
			}
		}
		body.Project, judged.There = there.There, there.There
		if len(body.Base) == 0 && m.Metadata.ResourceVersion != "" {
			body.Base = sameVersion(item.ResourceOf(there), m.Metadata.ResourceVersion)
		}
	}
	return item.Order{
		Agent: in.Agent, Kind: string(agentapi.KindPreview), TargetKind: n.kind, Namespace: m.Metadata.Namespace, Name: m.Metadata.Name,
		Body: body, Judged: &judged,
	}, nil
}
