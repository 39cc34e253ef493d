package verb

import (
	"context"
	"fmt"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/inspect"
	"github.com/slipway-gitops/slipway/internal/operate"
)

// operation reports the last or running operation, step by step. What comes is known from the sources at its revisions,
// which are rendered already while it runs.
func (v *looks) operation(ctx context.Context, cmd agentapi.Command) (any, error) {
	app, err := v.application(ctx, cmd)
	if err != nil {
		return nil, err
	}
	steps, err := v.steps(ctx, app)
	out := inspect.Timeline(app, steps)
	if err != nil {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the sources cannot be rendered: %v", err))
	}
	return out, nil
}

// steps are the places of objects and hooks in the operation of an Application; nil where that has none.
func (v *looks) steps(ctx context.Context, app *v1alpha1.Application) ([]inspect.Step, error) {
	op := app.Status.OperationState
	if op == nil || op.SyncResult == nil {
		return []inspect.Step{}, nil
	}
	sources, revisions := op.SyncResult.Sources, op.SyncResult.Revisions
	if op.SyncResult.Revision != "" {
		sources, revisions = []v1alpha1.ApplicationSource{op.SyncResult.Source}, []string{op.SyncResult.Revision}
	}
	if len(sources) == 0 || len(revisions) == 0 {
		return []inspect.Step{}, nil
	}
	wish, err := v.Engine.Manifests(ctx, operate.AsDeployed(app, sources, revisions))
	if err != nil {
		return nil, err
	}
	var tasks []plan.Task
	for i, m := range wish.Objects {
		obj, err := m.Decode()
		if err != nil {
			return nil, err
		}
		hook := plan.ReadHook(obj)
		for _, phase := range hook.Phases() {
			tasks = append(tasks, plan.Task{
				Change: diff.Change{Key: m.Key, Version: m.Version, Verb: diff.Update, Phase: phase, Wave: hook.Wave}, Hook: hook.Is, Index: i,
			})
		}
	}
	out := make([]inspect.Step, 0, len(tasks))
	for _, t := range plan.Build(tasks, plan.Options{}).Tasks {
		s := inspect.Step{Key: t.Key, Phase: t.Phase, Wave: t.Wave, Hook: t.Hook}
		if t.Key.Name == "" {
			s.Prefix = prefixOf(wish.Objects[t.Index])
		}
		out = append(out, s)
	}
	return out, nil
}

// prefixOf begins the names that operations give to an object without one.
func prefixOf(m object.Manifest) string {
	obj, err := m.Decode()
	if err != nil {
		return ""
	}
	meta, _ := obj["metadata"].(map[string]any)
	prefix, _ := meta["generateName"].(string)
	return prefix
}
