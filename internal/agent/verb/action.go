package verb

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/engine/action"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
)

func (v *resources) resourceActions(ctx context.Context, cmd agentapi.Command, req query) (any, error) {
	_, s, err := v.subject(ctx, cmd, req.Resource)
	if err != nil {
		return nil, err
	}
	list, err := action.New(v.Settings.Config(place.ConfigArgoCD)).List(v.blind(s.obj), action.Env{Now: v.Now()})
	if err != nil {
		return nil, command.Refuse(agentapi.CodeInvalid, "%v", err)
	}
	out := api.ResourceActions{Actions: []api.ResourceActionInfo{}}
	for _, a := range list {
		info := api.ResourceActionInfo{Name: a.Name, DisplayName: a.DisplayName, Disabled: a.Disabled}
		for _, name := range a.Params {
			info.Parameters = append(info.Parameters, api.ResourceActionParameter{Name: name})
		}
		out.Actions = append(out.Actions, info)
	}
	return out, nil
}

// blindMark begins what an action sees in place of a hidden value. It is not known outside, so nothing else contains it.
func (v *resources) blindMark() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.mark == "" {
		v.mark = "(hidden " + rand.Text() + ") "
	}
	return v.mark
}

// blind is an object as an action sees it: without its managed fields and without hidden values. What an action makes of
// them would be written to where it is shown.
func (v *resources) blind(obj map[string]any) map[string]any {
	return object.Blind(bare(obj), v.blindMark(), append(v.mask(), corev1.LastAppliedConfigAnnotation)...)
}

// withoutCopies refuses what an action wants written where it has put a hidden value into another field.
func (v *resources) withoutCopies(key object.Key, before map[string]any, impacts []action.Impact) error {
	for _, i := range impacts {
		change := i.Object
		if i.Operation == action.Patch {
			var err error
			if change, err = inspect.MergePatch(before, i.Object); err != nil {
				return err
			}
		}
		raw, err := json.Marshal(change)
		if err != nil {
			return fmt.Errorf("encode what the action made: %w", err)
		}
		if bytes.Contains(raw, []byte(v.blindMark())) {
			return command.Refuse(agentapi.CodeForbidden,
				"the action copies a hidden value of %s, which actions cannot read: change its script", key)
		}
	}
	return nil
}

// bare is an object without its managed fields.
func bare(obj map[string]any) map[string]any {
	u := (&unstructured.Unstructured{Object: obj}).DeepCopy()
	unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
	return u.Object
}

func (v *resources) resourceAction(ctx context.Context, cmd agentapi.Command, req api.ResourceAction) (any, error) {
	p, s, err := v.subject(ctx, cmd, req.Resource)
	if err != nil {
		return nil, err
	}
	c, err := p.write()
	if err != nil {
		return nil, err
	}
	before := v.blind(s.obj)
	impacts, err := action.New(v.Settings.Config(place.ConfigArgoCD)).Run(before, req.Action, req.Parameters, action.Env{Now: v.Now()})
	if err != nil {
		return nil, quiet(s.key, command.Refuse(agentapi.CodeInvalid, "run %s on %s: %v", req.Action, s.key, err))
	}
	if err := v.withoutCopies(s.key, before, impacts); err != nil {
		return nil, err
	}
	// All of it as a dry run first: half an action is worse than none.
	w := writer{resources: v, site: p, subject: s, before: before, client: c}
	for _, dry := range []bool{true, false} {
		if !dry && req.DryRun {
			break
		}
		for _, i := range impacts {
			if err := w.write(ctx, i, dry); err != nil {
				return nil, quiet(s.key, fmt.Errorf("run %s on %s: %w", req.Action, s.key, err))
			}
		}
	}
	out := api.ResourceActionAnswer{Impacts: []api.ResourceImpact{}}
	for _, i := range impacts {
		raw, err := inspect.ShownJSON(i.Object, v.mask())
		if err != nil {
			return nil, err
		}
		out.Impacts = append(out.Impacts, api.ResourceImpact{Operation: string(i.Operation), Object: raw})
	}
	return out, nil
}

// writer does what an action wants.
type writer struct {
	*resources
	*site
	*subject
	before map[string]any
	client dynamic.Interface
}

func (w *writer) write(ctx context.Context, i action.Impact, dry bool) error {
	if i.Operation == action.Create {
		return w.create(ctx, i.Object, dry)
	}
	return w.patch(ctx, i.Object, dry)
}

func (w *writer) create(ctx context.Context, fields map[string]any, dry bool) error {
	obj := &unstructured.Unstructured{Object: fields}
	gvk := obj.GroupVersionKind()
	key := object.Key{Group: gvk.Group, Kind: gvk.Kind, Namespace: obj.GetNamespace(), Name: obj.GetName()}
	res, err := w.cluster.Find(ctx, key.GroupKind(), gvk.Version)
	if err != nil {
		return err
	}
	if !res.Namespaced {
		key.Namespace = ""
	}
	if err := w.engine.Permits(w.app)(key, ""); err != nil {
		return err
	}
	_, err = of(w.client, res, gvk.Version, key.Namespace).Create(ctx, obj,
		metav1.CreateOptions{FieldManager: live.Manager, DryRun: command.DryRun(dry)})
	if err != nil {
		return fmt.Errorf("create %s: %w", key, err)
	}
	return nil
}

// patch changes the object itself. Where its kind has a status of its own (the subresource), what concerns the status is
// written there, and the rest apart from it.
func (w *writer) patch(ctx context.Context, fields map[string]any, dry bool) error {
	change, err := inspect.NewActionPatch(w.before, fields)
	if err != nil {
		return command.Refuse(agentapi.CodeInvalid, "%v", err)
	}
	rest := change.Rest
	if len(change.Status) > 0 {
		if err := w.send(ctx, change.Status, dry, "status"); apierrors.IsNotFound(err) {
			rest = change.Whole
		} else if err != nil {
			return err
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return w.send(ctx, rest, dry)
}

func (w *writer) send(ctx context.Context, change map[string]any, dry bool, subresource ...string) error {
	raw, err := json.Marshal(change)
	if err != nil {
		return fmt.Errorf("encode patch: %w", err)
	}
	opts := metav1.PatchOptions{FieldManager: live.Manager, DryRun: command.DryRun(dry)}
	_, err = w.on(w.client).Patch(ctx, w.key.Name, types.MergePatchType, raw, opts, subresource...)
	return err
}
