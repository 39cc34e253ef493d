package verb

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/kin"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/live/stream"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
)

func (v *looks) tree(ctx context.Context, cmd agentapi.Command) (any, error) {
	app, err := v.application(ctx, cmd)
	if err != nil {
		return nil, err
	}
	view, err := v.view(ctx, app)
	if err != nil {
		return nil, err
	}
	leaves, listed, warnings, err := kin.List(ctx, view.Cluster, inspect.Places(view.Resources, view.Knows))
	if err != nil {
		return nil, err
	}
	return pruned(api.TreeAnswer{Items: inspect.Tree(view.Resources, leaves, listed, view.App), Warnings: warnings})
}

// look says how an Application is now, to those who watch its tree.
func (v *looks) look(ctx context.Context, id registry.Name) (kin.View, error) {
	app, ok := v.Known(id)
	if !ok {
		return kin.View{}, command.Refuse(agentapi.CodeNotFound, "there is no application %s in namespace %s any more", id.Name, id.Namespace)
	}
	return v.view(ctx, app)
}

// view is an Application as its tree is made of it.
func (v *core) view(ctx context.Context, app *v1alpha1.Application) (kin.View, error) {
	p, err := v.site(ctx, app)
	if err != nil {
		return kin.View{}, err
	}
	cluster, err := v.seen(p)
	return kin.View{Cluster: cluster, App: p.instance, Resources: v.judged(p, v.permitted(app))}, err
}

// seen is how objects of a cluster are read for trees: with the agent's own rights, regardless of their owners.
func (v *core) seen(p *site) (kin.Cluster, error) {
	client, err := watcherOf(p.d.As(place.Actor{}))
	eye := inspect.Eye{Owner: p.cluster.Tracking.Owner}
	knows := func(kind object.Kind) bool { return health.Knows(kind.Group, kind.Kind) }
	if assessor := v.Clusters.Assessor(); assessor != nil {
		eye.Judge = assessor.Judge
		knows = func(kind object.Kind) bool { return assessor.Knows(kind.Group, kind.Kind) }
	}
	find := func(ctx context.Context, kind object.Kind, version string) (live.Resource, error) {
		if p.cluster.Excludes(kind) {
			return live.Resource{}, &live.UnknownKindError{Kind: kind, Version: version} // it is not in trees either
		}
		return p.cluster.Find(ctx, kind, version)
	}
	return kin.Cluster{ID: p.d, Client: client, Find: find, Eye: eye, Knows: knows}, err
}

// watcherOf is a client that lists and watches in a cluster, over the connections that there are.
func watcherOf(config *rest.Config) (*stream.Client, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make HTTP client: %w", err)
	}
	return stream.NewClient(config, client)
}

// judged are resources with the health that the engine has seen, which is newer than what it has reported.
func (v *core) judged(p *site, resources []v1alpha1.ResourceStatus) []v1alpha1.ResourceStatus {
	for i := range resources {
		r := &resources[i]
		rec, tracked, _ := p.cluster.Get(inspect.KeyOf(r))
		switch {
		case !tracked || rec.App != p.instance:
		case rec.Assessed:
			r.Health = &v1alpha1.HealthStatus{Status: rec.Health.Status, Message: rec.Health.Message}
		case r.Health == nil:
			r.Health = v.childHealth(p, r)
		}
	}
	return resources
}

// childHealth is the health of an Application that another one deploys to the agent's own cluster, as its status has it; nil for
// any other object. It counts for no health but its own.
func (v *core) childHealth(p *site, r *v1alpha1.ResourceStatus) *v1alpha1.HealthStatus {
	if r.Group != v1alpha1.Group || r.Kind != v1alpha1.KindApplication || p.cluster.Server != v1alpha1.InClusterServer || v.Known == nil {
		return nil
	}
	child, ok := v.Known(registry.Name{Namespace: r.Namespace, Name: r.Name})
	if !ok || child.Status.Health.Status == "" {
		return nil
	}
	return &v1alpha1.HealthStatus{Status: child.Status.Health.Status, Message: child.Status.Health.Message}
}

// permitted are the objects of a status that the project lets the Application have.
func (v *core) permitted(app *v1alpha1.Application) []v1alpha1.ResourceStatus {
	permits := v.Engine.Permits(app)
	var out []v1alpha1.ResourceStatus
	for i := range app.Status.Resources {
		if permits(inspect.KeyOf(&app.Status.Resources[i]), "") == nil {
			out = append(out, app.Status.Resources[i])
		}
	}
	return out
}

// family reads what objects own, as a tree. What may not be listed is left out.
func (v *core) family(ctx context.Context, p *site, resources []v1alpha1.ResourceStatus) ([]*api.TreeNode, error) {
	cluster, err := v.seen(p)
	if err != nil {
		return nil, err
	}
	leaves, _, _, err := kin.List(ctx, cluster, inspect.Heirs(resources))
	if err != nil {
		return nil, err
	}
	return inspect.Tree(resources, leaves, nil, p.instance), nil
}

// treeWatch shows the tree of an Application as it changes.
func (v *looks) treeWatch(ctx context.Context, cmd agentapi.Command, s command.Stream) error {
	app, err := v.application(ctx, cmd)
	if err != nil {
		return err
	}
	reader, err := v.trees.Open(registry.NameOf(app))
	if err != nil {
		return err
	}
	defer reader.Close()
	out, err := agentapi.NewTreeWriter(s)
	if err != nil {
		return err
	}
	for {
		event, err := reader.Next(ctx)
		if ctx.Err() != nil {
			return nil // no client looks any more
		}
		if err != nil {
			return err
		}
		if err := sendTree(event, func(kind string, data []byte) error { return out.Write(kind, v.Redact(data)) }); err != nil {
			return err
		}
	}
}

// mostOfTree is how many bytes of nodes are in one event. What is more is in patches behind it.
const mostOfTree = agentapi.MaxTreeEvent / 2

// sendTree makes messages of an event.
func sendTree(e kin.Event, send func(kind string, data []byte) error) error {
	var nodes []*api.FlatNode
	var removed []string
	if e.Tree != nil {
		nodes = e.Tree.Nodes
	} else {
		nodes, removed = e.Patch.Set, e.Patch.Remove
	}
	whole := e.Tree != nil
	for whole || len(nodes)+len(removed) > 0 {
		part := []json.RawMessage{}
		for size := 0; len(nodes) > 0; nodes = nodes[1:] {
			raw, err := json.Marshal(nodes[0])
			if err != nil {
				return fmt.Errorf("write %s: %w", nodes[0].ID, err)
			}
			if size += len(raw); size > mostOfTree && len(part) > 0 {
				break
			}
			part = append(part, raw)
		}
		kind, body := api.TreeEventPatch, any(struct {
			Set    []json.RawMessage `json:"set,omitempty"`
			Remove []string          `json:"remove,omitempty"`
		}{part, removed[:min(len(removed), maxRemoved)]})
		removed = removed[min(len(removed), maxRemoved):]
		if whole {
			whole, kind = false, api.TreeEventTree
			body = struct {
				Nodes    []json.RawMessage `json:"nodes"`
				Warnings []string          `json:"warnings,omitempty"`
			}{part, e.Tree.Warnings}
		}
		data, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("write tree: %w", err)
		}
		if err := send(kind, data); err != nil {
			return err
		}
	}
	return nil
}

// maxRemoved is how many ids one event takes away.
const maxRemoved = 2000
