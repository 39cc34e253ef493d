package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/engine/render"
)

// render finds out what is wanted. When no input has changed since the last time, nothing is rendered or decoded:
// names and hashes are remembered.
func (r *run) render(ctx context.Context) (err error) {
	defer r.lap(StageRender)
	defer func() { r.rendering = err == nil }()
	requests, err := r.requests(ctx)
	if err != nil {
		return err
	}
	if r.req.Hard {
		for i, q := range requests {
			r.engine.Renderer.Forget(q, r.fetched[i].Scope)
		}
	} else if op := r.operation(); r.want != nil && r.want.ignore == r.ignore && (op == nil || op.Sync == nil || len(op.Sync.Manifests) == 0) {
		if inputs, ok := r.remembered(requests); ok && inputs == r.want.inputs && inputs != "" {
			return r.permitWanted(ctx, r.want)
		}
	}
	return r.renderAll(ctx, requests)
}

// requests describes the rendering of every source that has something to render.
func (r *run) requests(ctx context.Context) ([]render.Request, error) {
	return r.requestsFor(ctx, r.sources, r.fetched)
}

func (r *run) remembered(requests []render.Request) (string, bool) {
	var inputs strings.Builder
	inputs.WriteString(r.target.Live.Server + " " + r.target.Live.Tracking.String() + " " + r.target.Live.Exclusions() + " ")
	for i, q := range requests {
		if q.Source.IsRef() {
			continue
		}
		id, ok := r.engine.Renderer.Identify(q, r.fetched[i].Scope)
		if !ok {
			return "", false
		}
		inputs.WriteString(strconv.FormatUint(id, 36) + " ")
	}
	return inputs.String(), true
}

func (r *run) renderAll(ctx context.Context, requests []render.Request) error {
	fresh := &wanted{ignore: r.ignore}
	objects, local, err := r.localManifests()
	if err != nil {
		return err
	}
	if !local {
		if objects, fresh.tools, _, err = r.rendered(ctx, requests); err != nil {
			return err
		}
		fresh.inputs, _ = r.remembered(requests) // "" when the result is too large to be remembered
	}
	manifests, hooks, err := r.prepare(ctx, objects, fresh)
	if err != nil {
		return err
	}
	if fresh.lacking {
		fresh.inputs = "" // the cluster may get the kind at any time
	}
	if err := r.permitWanted(ctx, fresh); err != nil {
		return err
	}
	r.manifests, r.hooks, r.whole = manifests, hooks, true
	fresh.renderedAt = r.engine.Now()
	if r.want != nil {
		r.releaseUnwanted(fresh)
	}
	k := r.kept
	r.kept = memory{target: k.target, underway: k.underway, accounted: k.accounted, removed: k.removed}
	r.want = fresh
	return nil
}

