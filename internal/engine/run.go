package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/mark"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/source"
)

// Stage names a part of a reconciliation, for errors and metrics.
type Stage string

// The stages, in order.
const (
	StagePermit  Stage = "permit"
	StageFetch   Stage = "fetch"
	StageRender  Stage = "render"
	StageLive    Stage = "live"
	StageCompare Stage = "compare"
	StageApply   Stage = "apply"
)

// memory is what the engine keeps of an Application between two turns. Its turns change it, one after the other, each on a copy
// that it stores at its end; anybody may read what is stored.
type memory struct {
	wanted *wanted // by the last rendering; nil before the first one

	foreseen map[object.Key]foresight // by an engine that only looks on
	unmarked map[object.Key]unmarked  // what is as wanted and has no mark of anybody

	target   apply.Target // of the last turn
	underway *underway    // the operation that has begun and is not over

	accounted bool                // an operation of this process is told of
	removed   []object.Key        // by a deletion
	passed    map[object.Key]bool // what the guard let a deletion of the Application take
	losses    map[object.Key]loss // what objects hold
}

// wanted is what the sources of an Application give: names and hashes, no content.
type wanted struct {
	inputs   string // identity of what it was rendered from; "" where it must be rendered again
	rendered int    // how many objects that gave, those that come twice or are skipped included
	objects  []wantedObject
	hooks    []wantedHook
	granted  grant // that permitted all of them
	tools    []string
	repeated []object.Key
	excluded []object.Key // left out, since the settings leave their kind alone; as rendered
	lacking  bool         // the cluster does not have the kind of some of them
	options  []string     // what objects ask for and nobody knows
	ignore   *ignoring

	renderedAt time.Time
}

// wantedObject is a manifest without its content.
type wantedObject struct {
	key     object.Key
	version string
	hash    uint64
	wave    int
	options *object.Options // nil when it sets none
	defines object.Kind     // of a definition
	at      int             // its place among the rendered objects
	content *Content        // nil until somebody was told of it
	barred  error           // why it may not be applied; nil for most
}

// wantedHook is a hook without its content. Its place among the hooks is that of its manifest in run.hooks.
type wantedHook struct {
	key     object.Key // without a name where the cluster is to make one
	prefix  string     // of the name that an operation gives it
	version string
	plan.Hook
	options *object.Options
	at      int      // its place among the rendered objects
	content *Content // nil until somebody was told of it
	barred  error    // why it may not be applied; nil for most
}

// run is one reconciliation under way. Each stage fills in what the next one reads.
type run struct {
	engine   *Engine
	req      Request
	app      *v1alpha1.Application
	instance string
	sources  []v1alpha1.ApplicationSource
	started  time.Time
	mark     time.Time
	times    map[Stage]time.Duration

	grant     grant
	ignore    *ignoring
	target    apply.Target
	fetched   []Fetched
	revisions []string
	specified []string // what the specification means, where an operation overrides it

	kept      memory                         // what was kept, as this turn changes it
	want      *wanted                        // nil where nothing was rendered
	manifests map[object.Key]object.Manifest // filled when content is needed, by what is needed
	hooks     []object.Manifest              // filled when content is needed
	whole     bool                           // manifests has all of them
	objects   []object.Manifest              // as rendered, while manifests has some
	places    map[object.Key]int             // where objects has what is wanted
	defined   map[object.Kind]bool           // kinds that come with objects
	pinned    []string                       // revisions that an operation under way goes on with

	changes    []diff.Change
	spared     []diff.Change // deletions that objects or the Application forbid
	shared     []string      // what is wanted and belongs to others
	states     []state
	conditions []v1alpha1.ApplicationCondition

	rollback *v1alpha1.Pin                   // the pin that holds
	released *v1alpha1.Pin                   // the pin that Git has moved past
	notices  []v1alpha1.ApplicationCondition // found before the comparison

	takeovers []takeover               // objects that are as wanted, and of which others own the fields
	takenOver int                      // how many of them are ours now
	foreseen  map[object.Key]foresight // by this run

	op         *plan.Operation
	under      *underway
	verdicts   []decide.Verdict
	strayed    bool // the namespace has lost metadata that the Application gives it
	observed   bool // live objects are known although nothing could be rendered
	rendering  bool // the sources could be rendered
	untellable bool // the process before this one did the work, and did not tell

	leave  guard.Leave         // what the guard lets the sync delete
	pruned map[object.Key]bool // what this run deleted
	done   bool                // it changed something
	wake   time.Duration
}

