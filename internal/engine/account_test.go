package engine

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// shelf is a Ledger that keeps what it is given.
type shelf struct {
	mu     sync.Mutex
	kept   map[Content]string
	keeps  int
	closed bool
}

func (s *shelf) Keep(_ string, m object.Manifest, _ bool) Content {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := Content(sha256.Sum256(m.JSON))
	s.kept[c] = m.Key.Kind + "/" + m.Key.Name
	s.keeps++
	return c
}

func (s *shelf) Keeps(c Content) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[c] != ""
}

func (s *shelf) Open() bool { return !s.closed }

func (s *shelf) text(a *Account) string {
	if a == nil {
		return "none"
	}
	var out []string
	for _, o := range a.Objects {
		out = append(out, s.kept[o.Content])
	}
	slices.Sort(out)
	for _, d := range a.Deeds {
		how := ""
		if d.Failed {
			how = " failed"
		}
		out = append(out, fmt.Sprintf("%s %s/%s%s", d.Verb, d.Key.Kind, d.Key.Name, how))
	}
	return strings.Join(out, ", ") + fmt.Sprintf("; %d unchanged", a.Unchanged)
}

const twoMaps = `
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: "1"}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {x: "1"}}
`

func TestAnOperationSaysWhatItRenderedAndDid(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	s := &shelf{kept: map[Content]string{}}
	b.engine.Ledger = s
	b.app.Spec.SyncPolicy = &v1alpha1.SyncPolicy{Automated: &v1alpha1.AutomatedSync{Prune: new(true), SelfHeal: new(true)}}
	b.revisions["1"], b.revisions["2"] = twoMaps, strings.ReplaceAll(twoMaps[:strings.LastIndex(twoMaps, "-")], `"1"`, `"2"`)
	step := func(revision string) *Account {
		b.head = revision
		res := b.engine.Reconcile(t.Context(), Request{App: b.app})
		if res.Err != nil {
			t.Fatal(res.Err)
		}
		if res.Operation != nil {
			b.app.Status.OperationState, b.app.Operation = res.Operation, nil
		}
		b.app.Status.Resources = res.Resources
		return res.Account
	}
	for _, tt := range []struct{ what, revision, want string }{
		{"the first sync", "1", "ConfigMap/a, ConfigMap/b, create ConfigMap/a, create ConfigMap/b; 0 unchanged"},
		{"a turn without one", "1", "none"},
		{"the next commit", "2", "ConfigMap/a, update ConfigMap/a, delete ConfigMap/b; 0 unchanged"},
	} {
		if diff := cmp.Diff(tt.want, s.text(step(tt.revision))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.what, diff)
		}
	}
	b.await("the pruned object is gone", func() bool { return !b.has("b") })
	before := s.keeps
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}, InitiatedBy: v1alpha1.OperationInitiator{Username: "ada"}}
	if diff := cmp.Diff("ConfigMap/a; 1 unchanged", s.text(step("2"))); diff != "" {
		t.Errorf("a sync that changes nothing (-want +got)\n%s", diff)
	}
	if s.keeps != before {
		t.Errorf("what is known was handed out %d times more", s.keeps-before)
	}
	s.closed = true
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}, InitiatedBy: v1alpha1.OperationInitiator{Username: "bob"}}
	if a := step("2"); a != nil {
		t.Errorf("nobody wants to know and is told %s", s.text(a))
	}
}

