package act

import (
	"testing"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestAResourceIsNamedByKindAndPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]object.Key{
		"Pod:web":                  {Kind: "Pod", Name: "web"},
		"apps/Deployment:web":      {Group: "apps", Kind: "Deployment", Name: "web"},
		"apps/Deployment:shop/web": {Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"},
		"rbac.authorization.k8s.io/ClusterRole:system:node": {Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "system:node"},
	} {
		if got, err := readResource(text); err != nil || got != want {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "Pod", "Pod:", ":web", "apps/:web", "apps/v1/Deployment:web", "Pod:a/b/c", "apps/Deployment:shop/"} {
		if got, err := readResource(text); err == nil {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
}