func (e *Engine) instance(app *v1alpha1.Application) string {
	return object.InstanceName(app.Namespace, app.Name, e.Namespace)
}

func (e *Engine) begin(req Request) *run {
	now := e.Now()
	r := &run{
		engine: e, req: req, app: req.App, instance: e.instance(req.App), sources: req.App.Spec.EffectiveSources(),
		started: now, mark: now, times: make(map[Stage]time.Duration, 5), pruned: map[object.Key]bool{},
	}
	if kept, ok := e.memory.Load(r.instance); ok {
		r.kept = *kept.(*memory)
		r.want = r.kept.wanted
	}
	// A rollback holds for every operation but one that asks for another source or revision than the specification.
	op := r.operation()
	if decide.Automated(r.app) != nil && r.app.DeletionTimestamp == nil && (op == nil || op.Sync == nil || !decide.NamesSources(op.Sync)) {
		r.pinSources()
	}
	if op != nil && op.Sync != nil {
		r.sources = overrideSources(r.sources, op.Sync)
	}
	r.pinned, r.ignore = r.pin(), r.ignoring()
	return r
}

// pin returns the revisions of an operation that has begun: somebody asked for it, or one of its hooks is running and
// must not be cut off. Any other automated one gives way to a newer commit.
func (r *run) pin() []string {
	last := r.app.Status.OperationState
	if last == nil || last.Phase.Completed() || last.SyncResult == nil {
		return nil
	}
	revisions := decide.RevisionsOf(last.SyncResult)
	asked := r.operation() != nil && decide.SameOperation(last.Operation, *r.operation())
	again := !decide.Begun(last) // it failed, and is tried again
	switch {
	case len(revisions) != len(r.sources) || !decide.SameSources(decide.SourcesOf(last.SyncResult), r.sources):
		return nil // they are revisions of something else
	case asked && again && last.Operation.Retry.Refresh, !asked && (again || !hookRunning(last.SyncResult)):
		return nil
	}
	return revisions
}

// pinSources goes by an earlier deployment where somebody rolled back to it.
func (r *run) pinSources() {
	p, err := mark.ReadPin(r.app)
	if err != nil {
		r.notices = append(r.notices, v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionUnsupported, Message: err.Error()})
	}
	if p != nil {
		r.rollback, r.sources = p, mark.PinnedSources(p, r.app.Spec.EffectiveSources())
	}
}

func hookRunning(res *v1alpha1.SyncOperationResult) bool {
	return slices.ContainsFunc(res.Resources, func(r v1alpha1.ResourceResult) bool {
		return r.HookType != "" && r.HookPhase == v1alpha1.OperationRunning
	})
}

// operation is what a person or a program asked for: a new one, or one that is being tried again.
func (r *run) operation() *v1alpha1.Operation { return r.app.Operation }

func overrideSources(sources []v1alpha1.ApplicationSource, op *v1alpha1.SyncOperation) []v1alpha1.ApplicationSource {
	switch {
	case len(op.Sources) > 0:
		sources = op.Sources
	case op.Source != nil:
		sources = []v1alpha1.ApplicationSource{*op.Source}
	}
	out := make([]v1alpha1.ApplicationSource, len(sources))
	copy(out, sources)
	for i := range out {
		if i < len(op.Revisions) && op.Revisions[i] != "" {
			out[i].TargetRevision = op.Revisions[i]
		}
	}
	if len(out) == 1 && op.Revision != "" {
		out[0].TargetRevision = op.Revision
	}
	return out
}

// lap notes how long the stage that ends here took.
func (r *run) lap(s Stage) {
	now := r.engine.Now()
	r.times[s] += now.Sub(r.mark)
	r.mark = now
}

func (r *run) finish() {
	if r.want != nil {
		r.kept.wanted, r.kept.target = r.want, r.target
		r.engine.memory.Store(r.instance, &r.kept)
	}
}

