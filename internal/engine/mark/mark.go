// Package mark reads and writes the annotations by which Slipway keeps on an Application what people decided: rollbacks, allowed
// drift, and notes on deployments. The engine, the server and the command line read them here, so that all of them understand the
// same. Pure.
package mark

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// ReadAllowances returns what drift an Application allows, also what is over.
func ReadAllowances(app *v1alpha1.Application) ([]v1alpha1.Allowance, error) {
	if app.Annotations[v1alpha1.AnnotationDriftAllowed] == "" {
		return nil, nil
	}
	var out []v1alpha1.Allowance
	if err := Read(app, v1alpha1.AnnotationDriftAllowed, &out); err != nil {
		return nil, fmt.Errorf("%w: set it by `slipway app drift allow`, or remove it", err)
	}
	return out, nil
}

// ReadNotes returns the notes on the deployments of status.history (annotation slipway.io/history-notes), by their id.
// With an error about one of them come all others.
func ReadNotes(app *v1alpha1.Application) (map[int64]v1alpha1.Note, error) {
	if app.Annotations[v1alpha1.AnnotationHistoryNotes] == "" {
		return nil, nil
	}
	var byText map[string]v1alpha1.Note
	if err := Read(app, v1alpha1.AnnotationHistoryNotes, &byText); err != nil {
		return nil, err
	}
	out, odd := make(map[int64]v1alpha1.Note, len(byText)), error(nil)
	for text, note := range byText {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			odd = wrong(app, v1alpha1.AnnotationHistoryNotes, fmt.Errorf("%q is no id of a deployment", object.Brief(text, maxShown)))
			continue
		}
		out[id] = note
	}
	return out, odd
}

// Read decodes an annotation of an Application, which any client can have written. The error names both.
func Read(app *v1alpha1.Application, annotation string, into any) error {
	text := app.Annotations[annotation]
	if len(text) > v1alpha1.MaxAnnotation {
		return wrong(app, annotation, fmt.Errorf("it is longer than %d bytes", v1alpha1.MaxAnnotation))
	}
	return wrong(app, annotation, strict.Decode([]byte(text), into, strict.Unknown))
}

// wrong says what is wrong with an annotation; nil for nothing.
func wrong(app *v1alpha1.Application, annotation string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("annotation %s of application %s: %w", annotation, app.Name, err)
}

// Write returns the value of an annotation.
func Write(annotation string, v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode annotation %s: %w", annotation, err)
	}
	if len(raw) > v1alpha1.MaxAnnotation {
		return "", fmt.Errorf("annotation %s would have %d bytes, and more than %d are not read; give less", annotation, len(raw),
			v1alpha1.MaxAnnotation)
	}
	return string(raw), nil
}

// maxShown is how much of a text in an annotation a message repeats, in characters.
const maxShown = 40
