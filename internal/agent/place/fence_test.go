package place

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func limitsOf(t *testing.T, namespaces, cluster string) object.Limits {
	t.Helper()
	l, err := object.NewLimits("edge", namespaces, cluster)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestNoRequestPassesTheLimitsOfACluster(t *testing.T) {
	t.Parallel()
	kinds := func(group, plural string) (namespaced, known bool) {
		switch group + "/" + plural {
		case "/pods", "apps/deployments", "example.org/widgets":
			return true, true
		case "/nodes", "/namespaces", "rbac.authorization.k8s.io/clusterroles":
			return false, true
		}
		return false, false
	}
	for _, test := range []struct {
		method, path string
		limited, all bool // passes with namespaces a and b; and with clusterResources too
	}{
		{"GET", "/version", true, true},
		{"GET", "/api", true, true},
		{"GET", "/apis", true, true},
		{"GET", "/api/v1", true, true},
		{"GET", "/apis/apps/v1", true, true},
		{"GET", "/openapi/v3/apis/apps/v1", true, true},
		{"POST", "/apis/apps/v1", false, false},
		{"POST", "/version", false, false},
		{"GET", "/api/v1/namespaces/a/pods", true, true},
		{"GET", "/api/v1/namespaces/a/pods/p/log", true, true},
		{"POST", "/api/v1/namespaces/b/pods/p/exec", true, true},
		{"PATCH", "/apis/apps/v1/namespaces/b/deployments/d", true, true},
		{"PUT", "/apis/example.org/v1/namespaces/a/widgets/w/status", true, true},
		{"GET", "/api/v1/namespaces/c/pods", false, false},
		{"PATCH", "/apis/apps/v1/namespaces/c/deployments/d", false, false},
		{"DELETE", "/api/v1/namespaces/ab/pods/p", false, false},
		{"GET", "/api/v1/namespaces/a/../c/pods", false, false},
		{"GET", "/api/v1/namespaces//pods", false, false},
		{"GET", "/api/v1/pods", false, false},
		{"GET", "/apis/apps/v1/deployments", false, false},
		{"GET", "/apis/example.org/v1/widgets", false, false},
		{"GET", "/apis/unknown.org/v1/things", false, false},
		{"GET", "/api/v1/watch/namespaces/c/pods", false, false},
		{"GET", "/api/v1/nodes", false, true},
		{"GET", "/api/v1/nodes/n", false, true},
		{"GET", "/api/v1/namespaces", false, true},
		{"PATCH", "/api/v1/namespaces/a", false, true},
		{"PATCH", "/api/v1/namespaces/a/status", false, true},
		{"PUT", "/api/v1/namespaces/a/finalize", false, true},
		{"PATCH", "/apis/rbac.authorization.k8s.io/v1/clusterroles/r", false, true},
		{"GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", false, true},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", true, true},
		{"POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", false, false},
		{"GET", "/", true, true},
	} {
		for cluster, passes := range map[string]bool{"": test.limited, "true": test.all} {
			f, err := newFence(limitsOf(t, "a,b", cluster), "https://edge.example.org")
			if err != nil {
				t.Fatal(err)
			}
			f.kinds.Store(&kinds)
			if err := f.check(test.method, test.path); (err == nil) != passes {
				t.Errorf("%s %s with clusterResources %q: %v", test.method, test.path, cluster, err)
			}
		}
	}
	f, err := newFence(limitsOf(t, "a", "true"), "https://edge.example.org")
	if err != nil {
		t.Fatal(err)
	}
	if f.check("GET", "/api/v1/nodes") == nil {
		t.Error("a kind passes before anything is known of the cluster")
	}
}

// Behind a proxy such as Rancher's, the paths of a cluster are below one of the proxy.
func TestLimitsHoldBelowAPathOfAProxy(t *testing.T) {
	t.Parallel()
	f, err := newFence(limitsOf(t, "a", ""), "https://rancher.example.org/k8s/clusters/c-1")
	if err != nil {
		t.Fatal(err)
	}
	passed := ""
	around := f.around(RoundTripper(func(r *http.Request) (*http.Response, error) {
		passed = r.URL.Path
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}))
	for path, want := range map[string]bool{
		"/k8s/clusters/c-1/api/v1/namespaces/a/pods": true, "/k8s/clusters/c-1/api/v1/namespaces/b/pods": false,
		"/api/v1/namespaces/a/pods": false, "/k8s/clusters/c-2/api/v1/namespaces/a/pods": false,
	} {
		passed = ""
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://rancher.example.org"+path, nil)
		resp, err := around.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if (passed != "") != want || !want && resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: passed %q, status %d", path, passed, resp.StatusCode)
		}
	}
}

