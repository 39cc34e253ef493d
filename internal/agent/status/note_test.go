package status

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/source"
)

func history(ids ...int64) []v1alpha1.RevisionHistory {
	out := make([]v1alpha1.RevisionHistory, 0, len(ids))
	for _, id := range ids {
		out = append(out, v1alpha1.RevisionHistory{ID: id})
	}
	return out
}

// noted is an Application with a history and notes.
func noted(notes string, ids ...int64) *v1alpha1.Application {
	app := &v1alpha1.Application{}
	app.Annotations = map[string]string{v1alpha1.AnnotationHistoryNotes: notes}
	app.Status.History = history(ids...)
	return app
}

func by(user string, info ...v1alpha1.Info) *v1alpha1.OperationState {
	return &v1alpha1.OperationState{Operation: v1alpha1.Operation{InitiatedBy: v1alpha1.OperationInitiator{Username: user}, Info: info}}
}

func TestADeploymentGetsItsNote(t *testing.T) {
	t.Parallel()
	ann := []source.Change{{Author: "Ann <ann@example.org>", Subject: "a\tsubject"}, {Author: "of another source"}}
	for _, c := range []struct {
		name    string
		app     *v1alpha1.Application
		next    []v1alpha1.RevisionHistory
		op      *v1alpha1.OperationState
		changes []source.Change
		want    string
	}{
		{"the first", noted(""), history(0), by("me"), ann, `{"0":{"by":"me","author":"Ann <ann@example.org>","subject":"a subject"}}`},
		{"one with a reason", noted("", 0), history(0, 1), by("me", v1alpha1.Info{Name: "reason", Value: "it\nhurts"}), nil, `{"1":{"by":"me","reason":"it hurts"}}`},
		{"those that have left the history go", noted(`{"3":{"by":"a"},"4":{"by":"b"}}`, 3, 4), history(4, 5), by("c"), nil, `{"4":{"by":"b"},"5":{"by":"c"}}`},
		{"what cannot be read is written anew", noted("[", 4), history(4, 5), by("c"), nil, `{"5":{"by":"c"}}`},
		{"null", noted("null", 4), history(4, 5), by("c"), nil, `{"5":{"by":"c"}}`},
		{"the same history", noted(`{"4":{}}`, 4), history(4), by("c"), ann, ""},
		{"no operation", noted("", 4), history(4, 5), nil, ann, ""},
		{"no history", noted("", 4), nil, by("c"), ann, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Notes(c.app, c.next, c.op, c.changes)
			if (got == "") != (c.want == "") {
				t.Fatalf("%q", got)
			}
			if got == "" {
				return
			}
			var have, want map[string]v1alpha1.Note
			if err := json.Unmarshal([]byte(got), &have); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, have); d != "" {
				t.Errorf("notes (-want +got):\n%s", d)
			}
		})
	}
}

func TestTheNotesOfALongHistoryFitIntoAnAnnotation(t *testing.T) {
	t.Parallel()
	app := &v1alpha1.Application{}
	app.Annotations = map[string]string{}
	op := &v1alpha1.OperationState{}
	op.Operation.InitiatedBy.Username = strings.Repeat("ü", 500)
	op.Operation.Info = []v1alpha1.Info{{Name: "reason", Value: strings.Repeat("界", 500)}}
	made := []source.Change{{Author: strings.Repeat("界", 500), Subject: strings.Repeat("界", 500)}}
	var last string
	for id := range int64(200) {
		history := append(app.Status.History[:id:id], v1alpha1.RevisionHistory{ID: id})
		last = Notes(app, history, op, made)
		app.Status.History, app.Annotations[v1alpha1.AnnotationHistoryNotes] = history, last
	}
	var notes map[string]v1alpha1.Note
	if err := json.Unmarshal([]byte(last), &notes); err != nil || len(last) > v1alpha1.MaxAnnotation {
		t.Fatalf("%d bytes, %v", len(last), err)
	}
	if notes["199"].Subject == "" || notes["198"].Subject == "" || notes["0"].Subject != "" {
		t.Errorf("%d notes, and not those of the newest deployments", len(notes))
	}
}
