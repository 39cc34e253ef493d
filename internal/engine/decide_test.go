package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func yes() *bool { v := true; return &v }
func no() *bool  { v := false; return &v }

func key(name string) object.Key {
	return object.Key{Kind: "ConfigMap", Namespace: "shop", Name: name}
}

// compared is a run at the decision: automated sync, one object that differs, at revision r2 after r1 was deployed.
func compared(change func(*run)) *run {
	src := v1alpha1.ApplicationSource{RepoURL: "https://git.example/a", Path: "web"}
	end := metav1.NewTime(time.Unix(1000, 0))
	r := &run{
		engine: &Engine{Now: func() time.Time { return end.Time }},
		app: &v1alpha1.Application{
			Spec: v1alpha1.ApplicationSpec{
				Source: &src, SyncPolicy: &v1alpha1.SyncPolicy{Automated: &v1alpha1.AutomatedSync{Prune: yes(), SelfHeal: yes()}},
			},
			Status: v1alpha1.ApplicationStatus{
				Resources: []v1alpha1.ResourceStatus{{Kind: "ConfigMap", Namespace: "shop", Name: "a"}},
				OperationState: &v1alpha1.OperationState{
					Phase: v1alpha1.OperationSucceeded, FinishedAt: &end,
					SyncResult: &v1alpha1.SyncOperationResult{Revision: "r1", Source: src},
				},
			},
		},
		sources: []v1alpha1.ApplicationSource{src}, revisions: []string{"r2"}, memory: &memory{wanted: []wanted{{key: key("a")}}},
		changes: []diff.Change{{Key: key("a"), Verb: diff.Update}}, states: []state{{key: key("a"), applied: 900}},
	}
	if change != nil {
		change(r)
	}
	return r
}

// quiet leaves nothing to do.
func quiet(r *run) { r.changes = []diff.Change{{Key: key("a"), Verb: diff.Keep}} }

func last(r *run) *v1alpha1.OperationState { return r.app.Status.OperationState }

func TestAutomatedSyncRunsWhenPolicyAndStateSayso(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*run)
		want   bool
	}{
		{"a new revision", nil, true},
		{"the first of all", func(r *run) { r.app.Status.OperationState = nil }, true},
		{"nothing differs", quiet, false},
		{"no policy", func(r *run) { r.app.Spec.SyncPolicy = nil }, false},
		{"a policy that is off", func(r *run) { r.app.Spec.SyncPolicy.Automated.Enabled = no() }, false},
		{"a deleted Application", func(r *run) { now := metav1.Now(); r.app.DeletionTimestamp = &now }, false},
		{"drift, with self-heal", func(r *run) { r.revisions = []string{"r1"} }, true},
		{"drift, without self-heal", func(r *run) {
			r.revisions, r.app.Spec.SyncPolicy.Automated.SelfHeal = []string{"r1"}, nil
		}, false},
		{"only a deletion, with prune", func(r *run) { r.changes[0].Verb = diff.Delete }, true},
		{"only a deletion, without prune", func(r *run) {
			r.changes[0].Verb, r.app.Spec.SyncPolicy.Automated.Prune = diff.Delete, nil
		}, false},
		{"an empty source", func(r *run) { r.memory.wanted, r.changes[0].Verb = nil, diff.Delete }, false},
		{"an empty source that is meant", func(r *run) {
			r.memory.wanted, r.changes[0].Verb = nil, diff.Delete
			r.app.Spec.SyncPolicy.Automated.AllowEmpty = yes()
		}, true},
		{"the revision that failed", func(r *run) { r.revisions, last(r).Phase = []string{"r1"}, v1alpha1.OperationFailed }, false},
		{"a revision after the one that failed", func(r *run) { last(r).Phase = v1alpha1.OperationFailed }, true},
		{"an attempt that must wait", func(r *run) {
			r.revisions, r.req.Retries, last(r).Phase = []string{"r1"}, 1, v1alpha1.OperationRunning
		}, false},
		{"an attempt that has waited", func(r *run) {
			r.revisions, r.req.Retries, r.req.Due, last(r).Phase = []string{"r1"}, 1, true, v1alpha1.OperationRunning
		}, true},
		{"a new revision while an attempt waits", func(r *run) { r.req.Retries, last(r).Phase = 3, v1alpha1.OperationRunning }, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if d := compared(test.change).decide(t.Context()); d.Go != test.want {
				t.Errorf("runs: %t, want %t (%+v)", d.Go, test.want, d)
			}
		})
	}
}

