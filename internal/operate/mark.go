package operate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// ReadPin returns the pin of an Application; nil when it has none.
func ReadPin(app *v1alpha1.Application) (*v1alpha1.Pin, error) {
	if app.Annotations[v1alpha1.AnnotationRollback] == "" {
		return nil, nil //nolint:nilnil // no pin is no error
	}
	var p v1alpha1.Pin
	if err := read(app, v1alpha1.AnnotationRollback, &p); err != nil {
		return nil, fmt.Errorf("%w: set it by `slipway app rollback`, or remove it with `slipway app unpin %s`", err, app.Name)
	}
	return &p, nil
}

// ReadAllowances returns what drift an Application allows, also what is over.
func ReadAllowances(app *v1alpha1.Application) ([]v1alpha1.Allowance, error) {
	if app.Annotations[v1alpha1.AnnotationDriftAllowed] == "" {
		return nil, nil
	}
	var out []v1alpha1.Allowance
	if err := read(app, v1alpha1.AnnotationDriftAllowed, &out); err != nil {
		return nil, fmt.Errorf("%w: set it by `slipway app drift allow`, or remove it", err)
	}
	return out, nil
}

// ReadNotes returns the notes on the deployments of status.history (annotation slipway.io/history-notes), by their id.
func ReadNotes(app *v1alpha1.Application) (map[int64]v1alpha1.Note, error) {
	if app.Annotations[v1alpha1.AnnotationHistoryNotes] == "" {
		return nil, nil
	}
	var byText map[string]v1alpha1.Note
	if err := read(app, v1alpha1.AnnotationHistoryNotes, &byText); err != nil {
		return nil, err
	}
	out := make(map[int64]v1alpha1.Note, len(byText))
	for text, note := range byText {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("annotation %s: %q is no id of a deployment", v1alpha1.AnnotationHistoryNotes, shorten(text))
		}
		out[id] = note
	}
	return out, nil
}

func read(app *v1alpha1.Application, annotation string, into any) error {
	text := app.Annotations[annotation]
	err := errors.New("it is too long")
	if len(text) <= v1alpha1.MaxAnnotation {
		err = strict.Decode([]byte(text), into, strict.Unknown)
	}
	if err != nil {
		return fmt.Errorf("annotation %s of application %s: %w", annotation, app.Name, err)
	}
	return nil
}

// Write returns the value of an annotation.
func Write(annotation string, v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode annotation %s: %w", annotation, err)
	}
	if len(raw) > v1alpha1.MaxAnnotation {
		return "", fmt.Errorf("annotation %s would have %d bytes, and more than %d are not read; give less", annotation, len(raw), v1alpha1.MaxAnnotation)
	}
	return string(raw), nil
}

func shorten(text string) string {
	const shown = 40
	return strings.ToValidUTF8(text[:min(len(text), shown)], "")
}
