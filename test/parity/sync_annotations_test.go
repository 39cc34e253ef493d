package parity

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// annotationRow is a row about what the annotations of an object say.
type annotationRow struct {
	Annotations map[string]string
	Kind        string

	IsHook, Skipped *bool
	Types           *[]v1alpha1.HookType
	Phases          *[]v1alpha1.SyncPhase
	Policies        []v1alpha1.HookDeletePolicy
	Wave            int
	Ignored         bool

	Live                                   bool
	HookPhase                              v1alpha1.OperationPhase
	DeleteBeforeCreation, DeleteAfterwards bool
}

func (a annotationRow) object() map[string]any {
	annotations := map[string]any{}
	for name, value := range a.Annotations {
		annotations[name] = value
	}
	return map[string]any{"kind": a.Kind, "metadata": map[string]any{"name": "a", "annotations": annotations}}
}

type optionRow struct {
	Value   *string
	Option  string
	Options []string
	Has     bool
	Result  *string
}

type annotationSet struct {
	Hooks, IgnoredObjects, DeletePolicies, HookDeletion, Waves []annotationRow
	OptionLists, OptionValues                                  []optionRow
	RetryBackoff                                               []struct {
		Backoff       *v1alpha1.Backoff
		DelaysSeconds map[string]int64
	}
}

// agreement counts rows.
type agreement struct{ rows, agree int }

func (a *agreement) row(t *testing.T, row any, wrong string) {
	t.Helper()
	a.rows++
	if wrong == "" {
		a.agree++
		return
	}
	text, _ := json.Marshal(row)
	t.Errorf("%s\n%s", text, wrong)
}

func TestSyncAnnotationsAreReadAlike(t *testing.T) {
	t.Parallel()
	var set annotationSet
	loadYAML(t, &set, dir(t, "sync"), "annotations.yaml")
	for name, rows := range map[string]struct {
		of    []annotationRow
		check func(annotationRow) string
	}{
		"hooks":          {set.Hooks, checkHook},
		"ignoredObjects": {set.IgnoredObjects, checkIgnored},
		"deletePolicies": {set.DeletePolicies, checkPolicies},
		"hookDeletion":   {set.HookDeletion, checkDeletion},
		"waves": {set.Waves, func(a annotationRow) string {
			return cmp.Diff(a.Wave, plan.ReadHook(a.object()).Wave)
		}},
	} {
		var count agreement
		for _, row := range rows.of {
			count.row(t, row, rows.check(row))
		}
		t.Logf("%s: %d of %d rows agree", name, count.agree, count.rows)
	}
	checkOptions(t, set)
	checkRetries(t, set)
}

func checkHook(a annotationRow) string {
	h := plan.ReadHook(a.object())
	var wrong []string
	if a.IsHook != nil && *a.IsHook != h.Is || a.Skipped != nil && *a.Skipped != h.Skip {
		wrong = append(wrong, "hook or skipped")
	}
	if a.Types != nil && strings.Join(texts(*a.Types), ",") != strings.Join(texts(h.Types), ",") {
		wrong = append(wrong, cmp.Diff(*a.Types, h.Types))
	}
	if a.Phases != nil && strings.Join(texts(*a.Phases), ",") != strings.Join(texts(h.Phases()), ",") {
		wrong = append(wrong, cmp.Diff(*a.Phases, h.Phases()))
	}
	return strings.Join(wrong, "; ")
}

func texts[T ~string](list []T) []string {
	var out []string
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}

// checkIgnored: an object is left out where it is a hook that belongs to no phase.
func checkIgnored(a annotationRow) string {
	h := plan.ReadHook(a.object())
	return cmp.Diff(a.Ignored, h.Is && len(h.Phases()) == 0)
}

func checkPolicies(a annotationRow) string {
	a.Annotations[v1alpha1.AnnotationHook] = string(v1alpha1.HookSync) // policies count on hooks only
	var want plan.Policies
	for _, p := range a.Policies {
		switch p {
		case v1alpha1.HookDeleteBeforeCreation:
			want.BeforeCreation = true
		case v1alpha1.HookDeleteSucceeded:
			want.Succeeded = true
		case v1alpha1.HookDeleteFailed:
			want.Failed = true
		}
	}
	return cmp.Diff(want, plan.ReadHook(a.object()).Delete)
}

// checkDeletion runs an operation of one object and sees whether it is deleted before it is made, or in the end.
func checkDeletion(a annotationRow) string {
	h := plan.ReadHook(a.object())
	p := plan.Build([]plan.Task{{
		Change: diff.Change{Key: object.Key{Kind: "Pod", Name: "a"}, Verb: diff.Update}, Hook: h.Is, Policies: h.Delete,
	}}, plan.Options{})
	op := plan.NewOperation(p, plan.Settings{}, nil)
	exists, made := a.Live, false
	var before, after bool
	for range 20 {
		m := op.Next(func(plan.Task) plan.Fact {
			status := v1alpha1.HealthHealthy
			if a.HookPhase == v1alpha1.OperationFailed {
				status = v1alpha1.HealthDegraded
			}
			return plan.Fact{Exists: exists, Assessed: true, Health: status}
		})
		switch m.Verb {
		case plan.Remove:
			exists = false
			before, after = before || !made, after || made
			op.Removed(m.Tasks[0], true, "")
		case plan.Do:
			exists, made = true, true
			op.Record(m.Tasks[0], plan.State{Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationRunning})
		case plan.End:
			return cmp.Diff([]bool{a.DeleteBeforeCreation, a.DeleteAfterwards}, []bool{before, after})
		}
	}
	return "no end"
}

// checkOptions tries the words of the lists with options that there are: nothing else is read.
func checkOptions(t *testing.T, set annotationSet) {
	t.Helper()
	known := strings.NewReplacer("bar", "Replace", "baz1", "true", "baz2", "false", "qux", "false", "quux", "true")
	var lists, values agreement
	for _, row := range set.OptionLists {
		text := ""
		if row.Value != nil {
			text = strings.ReplaceAll(known.Replace(*row.Value), "baz", "PruneLast")
		}
		option := map[string]string{"bar": "Replace", "baz": "PruneLast"}[row.Option]
		o := object.ParseOptions(strings.ReplaceAll(strings.ReplaceAll(text, "Replace", "Replace=true"), "PruneLast", "PruneLast=true"))
		got := map[string]bool{"Replace": o.Replace.Is(), "PruneLast": o.PruneLast.Is()}
		lists.row(t, row, cmp.Diff(row.Has, got[option])+strings.Join(o.Unknown, ","))
	}
	for _, row := range set.OptionValues {
		text := ""
		if row.Value != nil {
			text = *row.Value
		}
		text = strings.ReplaceAll(known.Replace(strings.ReplaceAll(text, "baz=", "PruneLast=")), "=baz", "=true")
		o := object.ParseOptions(text)
		got := map[string]object.Choice{"bar": o.Replace, "baz": o.PruneLast}[row.Option]
		want := object.Unset
		if row.Result != nil {
			want = object.Yes // baz, baz1 and quux stand for true
		}
		values.row(t, row, cmp.Diff(want, got))
	}
	t.Logf("optionLists: %d of %d rows agree", lists.agree, lists.rows)
	t.Logf("optionValues: %d of %d rows agree", values.agree, values.rows)
}
