package mark

import (
	"errors"
	"fmt"
	"slices"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// ReadPin returns the pin of an Application, which a rollback sets; nil when it has none. One that does not say a revision for each
// source is an error, and pins nothing.
func ReadPin(app *v1alpha1.Application) (*v1alpha1.Pin, error) {
	if app.Annotations[v1alpha1.AnnotationRollback] == "" {
		return nil, nil //nolint:nilnil // no pin is no error
	}
	var p v1alpha1.Pin
	err := Read(app, v1alpha1.AnnotationRollback, &p)
	if err == nil {
		err = wrong(app, v1alpha1.AnnotationRollback, incomplete(app, &p))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: set it by `slipway app rollback`, or remove it with `slipway app unpin %s`", err, app.Name)
	}
	return &p, nil
}

// incomplete says what a pin lacks; nil for nothing.
func incomplete(app *v1alpha1.Application, p *v1alpha1.Pin) error {
	sources := len(app.Spec.EffectiveSources())
	if len(p.Sources) > 0 {
		sources = len(p.Sources)
	}
	if len(p.Revisions) == 0 || len(p.Revisions) != sources {
		return fmt.Errorf("it has %d revisions for %d sources", len(p.Revisions), sources)
	}
	if slices.Contains(p.Revisions, "") {
		return errors.New("one of its revisions is empty")
	}
	return nil
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
