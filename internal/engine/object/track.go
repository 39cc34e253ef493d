package object

import "strings"

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
// about another object (copied with the metadata by some controller) names nobody.
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
	meta, _ := obj["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	v, _ := annotations[name].(string)
	return v
}

// SetAnnotation sets one annotation of an object tree.
func SetAnnotation(obj map[string]any, name, value string) {
	meta, ok := obj["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		obj["metadata"] = meta
	}
	annotations, ok := meta["annotations"].(map[string]any)
	if !ok {
		annotations = map[string]any{}
		meta["annotations"] = annotations
	}
	annotations[name] = value
}
