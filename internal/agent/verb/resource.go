package verb

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
	"github.com/slipway-gitops/slipway/internal/operate"
)

// query is the body of commands that only name an object.
type query struct {
	Resource api.ResourceRef `json:"resource"`
}

// subject reads the body of a command that names an object of an Application, and the object.
func (v *core) subject(ctx context.Context, cmd agentapi.Command, ref api.ResourceRef) (*site, *subject, error) {
	app, err := v.application(ctx, cmd)
	if err != nil {
		return nil, nil, err
	}
	p, err := v.site(ctx, app)
	if err != nil {
		return nil, nil, err
	}
	s, err := p.own(ctx, ref)
	return p, s, err
}

func (v *resources) resourceGet(ctx context.Context, cmd agentapi.Command, req query) (any, error) {
	app, err := v.application(ctx, cmd)
	if err != nil {
		return nil, err
	}
	p, err := v.site(ctx, app)
	if err != nil {
		return nil, err
	}
	s, err := p.find(ctx, req.Resource)
	if err != nil {
		return nil, err
	}
	wish, err := v.Engine.Manifests(ctx, operate.Effective(app))
	if err != nil && !s.ours {
		return nil, err
	}
	var desired map[string]any // what is live can be seen also while Git cannot be reached
	for _, m := range wish.Objects {
		if m.Key == s.key {
			if desired, err = m.Decode(); err != nil {
				return nil, err
			}
		}
	}
	if desired == nil && !s.ours {
		return nil, command.Refuse(agentapi.CodeNotFound, "application %s has no %s; `slipway app tree %s` shows what it has",
			app.Name, s.key, app.Name)
	}
	shownDesired, shownLive := inspect.ShownPair(desired, s.obj, v.mask())
	if !s.ours && object.HoldsSecret(s.obj) {
		// It belongs to another program: a report that its values equal the requested ones would reveal them.
		shownDesired, shownLive = inspect.Shown(desired, v.mask()), inspect.Shown(s.obj, v.mask())
	}
	var out api.ResourceState
	if out.Desired, err = json.Marshal(shownDesired); err != nil {
		return nil, fmt.Errorf("encode %s: %w", s.key, err)
	}
	if out.Live, err = json.Marshal(shownLive); err != nil {
		return nil, fmt.Errorf("encode %s: %w", s.key, err)
	}
	return out, nil
}

func (v *resources) resourcePatch(ctx context.Context, cmd agentapi.Command, req api.ResourcePatch) (any, error) {
	kind, known := map[string]types.PatchType{
		"merge": types.MergePatchType, "json": types.JSONPatchType, "strategic": types.StrategicMergePatchType,
	}[cmp.Or(req.Type, "merge")]
	if !known || len(req.Patch) == 0 {
		return nil, command.Refuse(agentapi.CodeInvalid, "a patch has the type merge, json or strategic, and something in it")
	}
	p, s, err := v.subject(ctx, cmd, req.Resource)
	if err != nil {
		return nil, err
	}
	if _, own := kindNamed(s.key.GroupKind()); own {
		return nil, command.Refuse(agentapi.CodeForbidden,
			"%s is not patched as an object of an application: it has a page, commands and permissions of its own", s.key)
	}
	c, err := p.write()
	if err != nil {
		return nil, err
	}
	patch, err := v.guarded(s.key, s.obj, inspect.PatchType(cmp.Or(req.Type, "merge")), req.Patch)
	if err != nil {
		return nil, err
	}
	obj, err := s.on(c).Patch(ctx, s.key.Name, kind, patch,
		metav1.PatchOptions{FieldManager: live.Manager, DryRun: command.DryRun(req.DryRun)})
	if err != nil {
		return nil, fmt.Errorf("patch %s: %w", s.key, err)
	}
	raw, err := inspect.ShownJSON(obj.Object, v.mask())
	return api.ResourceState{Live: raw, Desired: json.RawMessage("null")}, err
}

// guarded is a patch that shows nothing which its author may not see, as it is to be sent. One that reads the object holds
// for the version only that it was judged by.
func (v *core) guarded(key object.Key, obj map[string]any, kind inspect.PatchType, patch []byte) ([]byte, error) {
	g, err := inspect.Guard(obj, kind, patch, v.mask())
	var hidden *inspect.HiddenError
	switch {
	case errors.As(err, &hidden):
		return nil, command.Refuse(agentapi.CodeForbidden, "patch %s: %v", key, err)
	case err != nil:
		return nil, command.Refuse(agentapi.CodeInvalid, "patch %s: %v", key, err)
	}
	if !g.Pinned {
		return g.JSON, nil
	}
	u := unstructured.Unstructured{Object: obj}
	return pinned(types.JSONPatchType, agentapi.ObjectPatch{Version: u.GetResourceVersion(), Patch: g.JSON})
}

// quiet leaves out the words of an API server about a Secret: they can quote it.
func quiet(key object.Key, err error) error {
	if err == nil || !isSecret(key) {
		return err
	}
	code := agentapi.CodeInvalid
	if e := command.CodeOf(err); e != "" {
		code = e
	}
	return command.Refuse(code,
		"the API server refuses a change of %s (its words are left out: they can quote the Secret); check type, data and stringData", key)
}

func (v *resources) resourceDelete(ctx context.Context, cmd agentapi.Command, req api.ResourceDelete) (any, error) {
	p, s, err := v.subject(ctx, cmd, req.Resource)
	if err != nil {
		return nil, err
	}
	c, err := p.write()
	if err != nil {
		return nil, err
	}
	leave, err := v.leaveFor(ctx, cmd, s)
	if err != nil {
		return nil, err
	}
	u := unstructured.Unstructured{Object: s.obj}
	how := metav1.DeletePropagationForeground
	options := metav1.DeleteOptions{
		Preconditions: metav1.NewUIDPreconditions(string(u.GetUID())), PropagationPolicy: &how, DryRun: command.DryRun(req.DryRun),
	}
	if req.Orphan {
		how = metav1.DeletePropagationOrphan
	}
	if req.Force {
		now := int64(0)
		options.GracePeriodSeconds = &now
		if !req.Orphan {
			how = metav1.DeletePropagationBackground
		}
	}
	if err := leave.Check(s.key); err != nil {
		return nil, err
	}
	if err := s.on(c).Delete(ctx, s.key.Name, options); err != nil {
		return nil, fmt.Errorf("delete %s: %w", s.key, err)
	}
	return nil, nil
}

// leaveFor asks the deletion guard about one object of an Application.
func (v *resources) leaveFor(ctx context.Context, cmd agentapi.Command, s *subject) (guard.Leave, error) {
	app, err := v.application(ctx, cmd)
	if err != nil {
		return guard.Leave{}, err
	}
	loss, err := v.Engine.Loss(ctx, app, s.key)
	if err != nil {
		return guard.Leave{}, err
	}
	leave, err := guard.JudgeObject(s.key, object.OptionsOf(s.obj).Delete, loss)
	if err != nil {
		return guard.Leave{}, command.Refuse(agentapi.CodeConflict, "%v", err)
	}
	return leave, nil
}
