package engine

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/forecast"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/prepare"
)

// state is one object as a comparison found it.
type state struct {
	key       object.Key
	version   string
	wave      int
	synced    bool
	missing   bool
	forbidden bool // the project does not permit it, so that it is not looked at
	prune     bool // live, ours, and not wanted any more
	ignored   bool // such an object that is not a difference (IgnoreExtraneous)
	foreign   bool // belongs to another Application
	confirm   bool // a person must confirm its deletion
	hook      bool
	assessed  bool
	unjudged  bool // its health is ignored for the Application
	health    health.Result
	shown     *live.Shown
	applied   int64 // when we last changed it, in seconds since 1970
}

// comparison is how the objects of an Application stand.
type comparison struct {
	*rendering
	changes    []diff.Change
	spared     []diff.Change // deletions that objects or the Application forbid
	shared     []string      // what is wanted and belongs to others
	states     []state
	conditions notes
	drifted    bool // the namespace has lost metadata that the Application gives it

	takeovers []takeover     // objects that are as wanted, and of which others own the fields
	foreseen  forecast.Known // by an engine that only looks on
}

// compare finds the difference of every object, by hashes alone where there is a fingerprint. The error is a StageError.
func (r *rendering) compare(ctx context.Context) (*comparison, error) {
	defer r.lap(StageCompare)
	c := &comparison{rendering: r, conditions: r.noted()}
	n := len(r.want.objects)
	c.changes, c.states = make([]diff.Change, 0, n), make([]state, 0, n)
	c.warn(v1alpha1.ConditionUnsupported, r.unsupported(r.want))
	c.warn(v1alpha1.ConditionUnsupported, r.ignore.faults())
	forbidden, unknown := decide.Bars(r.want.barred(), nil)
	c.warn(v1alpha1.ConditionInvalidSpecError, forbidden)
	c.warn(v1alpha1.ConditionComparisonError, unknown)
	c.watchNamespace(ctx)
	if err := c.compareAll(ctx); err != nil {
		return c, at(StageCompare, err)
	}
	if c.operation() == nil {
		c.allowDrift()
	}
	c.warn(v1alpha1.ConditionSharedResourceWarning, c.shared)
	var repeated []string
	for _, k := range r.want.repeated {
		repeated = append(repeated, k.String()+" appears more than once among the manifests: remove all but one; the last one counts")
	}
	c.warn(v1alpha1.ConditionRepeatedResourceWarning, repeated)
	c.warnExcluded()
	c.warn(v1alpha1.ConditionProject, r.faults())
	c.warnOrphans(ctx)
	return c, nil
}

// compareAll compares what is wanted, and what is live and not wanted.
func (c *comparison) compareAll(ctx context.Context) error {
	own, asked := object.AppOptions(decide.Options(c.app)), object.AppOptions(decide.OptionsOf(c.app, nil))
	wanted := make(map[object.Key]bool, len(c.want.objects))
	for _, w := range c.want.objects {
		wanted[w.key] = true
		if w.barred != nil {
			c.states = append(c.states, w.state(asked))
			continue
		}
		change, s, err := c.compareOne(ctx, w, asked)
		if err != nil {
			return err
		}
		if s.foreign {
			c.shared = append(c.shared, change.Why)
		} else {
			c.changes = append(c.changes, change)
		}
		c.states = append(c.states, s)
	}
	for _, rec := range c.target.Live.Owned(c.instance) {
		if wanted[rec.Key] || rec.Owned || (rec.Deleting && rec.Key.Kind != "Namespace") || c.outside(rec.Key) {
			continue
		}
		s := state{
			key: rec.Key, version: c.target.Live.Version(rec.Key.GroupKind()), prune: true, ignored: rec.IgnoreExtra,
			assessed: rec.Assessed, health: rec.Health, shown: rec.Shown, confirm: rec.Asks(asked),
		}
		if rec.Hook {
			s.synced, s.hook, s.unjudged, s.wave = true, true, true, rec.Wave
			c.states = append(c.states, s)
			continue
		}
		c.states = append(c.states, s)
		change := diff.Change{Key: rec.Key, Version: s.version, Verb: diff.Delete, Why: "not in Git", Wave: rec.Wave, Ignored: rec.IgnoreExtra}
		if rec.Prune.Or(own.Prune) == object.ConsentDenied {
			c.spared = append(c.spared, change)
		} else {
			c.changes = append(c.changes, change)
		}
	}
	return nil
}

