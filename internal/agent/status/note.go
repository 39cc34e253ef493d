package status

import (
	"encoding/json"
	"strconv"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/mark"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/source"
)

// maxNote bounds each text of a note, in characters: people who write commits are not asked.
const maxNote = 100

// Notes returns the annotation that goes with a history, "" when it stays as it is: a new deployment gets its note,
// and those that are not in the history any more go.
func Notes(app *v1alpha1.Application, next []v1alpha1.RevisionHistory, op *v1alpha1.OperationState, changes []source.Change) string {
	old := app.Status.History
	if len(next) == 0 || op == nil || (len(old) > 0 && old[len(old)-1].ID == next[len(next)-1].ID) {
		return ""
	}
	have, _ := mark.ReadNotes(app) // notes that cannot be read are replaced
	notes := make(map[string]v1alpha1.Note, len(next))
	for _, h := range next {
		if n, ok := have[h.ID]; ok {
			notes[strconv.FormatInt(h.ID, 10)] = n
		}
	}
	n := v1alpha1.Note{By: object.Brief(op.Operation.InitiatedBy.Username, maxNote)}
	for _, info := range op.Operation.Info {
		if info.Name == "reason" || info.Name == "rollback" {
			n.Reason = object.Brief(info.Value, maxNote)
		}
	}
	if len(changes) > 0 {
		n.Author, n.Subject = object.Brief(changes[0].Author, maxNote), object.Brief(changes[0].Subject, maxNote)
	}
	notes[strconv.FormatInt(next[len(next)-1].ID, 10)] = n
	raw, err := json.Marshal(notes)
	for i := 0; err == nil && len(raw) > v1alpha1.MaxAnnotation && i < len(next)-1; i++ { // the oldest go first
		delete(notes, strconv.FormatInt(next[i].ID, 10))
		raw, err = json.Marshal(notes)
	}
	if err != nil || string(raw) == app.Annotations[v1alpha1.AnnotationHistoryNotes] {
		return ""
	}
	return string(raw)
}
