package engine

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/engine/prepare"
	"github.com/slipway-gitops/slipway/internal/engine/render"
)

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
	options  []string     // what objects ask for and nothing here knows
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
	content *Content        // nil until an account names it
	barred  error           // why it may not be applied; nil for most
}

// wantedHook is a hook without its content. Its place among the hooks is that of its manifest in content.hooks.
type wantedHook struct {
	key     object.Key // without a name where the cluster is to make one
	prefix  string     // of the name that an operation gives it
	version string
	plan.Hook
	options *object.Options
	at      int      // its place among the rendered objects
	content *Content // nil until an account names it
	barred  error    // why it may not be applied; nil for most
}

// rendering is what the sources of an Application give.
type rendering struct {
	*inputs
	want *wanted
	content
}

// content is the manifests of a rendering, as far as they are at hand: what was rendered before is only read where it is needed.
type content struct {
	manifests map[object.Key]object.Manifest
	hooks     []object.Manifest  // in the order of wanted.hooks
	whole     bool               // manifests has all of them
	objects   []object.Manifest  // as rendered, while manifests has some
	places    map[object.Key]int // where objects has what is wanted
	ready     prepare.For        // that makes objects ready
}

// render finds out what is wanted. When no input has changed since the last time, nothing is rendered or decoded: names and
// hashes are remembered.
func (in *inputs) render(ctx context.Context) (*rendering, error) {
	defer in.lap(StageRender)
	defer func() { in.notices.warn(v1alpha1.ConditionSourceWarning, in.kept.needed.Moved) }()
	requests, err := in.requests(ctx)
	if err != nil {
		return nil, at(StageRender, err)
	}
	known := in.kept.wanted
	if in.req.Hard {
		for i, q := range requests {
			in.engine.Renderer.Forget(q, in.fetched[i].Scope)
		}
	} else if op := in.operation(); known != nil && known.ignore == in.ignore && (op == nil || op.Sync == nil || len(op.Sync.Manifests) == 0) {
		if id, ok := in.remembered(requests); ok && id == known.inputs && id != "" {
			return &rendering{inputs: in, want: known}, at(StageRender, in.permitWanted(ctx, known))
		}
	}
	r, err := in.renderFresh(ctx, requests)
	if err == nil {
		r.remember()
	}
	return r, at(StageRender, err)
}

// remember keeps what was rendered for the turns to come, and gives up the claims on objects that are not wanted any more.
func (r *rendering) remember() {
	if had := r.kept.wanted; had != nil {
		still := make(map[object.Key]bool, len(r.want.objects))
		for _, w := range r.want.objects {
			still[w.key] = true
		}
		for _, w := range had.objects {
			if !still[w.key] {
				r.target.Live.Release(w.key, r.instance)
			}
		}
	}
	k := r.kept
	needed := r.order.Record(r.Revisions)
	r.kept = memory{wanted: r.want, needed: needed, target: k.target, underway: k.underway, accounted: k.accounted, removed: k.removed}
}

// requests describes the rendering of every source that has something to render.
func (in *inputs) requests(ctx context.Context) ([]render.Request, error) {
	out, err := in.requestsFor(ctx, in.Sources, in.fetched)
	in.trust.Needed(in.order.Signers(out))
	return out, err
}

// remembered names what requests render from, if their results are remembered: equal names give equal objects.
func (in *inputs) remembered(requests []render.Request) (string, bool) {
	var inputs strings.Builder
	inputs.WriteString(in.target.Live.Server + " " + in.target.Live.Tracking.String() + " " + in.target.Live.Exclusions() + " ")
	for i, q := range requests {
		if q.Source.IsRef() {
			continue
		}
		id, ok := in.engine.Renderer.Identify(q, in.fetched[i].Scope)
		if !ok {
			return "", false
		}
		inputs.WriteString(strconv.FormatUint(id, 36) + " ")
	}
	return inputs.String(), true
}

// Unaffected reports whether the sources of an Application, as they are now, give what they gave at its last
// reconciliation. It renders nothing and decodes nothing.
func (e *Engine) Unaffected(ctx context.Context, app *v1alpha1.Application) bool {
	req := Request{App: app}
	if e.Shadow {
		req = shadowed(req)
	}
	in := e.begin(req).specify()
	known := in.kept.wanted
	if known == nil || in.operation() != nil || in.Pin != nil || in.app.Status.Sync.Status == v1alpha1.SyncStatusUnknown ||
		in.resolve(ctx) != nil {
		return false
	}
	requests, err := in.requests(ctx)
	if err != nil {
		return false
	}
	id, ok := in.remembered(requests)
	return ok && id == known.inputs
}

