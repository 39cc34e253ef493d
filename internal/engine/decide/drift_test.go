package decide

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/mark"
)

// drifting has found objects a and b changed, at noon of the first day of 1970.
func drifting(allowed string, change func(*Case)) Case {
	return compared(func(c *Case) {
		c.Now = time.Unix(43200, 0)
		c.App.Annotations = map[string]string{v1alpha1.AnnotationDriftAllowed: allowed}
		c.Found.Changes = []diff.Change{{Key: key("a"), Verb: diff.Update, Why: diff.WhyDrift}, {Key: key("b"), Verb: diff.Update, Why: diff.WhyDrift}}
		if change != nil {
			change(c)
		}
	})
}

func allow(c Case) ([]diff.Change, AllowedDrift, error) {
	return AllowDrift(c.App, c.Inputs, c.Found.Changes, c.Now)
}

const untilTwo = `[{"kind":"ConfigMap","namespace":"shop","name":"a","until":"1970-01-01T14:00:00Z","by":"ann","reason":"a test"}]`

func TestAllowedDriftIsLeftAsItIsForNow(t *testing.T) {
	t.Parallel()
	deployed := func(c *Case) { c.Inputs.Revisions, c.Found.Changes[0].Why = []string{"r1"}, diff.WhyDiffers }
	for _, c := range []struct {
		name    string
		allowed string
		change  func(*Case)
		left    bool
	}{
		{"until two", untilTwo, nil, true},
		{"until eleven, which is over", strings.Replace(untilTwo, "14:", "11:", 1), nil, false},
		{"of another object", strings.Replace(untilTwo, `"name":"a"`, `"name":"c"`, 1), nil, false},
		{"of another kind", strings.Replace(untilTwo, "ConfigMap", "Secret", 1), nil, false},
		{"not where Git has changed", untilTwo, func(c *Case) { c.Found.Changes[0].Why = "manifest changed" }, false},
		{"not where the object is gone", untilTwo, func(c *Case) { c.Found.Changes[0].Verb = diff.Create }, false},
		{"after a start, where it was deployed", untilTwo, deployed, true},
		{"not after a start with another revision", untilTwo, func(c *Case) { c.Found.Changes[0].Why = diff.WhyDiffers }, false},
		{"not after a start with a sync that failed", untilTwo, func(c *Case) { deployed(c); last(c).Phase = v1alpha1.OperationFailed }, false},
		{"the longest of several", `[` + untilTwo[1:len(untilTwo)-1] + `,{"kind":"ConfigMap","namespace":"shop","name":"a","until":"1970-01-01T13:00:00Z"}]`, nil, true},
		{"nothing", "", nil, false},
		{"what cannot be read", "[", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			changes, got, err := allow(drifting(c.allowed, c.change))
			if left := len(changes) == 1 && changes[0].Key == key("b"); left != c.left || (!c.left && len(changes) != 2) || (err != nil) != (c.allowed == "[") {
				t.Fatalf("%v, %v", changes, err)
			}
			if !c.left {
				return
			}
			if got.Wake != 2*time.Hour {
				t.Errorf("looked at again after %s", got.Wake)
			}
			if want := "ConfigMap shop/a is left as it is until 1970-01-01T14:00:00Z (ann): a test"; len(got.Lines) != 1 || got.Lines[0] != want {
				t.Errorf("%q", got.Lines)
			}
		})
	}
}

func TestAllowancesThatCannotBeReadAreToldOf(t *testing.T) {
	t.Parallel()
	if _, _, err := allow(drifting("{}", nil)); err == nil || !strings.Contains(err.Error(), "slipway app drift allow") {
		t.Errorf("%v", err)
	}
}

func TestWhatPeopleWriteStaysShortInMessages(t *testing.T) {
	t.Parallel()
	_, got, _ := allow(drifting(fmt.Sprintf(
		`[{"kind":"ConfigMap","namespace":"shop","name":"a","until":"1970-01-01T14:00:00Z","reason":"a\nb %s"}]`, strings.Repeat("x", 9000)), nil))
	if m := got.Lines[0]; len(m) > 400 || strings.Contains(m, "\n") || !strings.Contains(m, ": a b xxx") {
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
		c := drifting(text, nil)
		allowed, err := mark.ReadAllowances(c.App)
		changes, got, _ := allow(c)
		if err != nil && len(changes) != 2 || len(changes)+len(allowed) < 2 {
			t.Errorf("%d changes are left with %v, %v", len(changes), allowed, err)
		}
		for _, line := range got.Lines {
			if strings.ContainsAny(line, "\r\n") {
				t.Errorf("condition of several lines: %q", line)
			}
		}
	})
}

func TestAllowancesThatAreTooLongAreNotRead(t *testing.T) {
	t.Parallel()
	changes, _, err := allow(drifting(strings.Replace(untilTwo, "a test", strings.Repeat("x", v1alpha1.MaxAnnotation), 1), nil))
	if len(changes) != 2 || err == nil || !strings.Contains(err.Error(), "longer than") || len(err.Error()) > 1000 {
		t.Errorf("%v, %v", changes, err)
	}
}