func TestWhatADeadProcessDidIsFoundOnce(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.app.Spec.SyncPolicy = &v1alpha1.SyncPolicy{Automated: &v1alpha1.AutomatedSync{}}
	b.revisions["1"], b.head = twoMaps, "1"
	if res := b.engine.Reconcile(t.Context(), Request{App: b.app}); res.Operation == nil || res.Operation.Phase != v1alpha1.OperationSucceeded {
		t.Fatalf("not synced: %v", res)
	}
	// Its status was not written, and another process begins.
	s := &shelf{kept: map[Content]string{}}
	fresh := &Engine{
		Sources: b, Renderer: b, Clusters: clusterOf{b}, Projects: b, Namespace: b.engine.Namespace, Now: b.engine.Now,
		Budget: b.engine.Budget, Exists: b.engine.Exists, Ledger: s,
	}
	b.app.Status.OperationState = &v1alpha1.OperationState{Phase: v1alpha1.OperationFailed, FinishedAt: &metav1.Time{}, StartedAt: metav1.Time{}}
	res := fresh.Reconcile(t.Context(), Request{App: b.app})
	if res.Account == nil || !res.Account.Recovered {
		t.Fatalf("it is not said that another process did it: %s", s.text(res.Account))
	}
	if diff := cmp.Diff("ConfigMap/a, ConfigMap/b, update ConfigMap/a, update ConfigMap/b; 0 unchanged", s.text(res.Account)); diff != "" {
		t.Errorf("what it did (-want +got)\n%s", diff)
	}
}

func TestAFailedOperationSaysSo(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	s := &shelf{kept: map[Content]string{}}
	b.engine.Ledger = s
	b.revisions["1"], b.head = twoMaps+`- {apiVersion: v1, kind: Service, metadata: {name: c}, spec: {ports: [{port: 700000}]}}`, "1"
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}
	res := b.engine.Reconcile(t.Context(), Request{App: b.app})
	if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationFailed {
		t.Fatalf("it did not fail: %v", res)
	}
	want := "ConfigMap/a, ConfigMap/b, Service/c, create ConfigMap/a, create ConfigMap/b, create Service/c failed; 0 unchanged"
	if diff := cmp.Diff(want, s.text(res.Account)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	b.head = "2"
	b.revisions["2"] = "no: yaml: at: all"
	b.app.Operation.InitiatedBy.Username = "again"
	if res = b.engine.Reconcile(t.Context(), Request{App: b.app}); res.Account == nil || res.Account.Objects != nil {
		t.Errorf("what cannot be rendered has an account %+v", res.Account)
	}
}

func TestAnOperationSaysWhatWasDecidedBeforeItRan(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	s := &shelf{kept: map[Content]string{}}
	b.engine.Ledger = s
	asks := strings.ReplaceAll(twoMaps, "name: b}", `name: b, annotations: {argocd.argoproj.io/sync-options: "Prune=confirm"}}`)
	b.revisions["1"], b.revisions["2"] = asks, twoMaps[:strings.LastIndex(twoMaps, "-")]
	sync := func() *Account {
		t.Helper()
		res := b.engine.Reconcile(t.Context(), Request{App: b.app})
		if res.Err != nil {
			t.Fatal(res.Err)
		}
		if res.Operation != nil {
			b.app.Status.OperationState = res.Operation
			if res.Operation.Phase.Completed() {
				b.app.Operation = nil
			}
		}
		b.app.Status.Resources = res.Resources
		return res.Account
	}
	ask := func(revision string) *Account {
		t.Helper()
		b.head = revision
		b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Prune: true}, InitiatedBy: v1alpha1.OperationInitiator{Username: "ada"}}
		return sync()
	}
	if a := ask("1"); a == nil || len(a.Decisions) != 0 {
		t.Fatalf("where nothing has to be decided: %+v", a)
	}
	b.rules = permissive(t, func(p *v1alpha1.AppProject) {
		p.Spec.SyncWindows = []v1alpha1.SyncWindow{{Kind: "deny", Schedule: "* * * * *", Duration: "1h", ManualSync: true, Applications: []string{"*"}}}
	})
	if a := ask("2"); a != nil {
		t.Fatalf("it is over before somebody has approved the deletion: %s", s.text(a))
	}
	b.app.Annotations = map[string]string{v1alpha1.AnnotationDeletionApproved: b.engine.Now().UTC().Format(time.RFC3339)}
	a := sync()
	var got []string
	if a != nil {
		for _, v := range a.Decisions {
			got = append(got, v.Gate+" "+v.Outcome)
		}
	}
	if diff := cmp.Diff([]string{"window allowed", "guard allowed", "approval confirmed"}, got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", s.text(a), diff)
	}
}
