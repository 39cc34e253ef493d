package succession

import (
	"net/http"
	"testing"
)

func TestTheLeaseIsWhereTheRequestIs(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://k8s.example/api/v1/namespaces/prod/configmaps":                "https://k8s.example",
		"https://k8s.example/apis/apps/v1/namespaces/api/deployments/web":      "https://k8s.example",
		"https://k8s.example/apis/apps/v1/namespaces/p/deployments/api/scale":  "https://k8s.example",
		"https://k8s.example/k8s/clusters/c-1/api/v1/namespaces/apis/pods/web": "https://k8s.example/k8s/clusters/c-1",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if got := base(req); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
