package application

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/project"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// ObjectRoutes write resources of Argo CD's as a whole, and look at what they would be.
type ObjectRoutes struct {
	*item.Clusters
	AgentList core.Entities[api.Agent]
}

// Routes are its rows of the table.
func (h *ObjectRoutes) Routes() []core.Route {
	sets, projects := h.applicationSetObjects(), h.argoProjectObjects()
	return slices.Concat(h.applicationObjects().writes(), h.sourceRoutes(), sets.reads(), sets.writes(), projects.reads(), projects.writes(),
		[]core.Route{projects.links()})
}

// manifestNoun is a resource of Argo CD's that is written as a whole.
type manifestNoun struct {
	h *ObjectRoutes
	// Kind is that of items, resource that of Kubernetes, many the last part of the path.
	kind, resource, many, called string
	example                      string
}

func (h *ObjectRoutes) applicationObjects() *manifestNoun {
	return &manifestNoun{
		h, api.KindApplication, "Application", "applications", "application",
		`{"resource":{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"shop","namespace":"argocd"},"spec":{"project":"default","source":{"repoURL":"https://git.example.org/shop.git","path":"deploy","targetRevision":"main"},"destination":{"server":"https://kubernetes.default.svc","namespace":"shop"}}}}`,
	}
}

func (h *ObjectRoutes) applicationSetObjects() *manifestNoun {
	return &manifestNoun{
		h, api.KindApplicationSet, "ApplicationSet", "applicationsets", "application set",
		`{"resource":{"apiVersion":"argoproj.io/v1alpha1","kind":"ApplicationSet","metadata":{"name":"shops","namespace":"argocd"},"spec":{"generators":[{"list":{"elements":[{"shop":"north"}]}}],"template":{"metadata":{"name":"shop-{{shop}}"},"spec":{"project":"default","source":{"repoURL":"https://git.example.org/shop.git","path":"deploy"},"destination":{"name":"in-cluster","namespace":"shop"}}}}}}`,
	}
}

func (h *ObjectRoutes) argoProjectObjects() *manifestNoun {
	return &manifestNoun{
		h, api.KindArgoProject, "AppProject", "argo-projects", "Argo project",
		`{"resource":{"apiVersion":"argoproj.io/v1alpha1","kind":"AppProject","metadata":{"name":"shop","namespace":"argocd"},"spec":{"sourceRepos":["https://git.example.org/*"],"destinations":[{"server":"*","namespace":"shop-*"}]}}}`,
	}
}

// manifest is what has to be known of a resource before rights can be asked for.
type manifest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name            string            `json:"name"`
		Namespace       string            `json:"namespace"`
		Labels          map[string]string `json:"labels"`
		ResourceVersion string            `json:"resourceVersion"`
		UID             string            `json:"uid"`
	} `json:"metadata"`

	// normal is the resource in the one form that is judged, signed and used.
	normal json.RawMessage
	// project is the Argo project that it belongs to; "" where it may be any.
	project string
}

// read reads a requested resource, and puts it into its normal form: what is judged here is what the agent writes.
func (n *manifestNoun) read(raw json.RawMessage) (*manifest, error) {
	invalid := func(message string) error {
		return &api.Error{Code: api.CodeInvalid, Message: message, Field: "body.resource"}
	}
	var m manifest
	resource, err := normalResource(raw, n.like(), &m.normal)
	if err == nil {
		err = strict.Decode(m.normal, &m, strict.Unknown)
	}
	if err != nil {
		return nil, invalid("the resource is no " + n.resource + ": " + err.Error())
	}
	switch {
	case m.APIVersion != "argoproj.io/v1alpha1" || m.Kind != n.resource:
		return nil, invalid("the resource is no " + n.resource + ": set apiVersion to argoproj.io/v1alpha1 and kind to " + n.resource)
	case !dnsName(m.Metadata.Name, 253) || !dnsName(m.Metadata.Namespace, 63):
		return nil, invalid("the resource needs metadata.name and metadata.namespace as Kubernetes allows them")
	}
	name, sole := project.Belongs(resource)
	if sole {
		m.project = name
	}
	return &m, nil
}

