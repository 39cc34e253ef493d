package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/prepare"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// Forecast is what an engine that only looks on would do.
type Forecast struct {
	Sync    bool        // an automated sync would begin now
	Changes []Would     // that a sync would make
	Owners  []Ownership // that would change hands, without another change
}

// Would is what a sync would do to one object.
type Would struct {
	Key    object.Key
	Verb   diff.Verb // Create, Update or Delete
	Why    string
	Fields []WouldField // that would change; of an Update
	More   int          // how many others would
}

// WouldField is a field that would change. Values are JSON, cut where they are long and masked where they are secret; an
// empty one is a field that is not there.
type WouldField struct {
	Path   string       `json:"path"`
	Live   string       `json:"live,omitempty"`
	Wanted string       `json:"wanted,omitempty"`
	By     []diff.Owner `json:"by,omitempty"` // the manager that set it
}

// What is kept of an Application's would-be changes.
const (
	maxWouldFields = 20  // of one object
	maxWouldValue  = 160 // bytes of one value
	maxWould       = 1000
)

// foresight is what a sync would make of an object, as long as neither the object nor its manifest is another one.
type foresight struct {
	hash, print, rules uint64
	uid                string
	would              *Would     // nil where nothing would change
	owners             *Ownership // nil where no owner would change, or the content would
}

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
	kept := make(map[object.Key]foresight, len(c.states))
	for _, s := range c.states {
		if f, ok := c.kept.foreseen[s.key]; ok {
			kept[s.key] = f
		}
	}
	maps.Copy(kept, c.foreseen)
	c.kept.foreseen = kept
	policy := decide.Automated(c.app)
	prunes := policy != nil && decide.IsTrue(policy.Prune, false)
	would := &res.Forecast
	for _, change := range c.changes {
		if change.Verb == diff.Keep || len(would.Changes) >= maxWould {
			continue
		}
		w := Would{Key: change.Key, Verb: change.Verb, Why: change.Why}
		if f := kept[change.Key]; change.Verb == diff.Update && f.would != nil {
			w = *f.would
		}
		if change.Verb == diff.Delete && !prunes {
			w.Why += "; only a sync that prunes deletes it"
		}
		would.Changes = append(would.Changes, w)
	}
	for _, s := range c.states {
		if f := kept[s.key]; f.owners != nil && len(would.Owners) < maxWould {
			would.Owners = append(would.Owners, *f.owners)
		}
	}
	would.Sync = d.Go && len(would.Changes) > 0
	return res
}

// foresee compares one object by what a dry run makes of it: the fields that we own say nothing, since we have never written it.
func (c *comparison) foresee(ctx context.Context, w wantedObject, rec live.Record, change diff.Change,
	s state,
) (diff.Change, state, error) {
	seen := foresight{hash: w.hash, print: rec.Print, rules: rec.Rules.ID(), uid: rec.UID}
	if c.kept.foreseen == nil {
		c.kept.foreseen = map[object.Key]foresight{}
	}
	known, ok := c.kept.foreseen[w.key]
	seen.would, seen.owners = known.would, known.owners
	if !ok || known != seen || c.req.Hard || rec.App == "" {
		var err error
		if seen.would, seen.owners, err = c.predict(ctx, w, rec); err != nil {
			return change, s, err
		}
	}
	if c.foreseen == nil {
		c.foreseen = map[object.Key]foresight{}
	}
	c.foreseen[w.key] = seen // what is kept may have been dropped since
	if seen.would == nil {
		change.Verb, s.synced = diff.Keep, true
	} else {
		change.Why = seen.would.Why
	}
	return change, s, nil
}

// predict asks the API server what a sync would make of an object: nothing where that is nothing that counts. Where
// only the owners of fields would change it says how.
func (r *rendering) predict(ctx context.Context, w wantedObject, rec live.Record) (*Would, *Ownership, error) {
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
		return &Would{Key: w.key, Verb: diff.Create, Why: "missing"}, nil, nil // the watch will say so
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
		return &Would{Key: w.key, Verb: diff.Update, Why: "a dry run was refused: " + apply.Explain(w.key, err)}, nil, nil
	}
	return r.wouldChange(w.key, rec, now, then, respect), nil, nil
}

// wouldChange lists the fields in which the answer to a dry run differs from what is live, without the records of
// managers. respect leaves out ignored fields: it would not be written either.
func (r *rendering) wouldChange(key object.Key, rec live.Record, now, then map[string]any, respect bool) *Would {
	before, after := diff.Declared(now), diff.Declared(then)
	if rec.App == r.instance {
		before, after = r.target.Live.Tracking.Unmark(before), r.target.Live.Tracking.Unmark(after)
	}
	rules := r.ignore.For(key).Of(now)
	kept, left := rules.Strip(before), rules.Strip(after)
	if len(diff.FieldChanges(kept, left)) == 0 {
		return nil
	}
	if respect {
		before, after = kept, left
	}
	var hidden []string
	if r.engine.Differences != nil {
		if settings := r.engine.Differences(); settings != nil {
			hidden = settings.Mask
		}
	}
	after, before = diff.Mask(after, before, hidden)
	out := &Would{Key: key, Verb: diff.Update, Why: "differs"}
	switch {
	case rec.App == "":
		out.Why = diff.WhyUntracked
	case rec.App != r.instance:
		out.Why = "tracked by " + rec.App + ", which is gone"
	}
	for _, f := range diff.FieldChanges(before, after) {
		if len(out.Fields) == maxWouldFields {
			out.More++
			continue
		}
		out.Fields = append(out.Fields, WouldField{
			Path: f.Path.String(), Live: shown(f.Live), Wanted: shown(f.Wanted), By: diff.Owners(now, f.Path),
		})
	}
	return out
}

// shown prints a value as JSON, "" for none.
func shown(v any) string {
	if v == nil {
		return ""
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return legible.Cut(string(raw), maxWouldValue)
}
