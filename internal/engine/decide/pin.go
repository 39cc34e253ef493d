package decide

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// ReadPin reads the pin of an Application, which a rollback sets; nil when it has none.
func ReadPin(app *v1alpha1.Application) (*v1alpha1.Pin, error) {
	text := app.Annotations[v1alpha1.AnnotationRollback]
	if text == "" {
		return nil, nil //nolint:nilnil // no pin is no error
	}
	var p v1alpha1.Pin
	err := readAnnotation(text, &p)
	sources := len(app.Spec.EffectiveSources())
	if len(p.Sources) > 0 {
		sources = len(p.Sources)
	}
	if err == nil && (len(p.Revisions) == 0 || len(p.Revisions) != sources) {
		err = fmt.Errorf("it has %d revisions for %d sources", len(p.Revisions), sources)
	}
	if err == nil && slices.Contains(p.Revisions, "") {
		err = errors.New("one of its revisions is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("annotation %s: %w: set it by `slipway app rollback`, or remove it", v1alpha1.AnnotationRollback, err)
	}
	return &p, nil
}

// PinnedSources are the sources that a pin stands for.
func PinnedSources(p *v1alpha1.Pin, spec []v1alpha1.ApplicationSource) []v1alpha1.ApplicationSource {
	from := spec
	if len(p.Sources) > 0 {
		from = p.Sources
	}
	out := slices.Clone(from)
	for i := range out {
		out[i].TargetRevision = p.Revisions[i]
	}
	return out
}

// PinText says what is pinned, by whom and why, on one line.
func PinText(p *v1alpha1.Pin) string {
	text := fmt.Sprintf("pinned to %s (deployment %d)", Short(p.Revisions), p.ID)
	if p.By != "" {
		text += " by " + object.Brief(p.By, maxQuoted)
	}
	if !p.At.IsZero() {
		text += " since " + p.At.UTC().Format(time.RFC3339)
	}
	if p.Reason != "" {
		text += ": " + object.Brief(p.Reason, maxQuoted)
	}
	return text
}
