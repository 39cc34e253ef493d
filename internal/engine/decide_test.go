package engine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func yes() *bool { v := true; return &v }
func no() *bool  { v := false; return &v }

func key(name string) object.Key {
	return object.Key{Kind: "ConfigMap", Namespace: "shop", Name: name}
}

// compared is a comparison: automated sync, one object that differs, at revision r2 after r1 was deployed.
func compared(change func(*comparison)) *comparison {
	src := v1alpha1.ApplicationSource{RepoURL: "https://git.example/a", Path: "web"}
	end := metav1.NewTime(time.Unix(1000, 0))
	t := &turn{
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
	}
	in := &inputs{turn: t, Inputs: decide.Inputs{Sources: []v1alpha1.ApplicationSource{src}, Revisions: []string{"r2"}}}
	c := &comparison{
		rendering: &rendering{inputs: in, want: &wanted{objects: []wantedObject{{key: key("a")}}}},
		changes:   []diff.Change{{Key: key("a"), Verb: diff.Update}}, states: []state{{key: key("a"), applied: 900}},
	}
	if change != nil {
		change(c)
	}
	return c
}

func last(r *comparison) *v1alpha1.OperationState { return r.app.Status.OperationState }

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
			if d := cmp.Diff(test.want, decide.OverrideSources(test.sources, &test.op)); d != "" {
				t.Errorf("sources (-want +got):\n%s", d)
			}
			if d := cmp.Diff(before, test.sources); d != "" {
				t.Errorf("the specification was changed:\n%s", d)
			}
		})
	}
}