func (c *comparison) warn(kind v1alpha1.ConditionType, lines []string) {
	c.conditions.warn(kind, lines)
}

// allowDrift takes objects whose drift is allowed for now out of what an automated sync puts back.
func (c *comparison) allowDrift() {
	var left decide.AllowedDrift
	var err error
	if c.changes, left, err = decide.AllowDrift(c.app, c.Inputs, c.changes, c.started); err != nil {
		c.warn(v1alpha1.ConditionUnsupported, []string{err.Error()})
	}
	if left.Wake > 0 {
		c.wakeIn(left.Wake)
	}
	c.warn(v1alpha1.ConditionDriftAllowed, left.Lines)
}

// warnExcluded names the objects that are left alone because of the settings.
func (c *comparison) warnExcluded() {
	lines := make([]string, len(c.want.excluded))
	for i, k := range c.want.excluded {
		lines[i] = fmt.Sprintf("%s is left alone: argocd-cm excludes its kind (%s, %s)", k, diff.KeyExclusions, diff.KeyInclusions)
	}
	c.warn(v1alpha1.ConditionExcludedResourceWarning, lines)
}

func (c *comparison) compareOne(ctx context.Context, w wantedObject, asked object.Options) (diff.Change, state, error) {
	change := diff.Change{Key: w.key, Version: w.version, Wave: w.wave, Verb: diff.Update}
	s := state{key: w.key, version: w.version, wave: w.wave}
	rec, tracked, untracked := c.target.Live.Get(w.key)
	s.unjudged, s.confirm = rec.IgnoreHealth, w.options.Asks(asked) || tracked && rec.Asks(asked)
	s.assessed, s.health, s.shown, s.applied = rec.Assessed, rec.Health, rec.Shown, rec.AppliedAt
	if owner := c.owner(w.key, rec, tracked); owner != "" {
		s.foreign = true
		change.Why = fmt.Sprintf("%s belongs to Application %s: remove it from one of the two sources", w.key, owner)
		c.target.Live.Await(w.key, c.instance)
		return change, s, nil
	}
	rec = c.judge(w.key, rec, tracked)
	switch {
	case !tracked && !untracked:
		change.Verb, change.Why, s.missing = diff.Create, "missing", true
		s.assessed = c.target.Live.Knows(w.key.Group, w.key.Kind)
	case c.engine.Shadow:
		return c.foresee(ctx, w, rec, change, s)
	case !tracked && prepare.IsDefinition(w.key):
		same, err := c.settleUnmarked(ctx, w, rec.Version, &s)
		if err != nil {
			return change, s, err
		}
		if same {
			change.Verb, s.synced = diff.Keep, true
		} else {
			change.Why = diff.WhyUntracked
		}
	case !tracked:
		change.Why = diff.WhyUntracked
	case rec.App != c.instance:
		change.Why = "tracked by " + rec.App + ", which is gone"
	case rec.Wanted == 0 || c.req.Hard || rec.Wanted != w.hash && rec.Rules.Managed():
		same, err := c.settle(ctx, w, rec)
		if err != nil {
			return change, s, err
		}
		if same {
			change.Verb, s.synced = diff.Keep, true
		} else {
			change.Why = diff.WhyDiffers
		}
	case rec.Wanted != w.hash:
		change.Why = "manifest changed"
	case !rec.InSync(w.hash):
		change.Why = diff.WhyDrift
	default:
		change.Verb, s.synced = diff.Keep, true
	}
	return change, s, nil
}

