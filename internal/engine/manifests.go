package engine

import (
	"context"
	"slices"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Wish is what an Application wants, ready to apply.
type Wish struct {
	Objects   []object.Manifest // in the order of their rendering, hooks among them
	Revisions []string          // that they were rendered from, one for each source
	Target    apply.Target      // where they are to be

	*rendering
}

// Manifests says what the sources of an Application's specification give. A rollback and an operation are ignored; its
// project does. It changes nothing, and what is kept of the Application stays as it is.
func (e *Engine) Manifests(ctx context.Context, app *v1alpha1.Application) (Wish, error) {
	return e.glance(app).wish(ctx)
}

// ManifestsSealed is Manifests for a specification that is not stored, whose author may have fewer rights: nothing is decrypted.
func (e *Engine) ManifestsSealed(ctx context.Context, app *v1alpha1.Application) (Wish, error) {
	in := e.glance(app)
	in.req.Sealed = true
	return in.wish(ctx)
}

// Namespace says what a sync would do to the destination namespace, which is none of the objects: Keep where it leaves it as it
// is, and an error where the project does not let it be made. It changes nothing.
func (w Wish) Namespace(ctx context.Context) (object.Manifest, diff.Verb, error) {
	if w.rendering == nil || !w.lacksNamespace(nil, false) {
		return object.Manifest{}, diff.Keep, nil
	}
	m, err := w.namespaceManifest()
	if err != nil {
		return m, diff.Keep, err
	}
	verb := w.foreseeNamespace(ctx)
	if verb == diff.Keep {
		return m, verb, nil
	}
	return m, verb, w.permits(m.Key)
}

// wish finds out what is wanted, with content. It keeps nothing. The error is a StageError.
func (in *inputs) wish(ctx context.Context) (Wish, error) {
	if err := in.resolve(ctx); err != nil {
		return Wish{}, err
	}
	requests, err := in.requests(ctx)
	if err != nil {
		return Wish{}, at(StageRender, err)
	}
	r, err := in.renderFresh(ctx, requests)
	if err == nil {
		err = r.want.whole()
	}
	if err != nil {
		return Wish{}, at(StageRender, err)
	}
	type placed struct {
		at int
		object.Manifest
	}
	order := make([]placed, 0, len(r.want.objects)+len(r.want.hooks))
	for _, w := range r.want.objects {
		order = append(order, placed{w.at, r.manifests[w.key]})
	}
	for i, h := range r.want.hooks {
		order = append(order, placed{h.at, r.hooks[i]})
	}
	slices.SortFunc(order, func(a, b placed) int { return a.at - b.at })
	out := Wish{Revisions: r.Revisions, Target: r.target, rendering: r}
	for _, p := range order {
		out.Objects = append(out.Objects, p.Manifest)
	}
	return out, nil
}

// Permits returns what says why the project of an Application does not let it have an object, or something that the object
// makes in a namespace ("" for none). The answer holds for the rules as they are now.
func (e *Engine) Permits(app *v1alpha1.Application) func(key object.Key, namespace string) error {
	in := e.glance(app)
	whole := in.permit()
	return func(key object.Key, namespace string) error {
		if whole != nil {
			return whole
		}
		if err := in.permits(key); err != nil {
			return &ProjectError{err}
		}
		if namespace == "" || namespace == key.Namespace {
			return nil
		}
		if err := in.rules.PermitsDestination(in.cluster, namespace); err != nil {
			return &ProjectError{err}
		}
		return nil
	}
}

// glance reads what the specification of an Application asks for, and nothing else of it.
func (e *Engine) glance(app *v1alpha1.Application) *inputs {
	bare := *app
	bare.Operation, bare.Status, bare.Annotations = nil, v1alpha1.ApplicationStatus{}, nil
	return e.look(Request{App: &bare}).specify()
}
