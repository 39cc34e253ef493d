package decide

import (
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/mark"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// AllowedDrift is what AllowDrift left out.
type AllowedDrift struct {
	Lines []string      // one for each object that is left as it is
	Wake  time.Duration // when the first allowance ends; 0 for never
}

// AllowDrift takes objects whose drift is allowed for now out of what an automated sync puts back. They still count as out of
// sync. It changes the list.
func AllowDrift(app *v1alpha1.Application, in Inputs, changes []diff.Change, now time.Time) ([]diff.Change, AllowedDrift, error) {
	given, err := mark.ReadAllowances(app)
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

// drifted reports whether an object was changed in the cluster. Just after a start its record does not show that; what Git says was
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
