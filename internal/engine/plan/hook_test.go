package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func annotatedWith(pairs ...string) map[string]any {
	annotations := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		annotations[pairs[i]] = pairs[i+1]
	}
	return map[string]any{"kind": "Job", "metadata": map[string]any{"name": "a", "annotations": annotations}}
}

func TestHooksAreReadFromAnnotations(t *testing.T) {
	t.Parallel()
	const own, policy = v1alpha1.AnnotationHook, v1alpha1.AnnotationHookDeletePolicy
	before := Policies{BeforeCreation: true}
	for _, test := range []struct {
		name   string
		object map[string]any
		want   Hook
		phases []v1alpha1.SyncPhase
	}{
		{"nothing", nil, Hook{}, []v1alpha1.SyncPhase{"Sync"}},
		{"a policy makes no hook", annotatedWith(policy, "HookSucceeded"), Hook{}, []v1alpha1.SyncPhase{"Sync"}},
		{
			"two phases", annotatedWith(own, " PostSync ,PreSync,,PostSync"),
			Hook{Is: true, Types: []v1alpha1.HookType{"PostSync", "PreSync"}, Delete: before},
			[]v1alpha1.SyncPhase{"PostSync", "PreSync"},
		},
		{"skipped", annotatedWith(own, "Skip"), Hook{Skip: true, Types: []v1alpha1.HookType{"Skip"}}, nil},
		{"misspelt", annotatedWith(own, "presync"), Hook{Is: true, Delete: before}, nil},
		{"only commas", annotatedWith(own, ",, ,"), Hook{Is: true, Delete: before}, nil},
		{
			"of a deletion", annotatedWith(own, "PreDelete"),
			Hook{Is: true, Types: []v1alpha1.HookType{"PreDelete"}, Delete: before},
			nil,
		},
		{
			"Helm's, with a weight and policies of both", annotatedWith(
				"helm.sh/hook", "post-upgrade,test", "helm.sh/hook-weight", "-3", "helm.sh/hook-delete-policy", "hook-failed", policy, "HookSucceeded"),
			Hook{Is: true, Types: []v1alpha1.HookType{"PostSync"}, Wave: -3, Delete: Policies{Succeeded: true, Failed: true}},
			[]v1alpha1.SyncPhase{"PostSync"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := ReadHook(test.object)
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("hook (-want +got):\n%s", d)
			}
			if d := cmp.Diff(test.phases, got.Phases()); d != "" {
				t.Errorf("phases (-want +got):\n%s", d)
			}
		})
	}
}

func FuzzReadHook(f *testing.F) {
	for _, seed := range [][5]string{
		{"", "", "", "", ""},
		{"PreSync,PostSync", "", "HookSucceeded", "", "3"},
		{"Skip", "pre-install", "garbage", "", "-1"},
		{" Sync , Sync,Garbage", "", "HookFailed,BeforeHookCreation", "hook-failed", "99999999999999999999"},
		{"", "post-install,pre-delete,crd-install", "", "hook-succeeded,before-hook-creation", "x"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	f.Fuzz(func(t *testing.T, own, helm, policy, helmPolicy, wave string) {
		h := ReadHook(annotatedWith(
			v1alpha1.AnnotationHook, own, "helm.sh/hook", helm, v1alpha1.AnnotationHookDeletePolicy, policy,
			"helm.sh/hook-delete-policy", helmPolicy, v1alpha1.AnnotationSyncWave, wave,
		))
		if h.Is && h.Skip {
			t.Error("a hook that is left out")
		}
		if h.Is == (h.Delete == Policies{}) {
			t.Errorf("hook: %t, with policies %+v", h.Is, h.Delete)
		}
		if !h.Is && !h.Skip && (own != "" || len(h.Types) > 0) {
			t.Errorf("no hook, of types %v", h.Types)
		}
		for i, typ := range h.Types {
			if knownHook(string(typ)) != typ || slices.Contains(h.Types[:i], typ) {
				t.Errorf("types %v", h.Types)
			}
		}
		for i, phase := range h.Phases() {
			if slices.Contains(h.Phases()[:i], phase) || h.Is && !h.Has(v1alpha1.HookType(phase)) {
				t.Errorf("phases %v of types %v", h.Phases(), h.Types)
			}
		}
	})
}

func TestWhatAnnotationsSayThatNobodyUnderstandsIsNamed(t *testing.T) {
	t.Parallel()
	const own, policy, wave = v1alpha1.AnnotationHook, v1alpha1.AnnotationHookDeletePolicy, v1alpha1.AnnotationSyncWave
	job := object.Key{Kind: "Job", Name: "a"}
	for _, c := range []struct {
		name   string
		object map[string]any
		want   []string
	}{
		{"nothing", annotatedWith(), nil},
		{"all that there is", annotatedWith(own, "PreSync, Skip,PostDelete", policy, "HookSucceeded,BeforeHookCreation", wave, "-5"), nil},
		{"a hook", annotatedWith(own, "PreSyncc"), []string{`hook "PreSyncc" of Job a (the object is never applied;`}},
		{"one of several", annotatedWith(own, "PreSync,presync"), []string{`hook "presync" of Job a (it is ignored;`}},
		{"nothing but commas", annotatedWith(own, ", ,"), []string{`hook ", ," of Job a (the object is never applied;`}},
		{"a wave", annotatedWith(wave, "abc"), []string{`sync-wave "abc" of Job a (0 counts;`}},
		{"a wave that is too large", annotatedWith(wave, "99999999999"), []string{`sync-wave "99999999999" of Job a (0 counts;`}},
		{"a policy", annotatedWith(own, "Sync", policy, "Never"), []string{`hook-delete-policy "Never" of Job a (`}},
		{"Helm's own", annotatedWith("helm.sh/hook", "test", "helm.sh/hook-weight", "x"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Misread(c.object, job)
			if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	long := Misread(annotatedWith(own, strings.Repeat("x,é\n", 9999), policy, strings.Repeat("y", 9999), wave, strings.Repeat("z", 9999)), job)
	if text := strings.Join(long, ""); len(long) > 3 || len(text) > 1000 {
		t.Errorf("%d texts of %d bytes", len(long), len(text))
	}
}
