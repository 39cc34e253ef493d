package e2e

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// argoCD stands in for the application controller of an Argo CD. It does with Applications what Argo CD's documentation
// promises, and nothing else: it takes operations and refreshes, and writes status, history and what it takes away again.
// It renders directories of plain manifests, and deploys to the cluster that it is in.
type argoCD struct {
	s         *story
	apps      dynamic.ResourceInterface
	namespace string
	cancel    context.CancelFunc
	done      sync.WaitGroup
	wake      chan struct{}

	stale map[string]bool // Applications whose operation has just ended, and which were not compared since

	mu   sync.Mutex
	held bool // an operation that runs goes on when it is let go
}

// controllerManager is the field manager of the stand-in.
const controllerManager = "argocd-application-controller"

// cmdArgoCD starts and stops a stand-in for Argo CD in the namespace of the story's agent, and has it hold operations that
// have begun, or let them go: argocd start | stop | hold | release.
func cmdArgoCD(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	need(ts, !neg && len(args) == 1 && s.agent.t == s.t, "argocd start | stop | hold | release, after agent new")
	switch args[0] {
	case "start":
		a := &argoCD{s: s, namespace: s.agent.namespace, wake: make(chan struct{}, 1), stale: map[string]bool{}}
		a.apps = s.cluster.client.Resource(v1alpha1.Resource(v1alpha1.ResourceApplications)).Namespace(a.namespace)
		ctx, cancel := context.WithCancel(s.t.Context())
		a.cancel = cancel
		a.done.Go(func() { a.run(ctx) })
		s.argo = a
		s.t.Cleanup(a.stop)
	case "stop":
		s.argo.stop()
	case "hold", "release":
		s.argo.mu.Lock()
		s.argo.held = args[0] == "hold"
		s.argo.mu.Unlock()
		select {
		case s.argo.wake <- struct{}{}:
		default:
		}
	default:
		ts.Fatalf("argocd knows start, stop, hold and release, not %s", args[0])
	}
}

func (a *argoCD) stop() {
	a.cancel()
	a.done.Wait()
}

func (a *argoCD) holds() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.held
}

// lookAgain is how often the health of what was deployed is looked at, as Argo CD looks at it by watches of its own.
const lookAgain = 200 * time.Millisecond

// run works on all Applications, one after the other, until ctx ends.
func (a *argoCD) run(ctx context.Context) {
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	for ctx.Err() == nil {
		list, err := a.apps.List(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		for i := range list.Items {
			a.work(ctx, list.Items[i].GetName())
		}
		events, err := a.apps.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
		if err != nil {
			continue
		}
		a.follow(ctx, events, ticker.C)
		events.Stop()
	}
}

// follow works on what changes, until the watch ends or somebody says that all are to be looked at again.
func (a *argoCD) follow(ctx context.Context, events watch.Interface, ticks <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.wake:
			return
		case <-ticks:
			a.reviewHealth(ctx)
		case event, ok := <-events.ResultChan():
			obj, isApp := event.Object.(*unstructured.Unstructured)
			if !ok || !isApp {
				return
			}
			if event.Type == watch.Added || event.Type == watch.Modified {
				a.work(ctx, obj.GetName())
			}
		}
	}
}

// work does what an Application asks for, until it asks for nothing that can be done now.
func (a *argoCD) work(ctx context.Context, name string) {
	for ctx.Err() == nil {
		testenv.Dawdle(ctx)
		obj, err := a.apps.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return
		}
		app, err := applicationOf(obj)
		if err != nil {
			a.s.t.Errorf("the stand-in cannot read application %s: %v", name, err)
			return
		}
		more, err := a.step(ctx, app)
		switch {
		case apierrors.IsConflict(err):
			continue // somebody was faster
		case apierrors.IsNotFound(err):
			return // it is gone
		}
		if err != nil && ctx.Err() == nil {
			a.s.t.Errorf("the stand-in for Argo CD cannot work on application %s: %v", name, err)
		}
		if err != nil || !more {
			return
		}
	}
}

// step does one thing, and reports whether it did.
func (a *argoCD) step(ctx context.Context, app *v1alpha1.Application) (bool, error) {
	op := app.Status.OperationState
	switch {
	case app.DeletionTimestamp != nil:
		return false, a.remove(ctx, app)
	case app.Status.ReconciledAt == nil:
		return true, a.compare(ctx, app)
	case app.Operation != nil && (op == nil || op.Phase.Completed()):
		return true, a.begin(ctx, app)
	case op != nil && op.Phase == v1alpha1.OperationTerminating:
		return true, a.end(ctx, app, v1alpha1.OperationFailed, "operation is terminated", op.SyncResult)
	case op != nil && op.Phase == v1alpha1.OperationRunning:
		if a.holds() {
			return false, nil
		}
		return true, a.sync(ctx, app)
	case app.Annotations[v1alpha1.AnnotationRefresh] != "", a.stale[app.Name], !comparedTo(app):
		return true, a.compare(ctx, app)
	}
	return false, nil
}

// comparedTo reports whether the status is about what the specification says.
func comparedTo(app *v1alpha1.Application) bool {
	return sameJSON(app.Status.Sync.ComparedTo.Source, app.Spec.Source) && sameJSON(app.Status.Sync.ComparedTo.Destination, app.Spec.Destination)
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func applicationOf(obj *unstructured.Unstructured) (*v1alpha1.Application, error) {
	raw, err := obj.MarshalJSON()
	if err != nil {
		return nil, err
	}
	app, _, err := v1alpha1.Decode(raw)
	return app, err
}

// patch merges into an Application as it was read, and notes its new version.
func (a *argoCD) patch(ctx context.Context, app *v1alpha1.Application, patch map[string]any) error {
	meta, _ := patch["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		patch["metadata"] = meta
	}
	meta["resourceVersion"] = app.ResourceVersion
	raw, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	obj, err := a.apps.Patch(ctx, app.Name, types.MergePatchType, raw, metav1.PatchOptions{FieldManager: controllerManager})
	if err == nil {
		app.ResourceVersion = obj.GetResourceVersion()
	}
	return err
}

// begin takes an operation up.
func (a *argoCD) begin(ctx context.Context, app *v1alpha1.Application) error {
	// Not merged into the state of the operation before.
	raw, err := json.Marshal([]any{
		map[string]any{"op": "test", "path": "/metadata/resourceVersion", "value": app.ResourceVersion},
		map[string]any{"op": "add", "path": "/status/operationState", "value": map[string]any{
			"operation": app.Operation, "phase": v1alpha1.OperationRunning, "startedAt": now(),
		}},
	})
	if err != nil {
		return err
	}
	_, err = a.apps.Patch(ctx, app.Name, types.JSONPatchType, raw, metav1.PatchOptions{FieldManager: controllerManager})
	if apierrors.IsInvalid(err) {
		return apierrors.NewConflict(v1alpha1.Resource(v1alpha1.ResourceApplications).GroupResource(), app.Name, err) // it is another version
	}
	return err
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// end writes how an operation ended, and takes it off.
func (a *argoCD) end(ctx context.Context, app *v1alpha1.Application, phase v1alpha1.OperationPhase, message string, result *v1alpha1.SyncOperationResult) error {
	state := map[string]any{"phase": phase, "message": message, "finishedAt": now()}
	if result != nil {
		state["syncResult"] = result
	}
	a.stale[app.Name] = true
	return a.patch(ctx, app, map[string]any{"operation": nil, "status": map[string]any{"operationState": state}})
}