// like is the type of the noun's resources: their fields have these names and no similar ones.
func (n *manifestNoun) like() any {
	switch n.kind {
	case api.KindApplicationSet:
		return v1alpha1.ApplicationSet{}
	case api.KindArgoProject:
		return v1alpha1.AppProject{}
	}
	return v1alpha1.Application{}
}

// normalResource gives a resource in its normal form, if every reader understands it alike.
func normalResource(raw json.RawMessage, like any, normal *json.RawMessage) (map[string]any, error) {
	if err := strict.Check(raw, like, strict.Unknown, strict.WholeNumbers); err != nil {
		return nil, err
	}
	form, err := strict.Normal(raw)
	if err != nil {
		return nil, err
	}
	value, err := strict.Value(form)
	if err != nil {
		return nil, err
	}
	resource, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("it is no JSON object")
	}
	*normal = form
	return resource, nil
}

// base is the resource as it was before the edit, in its normal form; nothing where that was not given.
func (n *manifestNoun) base(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var out json.RawMessage
	if _, err := normalResource(raw, n.like(), &out); err != nil {
		return nil, &api.Error{
			Code: api.CodeInvalid, Field: "body.base",
			Message: "base is no " + n.resource + ": " + err.Error() + "; leave it out, or give the resource as it was",
		}
	}
	return out, nil
}

// dnsName is true for what Kubernetes takes as a name.
func dnsName(s string, limit int) bool {
	if s == "" || len(s) > limit {
		return false
	}
	for _, part := range strings.Split(s, ".") {
		if api.CheckName(part) != nil && (len(part) <= api.MaxName || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789-") != "") {
			return false
		}
	}
	return true
}

// wanted is the resource as it is to be, as an object that rights are asked for.
func (n *manifestNoun) wanted(ctx context.Context, agent string, m *manifest) (core.Target, error) {
	return n.h.FreshItem(ctx, n.kind, agent, m.Metadata.Namespace, m.Metadata.Name, m.project, m.Metadata.Labels)
}

// Changed is what is there as it will be: labels that neither the wish nor its base has stay.
func (n *manifestNoun) changed(ctx context.Context, agent string, m *manifest, base json.RawMessage,
	there core.Target,
) (core.Target, error) {
	var from manifest
	if len(base) > 0 {
		if err := strict.Decode(base, &from, strict.Foreign); err != nil {
			return core.Target{}, err
		}
	}
	labels := maps.Clone(there.Object.Labels)
	maps.DeleteFunc(labels, func(name, _ string) bool { _, was := from.Metadata.Labels[name]; return was })
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, m.Metadata.Labels)
	return n.h.FreshItem(ctx, n.kind, agent, m.Metadata.Namespace, m.Metadata.Name, m.project, labels)
}

type objectCreate struct {
	item.AgentInput
	item.WaitInput
	core.TryInput
	Body api.ObjectWrite
}

type objectUpdate struct {
	item.Input
	item.WaitInput
	core.TryInput
	Body api.ObjectWrite
}

func (n *manifestNoun) permission(verb string) api.Permission {
	return api.Permission(n.kind + "_" + verb)
}

func (n *manifestNoun) route(method, path, verb, id, summary string) core.Route {
	return core.Route{
		Method: method, Path: "/api/v1/agents/{agent}/" + n.many + path, Permission: n.permission(verb), ID: id, Summary: summary, Tag: n.many,
	}
}

func (n *manifestNoun) name() string { return strings.ReplaceAll(strings.ToLower(n.called), " ", "-") }

