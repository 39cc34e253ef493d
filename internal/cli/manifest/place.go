package manifest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Place puts objects that say no namespace into the one given; where that is "", each stays in its own, if it has one. An
// object of another namespace is refused: the user meant something else than the command.
func Place(objects []*unstructured.Unstructured, namespace string) error {
	if namespace == "" {
		return nil
	}
	for _, obj := range objects {
		if ns := obj.GetNamespace(); ns != "" && ns != namespace {
			return fmt.Errorf("%s %s is for namespace %s; call again with -n %s", obj.GetKind(), obj.GetName(), ns, ns)
		}
		obj.SetNamespace(namespace)
	}
	return nil
}
