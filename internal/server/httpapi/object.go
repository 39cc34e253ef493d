package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// manifestNoun is a resource of Argo CD's that is written as a whole.
type manifestNoun struct {
	h *Handler
	// kind is that of items, resource that of Kubernetes, many the last part of the path.
	kind, resource, many, called string
	example                      string
}

func (h *Handler) applicationObjects() *manifestNoun {
	return &manifestNoun{h, api.KindApplication, "Application", "applications", "application", `{"resource":{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"shop","namespace":"argocd"},"spec":{"project":"default","source":{"repoURL":"https://git.example.org/shop.git","path":"deploy","targetRevision":"main"},"destination":{"server":"https://kubernetes.default.svc","namespace":"shop"}}}}`}
}

func (h *Handler) applicationSetObjects() *manifestNoun {
	return &manifestNoun{h, api.KindApplicationSet, "ApplicationSet", "applicationsets", "application set", `{"resource":{"apiVersion":"argoproj.io/v1alpha1","kind":"ApplicationSet","metadata":{"name":"shops","namespace":"argocd"},"spec":{"generators":[{"list":{"elements":[{"shop":"north"}]}}],"template":{"metadata":{"name":"shop-{{shop}}"},"spec":{"project":"default","source":{"repoURL":"https://git.example.org/shop.git","path":"deploy"},"destination":{"name":"in-cluster","namespace":"shop"}}}}}}`}
}