// writes are create, update and delete.
func (n *manifestNoun) writes() []core.Route {
	create := n.route(http.MethodPost, "", "edit", "create-"+n.name(), "Create an "+n.called+", or change it with upsert")
	create.Audit, create.Example = n.name()+".create", n.example
	create.Mount = core.Mount(core.Answer[objectCreate, item.CommandOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *objectCreate) (core.Target, error) {
			m, err := n.read(in.Body.Resource)
			if err != nil {
				return core.Target{}, err
			}
			if there, err := n.h.FindItem(ctx, n.kind, in.Agent, m.Metadata.Namespace, m.Metadata.Name); err == nil && in.Body.Upsert {
				return there, nil
			}
			return n.wanted(ctx, in.Agent, m)
		},
		Do: n.create,
	})
	update := n.route(http.MethodPut, "/{namespace}/{name}", "edit", "update-"+n.name(), "Change an "+n.called+"; unknown fields are kept")
	update.Audit, update.Example = n.name()+".update", n.example
	update.Mount = core.Mount(core.Answer[objectUpdate, item.CommandOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *objectUpdate) (core.Target, error) {
			return n.h.FindItem(ctx, n.kind, in.Agent, in.Namespace, in.Name)
		},
		Do: n.update,
	})
	remove := n.route(http.MethodDelete, "/{namespace}/{name}", "delete", "delete-"+n.name(), "Delete an "+n.called)
	remove.Audit = n.name() + ".delete"
	remove.Mount = core.Mount(core.Answer[item.ObjectDelete, item.CommandOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *item.ObjectDelete) (core.Target, error) {
			return n.h.FindItem(ctx, n.kind, in.Agent, in.Namespace, in.Name)
		},
		Do: n.remove,
	})
	return []core.Route{create, update, remove}
}

func (n *manifestNoun) create(ctx context.Context, c *core.Call, in *objectCreate) (*item.CommandOutput, error) {
	m, err := n.read(in.Body.Resource)
	if err != nil {
		return nil, err
	}
	base, err := n.base(in.Body.Base)
	if err != nil {
		return nil, err
	}
	apply := agentapi.ObjectApply{
		Object: m.normal, Base: base, Version: m.Metadata.ResourceVersion, Create: !in.Body.Upsert, DryRun: in.DryRun,
	}
	judged := agentapi.JudgedProject{Wanted: m.project}
	there, err := n.h.FindItem(ctx, n.kind, in.Agent, m.Metadata.Namespace, m.Metadata.Name)
	switch {
	case err == nil && !in.Body.Upsert:
		// It may be seen or not: a taken name must be reported.
		return nil, api.Errorf(api.CodeConflict, "%s %s/%s is there already: choose another name, or change it with upsert", n.called,
			m.Metadata.Namespace, m.Metadata.Name)
	case err == nil:
		if err := c.May(c.Route.Permission, there); err != nil {
			return nil, err
		}
		to, err := n.changed(ctx, in.Agent, m, base, there)
		if err != nil {
			return nil, err
		}
		if err := c.MayBecome(to); err != nil {
			return nil, err
		}
		c.Before, judged.There = item.ResourceOf(there), there.There
	case api.CodeOf(err) != api.CodeNotFound:
		return nil, err
	default:
		apply.Create = true // no rights were asked for what the server does not know
	}
	return n.apply(ctx, c, in.WaitInput, item.At(in.Agent, m.Metadata.Namespace, m.Metadata.Name), apply, judged, in.Body.Reason)
}

func (n *manifestNoun) update(ctx context.Context, c *core.Call, in *objectUpdate) (*item.CommandOutput, error) {
	m, err := n.read(in.Body.Resource)
	if err != nil {
		return nil, err
	}
	if m.Metadata.Name != in.Name || m.Metadata.Namespace != in.Namespace {
		return nil, api.Errorf(api.CodeInvalid, "the resource is %s/%s and the path %s/%s: names and namespaces never change",
			m.Metadata.Namespace, m.Metadata.Name, in.Namespace, in.Name)
	}
	base, err := n.base(in.Body.Base)
	if err != nil {
		return nil, err
	}
	there, err := n.h.FindItem(ctx, n.kind, in.Agent, in.Namespace, in.Name)
	if err != nil {
		return nil, err
	}
	if err := c.May(c.Route.Permission, there); err != nil {
		return nil, err
	}
	c.Before = item.ResourceOf(there)
	if len(base) == 0 && m.Metadata.ResourceVersion != "" {
		base = sameVersion(c.Before, m.Metadata.ResourceVersion)
	}
	// A user cannot move something out of their own reach, into that of others.
	to, err := n.changed(ctx, in.Agent, m, base, there)
	if err != nil {
		return nil, err
	}
	if err := c.MayBecome(to); err != nil {
		return nil, err
	}
	apply := agentapi.ObjectApply{Object: m.normal, Base: base, Version: m.Metadata.ResourceVersion, Update: true, DryRun: in.DryRun}
	return n.apply(ctx, c, in.WaitInput, in.Input, apply, agentapi.JudgedProject{There: there.There, Wanted: m.project}, in.Body.Reason)
}

