package apply

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// hookFinalizer keeps a hook that another client deletes until its phase has seen how it ended.
const hookFinalizer = "argocd.argoproj.io/hook-finalizer"

// ReleaseHook takes the finalizer of hooks off an object, if it is there and has it.
func (t Target) ReleaseHook(ctx context.Context, key object.Key) Outcome {
	c := diff.Change{Key: key, Verb: diff.Update}
	res, err := t.Live.Find(ctx, key.GroupKind(), "")
	if err != nil {
		return Outcome{Change: c, Err: err, Message: err.Error()}
	}
	for range maxRaces {
		have, err := t.Client.Get(ctx, res, key)
		if apierrors.IsNotFound(err) {
			return Outcome{Change: c}
		}
		if err != nil {
			return Outcome{Change: c, Err: err, Message: Explain(key, err)}
		}
		meta, _ := have["metadata"].(map[string]any)
		held, _ := meta["finalizers"].([]any)
		left := slices.DeleteFunc(slices.Clone(held), func(v any) bool { return v == hookFinalizer })
		if len(left) == len(held) {
			return Outcome{Change: c}
		}
		err = t.Client.patch(ctx, res, key, []operation{
			{Op: "replace", Path: "/metadata/finalizers", Value: left},
			{Op: "replace", Path: "/metadata/resourceVersion", Value: meta["resourceVersion"]}, // refused when it has changed since
		})
		switch {
		case err == nil || apierrors.IsNotFound(err):
			return Outcome{Change: c}
		case !apierrors.IsConflict(err):
			return Outcome{Change: c, Err: err, Message: Explain(key, err)}
		}
	}
	err = fmt.Errorf("take the finalizer of hooks off %s: others change it all the time: the sync is tried again", key)
	return Outcome{Change: c, Err: err, Message: err.Error()}
}

// DeleteHook deletes an object that leave covers and that need not be tracked; with a uid, only if it still is that one. What is gone is
// deleted.
func (t Target) DeleteHook(ctx context.Context, leave guard.Leave, key object.Key, uid string, how metav1.DeletionPropagation) Outcome {
	c := diff.Change{Key: key, Verb: diff.Delete}
	res, err := t.Live.Find(ctx, key.GroupKind(), "")
	if err != nil {
		return Outcome{Change: c, Err: err, Message: err.Error()}
	}
	if how == "" {
		how = propagationOf(key.GroupKind())
	}
	err = t.Client.Delete(ctx, leave, res, key, uid, how)
	if err != nil && (uid == "" || !apierrors.IsConflict(err)) { // a conflict: another one of that name took its place
		return Outcome{Change: c, Err: err, Message: Explain(key, err)}
	}
	return Outcome{Change: c}
}
