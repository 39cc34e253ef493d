package beside

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/client-go/transport"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/place"
)

// refusedBeside is the error of a write beside Argo CD that is none of its fields.
const refusedBeside = "beside Argo CD the agent writes Argo CD's own resources and its own objects, and nothing else"

// Guard lets the agent write Argo CD's resources and settings, and its own lease, identity and journal, which are all in
// its namespace but for Applications; nothing in any other place. It stands in front of every request, so that this does
// not depend on each place that could write.
func (d *ArgoCD) Guard(home bool) transport.WrapperFunc {
	refuse := place.RefuseWrites(d.Log, refusedBeside)
	if !home {
		return refuse
	}
	namespace := d.Namespace
	return func(next http.RoundTripper) http.RoundTripper {
		refusing := refuse(next)
		return place.RoundTripper(func(req *http.Request) (*http.Response, error) {
			if writable(req.URL.Path, namespace) {
				return next.RoundTrip(req)
			}
			return refusing.RoundTrip(req)
		})
	}
}

// writable reports whether a path is that of something which the agent writes beside Argo CD, home being its namespace.
func writable(path, home string) bool {
	collection, inHome := "", false
	for _, group := range []string{"/api/v1", "/apis/coordination.k8s.io/v1", "/apis/" + v1alpha1.Group + "/" + v1alpha1.Version} {
		rest, ok := strings.CutPrefix(path, group+"/namespaces/")
		if !ok {
			continue
		}
		parts := strings.Split(rest, "/")
		if len(parts) < 2 || len(parts) > 3 { // a namespace itself, or a part of an object
			return false
		}
		collection, inHome = group+" "+parts[1], parts[0] == home
	}
	argo := "/apis/" + v1alpha1.Group + "/" + v1alpha1.Version + " "
	anywhere := []string{argo + v1alpha1.ResourceApplications, argo + v1alpha1.ResourceApplicationSets}
	at := append([]string{argo + v1alpha1.ResourceAppProjects, "/api/v1 secrets", "/api/v1 configmaps", "/apis/coordination.k8s.io/v1 leases"},
		anywhere...)
	return slices.Contains(anywhere, collection) || inHome && slices.Contains(at, collection)
}
