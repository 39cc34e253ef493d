package engine

import (
	"io"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

const deployed = `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {color: green}},
{apiVersion: v1, kind: ConfigMap, metadata: {name: b, annotations: {argocd.argoproj.io/sync-options: "Force=true,Replace=true"}}},
{apiVersion: v1, kind: ConfigMap, metadata: {name: before, annotations: {argocd.argoproj.io/hook: PreSync}}}]`

// argoed creates the objects of a revision, hooks aside, as Argo CD leaves them.
func (b *bed) argoed(revision string) {
	b.t.Helper()
	client, err := dynamic.NewForConfig(testenv.Cluster(b.t))
	if err != nil {
		b.t.Fatal(err)
	}
	var list []map[string]any
	if err := yaml.Unmarshal([]byte(b.revisions[revision]), &list); err != nil {
		b.t.Fatal(err)
	}
	ns := b.app.Spec.Destination.Namespace
	for _, obj := range list {
		if object.IsHook(obj) {
			continue
		}
		u := &unstructured.Unstructured{Object: obj}
		object.Tracking{}.Mark(obj, b.app.Name, b.key(u.GetName()), ns)
		maps := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(ns)
		if _, err := maps.Create(b.t.Context(), u, metav1.CreateOptions{FieldManager: "argocd-controller"}); err != nil {
			b.t.Fatal(err)
		}
	}
}

// writes counts the requests that are neither reads nor dry runs, and refuses them where refused says so.
type writes struct {
	next    http.RoundTripper
	seen    chan string
	refused bool
}

func (w *writes) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodGet || req.URL.Query().Get("dryRun") != "" {
		return w.next.RoundTrip(req)
	}
	w.seen <- req.Method + " " + req.Header.Get("Content-Type") + " " + req.URL.Path
	if !w.refused {
		return w.next.RoundTrip(req)
	}
	if req.Body != nil {
		_ = req.Body.Close()
	}
	return &http.Response{
		StatusCode: http.StatusForbidden, Header: http.Header{"Content-Type": {"application/json"}}, Request: req,
		Body: io.NopCloser(strings.NewReader(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":"Forbidden","code":403}`)),
	}, nil
}

func TestATakeoverIsNoSync(t *testing.T) {
	t.Parallel()
	for name, operation := range map[string]*v1alpha1.OperationState{
		"no operation is known":                   nil,
		"the last one was about another revision": {Phase: v1alpha1.OperationSucceeded, SyncResult: &v1alpha1.SyncOperationResult{Revision: "r0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &writes{seen: make(chan string, 100)}
			b := newBed(t, func(cfg *rest.Config) {
				cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { w.next = next; return w })
			})
			b.automate()
			b.commit("r1", deployed)
			b.argoed("r1")
			b.app.Status.OperationState = operation
			res := b.turn()
			if res.Sync != v1alpha1.SyncStatusSynced || res.Operation != nil || res.TakenOver != 2 || len(res.Conditions) > 0 {
				t.Errorf("%v, %d taken over, operation %+v, conditions %v", res, res.TakenOver, res.Operation, res.Conditions)
			}
			for range 2 {
				if got := <-w.seen; !strings.HasPrefix(got, "PATCH application/json-patch+json ") {
					t.Error(got)
				}
			}
			if res = b.turn(); res.Sync != v1alpha1.SyncStatusSynced || res.Operation != nil || res.TakenOver != 0 || len(w.seen) > 0 {
				t.Errorf("the next turn: %v, %d taken over, operation %+v, %d writes", res, res.TakenOver, res.Operation, len(w.seen))
			}
			if b.has("before") {
				t.Error("a hook ran")
			}
		})
	}
}

func TestAnObjectThatCannotChangeHandsStaysAsItIs(t *testing.T) {
	t.Parallel()
	w := &writes{seen: make(chan string, 100), refused: true}
	b := newBed(t, func(cfg *rest.Config) {
		cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { w.next = next; return w })
	})
	b.automate()
	b.commit("r1", deployed)
	b.argoed("r1")
	res := b.turn()
	if res.Sync != v1alpha1.SyncStatusSynced || res.Operation != nil || res.TakenOver != 0 {
		t.Errorf("%v, %d taken over, operation %+v", res, res.TakenOver, res.Operation)
	}
	if len(res.Conditions) != 1 || res.Conditions[0].Type != v1alpha1.ConditionSyncError || !strings.Contains(res.Conditions[0].Message, "keep their owners") {
		t.Errorf("%+v", res.Conditions)
	}
}
