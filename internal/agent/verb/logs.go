package verb

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
	"github.com/slipway-gitops/slipway/internal/podlog"
)

func (v *resources) logs(ctx context.Context, cmd agentapi.Command, req api.Logs, s command.Stream) error {
	r, err := v.reader(ctx, cmd, req.Resource)
	if err != nil {
		return err
	}
	return r.Copy(ctx, s, req)
}

// reader reads the logs of an object, or of all of an Application's where none is named.
func (v *resources) reader(ctx context.Context, cmd agentapi.Command, ref api.ResourceRef) (*podlog.Reader, error) {
	app, err := v.application(ctx, cmd)
	if err != nil {
		return nil, err
	}
	p, err := v.site(ctx, app)
	if err != nil {
		return nil, err
	}
	core, err := typedcorev1.NewForConfig(p.d.As(place.Actor{}))
	if err != nil {
		return nil, fmt.Errorf("make client for logs: %w", err)
	}
	if ref != (api.ResourceRef{}) {
		sub, err := p.own(ctx, ref)
		if err != nil {
			return nil, err
		}
		return &podlog.Reader{
			Core: core, Of: sub.key.String(), Pods: func(ctx context.Context) ([]corev1.Pod, error) { return v.podsOf(ctx, p, sub, core) },
		}, nil
	}
	namespaces := inspect.Namespaces(v.permitted(app))
	return &podlog.Reader{Core: core, Of: "application " + app.Name, Later: append([]string{},
		namespaces...), Pods: func(ctx context.Context) ([]corev1.Pod, error) {
		now, err := v.application(ctx, cmd) // it may have other objects in the meantime, or be gone
		if err != nil {
			return nil, err
		}
		return v.podsOfAll(ctx, p, now, core)
	}}, nil
}

// podsOf are the pods of an object: itself, or those that it owns.
func (v *resources) podsOf(ctx context.Context, p *site, s *subject, core typedcorev1.CoreV1Interface) ([]corev1.Pod, error) {
	pod := object.Kind{Kind: "Pod"}
	keys := []object.Key{s.key}
	if s.key.GroupKind() != pod {
		roots, err := v.family(ctx, p,
			[]v1alpha1.ResourceStatus{{Group: s.key.Group, Kind: s.key.Kind, Namespace: s.key.Namespace, Name: s.key.Name}})
		if err != nil {
			return nil, err
		}
		keys = inspect.Below(roots, s.key, pod)
	}
	if len(keys) == 0 {
		return nil, podlog.NoPods(s.key.String())
	}
	return podlog.Read(ctx, keys, s.key.String(), core)
}

// podsOfAll are the pods of an Application. Any user who may write the Application can write its status: the object that a pod
// belongs to is asked whose it is.
func (v *resources) podsOfAll(ctx context.Context, p *site, app *v1alpha1.Application,
	core typedcorev1.CoreV1Interface,
) ([]corev1.Pod, error) {
	pod := object.Kind{Kind: "Pod"}
	resources := v.permitted(app)
	roots, err := v.family(ctx, p, resources)
	if err != nil {
		return nil, err
	}
	var asked []versioned
	below := map[object.Key][]object.Key{}
	for i := range resources {
		key := inspect.KeyOf(&resources[i])
		if found := inspect.Below(roots, key, pod); len(found) > 0 {
			below[key] = found
			asked = append(asked, versioned{key, resources[i].Version})
		}
	}
	owners, err := p.readAll(ctx, asked)
	if err != nil {
		return nil, err
	}
	var keys []object.Key
	for _, a := range asked {
		if owner, _ := p.cluster.Tracking.Owner(owners[a.Key], a.Key); owners[a.Key] != nil && owner == p.instance {
			keys = append(keys, below[a.Key]...)
		}
	}
	return podlog.Read(ctx, keys, "application "+app.Name, core)
}