func TestAnOperationThatNobodyWasToldOfIsToldLater(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*run)
		want   bool
	}{
		{"a revision that changed nothing", nil, false},
		{"an object was applied after the last operation", func(r *run) { r.states[0].applied = 1001 }, true},
		{"drift was put back", func(r *run) { r.states[0].applied, r.revisions = 1001, []string{"r1"} }, false},
		{"an object that was told of is gone", func(r *run) {
			r.app.Status.Resources = append(r.app.Status.Resources, v1alpha1.ResourceStatus{Kind: "ConfigMap", Namespace: "shop", Name: "b"})
		}, true},
		{"an attempt waits, and nothing is left to do", func(r *run) { last(r).Phase, r.req.Retries = v1alpha1.OperationRunning, 2 }, true},
		{"the first operation was cut off", func(r *run) { r.app.Status.OperationState = nil }, true},
		{"nobody syncs by itself", func(r *run) { r.states[0].applied, r.app.Spec.SyncPolicy = 1001, nil }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := compared(quiet)
			if test.change != nil {
				test.change(r)
			}
			if d := r.decide(t.Context()); d.Go != test.want {
				t.Errorf("runs: %t, want %t", d.Go, test.want)
			}
		})
	}
}

func TestAttemptsCountForTheirOwnOperation(t *testing.T) {
	t.Parallel()
	r := compared(func(r *run) { r.req.Retries, last(r).Phase = 5, v1alpha1.OperationRunning })
	if r.decide(t.Context()); r.req.Retries != 0 {
		t.Errorf("a new revision begins with %d attempts behind it", r.req.Retries)
	}
	asked := v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Prune: true}}
	r = compared(func(r *run) { r.app.Operation, r.req.Retries, last(r).Phase = &asked, 5, v1alpha1.OperationRunning })
	if d := r.decide(t.Context()); !d.Go || !d.Prune || r.req.Retries != 0 {
		t.Errorf("what somebody asks for waits behind the attempts of another operation: %+v", d)
	}
	r = compared(func(r *run) {
		r.app.Operation, r.req.Retries, last(r).Phase, last(r).Operation = &asked, 2, v1alpha1.OperationRunning, asked
	})
	if d := r.decide(t.Context()); d.Go || d.Retry != 10*time.Second {
		t.Errorf("the third attempt does not wait 10 s: %+v", d)
	}
}

func TestARefusedSyncSaysWhatToDo(t *testing.T) {
	t.Parallel()
	d := compared(func(r *run) { r.memory.wanted, r.changes[0].Verb = nil, diff.Delete }).decide(t.Context())
	if d.Condition == nil || !strings.Contains(d.Condition.Message, "allowEmpty: true") {
		t.Errorf("condition %+v", d.Condition)
	}
	d = compared(func(r *run) {
		r.revisions, last(r).Phase, last(r).Message = []string{"r1"}, v1alpha1.OperationFailed, "no such field"
	}).decide(t.Context())
	if d.Condition == nil || !strings.Contains(d.Condition.Message, "no such field") {
		t.Errorf("condition %+v", d.Condition)
	}
}

