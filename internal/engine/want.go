package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/render"
)

// render finds out what is wanted. When no input has changed since the last time, nothing is rendered or decoded:
// names and hashes are remembered.
func (r *run) render(ctx context.Context) error {
	defer r.lap(StageRender)
	requests, err := r.requests(ctx)
	if err != nil {
		return err
	}
	if r.req.Hard {
		for i, q := range requests {
			r.engine.Renderer.Forget(q, r.fetched[i].Scope)
		}
	} else if r.memory != nil {
		if inputs, ok := r.remembered(requests); ok && inputs == r.memory.inputs && inputs != "" {
			return r.permitWanted(ctx, r.memory)
		}
	}
	return r.renderAll(ctx, requests)
}

// requests describes the rendering of every source that has something to render.
func (r *run) requests(ctx context.Context) ([]render.Request, error) {
	version, apis, err := r.target.Live.Capabilities(ctx)
	if err != nil {
		return nil, &StageError{Stage: StageLive, Err: fmt.Errorf("destination cluster: %w", err)}
	}
	out := make([]render.Request, 0, len(r.sources))
	for i, src := range r.sources {
		out = append(out, render.Request{
			App:       render.App{Name: r.app.Name, Namespace: r.app.Namespace, Project: r.app.Spec.ProjectName()},
			Source:    src,
			Tree:      r.fetched[i].Tree,
			Refs:      r.refs,
			Namespace: r.app.Spec.Destination.Namespace,
			Cluster:   render.Capabilities{KubeVersion: version, APIVersions: apis},
		})
	}
	return out, nil
}

func (r *run) remembered(requests []render.Request) (string, bool) {
	var inputs strings.Builder
	inputs.WriteString(r.target.Live.Server + " ")
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
	fresh := &memory{}
	var objects []object.Manifest
	for i, q := range requests {
		if q.Source.IsRef() {
			continue
		}
		result, _, err := r.engine.Renderer.Render(ctx, q, r.fetched[i].Scope)
		if err != nil {
			if len(requests) > 1 {
				return fmt.Errorf("source %d of %d: %w", i+1, len(requests), err)
			}
			return err
		}
		objects = append(objects, result.Objects...)
		fresh.tools = append(fresh.tools, string(result.Tool))
	}
	fresh.inputs, _ = r.remembered(requests) // "" when the result is too large to be remembered
	manifests, err := r.prepare(ctx, objects, fresh)
	if err != nil {
		return err
	}
	if err := r.permitWanted(ctx, fresh); err != nil {
		return err
	}
	r.manifests = manifests
	if r.memory != nil {
		r.releaseUnwanted(fresh)
	}
	r.memory = fresh
	return nil
}

// releaseUnwanted gives up the claims on objects that are not wanted any more.
func (r *run) releaseUnwanted(fresh *memory) {
	still := make(map[object.Key]bool, len(fresh.wanted))
	for _, w := range fresh.wanted {
		still[w.key] = true
	}
	for _, w := range r.memory.wanted {
		if !still[w.key] {
			r.target.Live.Release(w.key, r.instance)
		}
	}
}

