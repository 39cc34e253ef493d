package verb

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
	"github.com/slipway-gitops/slipway/internal/operate"
)

// application reads the Application that a command is about.
func (v *core) application(ctx context.Context, cmd agentapi.Command) (*v1alpha1.Application, error) {
	t := cmd.Target
	if t.Kind != "" && t.Kind != agentapi.ItemApplication || t.Name == "" || t.Namespace == "" {
		return nil, command.Refuse(agentapi.CodeInvalid, "%s is about an application: give its namespace and name", cmd.Kind)
	}
	app, err := v.readApplication(ctx, t.Namespace, t.Name)
	if err != nil {
		return nil, err
	}
	return app, command.Meets(cmd.Judged, v1alpha1.KindApplication, t.Name, app.Spec.ProjectName(), true)
}

func (v *core) readApplication(ctx context.Context, namespace, name string) (*v1alpha1.Application, error) {
	obj, err := v.Apps.Resource(v1alpha1.Resource(v1alpha1.ResourceApplications)).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read application %s: %w", name, err)
	}
	raw, err := obj.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encode application %s: %w", name, err)
	}
	app, _, err := registry.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("read application %s: %w; correct its fields", name, err)
	}
	return app, nil
}

// change makes a change of an Application as it is now; what makes it is called again when another client was faster.
func (v *applications) change(ctx context.Context, cmd agentapi.Command,
	f func(*v1alpha1.Application) (operate.Change, error),
) (any, error) {
	var answer api.OperationAnswer
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		app, err := v.application(ctx, cmd)
		if err != nil {
			return err
		}
		c, err := f(app)
		if err != nil {
			return err
		}
		answer = c.Answer
		if c.Patch == nil {
			return nil
		}
		answer.Version, err = v.patchApplication(ctx, app, c.Patch)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// patchApplication changes an Application and returns its new resourceVersion.
func (v *applications) patchApplication(ctx context.Context, app *v1alpha1.Application, patch map[string]any) (string, error) {
	raw, err := json.Marshal(patch)
	if err != nil {
		return "", fmt.Errorf("encode change of application %s: %w", app.Name, err)
	}
	fresh, err := v.Apps.Resource(v1alpha1.Resource(v1alpha1.ResourceApplications)).Namespace(app.Namespace).
		Patch(ctx, app.Name, types.MergePatchType, raw, metav1.PatchOptions{FieldManager: live.Manager})
	if err != nil {
		return "", fmt.Errorf("change application %s: %w", app.Name, err)
	}
	return fresh.GetResourceVersion(), nil
}

// asker makes the change of an Application that a request asks for.
type asker[T any] func(*v1alpha1.Application, T, operate.Who, time.Time) (operate.Change, error)

// changes is the command that makes the change which by makes of a request. reason is where a request has a reason of its own;
// nil for nowhere.
func changes[T any](v *applications, by asker[T], reason func(*T) *string) link.Executor {
	return command.On(func(ctx context.Context, cmd agentapi.Command, req T) (any, error) {
		if reason != nil {
			own := reason(&req)
			*own = command.Reason(cmd, *own)
		}
		return v.change(ctx, cmd, func(app *v1alpha1.Application) (operate.Change, error) {
			return by(app, req, command.By(cmd), v.Now())
		})
	})
}

func (v *applications) sync(ctx context.Context, cmd agentapi.Command, req api.SyncRequest) (any, error) {
	req.Reason = command.Reason(cmd, req.Reason)
	if err := operate.CheckSync(req); err != nil {
		return nil, err
	}
	if len(req.Labels) > 0 {
		app, err := v.application(ctx, cmd)
		if err != nil {
			return nil, err
		}
		if req, err = v.labelled(ctx, app, req); err != nil {
			return nil, err
		}
	}
	return v.change(ctx, cmd, func(app *v1alpha1.Application) (operate.Change, error) {
		return choose(v, operate.Sync, operate.SyncBeside)(app, req, command.By(cmd), v.Now())
	})
}

// choose is what the engine in this process does, or an Argo CD beside it.
func choose[T any](v *applications, own, beside asker[T]) asker[T] {
	if v.ReadBy == agentapi.EngineArgoCD {
		return beside
	}
	return own
}

// labelled finds the objects that a sync is limited to by labels.
func (v *core) labelled(ctx context.Context, app *v1alpha1.Application, req api.SyncRequest) (api.SyncRequest, error) {
	revision := ""
	if len(req.Revisions) > 0 {
		revision = req.Revisions[0]
	}
	wish, err := v.Engine.Manifests(ctx, revised(app, revision))
	if err != nil {
		return req, err
	}
	objects := wish.Objects
	if req.Prune {
		gone := app.DeepCopy()
		gone.Status.Resources = nil
		for _, r := range app.Status.Resources {
			if r.Leftover() {
				gone.Status.Resources = append(gone.Status.Resources, r)
			}
		}
		p, err := v.site(ctx, app)
		if err != nil {
			return req, err
		}
		live, err := p.readAll(ctx, keysOf(gone.Status.Resources))
		if err != nil {
			return req, err
		}
		for _, obj := range live {
			m, err := object.NewManifest(obj)
			if err != nil {
				return req, err
			}
			objects = append(objects, m)
		}
	}
	return operate.Select(app, req, objects)
}

// revised is an Application whose first source is at another revision, where one is given.
func revised(app *v1alpha1.Application, revision string) *v1alpha1.Application {
	if revision == "" {
		return app
	}
	sources := app.Spec.EffectiveSources()
	if len(sources) == 0 {
		return app
	}
	return operate.AsDeployed(app, sources, []string{revision})
}

func (v *applications) revert(ctx context.Context, cmd agentapi.Command, req api.RevertRequest) (any, error) {
	req.Reason = command.Reason(cmd, req.Reason)
	var drifted []object.Key
	if len(req.Objects) == 0 {
		app, err := v.application(ctx, cmd)
		if err != nil {
			return nil, err
		}
		changes, _, _, err := v.compare(ctx, app, api.DiffRequest{Drift: true})
		if err != nil {
			return nil, err
		}
		for _, c := range changes {
			if c.After != nil {
				drifted = append(drifted, c.Key)
			}
		}
	}
	return v.change(ctx, cmd, func(app *v1alpha1.Application) (operate.Change, error) {
		return operate.Revert(app, req, drifted, command.By(cmd), v.Now())
	})
}

func (v *applications) restore(ctx context.Context, cmd agentapi.Command, req api.RestoreRequest) (any, error) {
	req.Reason = command.Reason(cmd, req.Reason)
	app, err := v.application(ctx, cmd)
	if err != nil {
		return nil, err
	}
	past, warnings, err := v.past(ctx, app, req.From)
	if err != nil {
		return nil, err
	}
	alive := map[object.Key]bool{}
	if len(req.Objects) == 0 && len(past) > 0 {
		p, err := v.site(ctx, app)
		if err != nil {
			return nil, err
		}
		var asked []versioned
		for _, l := range operate.Candidates(past) {
			asked = append(asked, versioned{l.Manifest.Key, l.Manifest.Version})
		}
		found, err := p.readAll(ctx, asked)
		if err != nil {
			return nil, err
		}
		for key := range found {
			alive[key] = true
		}
	}
	answer, err := v.change(ctx, cmd, func(now *v1alpha1.Application) (operate.Change, error) {
		c, err := operate.Restore(now, req, past, alive, command.By(cmd), v.Now())
		c.Answer.Warnings = append(c.Answer.Warnings, warnings...)
		return c, err
	})
	if err != nil && len(past) == 0 && len(warnings) > 0 {
		err = fmt.Errorf("%w: %s", err, warnings[0])
	}
	return answer, err
}

// past renders the deployments of the history. One that cannot be rendered any more is left out, with a warning.
func (v *applications) past(ctx context.Context, app *v1alpha1.Application,
	from *int64,
) (past []operate.Version, warnings []string, err error) {
	entries, err := operate.Past(app, from)
	if err != nil {
		return nil, nil, err
	}
	for _, entry := range entries {
		sources, revisions := operate.Deployed(entry)
		wish, err := v.Engine.Manifests(ctx, operate.AsDeployed(app, sources, revisions))
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("deployment %d, %s, is left out: %v", entry.ID, operate.Revisions(revisions), err))
			continue
		}
		kept, err := operate.Lasting(wish.Objects)
		if err != nil {
			return nil, nil, err
		}
		past = append(past, operate.Version{Entry: entry, Objects: kept})
	}
	return past, warnings, nil
}

