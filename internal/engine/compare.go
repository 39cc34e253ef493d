package engine

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
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
	ignored   bool // such an object that does not count as a difference (IgnoreExtraneous)
	foreign   bool // belongs to another Application
	confirm   bool // somebody must confirm that it goes
	hook      bool
	assessed  bool
	unjudged  bool // its health does not count for the Application
	health    health.Result
	shown     *live.Shown
	applied   int64 // when we last changed it, in seconds since 1970
}

// compare finds the difference of every object, by hashes alone where a fingerprint tells.
func (r *run) compare(ctx context.Context) error {
	defer r.lap(StageCompare)
	r.changes, r.states, r.spared, r.shared = r.changes[:0], r.states[:0], r.spared[:0], nil
	r.conditions = append(r.conditions[:0], r.notices...)
	r.warnUnsupported()
	r.warnIgnoring()
	r.warnBarred()
	r.heedNamespace(ctx)
	own, asked := object.AppOptions(decide.Options(r.app)), object.AppOptions(decide.OptionsOf(r.app, nil))
	wanted := make(map[object.Key]bool, len(r.want.objects))
	for _, w := range r.want.objects {
		wanted[w.key] = true
		if w.barred != nil {
			r.states = append(r.states, w.state(asked))
			continue
		}
		c, s, err := r.compareOne(ctx, w, asked)
		if err != nil {
			return err
		}
		if s.foreign {
			r.shared = append(r.shared, c.Why)
		} else {
			r.changes = append(r.changes, c)
		}
		r.states = append(r.states, s)
	}
	for _, rec := range r.target.Live.Owned(r.instance) {
		if wanted[rec.Key] || rec.Owned || (rec.Deleting && rec.Key.Kind != "Namespace") || r.outside(rec.Key) {
			continue
		}
		s := state{
			key: rec.Key, version: r.target.Live.Version(rec.Key.GroupKind()), prune: true, ignored: rec.IgnoreExtra,
			assessed: rec.Assessed, health: rec.Health, shown: rec.Shown, confirm: rec.Asks(asked),
		}
		if rec.Hook {
			s.synced, s.hook, s.unjudged, s.wave = true, true, true, rec.Wave
			r.states = append(r.states, s)
			continue
		}
		r.states = append(r.states, s)
		c := diff.Change{Key: rec.Key, Version: s.version, Verb: diff.Delete, Why: "not in Git", Wave: rec.Wave, Ignored: rec.IgnoreExtra}
		if rec.Prune.Or(own.Prune) == object.ConsentDenied {
			r.spared = append(r.spared, c)
		} else {
			r.changes = append(r.changes, c)
		}
	}
	if r.operation() == nil {
		r.allowDrift()
	}
	r.warn(v1alpha1.ConditionSharedResourceWarning, r.shared)
	var repeated []string
	for _, k := range r.want.repeated {
		repeated = append(repeated, k.String()+" appears more than once among the manifests: remove all but one; the last one counts")
	}
	r.warn(v1alpha1.ConditionRepeatedResourceWarning, repeated)
	r.warnExcluded()
	r.warnProject()
	r.warnOrphans(ctx)
	return nil
}

// allowDrift takes objects whose drift is allowed for now out of what an automated sync puts back.
func (r *run) allowDrift() {
	var left decide.AllowedDrift
	var err error
	if r.changes, left, err = decide.AllowDrift(r.app, r.inputs(), r.changes, r.started); err != nil {
		r.warn(v1alpha1.ConditionUnsupported, []string{err.Error()})
	}
	if left.Wake > 0 {
		r.wakeIn(left.Wake)
	}
	r.warn(v1alpha1.ConditionDriftAllowed, left.Lines)
}

func (r *run) warn(kind v1alpha1.ConditionType, lines []string) {
	if len(lines) > 0 {
		r.conditions = append(r.conditions, v1alpha1.ApplicationCondition{Type: kind, Message: decide.Few(lines)})
	}
}

