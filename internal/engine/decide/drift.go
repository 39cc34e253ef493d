package decide

import (
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// ReadAllowances reads what drift an Application allows.
func ReadAllowances(app *v1alpha1.Application) ([]v1alpha1.Allowance, error) {
	text := app.Annotations[v1alpha1.AnnotationDriftAllowed]
	if text == "" {
		return nil, nil
	}
	var out []v1alpha1.Allowance
	if err := readAnnotation(text, &out); err != nil {
		return nil, fmt.Errorf("annotation %s: %w: set it by `slipway app drift allow`, or remove it", v1alpha1.AnnotationDriftAllowed, err)
	}
	return out, nil
}

// readAnnotation decodes an annotation, which anybody can have written.
func readAnnotation(text string, into any) error {
	if len(text) > v1alpha1.MaxAnnotation {
		return fmt.Errorf("it is longer than %d bytes", v1alpha1.MaxAnnotation)
	}
	return strict.Decode([]byte(text), into, strict.Unknown)
}

// AllowedDrift is what AllowDrift left out.
type AllowedDrift struct {
	Lines []string      // one for each object that is left as it is
	Wake  time.Duration // when the first allowance ends; 0 for never
}

// AllowDrift takes objects whose drift is allowed for now out of what an automated sync puts back. They still count as out of
// sync. It changes the list.
func AllowDrift(app *v1alpha1.Application, in Inputs, changes []diff.Change, now time.Time) ([]diff.Change, AllowedDrift, error) {
	given, err := ReadAllowances(app)
	until := map[object.Key]v1alpha1.Allowance{}
	for _, a := range given {
		k := object.Key{Group: a.Group, Kind: a.Kind, Namespace: a.Namespace, Name: a.Name}
		if a.Until.After(now) && a.Until.After(until[k].Until) {
			until[k] = a
		}
	}
	var out AllowedDrift
	if err != nil || len(until) == 0 {
		return changes, out, err
	}
	kept := changes[:0]
	for _, c := range changes {
		a, ok := until[c.Key]
		if !ok || c.Verb != diff.Update || !drifted(app, in, c) {
			kept = append(kept, c)
			continue
		}
		if rest := a.Until.Sub(now); out.Wake == 0 || rest < out.Wake {
			out.Wake = rest
		}
		line := fmt.Sprintf("%s is left as it is until %s", c.Key, a.Until.UTC().Format(time.RFC3339))
		if a.By != "" {
			line += " (" + object.Brief(a.By, maxQuoted) + ")"
		}
		if a.Reason != "" {
			line += ": " + object.Brief(a.Reason, maxQuoted)
		}
		out.Lines = append(out.Lines, line)
	}
	return kept, out, nil
}

// drifted reports whether an object was changed in the cluster. Just after a start its record does not tell; what Git says was
// deployed does.
func drifted(app *v1alpha1.Application, in Inputs, c diff.Change) bool {
	if c.Why == diff.WhyDiffers {
		last := app.Status.OperationState
		return last != nil && last.Phase == v1alpha1.OperationSucceeded && in.Same(last)
	}
	return c.Why == diff.WhyDrift
}

// maxQuoted is how much of a text in an annotation a condition repeats, in characters.
const maxQuoted = 200
