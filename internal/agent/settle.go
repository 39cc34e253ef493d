package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/status"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// errNotStored is a status that does not say what was written to it.
var errNotStored = errors.New("the stored status does not show it yet")

// confirm writes how far an operation is where the stored status does not show enough, and returns once it does. app is
// what the status was last written to: the report at the end builds on it.
func (a *turner) confirm(app **v1alpha1.Application) func(
	context.Context, func(*v1alpha1.OperationState) bool, func() v1alpha1.OperationState,
) error {
	id := registry.NameOf(*app)
	return func(ctx context.Context, stored func(*v1alpha1.OperationState) bool, state func() v1alpha1.OperationState) error {
		if stored((*app).Status.OperationState) {
			return nil
		}
		now := hide(a.veil, state())
		if !stored(&now) {
			return nil // it has more hooks than a status has room for
		}
		patch, err := status.Progress(*app, &now)
		if err != nil {
			return err
		}
		if patch != nil {
			if err := a.write(ctx, *app, patch); err != nil {
				return err
			}
		}
		fresh, ok := a.registry.Get(id)
		if !ok {
			return nil // deleted in the meantime: no replica takes the operation over
		}
		*app = fresh
		if !stored(fresh.Status.OperationState) {
			return errNotStored // another client wrote something else, such as a request to end it
		}
		return nil
	}
}

// settles reports whether the result of a turn waits to be reported, and sees to it that it is in time: when the
// Application is not Progressing any more, when something failed, on request, or when the window is over.
func (a *turner) settles(id registry.Name, e registry.Entry, res engine.Result, now time.Time) bool {
	if res.Err != nil || res.Retry > 0 || e.App.Annotations[v1alpha1.AnnotationRefresh] != "" {
		return false
	}
	reported, pace := a.registry.Rhythm(id)
	rest := reported.Add(pace).Sub(now)
	if status.UnderWay(res.Operation) {
		if rest <= 0 || status.Terminating(e.App) || !sameHooks(e.App.Status.OperationState, res.Operation) {
			return false
		}
		a.registry.Hold(id, &registry.Unreported{Operation: res.Operation, Until: now.Add(rest)})
		a.queue.AddAfter(id, rest)
		if res.Wake > 0 && res.Wake < rest {
			a.queue.AddAfter(id, res.Wake)
		}
		return true
	}
	if res.Health.Status != health.Progressing || e.App.Operation != nil {
		return false
	}
	switch {
	case res.Operation == nil && e.Unreported != nil:
		return now.Before(e.Unreported.Until) // the queue holds the turn at the end of the window already
	case res.Operation == nil:
		if rest > 0 && e.App.Status.Health.Status == v1alpha1.HealthProgressing {
			a.queue.AddAfter(id, rest)
			return true
		}
		return false
	case e.Unreported != nil || res.Operation.Phase != v1alpha1.OperationSucceeded:
		return false
	}
	a.registry.Hold(id, &registry.Unreported{Operation: res.Operation, Changes: res.Changes, Until: now.Add(registry.SettleWindow)})
	a.queue.AddAfter(id, registry.SettleWindow)
	return true
}

// sameHooks reports whether an operation has the hooks that the status contains, or announces. A hook that has begun must be
// known to the next agent: it would run it again. How it ended shows in the cluster.
func sameHooks(reported, now *v1alpha1.OperationState) bool {
	known := map[hookName]bool{}
	if reported != nil && reported.SyncResult != nil && reported.StartedAt.Unix() == now.StartedAt.Unix() {
		for _, h := range reported.SyncResult.Resources {
			known[hookOf(h)] = true
		}
	}
	return !slices.ContainsFunc(now.SyncResult.Resources, func(h v1alpha1.ResourceResult) bool {
		return h.HookType != "" && !known[hookOf(h)]
	})
}

// hookName names a hook of an operation.
type hookName struct {
	object.Key
	phase v1alpha1.SyncPhase
	hook  v1alpha1.HookType
}

func hookOf(h v1alpha1.ResourceResult) hookName {
	return hookName{object.Key{Group: h.Group, Kind: h.Kind, Namespace: h.Namespace, Name: h.Name}, h.SyncPhase, h.HookType}
}
