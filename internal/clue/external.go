package clue

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-gitops/slipway/internal/cause"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// store reads the store of an ExternalSecret, in the version of the operator's API that the ExternalSecret has.
func (r *reader) store(ctx context.Context, key object.Key, obj map[string]any) []*cause.Branch {
	of, named := cause.Store(obj, key.Namespace)
	if !named {
		return nil
	}
	gv, err := schema.ParseGroupVersion(object.Text(obj, "apiVersion"))
	if err != nil {
		return nil
	}
	resource := "secretstores"
	if of.Kind == "ClusterSecretStore" {
		resource = "clustersecretstores"
	}
	found, known := r.get(ctx, gv.WithResource(resource), of.Namespace, of.Name)
	if !known {
		return nil
	}
	return []*cause.Branch{{Key: of, Object: found}}
}
