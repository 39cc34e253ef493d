package place

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/outward"
)

// What is at the address of a cluster, which users choose, is in no error of any client that is made for it.
func TestAClusterThatIsNoneSaysNothing(t *testing.T) {
	t.Parallel()
	const marker = "Zaubernuss"
	for name, c := range map[string]struct {
		kind, body string
		says       bool
	}{
		"a text":                   {"text/plain", marker, false},
		"a page":                   {"text/html", "<html>" + marker, false},
		"no type":                  {"", marker, false},
		"JSON":                     {"application/json", `{"error":"` + marker + `"}`, false},
		"JSON that is cut off":     {"application/json", `{"kind":"Status","apiVersion":"v1","message":"` + marker, false},
		"a Status that is no JSON": {"text/plain", `{"kind":"Status","apiVersion":"v1","message":"` + marker + `"}`, false},
		"a Status of an API server": {
			"application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,"message":"` + marker + ` is needed here"}`, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, code := range []int{400, 401, 403, 404, 409, 422, 429, 500, 503, 599} {
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header()["Content-Type"] = nil
					if c.kind != "" {
						w.Header().Set("Content-Type", c.kind)
					}
					w.WriteHeader(code)
					_, _ = fmt.Fprint(w, c.body)
				}))
				t.Cleanup(s.Close)
				next, err := carry(&rest.Config{Host: s.URL}, &outward.Policy{Private: true, Allow: outward.List{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}})
				if err != nil {
					t.Fatal(err)
				}
				client, err := discovery.NewDiscoveryClientForConfig(over(s.URL, next))
				if err != nil {
					t.Fatal(err)
				}
				err = client.RESTClient().Get().AbsPath("/api/v1/namespaces").MaxRetries(0).Do(t.Context()).Error()
				if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, err), marker) != c.says {
					t.Errorf("%d: %v", code, err)
				}
				if told := RefusalOf(err); strings.Contains(told.Error(), marker) {
					t.Errorf("%d is told as %v", code, told)
				}
			}
		})
	}
	for text, want := range map[string]string{"v1.34.2+k3s1": "v1.34.2", "1.9.0": "1.9.0", marker: "", "v1.2.3" + marker: "v1.2.3", "": ""} {
		if got := VersionOf(text); got != want {
			t.Errorf("the version of %q is %q", text, got)
		}
	}
}
