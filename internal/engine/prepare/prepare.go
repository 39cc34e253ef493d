// Package prepare makes rendered objects ready to apply: it finds their namespaces, sets the tracking mark, and reads what their
// annotations ask for. Pure but for the one question whether a kind has namespaces.
package prepare

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// For is what the objects of one Application are made ready for.
type For struct {
	App      *v1alpha1.Application
	Instance string // of the Application, in tracking marks
	Tracking object.Tracking
	// Namespaced says whether objects of a kind have a namespace. A kind that the cluster does not have at that version fails
	// with *object.UnknownKindError.
	Namespaced func(ctx context.Context, kind object.Kind, version string) (bool, error)
	// Defined are the kinds that come with the same objects (Defined), and whether they have namespaces.
	Defined map[object.Kind]bool
}

// Object is an object that is ready to apply, and what its annotations say.
type Object struct {
	object.Manifest
	Hook    plan.Hook
	Options *object.Options // nil when it sets none
	Prefix  string          // metadata.generateName
	Defines object.Kind     // the kind that a definition defines; the zero Kind for other objects
	Misread []string        // what nothing here understands of its annotations
}

// Object makes one object ready to apply, unless it is a hook that is to be skipped.
func (f For) Object(ctx context.Context, o object.Manifest) (Object, error) {
	obj, err := o.Decode()
	if err != nil {
		return Object{}, err
	}
	p := Object{Hook: plan.ReadHook(obj), Options: optionsOf(obj), Prefix: generateName(obj), Defines: defines(obj, o.Key)}
	if p.Hook.Skip {
		return p, nil
	}
	if !p.Hook.Is && o.Key.Name == "" {
		return p, fmt.Errorf("%s with metadata.generateName %q: only hooks may leave the name to the cluster; set metadata.name",
			o.Key.Kind, p.Prefix)
	}
	if p.Options != nil {
		for _, option := range p.Options.Unknown {
			p.Misread = append(p.Misread, "sync option "+option+" of "+o.Key.String())
		}
	}
	if p.Hook.Is {
		addFinalizer(obj)
	}
	if object.Annotation(obj, v1alpha1.AnnotationHookRun) != "" {
		p.Misread = append(p.Misread, fmt.Sprintf("annotation %s of %s (it is left out: only the agent sets it)",
			v1alpha1.AnnotationHookRun, o.Key))
	}
	if p.Manifest, err = f.Place(ctx, obj, o); err != nil {
		return p, err
	}
	p.Misread = append(p.Misread, plan.Misread(obj, p.Key)...)
	return p, nil
}

// Place puts an object into its namespace and marks it as the Application's. obj is the content of o, and is changed.
func (f For) Place(ctx context.Context, obj map[string]any, o object.Manifest) (object.Manifest, error) {
	key, destination := o.Key, f.App.Spec.Destination.Namespace
	namespaced, err := f.Namespaced(ctx, key.GroupKind(), o.Version)
	if scoped, ours := f.Defined[key.GroupKind()]; ours && Unknown(err) {
		namespaced = scoped
	} else if Unknown(err) && f.comesLater(obj) {
		namespaced = key.Namespace != "" || destination != ""
	} else if err != nil {
		return object.Manifest{}, err
	}
	meta, _ := obj["metadata"].(map[string]any)
	switch {
	case !namespaced:
		delete(meta, "namespace")
		key.Namespace = ""
	case key.Namespace == "":
		if destination == "" {
			return object.Manifest{}, fmt.Errorf("%s has no namespace: set it in the manifest, or set spec.destination.namespace", key)
		}
		key.Namespace = destination
		meta["namespace"] = key.Namespace
	}
	return f.Mark(obj, key)
}

// Mark marks an object as the Application's, and leaves out of it what only the cluster and the agent write.
func (f For) Mark(obj map[string]any, key object.Key) (object.Manifest, error) {
	delete(obj, "status")
	object.DropAnnotation(obj, v1alpha1.AnnotationHookRun)
	diff.FoldSecret(obj)
	f.Tracking.Mark(obj, f.Instance, key, f.App.Spec.Destination.Namespace)
	return object.NewManifest(obj)
}

// comesLater reports whether an object's kind may be made by another program after the sync has begun
// (SkipDryRunOnMissingResource).
func (f For) comesLater(obj map[string]any) bool {
	return object.OptionsOf(obj).SkipDryRun.Or(object.AppOptions(decide.Options(f.App)).SkipDryRun).Is()
}

// Unknown reports whether an error says that the cluster does not have a kind.
func Unknown(err error) bool {
	var unknown *object.UnknownKindError
	return errors.As(err, &unknown)
}

func generateName(obj map[string]any) string {
	return object.Text(object.Dict(obj, "metadata"), "generateName")
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

// addFinalizer keeps a hook until its result was read, whatever deletes it.
func addFinalizer(obj map[string]any) {
	meta, _ := obj["metadata"].(map[string]any)
	have, _ := meta["finalizers"].([]any)
	if meta != nil && !slices.Contains(have, any(v1alpha1.FinalizerHook)) {
		meta["finalizers"] = append(slices.Clone(have), v1alpha1.FinalizerHook)
	}
}

// Defined finds the kinds that come with these objects, and whether they have namespaces.
func Defined(objects []object.Manifest) map[object.Kind]bool {
	out := map[object.Kind]bool{}
	for _, o := range objects {
		if o.Key.Kind != kindDefinition {
			continue
		}
		obj, err := o.Decode()
		if err != nil {
			continue
		}
		out[defines(obj, o.Key)] = object.Dict(obj, "spec")["scope"] == "Namespaced"
	}
	return out
}

const kindDefinition = "CustomResourceDefinition"

// IsDefinition reports whether an object is a definition of a kind. Argo CD does not mark these.
func IsDefinition(k object.Key) bool {
	return k.GroupKind() == object.Kind{Group: "apiextensions.k8s.io", Kind: kindDefinition}
}

// defines returns the kind that a definition defines; the zero Kind for other objects.
func defines(obj map[string]any, key object.Key) object.Kind {
	if key.Kind != kindDefinition {
		return object.Kind{}
	}
	spec := object.Dict(obj, "spec")
	return object.Kind{Group: object.Text(spec, "group"), Kind: object.Text(object.Dict(spec, "names"), "kind")}
}
