package httpapi

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// AgentInput names an agent. Its fields are parameters: the decoder sees only what is exported.
type AgentInput struct {
	Agent string `path:"agent" maxLength:"210" doc:"Id of the agent" example:"account.prod"`
}

// ItemInput names an item of an agent. Its fields are parameters: the decoder sees only what is exported.
type ItemInput struct {
	AgentInput
	Namespace string `path:"namespace" maxLength:"63" doc:"Namespace in the agent's cluster" example:"argocd"`
	Name      string `path:"name" maxLength:"253" doc:"Name in the agent's cluster" example:"shop"`
}

// typeOf is what rights call a kind of item.
func typeOf(kind string) string {
	switch kind {
	case api.KindRepoCreds:
		return api.TypeRepository
	case api.KindCertificate:
		return api.TypeCert
	case api.KindInstances:
		return api.TypeApplication
	}
	return kind
}

// findItem finds an item in the server's copy.
func (h *Handler) findItem(ctx context.Context, kind, agent, namespace, name string) (target, error) {
	id := api.ItemID(agent, namespace, name)
	object := rbac.Object{Type: typeOf(kind), ID: id}
	if kind == api.KindApplication {
		app, err := h.cfg.Items.GetApplication(ctx, agent, namespace, name)
		if err != nil {
			return target{}, missing(err, typeOf(kind), id)
		}
		object.Scope, object.Labels = app.Scope, app.Labels
		return target{object: object, value: &app, there: app.ArgoProject}, nil
	}
	item, err := h.cfg.Items.GetItem(ctx, kind, agent, namespace, name)
	if err != nil {
		return target{}, missing(err, typeOf(kind), id)
	}
	object.Scope, object.Labels = item.Scope, item.Labels
	return target{object: object, value: &item, there: item.ArgoProject}, nil
}

func missing(err error, kind, id string) error {
	if api.CodeOf(err) == api.CodeNotFound {
		return notFound(kind, id)
	}
	return err
}

// freshItem is an item that is to be made, as an object that rights are asked for: it belongs where its Argo project is
// mapped to, else to its agent's scope.
func (h *Handler) freshItem(ctx context.Context, kind, agent, namespace, name, argoProject string, labels map[string]string) (target, error) {
	scope, err := h.cfg.Items.ItemScope(ctx, agent, argoProject)
	if err != nil {
		return target{}, missing(err, "agent", agent)
	}
	return target{object: rbac.Object{
		Type: typeOf(kind), Scope: scope, ID: api.ItemID(agent, namespace, name), Labels: labels, Asserted: true,
	}}, nil
}

// ItemList says which items are wanted. Its fields are parameters: the decoder sees only what is exported.
type ItemList struct {
	ListInput
	Agent       string `query:"agent" maxLength:"210" doc:"Only those of this agent" example:"account.prod"`
	ArgoProject string `query:"argoProject" maxLength:"253" doc:"Only those of this Argo project" example:"default"`
	Stale       bool   `query:"stale" doc:"Only those whose copy may be out of date: the agent is away, or no longer reports them"`
}

func (in *ItemList) filter() (api.ItemFilter, error) {
	options, err := in.options()
	return api.ItemFilter{ListOptions: options, Agent: in.Agent, ArgoProject: in.ArgoProject, Stale: in.Stale}, err
}

// checkReferences refuses to delete what applications use.
func (c *call) checkReferences(ctx context.Context, item *api.Item, force bool) error {
	if force {
		return nil
	}
	refs, err := c.cfg.Items.ItemReferences(ctx, *item)
	if err != nil || len(refs) == 0 {
		return err
	}
	return &api.Error{
		Code: api.CodeConflict, References: refs,
		Message: item.Kind + " " + item.Name + " is in use: change what refers to it, or force its deletion",
	}
}