// renderFresh renders, whatever is remembered, and makes what that gives ready to apply.
func (in *inputs) renderFresh(ctx context.Context, requests []render.Request) (*rendering, error) {
	r := &rendering{inputs: in, want: &wanted{ignore: in.ignore, renderedAt: in.engine.Now()}}
	objects, local, err := in.localManifests()
	if err != nil {
		return nil, err
	}
	if !local {
		if objects, r.want.tools, _, err = in.rendered(ctx, requests); err != nil {
			return nil, err
		}
		r.want.inputs, _ = in.remembered(requests) // "" when the result is too large to be remembered
	}
	if r.manifests, r.hooks, err = in.prepare(ctx, objects, r.want); err != nil {
		return nil, err
	}
	if r.want.lacking {
		r.want.inputs = "" // the cluster may get the kind at any time
	}
	r.whole = true
	return r, in.permitWanted(ctx, r.want)
}

// rendered returns the objects of all sources, what rendered each, and whether all of it was remembered.
func (in *inputs) rendered(ctx context.Context,
	requests []render.Request,
) (objects []object.Manifest, tools []string, kept bool, err error) {
	kept = true
	for i, q := range requests {
		if q.Source.IsRef() {
			tools = append(tools, "") // each source has its place
			continue
		}
		result, hit, err := in.engine.Renderer.Render(ctx, q, in.fetched[i].Scope)
		if err != nil {
			if len(requests) > 1 {
				err = fmt.Errorf("source %d of %d: %w", i+1, len(requests), err)
			}
			return nil, nil, false, err
		}
		kept = kept && hit
		objects = append(objects, result.Objects...)
		tools = append(tools, string(result.Tool))
	}
	return objects, tools, kept, nil
}

// localManifests reads the manifests that an operation brings itself, in place of what the sources render.
func (t *turn) localManifests() (objects []object.Manifest, local bool, err error) {
	op := t.operation()
	if op == nil || op.Sync == nil || len(op.Sync.Manifests) == 0 {
		return nil, false, nil
	}
	for i, text := range op.Sync.Manifests {
		obj, err := object.DecodeJSON([]byte(text))
		if err != nil {
			return nil, true, fmt.Errorf("operation.sync.manifests[%d]: %w: write one object as JSON", i, err)
		}
		m, err := object.NewManifest(obj)
		if err != nil {
			return nil, true, fmt.Errorf("operation.sync.manifests[%d]: %w", i, err)
		}
		objects = append(objects, m)
	}
	return objects, true, nil
}

// load makes the manifests ready with their content, rendering once more where only hashes are at hand. The cache
// gives the same result, so this is decoding, not work.
func (r *rendering) load(ctx context.Context) error {
	if r.whole {
		return nil
	}
	var keys []object.Key
	if r.want != nil {
		for i := range r.want.objects {
			keys = append(keys, r.want.objects[i].key)
		}
	}
	return r.loadSome(ctx, keys)
}

// loadSome is load for some objects, and all hooks: a wave of a large Application is a small part of it.
func (r *rendering) loadSome(ctx context.Context, keys []object.Key) error {
	if r.whole {
		return nil
	}
	if r.objects == nil {
		requests, err := r.requests(ctx)
		if err != nil {
			return err
		}
		objects, _, kept, err := r.rendered(ctx, requests)
		if err != nil {
			return err
		}
		if !kept || r.want == nil || r.want.rendered != len(objects) {
			again, err := r.renderFresh(ctx, requests)
			if err != nil {
				return err
			}
			again.remember()
			r.want, r.content = again.want, again.content
			return nil
		}
		if err := r.unpack(ctx, objects); err != nil {
			return err
		}
	}
	for _, k := range keys {
		at, wanted := r.places[k]
		if _, ready := r.manifests[k]; ready || !wanted {
			continue
		}
		p, err := r.prepareOne(ctx, r.ready, r.objects[at])
		if err != nil {
			return err
		}
		r.manifests[k] = p.Manifest
	}
	r.whole = len(r.manifests) == len(r.places)
	return nil
}

// unpack takes objects that were rendered before, and makes the hooks among them ready.
func (r *rendering) unpack(ctx context.Context, objects []object.Manifest) error {
	r.objects, r.ready, r.manifests = objects, r.preparer(objects), map[object.Key]object.Manifest{}
	r.places = make(map[object.Key]int, len(r.want.objects))
	for i := range r.want.objects {
		if w := &r.want.objects[i]; !prepare.Unknown(w.barred) {
			r.places[w.key] = w.at
		}
	}
	r.hooks = make([]object.Manifest, len(r.want.hooks))
	for i, h := range r.want.hooks {
		if prepare.Unknown(h.barred) {
			continue
		}
		p, err := r.prepareOne(ctx, r.ready, objects[h.at])
		if err != nil {
			return err
		}
		r.hooks[i] = p.Manifest
	}
	return nil
}
