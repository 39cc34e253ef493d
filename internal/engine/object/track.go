package object

import (
	"maps"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// TrackingAnnotation ties a live object to the Application that manages it. Name and value format are Argo CD's, so
// that either engine can take over from the other.
const TrackingAnnotation = "argocd.argoproj.io/tracking-id"

// TrackingID returns the value of TrackingAnnotation for an object of app, for example
// "guestbook:apps/Deployment:shop/web". destNamespace stands in for the namespace of a cluster-scoped object.
func TrackingID(app string, k Key, destNamespace string) string {
	ns := k.Namespace
	if ns == "" {
		ns = destNamespace
	}
	return app + ":" + k.Group + "/" + k.Kind + ":" + ns + "/" + k.Name
}

// TrackedBy returns the Application that the tracking id names, when the id is about the object k itself. An id
// about another object (copied with the metadata by some controller) names no Application.
func TrackedBy(id string, k Key) (app string, ok bool) {
	app, rest, found := strings.Cut(id, ":")
	if !found || app == "" {
		return "", false
	}
	groupKind, nsName, found := strings.Cut(rest, ":")
	if !found {
		return "", false
	}
	group, kind, found := strings.Cut(groupKind, "/")
	if !found || group != k.Group || kind != k.Kind {
		return "", false
	}
	ns, name, found := strings.Cut(nsName, "/")
	if !found || name != k.Name || (k.Namespace != "" && ns != k.Namespace) {
		return "", false
	}
	return app, true
}

// Tracking is how objects are marked as those of an Application, and found again. The zero value is the standard: the
// tracking annotation alone.
type Tracking struct {
	// Method says whether a label counts too. Whatever it is, the annotation is written, so that every object names its
	// own identity and a mark that was copied with the metadata applies to no object.
	Method v1alpha1.TrackingMethod
	// Label is the name of the label; "" is v1alpha1.LabelInstance.
	Label string
	// Installation distinguishes the objects of several installations that share a cluster; "" for a single one.
	Installation string
}

// String identifies the tracking: equal ones have equal text.
func (t Tracking) String() string {
	if t == (Tracking{}) {
		return string(v1alpha1.TrackingAnnotation)
	}
	return string(t.Method) + " " + t.label() + " " + t.Installation
}

func (t Tracking) label() string {
	if t.Label == "" {
		return v1alpha1.LabelInstance
	}
	return t.Label
}

// labels reports whether objects get the label.
func (t Tracking) labels() bool {
	return t.Method == v1alpha1.TrackingLabel || t.Method == v1alpha1.TrackingAnnotationAndLabel
}

// Owner returns the Application that an object says it belongs to, and whether only the label says so. An object of
// another installation belongs to no Application here.
func (t Tracking) Owner(obj map[string]any, k Key) (app string, byLabel bool) {
	installation := Annotation(obj, v1alpha1.AnnotationInstallationID)
	if t.Installation == installation {
		if app, ok := TrackedBy(Annotation(obj, TrackingAnnotation), k); ok {
			return app, false
		}
	}
	if t.Method != v1alpha1.TrackingLabel || installation != "" && installation != t.Installation {
		return "", false
	}
	app = Text(Dict(Dict(obj, "metadata"), "labels"), t.label())
	return app, app != ""
}

// Mark makes an object one of an Application. destNamespace is that of TrackingID. Selectors and templates stay as they
// are: what a selector selects must not depend on the program that applied it.
func (t Tracking) Mark(obj map[string]any, app string, k Key, destNamespace string) {
	SetAnnotation(obj, TrackingAnnotation, TrackingID(app, k, destNamespace))
	if t.Installation != "" {
		SetAnnotation(obj, v1alpha1.AnnotationInstallationID, t.Installation)
	}
	if t.labels() {
		setMeta(obj, "labels", t.label(), LabelValue(app))
	}
}

// Unmark returns obj without the marks of Mark. It copies what it changes.
func (t Tracking) Unmark(obj map[string]any) map[string]any {
	out := without(obj, "annotations", TrackingAnnotation)
	if t.Installation != "" {
		out = without(out, "annotations", v1alpha1.AnnotationInstallationID)
	}
	if t.labels() {
		out = without(out, "labels", t.label())
	}
	return out
}

// Lean returns want, an object with the marks of Mark, without the annotations that have lacks: an object that its label
// alone ties to the Application is marked when it is written the next time. It copies what it changes.
func (t Tracking) Lean(want, have map[string]any) map[string]any {
	if t.Method != v1alpha1.TrackingLabel {
		return want
	}
	for _, name := range []string{TrackingAnnotation, v1alpha1.AnnotationInstallationID} {
		if Annotation(have, name) == "" {
			want = without(want, "annotations", name)
		}
	}
	return want
}

// without returns obj without one label or annotation, and without the map that held nothing else.
func without(obj map[string]any, field, name string) map[string]any {
	meta := Dict(obj, "metadata")
	values := Dict(meta, field)
	if _, ok := values[name]; !ok {
		return obj
	}
	out, rest, left := maps.Clone(obj), maps.Clone(meta), maps.Clone(values)
	delete(left, name)
	rest[field] = left
	if len(left) == 0 {
		delete(rest, field)
	}
	out["metadata"] = rest
	return out
}

// LabelValue makes a name fit for the value of a label: at most 63 characters, the last of which is a letter or digit.
func LabelValue(name string) string {
	const longest = 63
	if len(name) <= longest {
		return name
	}
	return strings.TrimRight(name[:longest], "-_.")
}

// InstanceName is how an Application is named in tracking ids: its name alone in the controller's own namespace,
// "namespace_name" elsewhere.
func InstanceName(namespace, name, controllerNamespace string) string {
	if namespace == "" || namespace == controllerNamespace {
		return name
	}
	return namespace + "_" + name
}

// Annotation returns one annotation of an object tree, "" when absent.
func Annotation(obj map[string]any, name string) string {
	return Text(Dict(Dict(obj, "metadata"), "annotations"), name)
}

// SetAnnotation sets one annotation of an object tree.
func SetAnnotation(obj map[string]any, name, value string) { setMeta(obj, "annotations", name, value) }

// DropAnnotation removes one annotation of an object tree, whatever its value is.
func DropAnnotation(obj map[string]any, name string) {
	delete(Dict(Dict(obj, "metadata"), "annotations"), name)
}

// setMeta sets one label or annotation.
func setMeta(obj map[string]any, field, name, value string) {
	meta, ok := obj["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		obj["metadata"] = meta
	}
	values, ok := meta[field].(map[string]any)
	if !ok {
		values = map[string]any{}
		meta[field] = values
	}
	values[name] = value
}