// removeApplication says what becomes of the objects, and deletes.
func (v *applications) removeApplication(ctx context.Context, cmd agentapi.Command, req api.DeleteApplicationRequest) (any, error) {
	var found *v1alpha1.Application
	req.Reason = command.Reason(cmd, req.Reason)
	answer, err := v.change(ctx, cmd, func(app *v1alpha1.Application) (operate.Change, error) {
		if req.Version != "" && app.ResourceVersion != req.Version && found == nil {
			return operate.Change{}, command.Refuse(agentapi.CodeConflict,
				"application %s has changed since version %s: read it again and repeat the change", app.Name, req.Version)
		}
		found = app
		if v.ReadBy == agentapi.EngineArgoCD {
			return operate.DeleteBeside(app, req)
		}
		return operate.Delete(app, req, command.By(cmd), v.Now())
	})
	if err != nil {
		return nil, err
	}
	if req.DryRun {
		return v.foreseeRemoval(ctx, found, req, answer)
	}
	if v.ReadBy == agentapi.EngineArgoCD && found.DeletionTimestamp == nil {
		v.Deleters.note(found, operate.DeletionBy(command.By(cmd), req.Reason, v.Now()))
	}
	err = v.Apps.Resource(v1alpha1.Resource(v1alpha1.ResourceApplications)).Namespace(found.Namespace).
		Delete(ctx, found.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(found.UID))})
	if err != nil {
		v.Deleters.Forget(found.UID)
		return nil, fmt.Errorf("delete application %s: %w", found.Name, err)
	}
	return answer, nil
}

func keysOf(resources []v1alpha1.ResourceStatus) []versioned {
	out := make([]versioned, 0, len(resources))
	for i := range resources {
		out = append(out, versioned{inspect.KeyOf(&resources[i]), resources[i].Version})
	}
	return out
}
