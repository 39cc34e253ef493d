package live

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// scaled is a Deployment-like object of the application app. Whoever scaled it last owns the field replicas.
func scaled(version, replicas, color int, scaler string) map[string]any {
	ours := map[string]any{"f:spec": map[string]any{"f:color": map[string]any{}}}
	fields := []any{map[string]any{"manager": Manager, "operation": "Apply", "apiVersion": "v1", "fieldsV1": ours}}
	replica := map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}}}
	if scaler == Manager {
		ours["f:spec"] = map[string]any{"f:color": map[string]any{}, "f:replicas": map[string]any{}}
	} else {
		fields = append(fields, map[string]any{"manager": scaler, "operation": "Update", "subresource": "scale", "fieldsV1": replica})
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{
			"name": "a", "namespace": "default", "uid": "1", "resourceVersion": strconv.Itoa(version), "managedFields": fields,
			"annotations": map[string]any{object.TrackingAnnotation: object.TrackingID("app", keyMap("a"), "default")},
		},
		"spec": map[string]any{"replicas": int64(replicas), "color": int64(color)},
	}
}

type judged struct {
	*index
	t      *testing.T
	events []Event
}

func newJudged(t *testing.T) *judged {
	j := &judged{t: t}
	j.index = newIndex(func(e Event) { j.events = append(j.events, e) })
	return j
}

func (j *judged) rules(rule v1alpha1.IgnoreDifference) *diff.Rules {
	j.t.Helper()
	rule.Kind = "*"
	ignore, wrong := diff.NewIgnore([]v1alpha1.IgnoreDifference{rule}, nil)
	if len(wrong) > 0 {
		j.t.Fatal(wrong)
	}
	return ignore.For(keyMap("a"))
}

func (j *judged) see(obj map[string]any) Record {
	j.events = nil
	j.observe(j.digest(kindMap(), obj))
	rec, _, _ := j.get(keyMap("a"))
	return rec
}

func (j *judged) apply(obj map[string]any) {
	fields, _ := diff.OwnedFields(obj, Manager)
	j.applied(kindMap(), obj, fields, 7)
}

func TestAChangeThatDoesNotCountIsNoNews(t *testing.T) {
	t.Parallel()
	j := newJudged(t)
	j.judge(keyMap("a"), j.rules(v1alpha1.IgnoreDifference{JSONPointers: []string{"/spec/replicas"}}))
	j.apply(scaled(1, 1, 1, Manager))
	if rec := j.see(scaled(2, 5, 1, "hpa")); len(j.events) > 0 || !rec.InSync(7) {
		t.Errorf("events %v, in sync %t", j.events, rec.InSync(7))
	}
	if rec := j.see(scaled(3, 5, 2, "hpa")); len(j.events) != 1 || j.events[0].Why != Drift || rec.InSync(7) {
		t.Errorf("a field that counts: events %v, in sync %t", j.events, rec.InSync(7))
	}
	if rec := j.judge(keyMap("a"), nil); rec.Wanted != 0 {
		t.Errorf("a fingerprint outlives its rules: %+v", rec)
	}
}

func TestRulesCountForWhatIsSettledAfterAStart(t *testing.T) {
	t.Parallel()
	j := newJudged(t)
	if rec := j.see(scaled(1, 5, 1, "hpa")); rec.Body() == nil {
		t.Fatal("nothing is kept for the first comparison")
	}
	rules := j.rules(v1alpha1.IgnoreDifference{ManagedFieldsManagers: []string{"hpa"}})
	rec := j.judge(keyMap("a"), rules)
	if rest := rec.Rules.Strip(scaled(1, 5, 1, "any")); len(rest["spec"].(map[string]any)) != 1 {
		t.Errorf("the rules do not know what the manager owns: %v", rest["spec"])
	}
	j.settle(keyMap("a"), 1, 7)
	if rec := j.see(scaled(2, 9, 1, "hpa")); len(j.events) > 0 || !rec.InSync(7) || rec.Body() != nil {
		t.Errorf("events %v, in sync %t", j.events, rec.InSync(7))
	}
	if rec := j.see(scaled(3, 9, 2, "hpa")); len(j.events) != 1 || rec.InSync(7) {
		t.Errorf("a field that counts: events %v, in sync %t", j.events, rec.InSync(7))
	}
}

func TestAFieldThatPassesToANamedManagerIsComparedOnceMore(t *testing.T) {
	t.Parallel()
	j := newJudged(t)
	j.judge(keyMap("a"), j.rules(v1alpha1.IgnoreDifference{ManagedFieldsManagers: []string{"hpa"}}))
	j.apply(scaled(1, 1, 1, Manager))
	rec := j.see(scaled(2, 5, 1, "hpa"))
	if rec.Wanted != 0 || rec.Body() == nil || len(j.events) != 1 {
		t.Fatalf("wanted %d, events %v: it is to be compared by content, once", rec.Wanted, j.events)
	}
	j.settle(keyMap("a"), 2, 7)
	if rec := j.see(scaled(3, 6, 1, "hpa")); len(j.events) > 0 || !rec.InSync(7) {
		t.Errorf("events %v, in sync %t", j.events, rec.InSync(7))
	}
}

func TestOtherRulesWantALook(t *testing.T) {
	t.Parallel()
	j := newJudged(t)
	j.apply(scaled(1, 1, 1, Manager))
	rules := j.rules(v1alpha1.IgnoreDifference{JSONPointers: []string{"/spec/replicas"}})
	if rec := j.judge(keyMap("a"), rules); rec.Wanted != 0 || rec.Body() != nil {
		t.Fatalf("%+v", rec)
	}
	if rec := j.judge(keyMap("a"), rules); rec.Wanted != 0 {
		t.Fatalf("%+v", rec)
	}
	for _, version := range []int{1, 2} { // what is known already, and what the watch has not told yet
		rec := j.look(kindMap(), scaled(version, 4, 1, Manager))
		if rec.Version != uint64(version) || rec.Rules.ID() != rules.ID() || rec.Body() == nil {
			t.Fatalf("%+v", rec)
		}
	}
	j.settle(keyMap("a"), 2, 7)
	if rec := j.see(scaled(3, 6, 1, "hpa")); len(j.events) > 0 || !rec.InSync(7) {
		t.Errorf("events %v, in sync %t", j.events, rec.InSync(7))
	}
}

func TestTheMessageOfAHealthIsBounded(t *testing.T) {
	t.Parallel()
	x := newIndex(func(Event) {})
	meta := map[string]any{"name": "a", "namespace": "b", "annotations": map[string]any{}}
	job := object.Key{Group: "batch", Kind: "Job", Namespace: "b", Name: "a"}
	obj := map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "status": map[string]any{
		"conditions": []any{map[string]any{"type": "Failed", "status": "True", "message": strings.Repeat("é", 100<<10)}},
	}}
	object.SetAnnotation(obj, object.TrackingAnnotation, object.TrackingID("app", job, "b"))
	rec := x.describe(job.GroupKind(), obj)
	if n := len(rec.Health.Message); n == 0 || n > maxWords+len("…") || !utf8.ValidString(rec.Health.Message) {
		t.Errorf("%d bytes of %s", n, rec.Health.Status)
	}
}