func TestTheAgentsOwnClusterIsADestinationAsTheSettingsSay(t *testing.T) {
	t.Parallel()
	own := func(fields ...string) []string {
		return append([]string{"home", string(v1alpha1.SecretTypeCluster), "server", v1alpha1.InClusterServer, "name", "home"}, fields...)
	}
	for _, test := range []struct {
		name       string
		secrets    [][]string
		config     map[string]string
		namespaced bool
		dest       v1alpha1.ApplicationDestination
		limits     []string
		refusal    string
	}{
		{name: "without a Secret", dest: v1alpha1.ApplicationDestination{Name: "in-cluster"}},
		{
			name: "switched off", config: map[string]string{"cluster.inClusterEnabled": "false"},
			dest: v1alpha1.ApplicationDestination{Server: v1alpha1.InClusterServer}, refusal: "cluster.inClusterEnabled",
		},
		{
			name: "switched off, with a Secret", secrets: [][]string{own()}, config: map[string]string{"cluster.inClusterEnabled": "false"},
			dest: v1alpha1.ApplicationDestination{Name: "home"}, refusal: "cluster.inClusterEnabled",
		},
		{
			name: "by the name of its Secret", secrets: [][]string{own("namespaces", "a")},
			dest: v1alpha1.ApplicationDestination{Name: "home"}, limits: []string{"a"},
		},
		{
			name: "by its usual name", secrets: [][]string{own("namespaces", "a")},
			dest: v1alpha1.ApplicationDestination{Name: "in-cluster"}, limits: []string{"a"},
		},
		{
			name: "with an account of its own", secrets: [][]string{own("config", `{"bearerToken":"t"}`)},
			dest: v1alpha1.ApplicationDestination{Name: "in-cluster"},
		},
		{name: "with Roles only", namespaced: true, dest: v1alpha1.ApplicationDestination{Name: "in-cluster"}, refusal: "no destination yet"},
		{
			name: "with Roles only and a Secret", namespaced: true, secrets: [][]string{own("namespaces", "a,b")},
			dest: v1alpha1.ApplicationDestination{Name: "in-cluster"}, limits: []string{"a", "b"},
		},
		{
			name: "with Roles only and a Secret for all", namespaced: true, secrets: [][]string{own()},
			dest: v1alpha1.ApplicationDestination{Name: "in-cluster"}, refusal: "lacks the field namespaces",
		},
		{
			name: "namespaces that cannot be read", secrets: [][]string{own("namespaces", "a b")},
			dest: v1alpha1.ApplicationDestination{Name: "in-cluster"}, refusal: "no name of a namespace",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := keep(test.secrets...)
			s.configs[ConfigArgoCD] = test.config
			o := opensWith(t, s)
			o.Namespaced = test.namespaced
			c := NewClusters(o)
			t.Cleanup(c.Close)
			target, err := c.Target(t.Context(), "shop", test.dest)
			if test.refusal != "" {
				if err == nil || !strings.Contains(err.Error(), test.refusal) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || target.Live.Server != v1alpha1.InClusterServer {
				t.Fatalf("%v", err)
			}
			cluster, err := c.Identify("shop", test.dest)
			if err != nil || !slices.Equal(cluster.Limits.Namespaces(), test.limits) {
				t.Errorf("%v, %v", cluster.Limits, err)
			}
		})
	}
}