// fetch finds the destination and resolves every source to a tree.
func (r *run) fetch(ctx context.Context) error {
	defer r.lap(StageFetch)
	if len(r.sources) == 0 {
		return errors.New("spec.source and spec.sources are both empty: say which repository and path to deploy")
	}
	var err error
	if r.target, err = r.engine.Clusters.Target(ctx, r.app.Spec.ProjectName(), r.app.Spec.Destination); err != nil {
		return aboutCluster(err)
	}
	r.unpin(ctx)
	for i, src := range r.sources {
		if i < len(r.pinned) {
			src.TargetRevision = r.pinned[i]
		}
		f, err := r.engine.Sources.Fetch(ctx, r.app.Spec.ProjectName(), src, r.req.Since)
		if err != nil {
			if len(r.sources) > 1 {
				return fmt.Errorf("source %d of %d: %w", i+1, len(r.sources), err)
			}
			return err
		}
		r.fetched = append(r.fetched, f)
		r.revisions = append(r.revisions, f.Tree.Revision())
	}
	return r.fetchSpecified(ctx)
}

// refsOf finds the trees that sources refer to by name.
func refsOf(sources []v1alpha1.ApplicationSource, fetched []Fetched) map[string]source.Tree {
	if len(sources) < 2 {
		return nil
	}
	refs := map[string]source.Tree{}
	for i, src := range sources {
		if src.Ref != "" {
			refs[src.Ref] = fetched[i].Tree
		}
	}
	return refs
}

// fetchSpecified resolves what the specification means, when an operation asks for something else.
func (r *run) fetchSpecified(ctx context.Context) error {
	specified := r.app.Spec.EffectiveSources()
	if r.operation() == nil || decide.Automated(r.app) == nil || decide.SameSources(specified, r.sources) {
		return nil
	}
	for _, src := range specified {
		f, err := r.engine.Sources.Fetch(ctx, r.app.Spec.ProjectName(), src, r.req.Since)
		if err != nil {
			return err
		}
		r.specified = append(r.specified, f.Tree.Revision())
	}
	return nil
}

// observe makes sure that live state is complete for every kind that the Application uses or has used.
func (r *run) observe(ctx context.Context) error {
	defer r.lap(StageLive)
	kinds := map[object.Kind]bool{}
	for _, w := range r.want.objects {
		if w.barred == nil {
			kinds[w.key.GroupKind()] = true
		}
	}
	if r.operation() != nil || decide.Automated(r.app) != nil {
		for _, h := range r.want.hooks {
			if h.barred == nil {
				kinds[h.key.GroupKind()] = true
			}
		}
	}
	r.known(kinds)
	return r.watch(ctx, kinds)
}

// known adds the kinds that the status lists.
func (r *run) known(kinds map[object.Kind]bool) {
	for _, res := range r.app.Status.Resources {
		key := object.Key{Group: res.Group, Kind: res.Kind, Namespace: res.Namespace, Name: res.Name}
		if kind := key.GroupKind(); !kinds[kind] && !r.target.Live.Excludes(kind) && !r.outside(key) { // anybody can write a status, and a watch costs memory
			kinds[kind] = true
		}
	}
}

// watch makes sure that live state of kinds is complete.
func (r *run) watch(ctx context.Context, kinds map[object.Kind]bool) error {
	for kind := range kinds {
		res, err := r.target.Live.Find(ctx, kind, "")
		if unknownKind(err) {
			continue // comes with a definition of the same source, or is gone with its definition
		}
		if err != nil {
			return err
		}
		if err := r.target.Live.Watch(ctx, res); err != nil {
			return err
		}
	}
	return nil
}

// Unaffected reports whether the sources of an Application, as they are now, give what they gave at its last
// reconciliation. It renders nothing and decodes nothing.
func (e *Engine) Unaffected(ctx context.Context, app *v1alpha1.Application) bool {
	req := Request{App: app}
	if e.Shadow {
		req = bystander(req)
	}
	r := e.begin(req)
	app = r.app
	if r.want == nil || app.Operation != nil || r.rollback != nil || app.Status.Sync.Status == v1alpha1.SyncStatusUnknown ||
		r.permit() != nil || r.fetch(ctx) != nil {
		return false
	}
	requests, err := r.requests(ctx)
	if err != nil {
		return false
	}
	inputs, ok := r.remembered(requests)
	return ok && inputs == r.want.inputs
}