// owner returns the other Application that an object belongs to: the one that tracks it, if it exists, or the one
// that wanted it first.
func (c *comparison) owner(key object.Key, rec live.Record, tracked bool) string {
	if tracked && rec.App != c.instance && c.engine.Exists(rec.App) {
		return rec.App
	}
	return c.target.Live.Claim(key, c.instance)
}

// settle compares an object that has no fingerprint. What it holds is at hand after a start; when that does not show
// equality, a dry run decides, defaults and admission included. An object that others have written, and whose content is
// equal, is noted as one to take over.
func (c *comparison) settle(ctx context.Context, w wantedObject, rec live.Record) (bool, error) {
	if err := c.load(ctx); err != nil {
		return false, err
	}
	m := c.manifests[w.key]
	have := rec.Body()
	if have != nil && !c.req.Hard {
		want, err := m.Decode()
		if err != nil {
			return false, err
		}
		if rec.Rules.Match(c.target.Live.Tracking.Lean(want, have), have, rec.Fields) {
			c.target.Live.Settle(w.key, rec.Version, w.hash)
			return true, nil
		}
	}
	res, err := c.target.Live.Find(ctx, w.key.GroupKind(), m.Version)
	if err != nil {
		return false, err
	}
	now, err := c.target.Client.Get(ctx, res, w.key)
	if apierrors.IsNotFound(err) {
		return false, nil // it was deleted since: the watch will report it
	}
	if err != nil {
		return false, fmt.Errorf("compare %s: %w", w.key, err)
	}
	if m, err = c.lean(m, now); err != nil {
		return false, err
	}
	if same, err := c.lookAgain(w, m, &rec, res, now); same || err != nil {
		return same, err
	}
	if how := c.how(w); apply.TakesOver(now, how) {
		return c.settleOwners(ctx, w, rec, res, now, m, how)
	}
	return c.settleByTrial(ctx, w, rec, res, now, m)
}

// settleByTrial compares an object by what a dry run makes of it, and which fields are ours then.
func (c *comparison) settleByTrial(ctx context.Context, w wantedObject, rec live.Record, res live.Resource, now map[string]any,
	m object.Manifest,
) (bool, error) {
	then, err := c.target.Try(ctx, res, m, c.how(w))
	if apply.Retriable(err) {
		return false, fmt.Errorf("compare %s: %s", w.key, apply.Explain(w.key, err)) // no answer is no difference
	}
	if err != nil {
		return false, nil //nolint:nilerr // what is refused differs; the sync says why
	}
	rules := c.ignore.For(w.key)
	if m.Version != res.Version {
		rules = rules.Of(now)
		return rules.Print(now, diff.Whole()) == rules.Print(then, diff.Whole()), nil
	}
	if !rules.Equal(now, then, live.Manager) {
		return false, nil
	}
	c.target.Live.Settle(w.key, rec.Version, w.hash)
	return true, nil
}

// how is how the object of a manifest is written by an operation that says nothing else.
func (t *turn) how(w wantedObject) apply.How {
	how := apply.How{
		App: object.AppOptions(decide.Options(t.app)), Manager: t.app.Annotations[v1alpha1.AnnotationClientSideApplyMigrationManager],
	}
	if w.options != nil {
		how.Own = *w.options
	}
	return how
}

// lookAgain takes content that had to be read into account where rules have changed, or hide that a manifest has: there
// it may show equality, which spares the dry run.
func (c *comparison) lookAgain(w wantedObject, m object.Manifest, rec *live.Record, res live.Resource, now map[string]any) (bool, error) {
	if rec.Wanted == 0 && rec.Body() == nil {
		*rec = c.target.Live.Look(res, now)
	}
	if rec.Rules == nil || c.req.Hard || m.Version != res.Version {
		return false, nil
	}
	want, err := m.Decode()
	if err != nil {
		return false, err
	}
	owned, _ := diff.OwnedFields(now, live.Manager)
	if owned != rec.Fields || !rec.Rules.Match(want, now, owned) {
		return false, nil
	}
	c.target.Live.Settle(w.key, rec.Version, w.hash)
	return true, nil
}