func TestRetryDelayGrowsUpToItsLimit(t *testing.T) {
	t.Parallel()
	three := int64(3)
	tests := []struct {
		name  string
		retry v1alpha1.RetryStrategy
		n     int64
		want  time.Duration
	}{
		{"the first by default", v1alpha1.RetryStrategy{}, 1, 5 * time.Second},
		{"the second by default", v1alpha1.RetryStrategy{}, 2, 10 * time.Second},
		{"the limit by default", v1alpha1.RetryStrategy{}, 100, 3 * time.Minute},
		{"own values", v1alpha1.RetryStrategy{Backoff: &v1alpha1.Backoff{Duration: "2s", Factor: &three, MaxDuration: "1m"}}, 3, 18 * time.Second},
		{"own limit", v1alpha1.RetryStrategy{Backoff: &v1alpha1.Backoff{Duration: "2s", Factor: &three, MaxDuration: "10s"}}, 9, 10 * time.Second},
		{"seconds without a unit", v1alpha1.RetryStrategy{Backoff: &v1alpha1.Backoff{Duration: "7"}}, 1, 7 * time.Second},
		{"what cannot be read", v1alpha1.RetryStrategy{Backoff: &v1alpha1.Backoff{Duration: "soon", MaxDuration: "-1s"}}, 1, 5 * time.Second},
		{"a huge number of attempts", v1alpha1.RetryStrategy{Backoff: &v1alpha1.Backoff{Duration: "1s", MaxDuration: "2562047h"}}, 1 << 40, 2562047 * time.Hour},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := RetryDelay(test.retry, test.n); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestAnOperationCanNameOtherSourcesAndRevisions(t *testing.T) {
	t.Parallel()
	a, b := v1alpha1.ApplicationSource{Path: "a", TargetRevision: "main"}, v1alpha1.ApplicationSource{Path: "b", TargetRevision: "main"}
	at := func(s v1alpha1.ApplicationSource, revision string) v1alpha1.ApplicationSource {
		s.TargetRevision = revision
		return s
	}
	tests := []struct {
		name    string
		sources []v1alpha1.ApplicationSource
		op      v1alpha1.SyncOperation
		want    []v1alpha1.ApplicationSource
	}{
		{"nothing", []v1alpha1.ApplicationSource{a}, v1alpha1.SyncOperation{}, []v1alpha1.ApplicationSource{a}},
		{"a revision", []v1alpha1.ApplicationSource{a}, v1alpha1.SyncOperation{Revision: "r1"}, []v1alpha1.ApplicationSource{at(a, "r1")}},
		{"a revision for several sources", []v1alpha1.ApplicationSource{a, b}, v1alpha1.SyncOperation{Revision: "r1"}, []v1alpha1.ApplicationSource{a, b}},
		{"some revisions", []v1alpha1.ApplicationSource{a, b}, v1alpha1.SyncOperation{Revisions: []string{"", "r2"}}, []v1alpha1.ApplicationSource{a, at(b, "r2")}},
		{"more revisions than sources", []v1alpha1.ApplicationSource{a}, v1alpha1.SyncOperation{Revisions: []string{"r1", "r2"}}, []v1alpha1.ApplicationSource{at(a, "r1")}},
		{"a source", []v1alpha1.ApplicationSource{a}, v1alpha1.SyncOperation{Source: &b, Revision: "r1"}, []v1alpha1.ApplicationSource{at(b, "r1")}},
		{"sources", []v1alpha1.ApplicationSource{a}, v1alpha1.SyncOperation{Sources: []v1alpha1.ApplicationSource{b, a}}, []v1alpha1.ApplicationSource{b, a}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			before := append([]v1alpha1.ApplicationSource{}, test.sources...)
			if d := cmp.Diff(test.want, overrideSources(test.sources, &test.op)); d != "" {
				t.Errorf("sources (-want +got):\n%s", d)
			}
			if d := cmp.Diff(before, test.sources); d != "" {
				t.Errorf("the specification was changed:\n%s", d)
			}
		})
	}
}
