package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
)

// drifting is a run that has found objects a and b changed, at noon of the first day of 1970.
func drifting(allowed string, change func(*run)) *run {
	return compared(func(r *run) {
		r.started = time.Unix(43200, 0)
		r.app.Annotations = map[string]string{v1alpha1.AnnotationDriftAllowed: allowed}
		r.changes = []diff.Change{{Key: key("a"), Verb: diff.Update, Why: whyDrift}, {Key: key("b"), Verb: diff.Update, Why: whyDrift}}
		if change != nil {
			change(r)
		}
	})
}

const untilTwo = `[{"kind":"ConfigMap","namespace":"shop","name":"a","until":"1970-01-01T14:00:00Z","by":"ann","reason":"a test"}]`

func TestAllowedDriftIsLeftAsItIsForNow(t *testing.T) {
	t.Parallel()
	deployed := func(r *run) { r.revisions, r.changes[0].Why = []string{"r1"}, whyDiffers }
	for _, c := range []struct {
		name    string
		allowed string
		change  func(*run)
		left    bool
	}{
		{"until two", untilTwo, nil, true},
		{"until eleven, which is over", strings.Replace(untilTwo, "14:", "11:", 1), nil, false},
		{"of another object", strings.Replace(untilTwo, `"name":"a"`, `"name":"c"`, 1), nil, false},
		{"of another kind", strings.Replace(untilTwo, "ConfigMap", "Secret", 1), nil, false},
		{"not where Git has changed", untilTwo, func(r *run) { r.changes[0].Why = "manifest changed" }, false},
		{"not where the object is gone", untilTwo, func(r *run) { r.changes[0].Verb = diff.Create }, false},
		{"after a start, where it was deployed", untilTwo, deployed, true},
		{"not after a start with another revision", untilTwo, func(r *run) { r.changes[0].Why = whyDiffers }, false},
		{"not after a start with a sync that failed", untilTwo, func(r *run) { deployed(r); last(r).Phase = v1alpha1.OperationFailed }, false},
		{"the longest of several", `[` + untilTwo[1:len(untilTwo)-1] + `,{"kind":"ConfigMap","namespace":"shop","name":"a","until":"1970-01-01T13:00:00Z"}]`, nil, true},
		{"nothing", "", nil, false},
		{"what cannot be read", "[", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := drifting(c.allowed, c.change)
			r.allowDrift()
			if left := len(r.changes) == 1 && r.changes[0].Key == key("b"); left != c.left || (!c.left && len(r.changes) != 2) {
				t.Fatalf("%v", r.changes)
			}
			if !c.left {
				return
			}
			if r.wake != 2*time.Hour {
				t.Errorf("looked at again after %s", r.wake)
			}
			want := "ConfigMap shop/a is left as it is until 1970-01-01T14:00:00Z (ann): a test"
			if len(r.conditions) != 1 || r.conditions[0].Type != v1alpha1.ConditionDriftAllowed || r.conditions[0].Message != want {
				t.Errorf("%+v", r.conditions)
			}
		})
	}
}

func TestAllowancesThatCannotBeReadAreToldOf(t *testing.T) {
	t.Parallel()
	r := drifting("{}", nil)
	r.allowDrift()
	if len(r.conditions) != 1 || r.conditions[0].Type != v1alpha1.ConditionUnsupported || !strings.Contains(r.conditions[0].Message, "slipway app drift allow") {
		t.Errorf("%+v", r.conditions)
	}
}

func TestWhatPeopleWriteStaysShortInMessages(t *testing.T) {
	t.Parallel()
	r := drifting(fmt.Sprintf(`[{"kind":"ConfigMap","namespace":"shop","name":"a","until":"1970-01-01T14:00:00Z","reason":"a\nb %s"}]`, strings.Repeat("x", 9000)), nil)
	r.allowDrift()
	if m := r.conditions[0].Message; len(m) > 400 || strings.Contains(m, "\n") || !strings.Contains(m, ": a b xxx") {
		t.Errorf("%d bytes: %q", len(m), m[:100])
	}
	p := &v1alpha1.Pin{Revisions: []string{"r1"}, Reason: strings.Repeat("é", 9000), By: strings.Repeat("y", 9000)}
	if text := PinText(p); len(text) > 1000 {
		t.Errorf("%d bytes", len(text))
	}
}

func FuzzReadAllowances(f *testing.F) {
	for _, text := range []string{"", "[]", "{}", untilTwo, "[{}]", `[{"until":"9999-12-31T23:59:59Z"}]`, `[{"name":1}]`, "null"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := drifting(text, nil)
		allowed, err := ReadAllowances(r.app)
		r.allowDrift()
		if err != nil && len(r.changes) != 2 || len(r.changes)+len(allowed) < 2 {
			t.Errorf("%d changes are left with %v, %v", len(r.changes), allowed, err)
		}
		for _, c := range r.conditions {
			if strings.ContainsAny(c.Message, "\r\n") && err == nil {
				t.Errorf("condition of several lines: %q", c.Message)
			}
		}
	})
}

func TestAllowancesThatAreTooLongAreNotRead(t *testing.T) {
	t.Parallel()
	long := strings.Replace(untilTwo, "a test", strings.Repeat("x", v1alpha1.MaxAnnotation), 1)
	r := drifting(long, nil)
	r.allowDrift()
	if len(r.changes) != 2 || len(r.conditions) != 1 || !strings.Contains(r.conditions[0].Message, "longer than") || len(r.conditions[0].Message) > 1000 {
		t.Errorf("%v, %+v", r.changes, r.conditions)
	}
}
