package engine

import (
	"context"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/forecast"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/prepare"
)

// shadowed is a request for an engine that only looks on: what was asked of the Application is for the engine
// that works on it.
func shadowed(req Request) Request {
	app := *req.App
	app.Operation = nil
	if last := app.Status.OperationState; last != nil && !last.Phase.Completed() {
		app.Status.OperationState = nil
	}
	req.App, req.Operating, req.Confirm, req.Retries = &app, nil, nil, 0
	return req
}

// shadow is the result of a comparison where nothing may be written: what would be done.
func (c *comparison) shadow(d decide.Decision) Result {
	res := c.result(d)
	if d.Held != "" {
		res.Conditions = append(res.Conditions, v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionHeld, Message: d.Held})
	}
	kept := make(forecast.Known, len(c.states))
	keys := make([]object.Key, 0, len(c.states))
	for _, s := range c.states {
		if f, ok := c.kept.foreseen[s.key]; ok {
			kept[s.key] = f
		}
		keys = append(keys, s.key)
	}
	maps.Copy(kept, c.foreseen)
	c.kept.foreseen = kept
	policy := decide.Automated(c.app)
	res.Forecast = kept.Sum(c.changes, keys, policy != nil && decide.IsTrue(policy.Prune, false))
	res.Forecast.Sync = d.Go && len(res.Forecast.Changes) > 0
	return res
}

// foresee compares one object by what a dry run makes of it: the fields that we own say nothing, since we have never written it.
func (c *comparison) foresee(ctx context.Context, w wantedObject, rec live.Record, change diff.Change,
	s state,
) (diff.Change, state, error) {
	seen := forecast.Seen{Hash: w.hash, Print: rec.Print, Rules: rec.Rules.ID(), UID: rec.UID}
	if c.kept.foreseen == nil {
		c.kept.foreseen = forecast.Known{}
	}
	known, ok := c.kept.foreseen[w.key]
	seen.Would, seen.Owners = known.Would, known.Owners
	if !ok || known != seen || c.req.Hard || rec.App == "" {
		var err error
		if seen.Would, seen.Owners, err = c.predict(ctx, w, rec); err != nil {
			return change, s, err
		}
	}
	if c.foreseen == nil {
		c.foreseen = forecast.Known{}
	}
	c.foreseen[w.key] = seen // what is kept may have been dropped since
	if seen.Would == nil {
		change.Verb, s.synced = diff.Keep, true
	} else {
		change.Why = seen.Would.Why
	}
	return change, s, nil
}

// predict asks the API server what a sync would make of an object: nothing where that is nothing that counts. Where
// only the owners of fields would change it says how.
func (r *rendering) predict(ctx context.Context, w wantedObject, rec live.Record) (*forecast.Would, *forecast.Ownership, error) {
	if err := r.load(ctx); err != nil {
		return nil, nil, err
	}
	m := r.manifests[w.key]
	res, err := r.target.Live.Find(ctx, w.key.GroupKind(), m.Version)
	if err != nil {
		return nil, nil, err
	}
	now, err := r.readAs(ctx, m)
	if apierrors.IsNotFound(err) {
		return &forecast.Would{Key: w.key, Verb: diff.Create, Why: "missing"}, nil, nil // the watch will say so
	}
	if err != nil {
		return nil, nil, fmt.Errorf("compare %s: %w", w.key, err)
	}
	how := r.how(w)
	respect := how.App.Respect.Is()
	if apply.TakesOver(now, how) {
		respect = true
		over, err := r.takeoverOf(ctx, rec, res, now, m, how)
		if err != nil {
			return nil, nil, err
		}
		if over != nil {
			owners, err := ownership(w.key, over)
			return nil, owners, err
		}
	}
	if prepare.IsDefinition(w.key) { // one without a mark differs by its content alone
		if m, err = r.lean(m, now); err != nil {
			return nil, nil, err
		}
	}
	if respect {
		if m, err = r.keep(m, now, how); err != nil {
			return nil, nil, err
		}
	}
	then, err := r.target.Predict(ctx, res, now, m, how)
	if apply.Retriable(err) {
		return nil, nil, fmt.Errorf("compare %s: %s", w.key, apply.Explain(w.key, err)) // no answer is no difference
	}
	if err != nil {
		return &forecast.Would{Key: w.key, Verb: diff.Update, Why: "a dry run was refused: " + apply.Explain(w.key, err)}, nil, nil
	}
	return r.wouldChange(w.key, rec, now, then, respect), nil, nil
}

// wouldChange lists the fields in which the answer to a dry run differs from what is live, without the records of
// managers. respect leaves out ignored fields: it would not be written either.
func (r *rendering) wouldChange(key object.Key, rec live.Record, now, then map[string]any, respect bool) *forecast.Would {
	c := forecast.Case{
		Key: key, Now: diff.Declared(now), Then: diff.Declared(then), Live: now,
		Rules: r.ignore.For(key).Of(now), Respect: respect, Why: "differs",
	}
	switch {
	case rec.App == r.instance:
		c.Now, c.Then = r.target.Live.Tracking.Unmark(c.Now), r.target.Live.Tracking.Unmark(c.Then)
	case rec.App == "":
		c.Why = diff.WhyUntracked
	default:
		c.Why = "tracked by " + rec.App + ", which is gone"
	}
	if r.engine.Differences != nil {
		if settings := r.engine.Differences(); settings != nil {
			c.Mask = settings.Mask
		}
	}
	return c.Change()
}
