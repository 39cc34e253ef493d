package engine

import (
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// spareFromPrune marks a manifest so that the object is not pruned, although Git does not have it. Once Git has it again, what is
// applied has no such mark.
func spareFromPrune(m object.Manifest) (object.Manifest, bool) {
	obj, err := m.Decode()
	if err != nil {
		return m, false
	}
	options := "Prune=false"
	if have := object.Annotation(obj, v1alpha1.AnnotationSyncOptions); have != "" {
		options = have + "," + options
	}
	object.SetAnnotation(obj, v1alpha1.AnnotationSyncOptions, options)
	out, err := object.NewManifest(obj)
	return out, err == nil
}
