package verb

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/deeplink"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
)

// links are those that argocd-cm gives to an AppProject, an Application or one of its objects. Templates and conditions see what
// people may see: values of Secrets are masked.
func (v *resources) links(ctx context.Context, cmd agentapi.Command, req api.LinksRequest) (any, error) {
	settings := v.Settings.Config(place.ConfigArgoCD)
	if cmd.Target.Kind == agentapi.ItemArgoProject {
		in, d, err := v.declaration(cmd)
		if err != nil {
			return nil, err
		}
		have, err := in.Get(ctx, cmd.Target.Name, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("read %s %s: %w", d.kind, cmd.Target.Name, err)
		}
		if err := meetsThere(cmd.Judged, d, have.Object, cmd.Target.Name); err != nil {
			return nil, err
		}
		return deeplink.Find(settings, deeplink.OfProjects, deeplink.Objects{Project: inspect.Shown(have.Object, v.mask())}), nil
	}
	app, err := v.application(ctx, cmd)
	if err != nil {
		return nil, err
	}
	key := deeplink.OfApplications
	if req.Resource != nil {
		key = deeplink.OfResources
	}
	if settings[key] == "" {
		return api.Links{Links: []api.Link{}}, nil
	}
	objects, err := v.linkObjects(ctx, app)
	if err == nil && req.Resource != nil {
		var s *subject
		if _, s, err = v.subject(ctx, cmd, *req.Resource); err == nil {
			objects.Resource = inspect.Shown(s.obj, v.mask())
		}
	}
	if err != nil {
		return nil, err
	}
	return deeplink.Find(settings, key, objects), nil
}

// linkObjects are an Application with its project and its destination. A project that does not exist is none, and a cluster that
// cannot be reached has what the Application says of it.
func (v *resources) linkObjects(ctx context.Context, app *v1alpha1.Application) (deeplink.Objects, error) {
	var out deeplink.Objects
	raw, err := json.Marshal(app)
	if err != nil {
		return out, fmt.Errorf("encode application %s: %w", app.Name, err)
	}
	fields, err := object.DecodeJSON(raw)
	if err != nil {
		return out, fmt.Errorf("decode application %s: %w", app.Name, err)
	}
	out.Application = inspect.Shown(fields, v.mask())
	dest := app.Spec.Destination
	out.Cluster = map[string]any{"name": dest.Name, "server": dest.Server}
	if d, _, err := v.Clusters.Reach(ctx, app.Spec.ProjectName(), dest); err == nil {
		out.Cluster["name"], out.Cluster["server"] = d.Called()
	}
	project, err := v.Apps.Resource(v1alpha1.Resource(v1alpha1.ResourceAppProjects)).Namespace(v.Namespace).Get(ctx,
		app.Spec.ProjectName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return out, fmt.Errorf("read project %s: %w", app.Spec.ProjectName(), err)
	default:
		out.Project = inspect.Shown(project.Object, v.mask())
	}
	return out, nil
}
