package connect

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestWhatIsNotFoundIsNamed(t *testing.T) {
	apps := Applications{namespace: "web"}
	for _, c := range []struct{ resource, name, want string }{
		{"applications", "web", "application web does not exist in namespace web"},
		{"namespaces", "web", "namespace web does not exist in this cluster; create it"},
		{"", "", "this cluster has no Application resources"},
	} {
		err := apps.explain("create", "web", apierrors.NewNotFound(schema.GroupResource{Resource: c.resource}, c.name))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s %q: got %v, want %s", c.resource, c.name, err, c.want)
		}
	}
}