func TestANewCredentialIsUsedWithoutANewConnection(t *testing.T) {
	t.Parallel()
	var seen []string
	next := func(name string) http.RoundTripper {
		return RoundTripper(func(r *http.Request) (*http.Response, error) {
			seen = append(seen, name)
			body, out := newPipe(r.Context())
			go out()
			return &http.Response{StatusCode: http.StatusOK, Body: body}, nil
		})
	}
	w := newWire(next("old"))
	client := &http.Client{Transport: w}
	get := func(path string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://edge.example.org"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp
	}
	watch := get("/api/v1/namespaces/a/pods?watch=true")
	w.change(next("new"))
	if n, err := watch.Body.Read(make([]byte, 1)); n != 0 || err == nil || err.Error() != "EOF" {
		t.Errorf("a watch of before goes on: %d, %v", n, err)
	}
	get("/api/v1/namespaces/a/pods?watch=true")
	if !slices.Equal(seen, []string{"old", "new"}) {
		t.Errorf("%v", seen)
	}
	w.close()
}

// pipe is a body that ends with its request.
type pipe struct{ done <-chan struct{} }

func (p pipe) Read([]byte) (int, error) { <-p.done; return 0, context.Canceled }
func (p pipe) Close() error             { return nil }

func newPipe(ctx context.Context) (pipe, func()) { return pipe{ctx.Done()}, func() {} }

func TestFieldsOfAClusterSecretAreReadAsArgoCDReadsThem(t *testing.T) {
	t.Parallel()
	policy := opensWith(t, settingsWith(nil)).Outbound
	for _, test := range []struct {
		name, config, refusal string
		check                 func(*rest.Config) bool
	}{
		{"a user", `{"username":"ann","password":"p"}`, "", func(c *rest.Config) bool { return c.Username == "ann" && c.Password == "p" }},
		{"a token", `{"bearerToken":"t"}`, "", func(c *rest.Config) bool { return c.BearerToken == "t" }},
		{"a server name", `{"tlsClientConfig":{"serverName":"s"}}`, "", func(c *rest.Config) bool { return c.ServerName == "s" }},
		{"no check", `{"tlsClientConfig":{"insecure":true}}`, "", func(c *rest.Config) bool { return c.Insecure }},
		{"compression", `{"disableCompression":true}`, "", func(c *rest.Config) bool { return c.DisableCompression }},
		{"a proxy", `{"proxyUrl":"http://proxy.example.org:3128"}`, "", func(c *rest.Config) bool {
			u, err := c.Proxy(httptest.NewRequest(http.MethodGet, "https://edge.example.org", nil))
			return err == nil && u.Host == "proxy.example.org:3128"
		}},
		{"a proxy that is none", `{"proxyUrl":"ftp://proxy"}`, "proxyUrl", nil},
		{"a field in other letters", `{"bearertoken":"t"}`, "bearerToken", nil},
		{"an unknown field", `{"bearerToken":"t","later":1}`, "", func(c *rest.Config) bool { return c.BearerToken == "t" }},
		{"a program", `{"execProviderConfig":{"command":"sh"}}`, "agent's own", nil},
	} {
		e := clusterEntry{server: "https://edge.example.org", secret: "edge", config: []byte(test.config)}
		got, err := e.rest(nil)
		if err == nil && test.refusal == "" {
			if !test.check(got) {
				t.Errorf("%s: %v", test.name, got)
			}
			if _, err := carry(got, policy); err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
		} else if err == nil || test.refusal == "" || !strings.Contains(err.Error(), test.refusal) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	next := map[string][]byte{"server": []byte("https://edge.example.org"), "config": []byte(`{"bearerToken":"t","tlsClientConfig":{"later":1}}`)}
	if err := CheckCluster("edge", nil, next); err == nil || !strings.Contains(err.Error(), "config.tlsClientConfig.later") {
		t.Errorf("an unknown field is written: %v", err)
	}
	if err := CheckCluster("edge", next, next); err != nil {
		t.Errorf("what is there already is refused: %v", err)
	}
}
