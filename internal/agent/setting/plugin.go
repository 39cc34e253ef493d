package setting

import (
	"context"
	"fmt"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/trust"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// Bounds of what plugins announce.
const (
	maxPlugins    = 200
	maxAnnounced  = 200 // parameters of a plugin
	maxDefaults   = 100 // values of the default of a parameter
	maxOfAnnounce = 500 // bytes of a text
)

// announce adds the plugins of the agent to what a directory has, and the parameters of the one that is asked for, or that knows
// the files. Plugins run programs on the files, so they are asked about no revision that the project would not deploy.
func (v *browser) announce(ctx context.Context, req api.RepositoryPathsRequest, fetched engine.Fetched, out *api.RepositoryPaths) error {
	if v.Plugins == nil {
		return nil
	}
	names := v.Plugins.Names()
	if len(names) == 0 {
		return nil
	}
	out.Plugins = names[:min(len(names), maxPlugins)]
	if req.Plugin == "" && !v.Plugins.Has("") {
		return nil
	}
	asked := v1alpha1.ApplicationSource{RepoURL: req.RepoURL, TargetRevision: req.Revision, Path: req.Path}
	if err := v.verify(ctx, req.ArgoProject, asked, fetched); err != nil {
		return fmt.Errorf("no plugin was asked about the files: %w", err)
	}
	if req.Plugin != "" {
		asked.Plugin = &v1alpha1.PluginSource{Name: req.Plugin}
	}
	of, _, err := render.Prepare(render.Request{
		App: render.App{Project: req.ArgoProject, Namespace: v.Namespace}, Source: asked, Tree: fetched.Tree,
	})
	if err != nil {
		return err
	}
	if req.Plugin == "" {
		if claimed, err := v.Plugins.Claims(ctx, of); err != nil || !claimed {
			return err
		}
	}
	list, err := v.Plugins.Announce(ctx, of)
	if err != nil {
		return err
	}
	if req.Plugin == "" {
		out.Tool = "plugin"
	}
	if out.Details == nil {
		out.Details = &api.SourceDetails{}
	}
	for _, a := range list[:min(len(list), maxAnnounced)] {
		out.Details.Parameters = append(out.Details.Parameters, announced(a))
	}
	return nil
}

// verify asks for the signatures of a revision that the project asks for.
func (v *browser) verify(ctx context.Context, called string, src v1alpha1.ApplicationSource, fetched engine.Fetched) error {
	rules, err := v.Engine.Projects.Rules(called)
	if err != nil {
		return &engine.ProjectError{Err: err}
	}
	app := &v1alpha1.Application{Spec: v1alpha1.ApplicationSpec{Project: called, Source: &src}}
	check := trust.Check{Judge: v.Engine.Trust, Rules: rules, App: app}
	return check.Verify(ctx, []v1alpha1.ApplicationSource{src}, []engine.Fetched{fetched})
}

// announced is a parameter for people.
func announced(a render.Announcement) api.PluginParameter {
	text := func(s string) string { return legible.Text(s, maxOfAnnounce) }
	out := api.PluginParameter{
		Name: text(a.Name), Title: text(a.Title), Tooltip: text(a.Tooltip), Required: a.Required, ItemType: text(a.ItemType),
		CollectionType: text(a.CollectionType), String: text(a.String),
	}
	for _, item := range a.Array[:min(len(a.Array), maxDefaults)] {
		out.Array = append(out.Array, text(item))
	}
	for key, value := range a.Map {
		if out.Map == nil {
			out.Map = map[string]string{}
		}
		if len(out.Map) < maxDefaults {
			out.Map[text(key)] = text(value)
		}
	}
	return out
}
