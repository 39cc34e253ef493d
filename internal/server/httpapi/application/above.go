package application

import (
	"context"
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/project"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// mayAbove asks for the route's permission at the agent's scope: what an Argo project may do is not for those who are in it
// to decide.
func (n *manifestNoun) mayAbove(ctx context.Context, c *core.Call, in item.Input) error {
	parent, err := n.h.Above(ctx, api.KindArgoProject, in)
	if err != nil {
		return err
	}
	if d := c.Policy.Can(c.Who.Subject, c.Route.Permission, parent.Object); !d.Allowed {
		return api.Errorf(api.CodeForbidden, "an Argo project is made and deleted with %s above it, at %s: %s", c.Route.Permission,
			parent.Object.Scope, d.Why)
	}
	return nil
}

// withinParent lets users without a right above an Argo project write only what permits no more than it does now. What is
// compared is what is written: the change is made to the version that was read here.
func (n *manifestNoun) withinParent(ctx context.Context, c *core.Call, in item.Input, apply *agentapi.ObjectApply) error {
	was, there := c.Before.(json.RawMessage)
	if !there {
		return n.mayAbove(ctx, c, in)
	}
	parent, err := n.h.Above(ctx, api.KindArgoProject, in)
	if err != nil {
		return err
	}
	d := c.Policy.Can(c.Who.Subject, c.Route.Permission, parent.Object)
	if d.Allowed {
		return nil
	}
	before, err := readProject(was)
	if err != nil {
		return api.Errorf(api.CodeForbidden, "the Argo project cannot be compared with what it is now (%v): it takes %s at %s to change it", err,
			c.Route.Permission, parent.Object.Scope)
	}
	after, err := readProject(apply.Object)
	if err != nil {
		return &api.Error{Code: api.CodeInvalid, Field: "body.resource", Message: "the resource is no AppProject: " + err.Error()}
	}
	if wider := project.Widens(before, after); len(wider) > 0 {
		return api.Errorf(api.CodeForbidden, "this permits the Argo project more than it may do now (%s), which takes %s above it, at %s: %s",
			strings.Join(wider, ", "), c.Route.Permission, parent.Object.Scope, d.Why)
	}
	if before.ResourceVersion == "" || apply.Version != "" && apply.Version != before.ResourceVersion {
		return api.Errorf(api.CodeConflict,
			"the Argo project has changed since version %.64s: read it again and repeat the change", apply.Version)
	}
	apply.Base, apply.Version, apply.Update = was, before.ResourceVersion, true
	return nil
}

// readProject reads an AppProject by the exact names of its fields, as its agent does. One with a field that is not known
// here is an error: what it permits is not known either.
func readProject(raw json.RawMessage) (*v1alpha1.AppProject, error) {
	if err := strict.Check(raw, nil); err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := utiljson.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	delete(fields, "status") // not requested
	var out v1alpha1.AppProject
	return &out, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(fields, &out, true)
}

// Bounds is what an answer about rights adds for users who may edit an Argo project, and not what is above it.
func (h *ObjectRoutes) Bounds(ctx context.Context, c *core.Call, s rbac.Subject, want api.Permission, object rbac.Object) (string, error) {
	if object.Type != api.TypeArgoProject || want.Verb() == "view" || object.ID == "" {
		return "", nil
	}
	agent, namespace, name, err := api.ParseItemID(object.ID)
	if err != nil {
		return "", err
	}
	parent, err := h.Above(ctx, api.KindArgoProject, item.At(agent, namespace, name))
	if err != nil || c.Policy.Can(s, want, parent.Object).Allowed {
		return "", err
	}
	if want == api.PermArgoProjectDelete {
		return "; but an Argo project is deleted with " + string(want) + " above it only, at " + string(parent.Object.Scope), nil
	}
	return "; within what it may do now: to permit it more takes " + string(want) + " above it, at " + string(parent.Object.Scope), nil
}