// warnExcluded names the objects that are left alone because of the settings.
func (r *run) warnExcluded() {
	lines := make([]string, len(r.want.excluded))
	for i, k := range r.want.excluded {
		lines[i] = fmt.Sprintf("%s is left alone: argocd-cm excludes its kind (%s, %s)", k, diff.KeyExclusions, diff.KeyInclusions)
	}
	r.warn(v1alpha1.ConditionExcludedResourceWarning, lines)
}

func (r *run) compareOne(ctx context.Context, w wantedObject, asked object.Options) (diff.Change, state, error) {
	c := diff.Change{Key: w.key, Version: w.version, Wave: w.wave, Verb: diff.Update}
	s := state{key: w.key, version: w.version, wave: w.wave}
	rec, tracked, untracked := r.target.Live.Get(w.key)
	s.unjudged, s.confirm = rec.IgnoreHealth, w.options.Asks(asked) || tracked && rec.Asks(asked)
	s.assessed, s.health, s.shown, s.applied = rec.Assessed, rec.Health, rec.Shown, rec.AppliedAt
	if owner := r.owner(w.key, rec, tracked); owner != "" {
		s.foreign = true
		c.Why = fmt.Sprintf("%s belongs to Application %s: remove it from one of the two sources", w.key, owner)
		r.target.Live.Await(w.key, r.instance)
		return c, s, nil
	}
	rec = r.judge(w.key, rec, tracked)
	switch {
	case !tracked && !untracked:
		c.Verb, c.Why, s.missing = diff.Create, "missing", true
		s.assessed = r.target.Live.Knows(w.key.Group, w.key.Kind)
	case r.engine.Shadow:
		return r.foresee(ctx, w, rec, c, s)
	case !tracked && isDefinition(w.key):
		same, err := r.settleUnmarked(ctx, w, rec.Version, &s)
		if err != nil {
			return c, s, err
		}
		if same {
			c.Verb, s.synced = diff.Keep, true
		} else {
			c.Why = diff.WhyUntracked
		}
	case !tracked:
		c.Why = diff.WhyUntracked
	case rec.App != r.instance:
		c.Why = "tracked by " + rec.App + ", which is gone"
	case rec.Wanted == 0 || r.req.Hard || rec.Wanted != w.hash && rec.Rules.Managed():
		same, err := r.settle(ctx, w, rec)
		if err != nil {
			return c, s, err
		}
		if same {
			c.Verb, s.synced = diff.Keep, true
		} else {
			c.Why = diff.WhyDiffers
		}
	case rec.Wanted != w.hash:
		c.Why = "manifest changed"
	case !rec.InSync(w.hash):
		c.Why = diff.WhyDrift
	default:
		c.Verb, s.synced = diff.Keep, true
	}
	return c, s, nil
}

// owner returns the other Application that an object belongs to: the one that tracks it, if it exists, or the one
// that wanted it first.
func (r *run) owner(key object.Key, rec live.Record, tracked bool) string {
	if tracked && rec.App != r.instance && r.engine.Exists(rec.App) {
		return rec.App
	}
	return r.target.Live.Claim(key, r.instance)
}