func (h *Handler) argoProjectObjects() *manifestNoun {
	return &manifestNoun{h, api.KindArgoProject, "AppProject", "argo-projects", "Argo project", `{"resource":{"apiVersion":"argoproj.io/v1alpha1","kind":"AppProject","metadata":{"name":"shop","namespace":"argocd"},"spec":{"sourceRepos":["https://git.example.org/*"],"destinations":[{"server":"*","namespace":"shop-*"}]}}}`}
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
	Spec struct {
		Project       string `json:"project"`
		Generators    any    `json:"generators"`
		TemplatePatch string `json:"templatePatch"`
		Template      struct {
			Spec struct {
				Project string `json:"project"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

func (n *manifestNoun) read(raw json.RawMessage) (*manifest, error) {
	invalid := func(message string) error {
		return &api.Error{Code: api.CodeInvalid, Message: message, Field: "body.resource"}
	}
	var m manifest
	// What the agent reads by exact names must not be judged by others.
	if err := strict.Decode(raw, &m, strict.Unknown); err != nil {
		return nil, invalid("the resource is no " + n.resource + ": " + err.Error())
	}
	switch {
	case m.APIVersion != "argoproj.io/v1alpha1" || m.Kind != n.resource:
		return nil, invalid("the resource is no " + n.resource + ": set apiVersion to argoproj.io/v1alpha1 and kind to " + n.resource)
	case !dnsName(m.Metadata.Name, 253) || !dnsName(m.Metadata.Namespace, 63):
		return nil, invalid("the resource needs metadata.name and metadata.namespace as Kubernetes allows them")
	}
	return &m, nil
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

// argoProject is what decides where the resource belongs. One that only its generators know is none.
func (n *manifestNoun) argoProject(m *manifest) string {
	switch n.kind {
	case api.KindArgoProject:
		return m.Metadata.Name
	case api.KindApplicationSet:
		project := m.Spec.Template.Spec.Project
		if strings.Contains(project, "{{") || strings.Contains(m.Spec.TemplatePatch, "project") || elsewhere(m.Spec.Generators, project) {
			return ""
		}
		return project
	}
	if m.Spec.Project == "" {
		return "default"
	}
	return m.Spec.Project
}

// elsewhere reports whether a generator has a template of its own with another project.
func elsewhere(v any, project string) bool {
	switch at := v.(type) {
	case []any:
		return slices.ContainsFunc(at, func(one any) bool { return elsewhere(one, project) })
	case map[string]any:
		template, _ := at["template"].(map[string]any)
		spec, _ := template["spec"].(map[string]any)
		if own, there := spec["project"]; there && own != "" && own != project {
			return true
		}
		for _, one := range at {
			if elsewhere(one, project) {
				return true
			}
		}
	}
	return false
}

// wanted is the resource as it is to be, as an object that rights are asked for.
func (n *manifestNoun) wanted(ctx context.Context, agent string, m *manifest) (target, error) {
	return n.h.freshItem(ctx, n.kind, agent, m.Metadata.Namespace, m.Metadata.Name, n.argoProject(m), m.Metadata.Labels)
}

type objectCreate struct {
	AgentInput
	WaitInput
	TryInput
	Body api.ObjectWrite
}

type objectUpdate struct {
	ItemInput
	WaitInput
	TryInput
	Body api.ObjectWrite
}

type objectDelete struct {
	ItemInput
	WaitInput
	TryInput
	Cascade     bool   `query:"cascade" doc:"Delete what it deployed as well"`
	Propagation string `query:"propagation" enum:"foreground,background" doc:"How: foreground waits until all of it is gone"`
	Version     string `query:"version" maxLength:"64" doc:"resourceVersion that is deleted; 409 where it has changed"`
	Force       bool   `query:"force" doc:"Delete it although applications refer to it"`
	Forget      bool   `query:"forget" doc:"Only forget the server's copy, of what the agent does not tell of any more"`
	Reason      string `query:"reason" maxLength:"1000" doc:"Why"`
}

func (n *manifestNoun) permission(verb string) api.Permission {
	return api.Permission(n.kind + "_" + verb)
}

func (n *manifestNoun) route(method, path, verb, id, summary string) Route {
	return Route{Method: method, Path: "/api/v1/agents/{agent}/" + n.many + path, Permission: n.permission(verb), ID: id, Summary: summary, Tag: n.many}
}

func (n *manifestNoun) name() string { return strings.ReplaceAll(strings.ToLower(n.called), " ", "-") }

// writes are create, update and delete.
func (n *manifestNoun) writes() []Route {
	create := n.route(http.MethodPost, "", "edit", "create-"+n.name(), "Create an "+n.called+", or change it with upsert")
	create.Audit, create.Example = n.name()+".create", n.example
	create.mount = mount(handler[objectCreate, commandOutput]{
		find: func(ctx context.Context, _ *call, in *objectCreate) (target, error) {
			m, err := n.read(in.Body.Resource)
			if err != nil {
				return target{}, err
			}
			if there, err := n.h.findItem(ctx, n.kind, in.Agent, m.Metadata.Namespace, m.Metadata.Name); err == nil && in.Body.Upsert {
				return there, nil
			}
			return n.wanted(ctx, in.Agent, m)
		},
		do: n.create,
	})
	update := n.route(http.MethodPut, "/{namespace}/{name}", "edit", "update-"+n.name(), "Change an "+n.called+"; fields that nobody here knows survive")
	update.Audit, update.Example = n.name()+".update", n.example
	update.mount = mount(handler[objectUpdate, commandOutput]{
		find: func(ctx context.Context, _ *call, in *objectUpdate) (target, error) {
			return n.h.findItem(ctx, n.kind, in.Agent, in.Namespace, in.Name)
		},
		do: n.update,
	})
	remove := n.route(http.MethodDelete, "/{namespace}/{name}", "delete", "delete-"+n.name(), "Delete an "+n.called)
	remove.Audit = n.name() + ".delete"
	remove.mount = mount(handler[objectDelete, commandOutput]{
		find: func(ctx context.Context, _ *call, in *objectDelete) (target, error) {
			return n.h.findItem(ctx, n.kind, in.Agent, in.Namespace, in.Name)
		},
		do: n.remove,
	})
	return []Route{create, update, remove}
}

func (n *manifestNoun) create(ctx context.Context, c *call, in *objectCreate) (*commandOutput, error) {
	m, err := n.read(in.Body.Resource)
	if err != nil {
		return nil, err
	}
	apply := agentapi.ObjectApply{Object: in.Body.Resource, Base: in.Body.Base, Version: m.Metadata.ResourceVersion, Create: !in.Body.Upsert, DryRun: in.DryRun}
	there, err := n.h.findItem(ctx, n.kind, in.Agent, m.Metadata.Namespace, m.Metadata.Name)
	switch {
	case err == nil && !in.Body.Upsert:
		// It may be seen or not: that the name is taken has to be said.
		return nil, api.Errorf(api.CodeConflict, "%s %s/%s is there already: choose another name, or change it with upsert", n.called, m.Metadata.Namespace, m.Metadata.Name)
	case err == nil:
		to, err := n.wanted(ctx, in.Agent, m)
		if err != nil {
			return nil, err
		}
		if err := c.mayBecome(to); err != nil {
			return nil, err
		}
		c.before = resourceOf(there)
	case api.CodeOf(err) != api.CodeNotFound:
		return nil, err
	}
	return n.apply(ctx, c, in.WaitInput, ItemInput{in.AgentInput, m.Metadata.Namespace, m.Metadata.Name}, apply, in.Body.Reason)
}

func (n *manifestNoun) update(ctx context.Context, c *call, in *objectUpdate) (*commandOutput, error) {
	m, err := n.read(in.Body.Resource)
	if err != nil {
		return nil, err
	}
	if m.Metadata.Name != in.Name || m.Metadata.Namespace != in.Namespace {
		return nil, api.Errorf(api.CodeInvalid, "the resource is %s/%s and the path %s/%s: names and namespaces never change", m.Metadata.Namespace, m.Metadata.Name, in.Namespace, in.Name)
	}
	// Nobody moves something out of their own reach, into that of others.
	to, err := n.wanted(ctx, in.Agent, m)
	if err != nil {
		return nil, err
	}
	if err := c.mayBecome(to); err != nil {
		return nil, err
	}
	c.before = resourceOf(target{value: c.before})
	apply := agentapi.ObjectApply{Object: in.Body.Resource, Base: in.Body.Base, Version: m.Metadata.ResourceVersion, Update: true, DryRun: in.DryRun}
	if len(apply.Base) == 0 && m.Metadata.ResourceVersion != "" {
		apply.Base = sameVersion(c.before, m.Metadata.ResourceVersion)
	}
	return n.apply(ctx, c, in.WaitInput, in.ItemInput, apply, in.Body.Reason)
}

// sameVersion is the server's copy where it has that version: what a client read from here and changed.
func sameVersion(copied any, version string) json.RawMessage {
	raw, _ := copied.(json.RawMessage)
	var m manifest
	if strict.Decode(raw, &m, strict.Foreign) != nil || m.Metadata.ResourceVersion != version {
		return nil
	}
	return raw
}

// resourceOf is the resource of an item that was found.
func resourceOf(t target) any {
	switch v := t.value.(type) {
	case *api.ApplicationDetail:
		return v.Resource
	case *api.Item:
		return v.Resource
	}
	return nil
}

func (n *manifestNoun) apply(ctx context.Context, c *call, wait WaitInput, in ItemInput, apply agentapi.ObjectApply, reason string) (*commandOutput, error) {
	if n.kind == api.KindArgoProject {
		if err := n.h.withinParent(ctx, c, in, &apply); err != nil {
			return nil, err
		}
	}
	out, err := c.command(ctx, wait, Order{
		Agent: in.Agent, Kind: string(agentapi.KindObjectApply), TargetKind: n.kind, Namespace: in.Namespace, Name: in.Name, Body: apply, Reason: reason,
	})
	c.after = apply.Object
	if err == nil && out.Body.Status == api.CommandDone && !apply.DryRun {
		n.h.copied(ctx, n.kind, in, out.Body.Result)
	}
	return out, err
}

func (n *manifestNoun) remove(ctx context.Context, c *call, in *objectDelete) (*commandOutput, error) {
	item, _ := c.before.(*api.Item)
	c.before = resourceOf(target{value: c.before})
	if n.kind == api.KindArgoProject {
		if err := n.h.mayAbove(ctx, c, in.ItemInput); err != nil {
			return nil, err
		}
	}
	if in.Forget {
		if err := n.h.cfg.Items.DropItem(ctx, n.kind, in.Agent, in.Namespace, in.Name); err != nil {
			return nil, err
		}
		return &commandOutput{http.StatusOK, api.Command{Agent: in.Agent, Kind: "item.forget", Object: c.object, By: c.who.Principal, Status: api.CommandDone, Message: "the server's copy is forgotten", CreatedAt: n.h.now(), Deadline: n.h.now()}}, nil
	}
	if item != nil {
		if err := c.checkReferences(ctx, item, in.Force); err != nil {
			return nil, err
		}
	}
	kind, body := string(agentapi.KindObjectDelete), any(agentapi.ObjectDelete{Cascade: in.Cascade, Propagation: in.Propagation, Version: in.Version, DryRun: in.DryRun})
	if n.kind == api.KindApplication {
		kind, body = string(agentapi.KindAppDelete), api.DeleteApplicationRequest{Cascade: in.Cascade, Propagation: in.Propagation, Version: in.Version, DryRun: in.DryRun, Reason: in.Reason}
	}
	out, err := c.command(ctx, in.WaitInput, Order{
		Agent: in.Agent, Kind: kind, TargetKind: n.kind, Namespace: in.Namespace, Name: in.Name, Body: body, Reason: in.Reason,
	})
	if err == nil && out.Body.Status == api.CommandDone && !in.DryRun {
		n.h.dropped(ctx, n.kind, in.ItemInput, c.before)
	}
	return out, err
}

// reads are list and get, of kinds that have no summary of their own.
func (n *manifestNoun) reads() []Route { return n.h.itemReads(n.kind, n.many, n.name(), n.called) }

func (h *Handler) itemReads(kind, many, name, called string) []Route {
	view := api.Permission(string(typeOf(kind)) + "_view")
	list := Route{
		Method: http.MethodGet, Path: "/api/v1/" + many, Permission: view, Access: Listed,
		ID: "list-" + many, Summary: "List " + strings.ReplaceAll(many, "-", " ") + " of all agents, from the server's copy", Tag: many,
	}
	list.mount = mount(handler[ItemList, pageOutput[api.Item]]{
		do: func(ctx context.Context, c *call, in *ItemList) (*pageOutput[api.Item], error) {
			filter, err := in.filter()
			if err != nil {
				return nil, err
			}
			page, err := h.cfg.Items.ListItems(ctx, kind, c.visible, filter)
			return pageOf(page), err
		},
	})
	get := Route{
		Method: http.MethodGet, Path: "/api/v1/agents/{agent}/" + many + "/{namespace}/{name}", Permission: view,
		ID: "get-" + name, Summary: "Get a " + called + " from the server's copy, without secrets", Tag: many,
	}
	type out struct{ Body api.Item }
	get.mount = mount(handler[ItemInput, out]{
		find: func(ctx context.Context, _ *call, in *ItemInput) (target, error) {
			return h.findItem(ctx, kind, in.Agent, in.Namespace, in.Name)
		},
		do: func(_ context.Context, c *call, _ *ItemInput) (*out, error) {
			item, _ := c.before.(*api.Item)
			return &out{*item}, nil
		},
	})
	return []Route{list, get}
}