// sameVersion is the server's copy where it has that version: what a client read from here and changed.
func sameVersion(copied any, version string) json.RawMessage {
	raw, _ := copied.(json.RawMessage)
	var m manifest
	if strict.Decode(raw, &m, strict.Foreign) != nil || m.Metadata.ResourceVersion != version {
		return nil
	}
	normal, err := strict.Normal(raw)
	if err != nil {
		return nil // what no user can be given cannot be what they edited
	}
	return normal
}

func (n *manifestNoun) apply(ctx context.Context, c *core.Call, wait item.WaitInput, in item.Input, apply agentapi.ObjectApply,
	judged agentapi.JudgedProject, reason string,
) (*item.CommandOutput, error) {
	if n.kind == api.KindArgoProject {
		if err := n.withinParent(ctx, c, in, &apply); err != nil {
			return nil, err
		}
	}
	out, err := n.h.Command(ctx, c, wait, item.Order{
		Agent: in.Agent, Kind: string(agentapi.KindObjectApply), TargetKind: n.kind, Namespace: in.Namespace, Name: in.Name, Body: apply,
		Reason: reason, Judged: &judged,
	})
	c.After = apply.Object
	if err == nil && out.Body.Status == api.CommandDone && !apply.DryRun {
		n.h.Copied(ctx, n.kind, in, out.Body.Result)
	}
	return out, err
}

func (n *manifestNoun) remove(ctx context.Context, c *core.Call, in *item.ObjectDelete) (*item.CommandOutput, error) {
	was, _ := c.Before.(*api.Item)
	c.Before = item.ResourceOf(core.Target{Value: c.Before})
	if n.kind == api.KindArgoProject {
		if err := n.mayAbove(ctx, c, in.Input); err != nil {
			return nil, err
		}
	}
	if in.Forget {
		if err := n.h.Items.DropItem(ctx, n.kind, in.Agent, in.Namespace, in.Name); err != nil {
			return nil, err
		}
		return &item.CommandOutput{Status: http.StatusOK, Body: api.Command{
			Agent: in.Agent, Kind: "item.forget", Object: c.Object,
			By: c.Who.Principal, Status: api.CommandDone, Message: "the server's copy is forgotten", CreatedAt: c.Now(), Deadline: c.Now(),
		}}, nil
	}
	if was != nil {
		if err := n.h.CheckReferences(ctx, was, in.Force); err != nil {
			return nil, err
		}
	}
	kind, body := string(agentapi.KindObjectDelete), any(agentapi.ObjectDelete{
		Cascade: in.Cascade, Propagation: in.Propagation, Version: in.Version, DryRun: in.DryRun,
	})
	if n.kind == api.KindApplication {
		kind, body = string(agentapi.KindAppDelete), api.DeleteApplicationRequest{
			Cascade: in.Cascade, Propagation: in.Propagation, Version: in.Version, DryRun: in.DryRun, Reason: in.Reason,
		}
	}
	out, err := n.h.Command(ctx, c, in.WaitInput, item.Order{
		Agent: in.Agent, Kind: kind, TargetKind: n.kind, Namespace: in.Namespace, Name: in.Name, Body: body, Reason: in.Reason,
	})
	if err == nil && out.Body.Status == api.CommandDone && !in.DryRun {
		n.h.Dropped(ctx, n.kind, in.Input, c.Before)
	}
	return out, err
}

// links are those that the settings of a cluster give.
func (n *manifestNoun) links() core.Route {
	links := n.route(http.MethodGet, "/{namespace}/{name}/links", "view", n.name()+"-links",
		"The links that the settings of its cluster give to an "+n.called)
	find := func(ctx context.Context, _ *core.Call, in *item.Input) (core.Target, error) {
		return n.h.FindItem(ctx, n.kind, in.Agent, in.Namespace, in.Name)
	}
	return asked[api.Links](links, n.h.Clusters, find, func(in *item.Input) item.Order {
		o := in.Order(string(agentapi.KindLinks), api.LinksRequest{})
		o.TargetKind = n.kind
		return o
	})
}

// reads are list and get, of kinds that have no summary of their own.
func (n *manifestNoun) reads() []core.Route { return n.h.ItemReads(n.kind, n.many, n.name(), n.called) }
