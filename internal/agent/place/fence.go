package place

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// fence lets only those requests through to a cluster that its Secret permits. It stands in front of every client of that cluster,
// so that the limits do not depend on each place that could look or write elsewhere.
type fence struct {
	limits object.Limits
	base   string // path of the API server's address
	kinds  atomic.Pointer[func(group, plural string) (namespaced, known bool)]
}

// newFence makes the fence of a cluster at an address.
func newFence(limits object.Limits, host string) (*fence, error) {
	base, _, err := rest.DefaultServerUrlFor(&rest.Config{Host: host})
	if err != nil {
		return nil, fmt.Errorf("read address of the cluster: %w", err)
	}
	return &fence{limits: limits, base: strings.TrimSuffix(base.Path, "/")}, nil
}

// around wraps a transport.
func (f *fence) around(next http.RoundTripper) http.RoundTripper {
	return RoundTripper(func(req *http.Request) (*http.Response, error) {
		path, ok := strings.CutPrefix(req.URL.Path, f.base)
		if !ok {
			return forbidden(req, fmt.Sprintf("the path %.200q is not one of the cluster", req.URL.Path))
		}
		if err := f.check(req.Method, path); err != nil {
			return forbidden(req, err.Error())
		}
		return next.RoundTrip(req)
	})
}

// check says why a request is not permitted. Paths are those of Kubernetes; what is not understood is refused.
func (f *fence) check(method, path string) error {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for _, part := range parts {
		if part == "." || part == ".." || part == "" && len(parts) > 1 {
			return fmt.Errorf("the path %.200q is not plain", path)
		}
	}
	var group string
	switch parts[0] {
	case "api":
		parts = parts[1:]
	case "apis":
		if parts = parts[1:]; len(parts) > 0 {
			group, parts = parts[0], parts[1:]
		}
	default: // /version, /openapi and their like
		return readOnlyPath(method, path)
	}
	if len(parts) <= 1 { // the kinds of a group and version
		return readOnlyPath(method, path)
	}
	parts = parts[1:]
	if parts[0] == "namespaces" && len(parts) >= 3 && (group != "" || len(parts) > 3 || parts[2] != "status" && parts[2] != "finalize") {
		return f.limits.PermitsNamespace(parts[1])
	}
	return f.checkCluster(method, group, parts[0])
}

// checkCluster is about what has no namespace in its path: objects of the cluster, and lists of all namespaces.
func (f *fence) checkCluster(method, group, plural string) error {
	own := group == "authorization.k8s.io" && strings.HasPrefix(plural, "selfsubject") ||
		group == "authentication.k8s.io" && plural == "selfsubjectreviews"
	if own && method == http.MethodPost {
		return nil // it asks what the credentials may do, and stores nothing
	}
	const definitions = "customresourcedefinitions" // they are watched before anything is known of the cluster
	if group == "apiextensions.k8s.io" && plural == definitions && f.limits.Cluster() {
		return nil
	}
	if kinds := f.kinds.Load(); kinds != nil && f.limits.Cluster() {
		if namespaced, known := (*kinds)(group, plural); known && !namespaced {
			return nil
		}
	}
	return f.limits.Permits(object.Key{Group: group, Kind: plural, Namespace: f.everywhere(), Name: "*"})
}

// everywhere is what stands for all namespaces, where objects of the cluster would be permitted.
func (f *fence) everywhere() string {
	if f.limits.Cluster() {
		return "*"
	}
	return ""
}

func readOnlyPath(method, path string) error {
	if method == http.MethodGet || method == http.MethodHead {
		return nil
	}
	return fmt.Errorf("%s is not a request that reads: %.200q", method, path)
}

// forbidden answers a request as an API server does that does not allow it.
func forbidden(req *http.Request, why string) (*http.Response, error) {
	return answer(req, http.StatusForbidden, metav1.StatusReasonForbidden, why)
}
