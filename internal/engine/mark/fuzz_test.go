package mark

import (
	"encoding/json"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// What is read of our annotations can be written again, and means the same then.
func FuzzMarks(f *testing.F) {
	f.Add(`{"id":3,"revision":"abc"}`)
	f.Add(`[{"group":"apps","kind":"Deployment","until":"2030-01-01T00:00:00Z"}]`)
	f.Add(`{"1":{"by":"ann"},"x":{}}`)
	f.Add(`null`)
	f.Add("{\"reason\":\"a\\u0000b\",\"Reason\":\"\\ud800\"}")
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			return // there is no annotation
		}
		app := &v1alpha1.Application{}
		app.Annotations = map[string]string{
			v1alpha1.AnnotationRollback: text, v1alpha1.AnnotationDriftAllowed: text, v1alpha1.AnnotationHistoryNotes: text,
		}
		read := func() (pin, allowed, notes any) {
			if p, err := ReadPin(app); err == nil {
				pin = p
			}
			if a, err := ReadAllowances(app); err == nil {
				allowed = a
			}
			if n, err := ReadNotes(app); err == nil {
				notes = n
			}
			return pin, allowed, notes
		}
		pin, allowed, notes := read()
		for name, v := range map[string]any{v1alpha1.AnnotationRollback: pin, v1alpha1.AnnotationDriftAllowed: allowed, v1alpha1.AnnotationHistoryNotes: notes} {
			if v == nil {
				continue
			}
			out, err := Write(name, v)
			if err != nil {
				continue // it got too long by being escaped
			}
			app.Annotations[name] = out
		}
		pin2, allowed2, notes2 := read()
		for name, both := range map[string][2]any{"pin": {pin, pin2}, "allowances": {allowed, allowed2}, "notes": {notes, notes2}} {
			a, _ := json.Marshal(both[0])
			b, _ := json.Marshal(both[1])
			if string(a) != "null" && string(a) != string(b) { // a list that is null is an empty one
				t.Errorf("%s: %s is read again as %s", name, a, b)
			}
		}
	})
}
