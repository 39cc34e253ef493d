package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/mark"
	"github.com/slipway-gitops/slipway/internal/engine/supply"
	"github.com/slipway-gitops/slipway/internal/engine/trust"
	"github.com/slipway-gitops/slipway/internal/source"
)

// inputs is what the objects of an Application are rendered from and compared with: its sources at their revisions, its
// destination, and what its project permits.
type inputs struct {
	*turn
	decide.Inputs
	grant

	ignore  *ignoring
	target  apply.Target
	fetched []Fetched     // one for each source
	order   *supply.Order // what they need besides
	pinned  []string      // revisions that an operation under way goes on with
	notices notes         // what was found before anything was compared
	trust   *trust.Check  // of their signatures
}

// specify reads what the Application and its operation ask for. Nothing is looked up yet.
func (t *turn) specify() *inputs {
	in := &inputs{turn: t}
	in.Sources = t.app.Spec.EffectiveSources()
	// A rollback holds for every operation but one that asks for another source or revision than the specification.
	op := in.operation()
	if decide.Automated(in.app) != nil && in.app.DeletionTimestamp == nil && (op == nil || op.Sync == nil || !decide.NamesSources(op.Sync)) {
		in.pinSources()
	}
	if op != nil && op.Sync != nil {
		in.Sources = decide.OverrideSources(in.Sources, op.Sync)
	}
	in.pinned, in.ignore = in.pin(), in.ignoring()
	return in
}

// resolve finds the destination and turns every source into a tree, once the project permits it and trusts its signer. The error
// is a StageError.
func (in *inputs) resolve(ctx context.Context) error {
	if err := in.permit(); err != nil {
		return at(StagePermit, err)
	}
	in.trust = &trust.Check{Judge: in.engine.Trust, Rules: in.rules, App: in.app}
	in.order = &supply.Order{
		Needs: in.engine.Needs, Find: in.engine.Renderer.Needs, App: in.app, Permits: in.rules.PermitsChart, Verify: in.trust.Need,
		Since: in.req.Since, Sealed: in.req.Sealed, Had: in.kept.needed, Held: len(in.pinned) > 0,
	}
	if err := in.fetch(ctx); err != nil {
		return at(StageFetch, err)
	}
	defer in.lap(StageVerify)
	return at(StageVerify, in.trust.Verify(ctx, in.Sources, in.fetched))
}

// pin returns the revisions of an operation that has begun: it was asked for, or one of its hooks is running and
// must not be cut off. Any other automated one gives way to a newer commit.
func (in *inputs) pin() []string {
	last := in.app.Status.OperationState
	if last == nil || last.Phase.Completed() || last.SyncResult == nil {
		return nil
	}
	revisions := decide.RevisionsOf(last.SyncResult)
	asked := in.operation() != nil && decide.SameOperation(last.Operation, *in.operation())
	again := !decide.Begun(last) // it failed, and is tried again
	switch {
	case len(revisions) != len(in.Sources) || !decide.SameSources(decide.SourcesOf(last.SyncResult), in.Sources):
		return nil // they are revisions of something else
	case asked && again && last.Operation.Retry.Refresh, !asked && (again || !hookRunning(last.SyncResult)):
		return nil
	}
	return revisions
}

// pinSources goes by an earlier deployment while a rollback to it holds.
func (in *inputs) pinSources() {
	p, err := mark.ReadPin(in.app)
	if err != nil {
		in.notices = append(in.notices, v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionUnsupported, Message: err.Error()})
	}
	if p != nil {
		in.Pin, in.Sources = p, mark.PinnedSources(p, in.app.Spec.EffectiveSources())
	}
}

func hookRunning(res *v1alpha1.SyncOperationResult) bool {
	return slices.ContainsFunc(res.Resources, func(r v1alpha1.ResourceResult) bool {
		return r.HookType != "" && r.HookPhase == v1alpha1.OperationRunning
	})
}

func (in *inputs) fetch(ctx context.Context) (err error) {
	defer in.lap(StageFetch)
	if len(in.Sources) == 0 {
		return errors.New("spec.source and spec.sources are both empty: set the repository and path to deploy")
	}
	if err := in.locate(ctx); err != nil {
		return aboutCluster(err)
	}
	in.unpin(ctx)
	if in.Revisions, in.fetched, err = in.fetchAll(ctx, in.Sources, in.pinned); err != nil {
		return err
	}
	for _, f := range in.fetched {
		in.notices = append(in.notices, f.Notices...)
	}
	specified := in.app.Spec.EffectiveSources()
	if in.operation() != nil && decide.Automated(in.app) != nil && !decide.SameSources(specified, in.Sources) {
		in.Specified, _, err = in.fetchAll(ctx, specified, nil)
	}
	return err
}

// locate finds the destination.
func (in *inputs) locate(ctx context.Context) error {
	target, err := in.engine.Clusters.Target(ctx, in.app.Spec.ProjectName(), in.app.Spec.Destination)
	if err == nil {
		in.target, in.kept.target = target, target
	}
	return err
}

// fetchAll fetches sources, at other revisions than they name where at is given. What was fetched is returned also on an error.
func (t *turn) fetchAll(ctx context.Context, sources []v1alpha1.ApplicationSource,
	at []string,
) (revisions []string, fetched []Fetched, err error) {
	for i, src := range sources {
		if i < len(at) {
			src.TargetRevision = at[i]
		}
		f, err := t.engine.Sources.Fetch(ctx, t.app.Spec.ProjectName(), src, t.req.Since)
		if err != nil {
			if len(sources) > 1 {
				err = fmt.Errorf("source %d of %d: %w", i+1, len(sources), err)
			}
			return revisions, fetched, err
		}
		f.Tree, f.Scope = source.Seal(f.Tree, f.Scope, t.req.Sealed)
		fetched = append(fetched, f)
		revisions = append(revisions, f.Tree.Revision())
	}
	return revisions, fetched, nil
}

// unsupported names what the Application asks for and nothing here acts on, in one line.
func (in *inputs) unsupported(w *wanted) []string {
	var options []string
	if w != nil {
		options = w.options
	}
	return decide.Unsupported(in.app, in.req.Unknown, options)
}
