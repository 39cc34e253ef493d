// Package engine brings an Application from a Git revision to a cluster. This page shows the stages in order; each
// has a file beside it, and a package below where it has a job of its own.
package engine

import (
	"context"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/engine/supply"
	"github.com/slipway-gitops/slipway/internal/engine/trust"
	"github.com/slipway-gitops/slipway/internal/project"
)

// Engine reconciles Applications. It is safe for concurrent use, one Reconcile per Application at a time.
type Engine struct {
	Sources   Sources
	Needs     supply.Needs // nil: what a source needs from elsewhere is not fetched
	Renderer  Renderer
	Clusters  Clusters
	Projects  Projects
	Trust     trust.Judge          // of signatures; nil: what asks for one is refused
	Namespace string               // of the agent: Applications elsewhere are named "namespace_name" in tracking ids
	Now       func() time.Time     // the clock on the wall
	Ran       func() time.Duration // a clock that nothing sets; nil: the one on the wall is never set
	// Budget bounds what one sync may delete without a person's word, where neither the Application nor its project
	// says so; nil stands for the default.
	Budget *plan.Budget
	// TimeLimit is how long an operation may take, 0 for ever; nil is for ever too.
	TimeLimit func() time.Duration
	// Exists reports whether an Application of that instance name exists: its objects are not taken over.
	Exists func(instance string) bool
	// Settings are what argocd-cm says about rendering; nil stands for the defaults.
	Settings func() render.Settings
	// Namesake says which Application of another installation marks its objects as this one does, so that it is not known
	// whose an object is; "" for none. nil: there are none.
	Namesake func(context.Context, *v1alpha1.Application) (string, error)
	// Differences are the rules of what is ignored everywhere; nil, or a nil result, is the standard.
	Differences func() *diff.Settings
	// Ledger takes in what operations rendered and did; nil: there is none.
	Ledger Ledger
	// Shadow makes it an engine that looks on: it says what it would do, in Result.Forecast, and changes nothing.
	Shadow bool

	memory sync.Map // instance name -> *memory
}

// Sources turns a source into its tree.
type Sources = supply.Sources

// Fetched is a source at a resolved revision.
type Fetched = supply.Fetched

// Renderer renders sources, and remembers results by what they were made of.
type Renderer interface {
	// Render returns the objects of a source, and whether they were remembered.
	Render(ctx context.Context, req render.Request, scope string) (render.Result, bool, error)
	// Needs lists what a source needs besides its own tree, as need.Find does.
	Needs(ctx context.Context, req render.Request, scope string) ([]need.Need, error)
	// Identify returns a number that is equal for equal inputs, if their result is remembered. It renders nothing.
	Identify(req render.Request, scope string) (uint64, bool)
	// Forget drops what is remembered for the inputs.
	Forget(req render.Request, scope string)
}

// Clusters finds destination clusters.
type Clusters interface {
	// Target returns the cluster of a destination.
	Target(ctx context.Context, project string, dest v1alpha1.ApplicationDestination) (apply.Target, error)
	// Identify returns what rules must know of the cluster. It asks nothing of the cluster.
	Identify(project string, dest v1alpha1.ApplicationDestination) (project.Cluster, error)
}

// Request asks for one reconciliation.
type Request struct {
	App     *v1alpha1.Application
	Unknown []string  // fields of the Application that no type of ours has
	Since   time.Time // answers of repositories before it are too old; zero: any will do
	Hard    bool      // render again, and compare by dry run
	Retries int64     // attempts that the present operation has behind it
	Due     bool      // the wait before the next attempt is over
	Sealed  bool      // nothing is decrypted
	// Rest is how long that wait still is at most, by the clock that nothing sets; 0 where that is not known.
	Rest time.Duration
	// Operating is called after every object that an operation has done; how far it is then costs to find out. It may
	// be nil.
	Operating func(func() v1alpha1.OperationState)
	// Confirm is called before hooks are created, and before hooks that ended are deleted. It returns once stored holds for
	// the stored state of the operation, which it makes what state says where it must; on an error neither happens. It may
	// be nil.
	Confirm func(ctx context.Context, stored func(*v1alpha1.OperationState) bool, state func() v1alpha1.OperationState) error
}

// Reconcile brings one Application to what Git says, as far as its policy or its operation allows, and says how it
// stands. It changes nothing but the destination cluster. The Result is complete also when a stage failed: its Err
// says which and why, and what was known before still stands.
func (e *Engine) Reconcile(ctx context.Context, req Request) Result {
	if e.Shadow {
		req = shadowed(req)
	}
	turn := e.begin(req)
	defer turn.keep()
	in := turn.specify()
	if in.terminating() {
		return in.terminate(ctx)
	}
	if err := e.distinct(ctx, req.App); err != nil {
		return in.failed(ctx, at(StagePermit, err))
	}
	if err := in.resolve(ctx); err != nil { // 1 Application -> what its project permits, its destination, trees that it trusts
		return in.failed(ctx, err)
	}
	want, err := in.render(ctx) // 2 trees -> what is wanted
	if err != nil {
		return in.failed(ctx, err)
	}
	if err := want.observe(ctx); err != nil { // 3 cluster -> live state
		return want.failed(ctx, err)
	}
	found, err := want.compare(ctx) // 4 wanted, live -> changes
	if err != nil {
		return want.failed(ctx, err)
	}
	if e.Shadow {
		return found.shadow(found.decide(ctx))
	}
	found.takeOver(ctx)           // what others applied and is as wanted: the owners of its fields change, and nothing else
	decision := found.decide(ctx) // 5 may a sync begin, must it?
	if !decision.Go {
		return found.unsynced(ctx, decision)
	}
	op := found.plan(decision) // 6 changes -> ordered plan
	end := op.apply(ctx)       // 7 plan -> cluster, as far as it goes without waiting
	if op.done {
		found, err = want.compare(ctx) // 8 what is true now
		found.takeOver(ctx)
	}
	return op.synced(ctx, end, found, err)
}

// Forget drops what the engine keeps of an Application that is gone.
func (e *Engine) Forget(ctx context.Context, app *v1alpha1.Application) {
	name := e.instance(app)
	kept, ok := e.memory.LoadAndDelete(name)
	if !ok {
		return
	}
	target, err := e.Clusters.Target(ctx, app.Spec.ProjectName(), app.Spec.Destination)
	if err != nil {
		return
	}
	target.Live.ForgetStrays(name)
	target.Live.Heed(object.Key{Kind: "Namespace", Name: app.Spec.Destination.Namespace}, name, nil, nil)
	for _, m := range kept.(*memory).wanted.objects {
		target.Live.Release(m.key, name)
	}
}

// Unsettle has the objects of an Application compared by content the next time: another program may have applied something to
// them.
func (e *Engine) Unsettle(ctx context.Context, app *v1alpha1.Application) {
	target, err := e.Clusters.Target(ctx, app.Spec.ProjectName(), app.Spec.Destination)
	if err == nil {
		target.Live.Unsettle(e.instance(app))
	}
}