// settle compares an object that has no fingerprint. What it holds is at hand after a start; when that does not show
// equality, a dry run tells, defaults and admission included. An object that others have written, and whose content is
// equal, is noted as one to take over.
func (r *run) settle(ctx context.Context, w wantedObject, rec live.Record) (bool, error) {
	if err := r.content(ctx); err != nil {
		return false, err
	}
	m := r.manifests[w.key]
	have := rec.Body()
	if have != nil && !r.req.Hard {
		want, err := m.Decode()
		if err != nil {
			return false, err
		}
		if rec.Rules.Match(r.target.Live.Tracking.Lean(want, have), have, rec.Fields) {
			r.target.Live.Settle(w.key, rec.Version, w.hash)
			return true, nil
		}
	}
	res, err := r.target.Live.Find(ctx, w.key.GroupKind(), m.Version)
	if err != nil {
		return false, err
	}
	now, err := r.target.Client.Get(ctx, res, w.key)
	if apierrors.IsNotFound(err) {
		return false, nil // gone meanwhile: the watch will say so
	}
	if err != nil {
		return false, fmt.Errorf("compare %s: %w", w.key, err)
	}
	if m, err = r.lean(m, now); err != nil {
		return false, err
	}
	if same, err := r.lookAgain(w, m, &rec, res, now); same || err != nil {
		return same, err
	}
	if how := r.how(w); apply.TakesOver(now, how) {
		return r.settleOwners(ctx, w, rec, res, now, m, how)
	}
	return r.settleByTrial(ctx, w, rec, res, now, m)
}

// settleByTrial compares an object by what a dry run makes of it, and which fields are ours then.
func (r *run) settleByTrial(ctx context.Context, w wantedObject, rec live.Record, res live.Resource, now map[string]any, m object.Manifest) (bool, error) {
	then, err := r.target.Try(ctx, res, m, r.how(w))
	if apply.Retriable(err) {
		return false, fmt.Errorf("compare %s: %s", w.key, apply.Explain(w.key, err)) // no answer is no difference
	}
	if err != nil {
		return false, nil //nolint:nilerr // what is refused differs; the sync says why
	}
	rules := r.ignore.For(w.key)
	if m.Version != res.Version {
		rules = rules.Of(now)
		return rules.Print(now, diff.Whole()) == rules.Print(then, diff.Whole()), nil
	}
	if !rules.Equal(now, then, live.Manager) {
		return false, nil
	}
	r.target.Live.Settle(w.key, rec.Version, w.hash)
	return true, nil
}

// how is how the object of a manifest is written by an operation that says nothing else.
func (r *run) how(w wantedObject) apply.How {
	how := apply.How{App: object.AppOptions(decide.Options(r.app)), Manager: r.app.Annotations[v1alpha1.AnnotationClientSideApplyMigrationManager]}
	if w.options != nil {
		how.Own = *w.options
	}
	return how
}

// lookAgain takes content that had to be read into account where rules have changed, or hide that a manifest has: there
// it may show equality, which spares the dry run.
func (r *run) lookAgain(w wantedObject, m object.Manifest, rec *live.Record, res live.Resource, now map[string]any) (bool, error) {
	if rec.Wanted == 0 && rec.Body() == nil {
		*rec = r.target.Live.Look(res, now)
	}
	if rec.Rules == nil || r.req.Hard || m.Version != res.Version {
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
	r.target.Live.Settle(w.key, rec.Version, w.hash)
	return true, nil
}

// warnUnsupported names the fields of the Application that nothing here acts on yet, known or not. They are kept.
func (r *run) warnUnsupported() {
	names := append([]string{}, r.req.Unknown...)
	if r.grant.rules != nil { // it may have failed before they were known
		for _, field := range r.grant.rules.Ignored() {
			names = append(names, "project "+field)
		}
	}
	spec := r.app.Spec
	if spec.SourceHydrator != nil {
		names = append(names, "spec.sourceHydrator")
	}
	for _, option := range object.AppOptions(decide.Options(r.app)).Unknown {
		names = append(names, "sync option "+option)
	}
	for i, src := range spec.EffectiveSources() {
		if k := src.Kustomize; k != nil && (k.KubeVersion != "" || len(k.APIVersions) > 0) {
			names = append(names, fmt.Sprintf("kubeVersion and apiVersions of kustomize in source %d", i+1))
		}
	}
	if r.want != nil {
		names = append(names, r.want.options[:min(len(r.want.options), 5)]...)
	}
	if len(names) > 0 {
		r.warn(v1alpha1.ConditionUnsupported, []string{"not acted on by this version: " + strings.Join(names, ", ")})
	}
}
