package engine

import (
	"context"
	"slices"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Wish is what an Application wants, ready to apply.
type Wish struct {
	Objects   []object.Manifest // in the order of their rendering, hooks among them
	Revisions []string          // that they were rendered from, one for each source
	Target    apply.Target      // where they are to be

	run *run
}

// Manifests says what the sources of an Application's specification give. A rollback and an operation do not count; its
// project does. It changes nothing, and what is kept of the Application stays as it is.
func (e *Engine) Manifests(ctx context.Context, app *v1alpha1.Application) (Wish, error) {
	r := e.look(app)
	wish, m, err := r.wish(ctx)
	r.want, wish.run = m, r
	return wish, err
}

// Namespace says what a sync would do to the destination namespace, which is none of the objects: Keep where it leaves it as it
// is, and an error where the project does not let it be made. It changes nothing.
func (w Wish) Namespace(ctx context.Context) (object.Manifest, diff.Verb, error) {
	if w.run == nil || !w.run.lacksNamespace(decide.Decision{}) {
		return object.Manifest{}, diff.Keep, nil
	}
	m, err := w.run.namespaceManifest()
	if err != nil {
		return m, diff.Keep, err
	}
	verb := w.run.foreseeNamespace(ctx)
	if verb == diff.Keep {
		return m, verb, nil
	}
	return m, verb, w.run.permits(m.Key)
}

// wish finds out what is wanted, with content and as it is remembered. It keeps nothing.
func (r *run) wish(ctx context.Context) (Wish, *wanted, error) {
	if err := r.permit(); err != nil {
		return Wish{}, nil, err
	}
	if err := r.fetch(ctx); err != nil {
		return Wish{}, nil, err
	}
	objects, local, err := r.localManifests()
	if err != nil {
		return Wish{}, nil, err
	}
	if !local {
		requests, err := r.requests(ctx)
		if err != nil {
			return Wish{}, nil, err
		}
		if objects, _, _, err = r.rendered(ctx, requests); err != nil {
			return Wish{}, nil, err
		}
	}
	m := &wanted{ignore: r.ignore}
	manifests, hooks, err := r.prepare(ctx, objects, m)
	if err != nil {
		return Wish{}, nil, err
	}
	if err := r.permitWanted(ctx, m); err != nil {
		return Wish{}, nil, err
	}
	if err := m.whole(); err != nil {
		return Wish{}, nil, err
	}
	type placed struct {
		at int
		object.Manifest
	}
	order := make([]placed, 0, len(m.objects)+len(m.hooks))
	for _, w := range m.objects {
		order = append(order, placed{w.at, manifests[w.key]})
	}
	for i, h := range m.hooks {
		order = append(order, placed{h.at, hooks[i]})
	}
	slices.SortFunc(order, func(a, b placed) int { return a.at - b.at })
	out := Wish{Revisions: r.revisions, Target: r.target}
	for _, p := range order {
		out.Objects = append(out.Objects, p.Manifest)
	}
	return out, m, nil
}

// Permits returns what says why the project of an Application does not let it have an object, or something that the object
// makes in a namespace ("" for none). What is said holds for the rules as they are now.
func (e *Engine) Permits(app *v1alpha1.Application) func(key object.Key, namespace string) error {
	r := e.look(app)
	whole := r.permit()
	return func(key object.Key, namespace string) error {
		if whole != nil {
			return whole
		}
		if err := r.permits(key); err != nil {
			return &ProjectError{err}
		}
		if namespace == "" || namespace == key.Namespace {
			return nil
		}
		if err := r.grant.rules.PermitsDestination(r.grant.cluster, namespace); err != nil {
			return &ProjectError{err}
		}
		return nil
	}
}

// look begins a run that keeps nothing and heeds nothing but the specification.
func (e *Engine) look(app *v1alpha1.Application) *run {
	bare := *app
	bare.Operation, bare.Status, bare.Annotations = nil, v1alpha1.ApplicationStatus{}, nil
	r := e.begin(Request{App: &bare})
	r.kept, r.want = memory{}, nil
	return r
}
