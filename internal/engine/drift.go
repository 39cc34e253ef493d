package engine

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
	err := error(nil)
	if len(text) > v1alpha1.MaxAnnotation {
		err = fmt.Errorf("it is longer than %d bytes", v1alpha1.MaxAnnotation)
	} else {
		err = strict.Decode([]byte(text), &out, strict.Unknown)
	}
	if err != nil {
		return nil, fmt.Errorf("annotation %s: %w: set it by `slipway app drift allow`, or remove it", v1alpha1.AnnotationDriftAllowed, err)
	}
	return out, nil
}

// allowDrift takes objects whose drift is allowed for now out of what an automated sync puts back. They still count as
// out of sync.
func (r *run) allowDrift() {
	allowed, err := ReadAllowances(r.app)
	if err != nil {
		r.warn(v1alpha1.ConditionUnsupported, []string{err.Error()})
		return
	}
	until := map[object.Key]v1alpha1.Allowance{}
	for _, a := range allowed {
		k := object.Key{Group: a.Group, Kind: a.Kind, Namespace: a.Namespace, Name: a.Name}
		if a.Until.After(r.started) && a.Until.After(until[k].Until) {
			until[k] = a
		}
	}
	if len(until) == 0 {
		return
	}
	var lines []string
	kept := r.changes[:0]
	for _, c := range r.changes {
		a, ok := until[c.Key]
		if !ok || c.Verb != diff.Update || !r.drifted(c) {
			kept = append(kept, c)
			continue
		}
		r.wakeIn(a.Until.Sub(r.started))
		line := fmt.Sprintf("%s is left as it is until %s", c.Key, a.Until.UTC().Format(time.RFC3339))
		if a.By != "" {
			line += " (" + object.Brief(a.By, maxSaid) + ")"
		}
		if a.Reason != "" {
			line += ": " + object.Brief(a.Reason, maxSaid)
		}
		lines = append(lines, line)
	}
	r.changes = kept
	r.warn(v1alpha1.ConditionDriftAllowed, lines)
}

// drifted reports whether an object was changed in the cluster. Just after a start there is no telling from its record,
// but what Git says was deployed.
func (r *run) drifted(c diff.Change) bool {
	if c.Why == whyDiffers {
		last := r.app.Status.OperationState
		return last != nil && last.Phase == v1alpha1.OperationSucceeded && r.sameInputs(last)
	}
	return c.Why == whyDrift
}

// maxSaid is how much of a text in an annotation a condition repeats, in characters.
const maxSaid = 200

// whyDiffers is the Why of a change to an object that does not tell who made it differ.
const whyDiffers = "differs"

// whyUntracked is the Why of a change to an object that no Application tracks.
const whyUntracked = "not tracked yet"

// whyDrift is the Why of a change to an object that somebody changed in the cluster.
const whyDrift = "changed in the cluster"
