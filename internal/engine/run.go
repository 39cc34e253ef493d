package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
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

// memory is what the engine keeps of an Application between two reconciliations: names and hashes, no content.
type memory struct {
	inputs   string // identity of what the manifests were rendered from
	wanted   []wanted
	granted  grant // that permitted all of them
	tools    []string
	repeated []object.Key
	skipped  []string // hooks that are left out
	options  []string // what objects ask for and nothing acts on yet
}

// wanted is a manifest without its content.
type wanted struct {
	key     object.Key
	version string
	hash    uint64
	wave    int
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
	target    apply.Target
	fetched   []Fetched
	refs      map[string]source.Tree
	revisions []string
	specified []string // what the specification means, where an operation overrides it

	memory    *memory
	manifests map[object.Key]object.Manifest // filled when content is needed

	changes    []diff.Change
	states     []state
	conditions []v1alpha1.ApplicationCondition
}

func (e *Engine) instance(app *v1alpha1.Application) string {
	return object.InstanceName(app.Namespace, app.Name, e.Namespace)
}

func (e *Engine) begin(req Request) *run {
	now := e.Now()
	r := &run{
		engine: e, req: req, app: req.App, instance: e.instance(req.App), sources: req.App.Spec.EffectiveSources(),
		started: now, mark: now, times: make(map[Stage]time.Duration, 5),
	}
	if kept, ok := e.memory.Load(r.instance); ok {
		r.memory = kept.(*memory)
	}
	// An operation can ask for another source or revision than the specification.
	if op := r.operation(); op != nil && op.Sync != nil {
		r.sources = overrideSources(r.sources, op.Sync)
	}
	return r
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
	if r.memory != nil {
		r.engine.memory.Store(r.instance, r.memory)
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
		return err
	}
	if len(r.sources) > 1 {
		r.refs = map[string]source.Tree{}
	}
	for i, src := range r.sources {
		f, err := r.engine.Sources.Fetch(ctx, r.app.Spec.ProjectName(), src, r.req.Since)
		if err != nil {
			if len(r.sources) > 1 {
				return fmt.Errorf("source %d of %d: %w", i+1, len(r.sources), err)
			}
			return err
		}
		r.fetched = append(r.fetched, f)
		r.revisions = append(r.revisions, f.Tree.Revision())
		if src.Ref != "" && r.refs != nil {
			r.refs[src.Ref] = f.Tree
		}
	}
	return r.fetchSpecified(ctx)
}

// fetchSpecified resolves what the specification means, when an operation asks for something else.
func (r *run) fetchSpecified(ctx context.Context) error {
	specified := r.app.Spec.EffectiveSources()
	if r.operation() == nil || r.automated() == nil || sameSources(specified, r.sources) {
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
	for _, w := range r.memory.wanted {
		kinds[w.key.GroupKind()] = true
	}
	for _, res := range r.app.Status.Resources {
		kinds[object.Kind{Group: res.Group, Kind: res.Kind}] = true
	}
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
	r := e.begin(Request{App: app})
	if r.memory == nil || app.Operation != nil || app.Status.Sync.Status == v1alpha1.SyncStatusUnknown ||
		r.permit() != nil || r.fetch(ctx) != nil {
		return false
	}
	requests, err := r.requests(ctx)
	if err != nil {
		return false
	}
	inputs, ok := r.remembered(requests)
	return ok && inputs == r.memory.inputs
}