// prepare makes manifests ready to apply: namespace, tracking mark. Of objects that come twice the last one counts,
// as with kubectl.
func (r *run) prepare(ctx context.Context, objects []object.Manifest, m *memory) (map[object.Key]object.Manifest, error) {
	defined := definedKinds(objects)
	manifests := make(map[object.Key]object.Manifest, len(objects))
	place := make(map[object.Key]int, len(objects))
	var unknown []error
	for _, o := range objects {
		obj, err := o.Decode()
		if err != nil {
			return nil, err
		}
		if isHook(obj) {
			m.skipped = append(m.skipped, o.Key.Kind+"/"+o.Key.Name)
			continue
		}
		if o.Key.Name == "" {
			return nil, fmt.Errorf("%s with metadata.generateName %q: only hooks may leave the name to the cluster; set metadata.name",
				o.Key.Kind, generateName(obj))
		}
		m.options = append(m.options, unsupportedOptions(obj, o.Key)...)
		ready, err := r.place(ctx, obj, o, defined)
		if err != nil {
			if !unknownKind(err) {
				return nil, err
			}
			unknown = append(unknown, fmt.Errorf("%s: %w", o.Key, err))
			continue
		}
		w := wanted{key: ready.Key, version: ready.Version, hash: ready.Hash(), wave: wave(obj)}
		if i, twice := place[ready.Key]; twice {
			m.repeated = append(m.repeated, ready.Key)
			m.wanted[i] = w
		} else {
			place[ready.Key] = len(m.wanted)
			m.wanted = append(m.wanted, w)
		}
		manifests[ready.Key] = ready
	}
	if len(unknown) > 0 {
		return nil, errors.Join(unknown[:min(len(unknown), 10)]...)
	}
	return manifests, nil
}

func generateName(obj map[string]any) string {
	meta, _ := obj["metadata"].(map[string]any)
	name, _ := meta["generateName"].(string)
	return name
}

// unsupportedOptions names the sync options of one object that nothing acts on yet.
func unsupportedOptions(obj map[string]any, key object.Key) []string {
	var out []string
	for option := range strings.SplitSeq(object.Annotation(obj, v1alpha1.AnnotationSyncOptions), ",") {
		option = strings.TrimSpace(option)
		switch option {
		case "", "Prune=false", "Prune=confirm", "Delete=false", "Delete=confirm":
		default:
			if !actedOn(option) {
				out = append(out, "sync option "+option+" of "+key.String())
			}
		}
	}
	return out
}

// place puts an object into its namespace and marks it as ours.
func (r *run) place(ctx context.Context, obj map[string]any, o object.Manifest, defined map[object.Kind]bool) (object.Manifest, error) {
	key := o.Key
	var namespaced bool
	res, err := r.target.Live.Find(ctx, key.GroupKind(), o.Version)
	if scoped, ours := defined[key.GroupKind()]; ours && unknownKind(err) {
		namespaced = scoped
	} else if err != nil {
		return object.Manifest{}, err
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
	object.SetAnnotation(obj, object.TrackingAnnotation, object.TrackingID(r.instance, key, r.app.Spec.Destination.Namespace))
	return object.NewManifest(obj)
}

// definedKinds finds the kinds that come with these objects, and whether they are namespaced.
func definedKinds(objects []object.Manifest) map[object.Kind]bool {
	out := map[object.Kind]bool{}
	for _, o := range objects {
		if o.Key.Kind != "CustomResourceDefinition" {
			continue
		}
		obj, err := o.Decode()
		if err != nil {
			continue
		}
		spec, _ := obj["spec"].(map[string]any)
		names, _ := spec["names"].(map[string]any)
		group, _ := spec["group"].(string)
		kind, _ := names["kind"].(string)
		out[object.Kind{Group: group, Kind: kind}] = spec["scope"] == "Namespaced"
	}
	return out
}

func unknownKind(err error) bool {
	var unknown *live.UnknownKindError
	return errors.As(err, &unknown)
}

// isHook reports whether an object belongs to a phase of its own and not to the state that is kept.
func isHook(obj map[string]any) bool {
	if object.Annotation(obj, v1alpha1.AnnotationHook) != "" {
		return true
	}
	helm := object.Annotation(obj, "helm.sh/hook")
	return helm != "" && helm != "crd-install"
}

func wave(obj map[string]any) int {
	n, err := strconv.Atoi(object.Annotation(obj, v1alpha1.AnnotationSyncWave))
	if err != nil {
		return 0
	}
	return n
}

// content returns the manifests with their content, rendering once more where only hashes are at hand. The cache
// gives the same result, so this is decoding, not work.
func (r *run) content(ctx context.Context) error {
	if r.manifests != nil {
		return nil
	}
	requests, err := r.requests(ctx)
	if err != nil {
		return err
	}
	return r.renderAll(ctx, requests)
}
