package live

import "github.com/slipway-gitops/slipway/internal/engine/object"

// Field managers whose fields pass to us when we write an object that they wrote before.
const (
	// Replacer is the manager under which the engine writes whole objects (the sync option Replace). It is not Manager:
	// others write under that name too, and what they set is not ours to remove.
	Replacer      = "slipway-replace"
	clientApplier = "kubectl-client-side-apply"
	argoCD        = "argocd-controller"
)

// Inherits reports whether the fields of an entry of metadata.managedFields pass to us when we apply the object: left
// where they are, they would outlive their manifest. clientSide includes what was written by client-side apply; manager
// names one more of that kind, or is empty.
func Inherits(entry map[string]any, clientSide bool, manager string) bool {
	if object.Text(entry, "subresource") != "" {
		return false
	}
	name, _ := entry["manager"].(string)
	switch entry["operation"] {
	case "Apply":
		return name == argoCD
	case "Update":
		return name == Replacer || clientSide && (name == clientApplier || name == argoCD || name == manager && name != "")
	}
	return false
}

// inherits reports whether any fields of an object pass to us.
func inherits(obj map[string]any) bool {
	for entry := range object.Managed(obj) {
		if Inherits(entry, true, "") {
			return true
		}
	}
	return false
}

// Rival reports whether a field manager is that of another engine: Argo CD's, or the one that an Application names as its
// client-side applier ("" for none).
func Rival(name, manager string) bool { return name == argoCD || name == manager && name != "" }
