package diff

import (
	"maps"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Declared is an object without its status and what the API server itself keeps in the metadata: what a manifest can say.
func Declared(obj map[string]any) map[string]any {
	out := maps.Clone(obj)
	delete(out, "status")
	meta := object.Dict(obj, "metadata")
	kept := map[string]any{}
	for _, field := range []string{"name", "namespace", "labels", "annotations", "finalizers", "ownerReferences"} {
		if v, ok := meta[field]; ok {
			kept[field] = v
		}
	}
	out["metadata"] = kept
	return out
}

// SameContent reports whether two objects are equal in what a manifest can say.
func SameContent(a, b map[string]any) bool { return sameValue(Declared(a), Declared(b)) }