// rendered returns the objects of all sources, what rendered each, and whether all of it was remembered.
func (r *run) rendered(ctx context.Context, requests []render.Request) (objects []object.Manifest, tools []string, kept bool, err error) {
	kept = true
	for i, q := range requests {
		if q.Source.IsRef() {
			tools = append(tools, "") // each source has its place
			continue
		}
		result, hit, err := r.engine.Renderer.Render(ctx, q, r.fetched[i].Scope)
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
func (r *run) localManifests() (objects []object.Manifest, local bool, err error) {
	op := r.operation()
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

// releaseUnwanted gives up the claims on objects that are not wanted any more.
func (r *run) releaseUnwanted(fresh *wanted) {
	still := make(map[object.Key]bool, len(fresh.objects))
	for _, w := range fresh.objects {
		still[w.key] = true
	}
	for _, w := range r.want.objects {
		if !still[w.key] {
			r.target.Live.Release(w.key, r.instance)
		}
	}
}

// prepare makes manifests ready to apply: namespace, tracking mark. Of objects that come twice the last one counts,
// as with kubectl.
func (r *run) prepare(ctx context.Context, objects []object.Manifest, m *wanted) (
	manifests map[object.Key]object.Manifest, hooks []object.Manifest, err error,
) {
	m.rendered = len(objects)
	defined := definedKinds(objects)
	manifests = make(map[object.Key]object.Manifest, len(objects))
	place := make(map[object.Key]int, len(objects))
	for at, o := range objects {
		if r.target.Live.Excludes(o.Key.GroupKind()) {
			m.excluded = append(m.excluded, o.Key)
			continue
		}
		p, err := r.prepareOne(ctx, o, defined)
		if unknownKind(err) {
			p.Key, p.Version = r.unplaced(o.Key), o.Version
			err, p.barred, m.lacking = nil, fmt.Errorf("%s: %w", o.Key, err), true
		}
		if err != nil {
			return nil, nil, err
		}
		if p.hook.Skip {
			continue
		}
		m.options = append(append(m.options, unknownOptions(p.options, o.Key)...), p.misread...)
		if p.hook.Is {
			m.hooks = append(m.hooks, wantedHook{key: p.Key, prefix: p.prefix, version: p.Version, Hook: p.hook, options: p.options, at: at, barred: p.barred})
			hooks = append(hooks, p.Manifest)
			continue
		}
		w := wantedObject{
			key: p.Key, version: p.Version, hash: p.Hash(), wave: p.hook.Wave, options: p.options, defines: p.defines, at: at, barred: p.barred,
		}
		if i, twice := place[p.Key]; twice {
			m.repeated = append(m.repeated, p.Key)
			m.objects[i] = w
		} else {
			place[p.Key] = len(m.objects)
			m.objects = append(m.objects, w)
		}
		if p.barred == nil {
			manifests[p.Key] = p.Manifest
		} else {
			delete(manifests, p.Key)
		}
	}
	return manifests, hooks, nil
}

// unplaced is the key of an object of which it is not known whether it has a namespace.
func (r *run) unplaced(key object.Key) object.Key {
	key.Namespace = cmp.Or(key.Namespace, r.app.Spec.Destination.Namespace)
	return key
}

// prepared is an object that is ready to apply, and what its annotations say.
type prepared struct {
	object.Manifest
	hook    plan.Hook
	options *object.Options
	prefix  string
	defines object.Kind
	barred  error    // its kind is not known
	misread []string // what nobody understands of its annotations about hooks and waves
}

// prepareOne makes one object ready to apply, unless it is to be skipped.
func (r *run) prepareOne(ctx context.Context, o object.Manifest, defined map[object.Kind]bool) (prepared, error) {
	obj, err := o.Decode()
	if err != nil {
		return prepared{}, err
	}
	p := prepared{hook: plan.ReadHook(obj), options: optionsOf(obj), prefix: generateName(obj), defines: defines(obj, o.Key)}
	if p.hook.Skip {
		return p, nil
	}
	if !p.hook.Is && o.Key.Name == "" {
		return p, fmt.Errorf("%s with metadata.generateName %q: only hooks may leave the name to the cluster; set metadata.name", o.Key.Kind, p.prefix)
	}
	if p.hook.Is {
		addFinalizer(obj)
	}
	if object.Annotation(obj, v1alpha1.AnnotationHookRun) != "" {
		p.misread = append(p.misread, fmt.Sprintf("annotation %s of %s (it is left out: only the agent sets it)", v1alpha1.AnnotationHookRun, o.Key))
	}
	object.DropAnnotation(obj, v1alpha1.AnnotationHookRun)
	if p.Manifest, err = r.place(ctx, obj, o, defined); err != nil {
		return p, err
	}
	p.misread = append(p.misread, plan.Misread(obj, p.Key)...)
	p.Sum, err = r.ignore.For(p.Key).Hash(p.Manifest)
	return p, err
}

func generateName(obj map[string]any) string {
	meta, _ := obj["metadata"].(map[string]any)
	name, _ := meta["generateName"].(string)
	return name
}

// optionsOf reads an object's sync options; nil when it has none.
func optionsOf(obj map[string]any) *object.Options {
	text := object.Annotation(obj, v1alpha1.AnnotationSyncOptions)
	if text == "" {
		return nil
	}
	o := object.ParseOptions(text)
	return &o
}

// unknownOptions names the sync options of one object that nobody knows.
func unknownOptions(o *object.Options, key object.Key) []string {
	if o == nil {
		return nil
	}
	var out []string
	for _, option := range o.Unknown {
		out = append(out, "sync option "+option+" of "+key.String())
	}
	return out
}

// comesLater reports whether an object's kind may be made by somebody else after the sync has begun
// (SkipDryRunOnMissingResource).
func (r *run) comesLater(obj map[string]any) bool {
	own := object.OptionsOf(obj)
	return own.SkipDryRun.Or(object.AppOptions(decide.Options(r.app)).SkipDryRun).Is()
}

// addFinalizer keeps a hook until its result was read, whoever deletes it.
func addFinalizer(obj map[string]any) {
	meta, _ := obj["metadata"].(map[string]any)
	have, _ := meta["finalizers"].([]any)
	if meta != nil && !slices.Contains(have, any(v1alpha1.FinalizerHook)) {
		meta["finalizers"] = append(slices.Clone(have), v1alpha1.FinalizerHook)
	}
}

// place puts an object into its namespace and marks it as ours.
func (r *run) place(ctx context.Context, obj map[string]any, o object.Manifest, defined map[object.Kind]bool) (object.Manifest, error) {
	key := o.Key
	var namespaced bool
	res, err := r.target.Live.Find(ctx, key.GroupKind(), o.Version)
	if scoped, ours := defined[key.GroupKind()]; ours && unknownKind(err) {
		namespaced = scoped
	} else if unknownKind(err) && r.comesLater(obj) {
		namespaced = key.Namespace != "" || r.app.Spec.Destination.Namespace != ""
	} else if err != nil {
		return object.Manifest{}, aboutCluster(err)
	} else {
		namespaced = res.Namespaced
	}
	meta, _ := obj["metadata"].(map[string]any)
	switch {
	case !namespaced:
		delete(meta, "namespace")
		key.Namespace = ""
	case key.Namespace == "":
		if r.app.Spec.Destination.Namespace == "" {
			return object.Manifest{}, fmt.Errorf("%s has no namespace: set it in the manifest, or set spec.destination.namespace", key)
		}
		key.Namespace = r.app.Spec.Destination.Namespace
		meta["namespace"] = key.Namespace
	}
	delete(obj, "status")
	diff.FoldSecret(obj)
	r.target.Live.Tracking.Mark(obj, r.instance, key, r.app.Spec.Destination.Namespace)
	return object.NewManifest(obj)
}

// definedKinds finds the kinds that come with these objects, and whether they are namespaced.
func definedKinds(objects []object.Manifest) map[object.Kind]bool {
	out := map[object.Kind]bool{}
	for _, o := range objects {
		if o.Key.Kind != kindDefinition {
			continue
		}
		obj, err := o.Decode()
		if err != nil {
			continue
		}
		spec, _ := obj["spec"].(map[string]any)
		out[defines(obj, o.Key)] = spec["scope"] == "Namespaced"
	}
	return out
}

const kindDefinition = "CustomResourceDefinition"

// defines returns the kind that a definition defines; the zero Kind for other objects.
func defines(obj map[string]any, key object.Key) object.Kind {
	if key.Kind != kindDefinition {
		return object.Kind{}
	}
	spec, _ := obj["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	group, _ := spec["group"].(string)
	kind, _ := names["kind"].(string)
	return object.Kind{Group: group, Kind: kind}
}

func unknownKind(err error) bool {
	var unknown *live.UnknownKindError
	return errors.As(err, &unknown)
}

// content returns the manifests with their content, rendering once more where only hashes are at hand. The cache
// gives the same result, so this is decoding, not work.
func (r *run) content(ctx context.Context) error {
	if r.whole {
		return nil
	}
	var keys []object.Key
	if r.want != nil {
		for i := range r.want.objects {
			keys = append(keys, r.want.objects[i].key)
		}
	}
	return r.contentOf(ctx, keys)
}

// contentOf is content for some objects, and all hooks: a wave of a large Application is a small part of it.
func (r *run) contentOf(ctx context.Context, keys []object.Key) error {
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
			return r.renderAll(ctx, requests)
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
		p, err := r.prepareOne(ctx, r.objects[at], r.defined)
		if err != nil {
			return err
		}
		r.manifests[k] = p.Manifest
	}
	r.whole = len(r.manifests) == len(r.places)
	return nil
}

// unpack takes objects that were rendered before, and makes the hooks among them ready.
func (r *run) unpack(ctx context.Context, objects []object.Manifest) error {
	r.objects, r.defined, r.manifests = objects, definedKinds(objects), map[object.Key]object.Manifest{}
	r.places = make(map[object.Key]int, len(r.want.objects))
	for i := range r.want.objects {
		if w := &r.want.objects[i]; !unknownKind(w.barred) {
			r.places[w.key] = w.at
		}
	}
	r.hooks = make([]object.Manifest, len(r.want.hooks))
	for i, h := range r.want.hooks {
		if unknownKind(h.barred) {
			continue
		}
		p, err := r.prepareOne(ctx, objects[h.at], r.defined)
		if err != nil {
			return err
		}
		r.hooks[i] = p.Manifest
	}
	return nil
}
