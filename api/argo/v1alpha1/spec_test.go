package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestEffectiveSources(t *testing.T) {
	t.Parallel()
	one := &v1alpha1.ApplicationSource{RepoURL: "one"}
	many := []v1alpha1.ApplicationSource{{RepoURL: "a"}, {RepoURL: "b"}}
	hydrator := &v1alpha1.SourceHydrator{
		DrySource:  v1alpha1.DrySource{RepoURL: "dry", TargetRevision: "main", Path: "src"},
		SyncSource: v1alpha1.SyncSource{TargetBranch: "env/prod", Path: "out"},
	}
	wet := v1alpha1.ApplicationSource{RepoURL: "dry", Path: "out", TargetRevision: "env/prod"}
	elsewhere := *hydrator
	elsewhere.SyncSource.RepoURL = "wet"
	tests := []struct {
		name     string
		spec     v1alpha1.ApplicationSpec
		want     []v1alpha1.ApplicationSource
		multiple bool
	}{
		{"none", v1alpha1.ApplicationSpec{}, nil, false},
		{"a single one", v1alpha1.ApplicationSpec{Source: one}, []v1alpha1.ApplicationSource{*one}, false},
		{"several win over a single one", v1alpha1.ApplicationSpec{Source: one, Sources: many}, many, true},
		{"a hydrator wins over both", v1alpha1.ApplicationSpec{Source: one, Sources: many, SourceHydrator: hydrator}, []v1alpha1.ApplicationSource{wet}, false},
		{"a hydrator may write elsewhere", v1alpha1.ApplicationSpec{SourceHydrator: &elsewhere}, []v1alpha1.ApplicationSource{{RepoURL: "wet", Path: "out", TargetRevision: "env/prod"}}, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, tc.spec.EffectiveSources()); diff != "" {
				t.Errorf("sources (-want +got):\n%s", diff)
			}
			if got := tc.spec.MultipleSources(); got != tc.multiple {
				t.Errorf("MultipleSources = %v, want %v", got, tc.multiple)
			}
		})
	}
}

func TestAutomatedEnabled(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	tests := []struct {
		name   string
		policy *v1alpha1.SyncPolicy
		want   bool
	}{
		{"no policy", nil, false},
		{"no automated block", &v1alpha1.SyncPolicy{}, false},
		{"an empty block is on", &v1alpha1.SyncPolicy{Automated: &v1alpha1.AutomatedSync{}}, true},
		{"on", &v1alpha1.SyncPolicy{Automated: &v1alpha1.AutomatedSync{Enabled: &yes}}, true},
		{"off", &v1alpha1.SyncPolicy{Automated: &v1alpha1.AutomatedSync{Enabled: &no}}, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := tc.policy.AutomatedEnabled(); got != tc.want {
				t.Errorf("AutomatedEnabled = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestSyncOptionValueTakesTheLastOne(t *testing.T) {
	t.Parallel()
	options := v1alpha1.SyncOptions{"Prune=false", "bad", "Prune = confirm"}
	if got, ok := options.Value(v1alpha1.OptionPrune); got != "confirm" || !ok {
		t.Errorf("Value(Prune) = %q, %v", got, ok)
	}
	if got, ok := options.Value("bad"); got != "" || ok {
		t.Errorf("Value(bad) = %q, %v", got, ok)
	}
	if !options.Has("Prune=false") || options.Has("Prune=true") {
		t.Error("Has does not compare the whole option")
	}
}

func TestNestedGeneratorsAreDecodedOnDemand(t *testing.T) {
	t.Parallel()
	set, _, err := v1alpha1.DecodeApplicationSet(sample(t, "applicationset.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var nested []v1alpha1.NestedGenerator
	for _, g := range set.Spec.Generators {
		if g.Matrix != nil {
			nested = g.Matrix.Generators
		}
	}
	if len(nested) != 3 {
		t.Fatalf("%d generators in the matrix, want 3", len(nested))
	}
	if m, err := nested[0].NestedMatrix(); m != nil || err != nil {
		t.Errorf("a Git generator has the matrix %v, %v", m, err)
	}
	matrix, err := nested[1].NestedMatrix()
	if err != nil || len(matrix.Generators) != 2 || !matrix.Generators[1].Clusters.FlatList {
		t.Errorf("nested matrix = %+v, %v", matrix, err)
	}
	merge, err := nested[2].NestedMerge()
	if err != nil || len(merge.Generators) != 2 || len(merge.MergeKeys) != 1 {
		t.Errorf("nested merge = %+v, %v", merge, err)
	}
	bad := v1alpha1.NestedGenerator{Merge: &v1alpha1.RawJSON{Raw: []byte(`{"mergeKeys":7}`)}}
	if m, err := bad.NestedMerge(); err == nil || m != nil {
		t.Errorf("a wrong merge = %v, %v; want an error", m, err)
	}
}
