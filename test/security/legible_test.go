package security

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/server"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// TestATextThatNoDatabaseKeepsHidesNoApplication puts such texts into Git, into an Application and into the cluster.
func TestATextThatNoDatabaseKeepsHidesNoApplication(t *testing.T) {
	t.Parallel()
	for _, database := range []string{"SQLite", "PostgreSQL"} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			address := ""
			if database == "PostgreSQL" {
				address = testenv.Postgres(t)
			}
			illegible(t, newWorld(t, func(cfg *server.Config) { cfg.Database = address }))
		})
	}
}

func illegible(t *testing.T, w *world) {
	t.Helper()
	config := testenv.Cluster(t)
	c := &cluster{t: t, w: w, ns: testenv.Namespace(t), p: plants{}, core: kubernetes.NewForConfigOrDie(config), dynamic: dynamic.NewForConfigOrDie(config)}
	c.repo = testenv.Git(t).NewRepo("odd")
	manifest := func(name, more string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n%s", name, more)
	}
	c.repo.Commit(map[string]string{
		"name/a.yaml":  "# first\n---\n" + manifest(`"a\0b"`, ""),
		"turn/a.yaml":  manifest("\"a\u202eb\"", ""),
		"key/a.yaml":   manifest("key", "  labels: {\"a\\0b\": x}\n"),
		"value/a.yaml": manifest("value", "data: {x: \"a\\0b\\e[31m\"}\n"),
		"good/a.yaml":  manifest("good", ""),
	}, "odd texts")
	through := newTap(t, strings.TrimPrefix(w.url, "http://"))
	made := into[api.AgentRegistration](t, w.must(w.admin, "POST", "/agents", `{"name":"prod"}`))
	c.startAgent(through, made.Token)
	c.odd("path", map[string]any{"path": "a\x00b"})
	c.odd("note", map[string]any{"path": "good", "targetRevision": "no\x00where"})
	for _, name := range []string{"name", "turn", "key", "value", "good"} {
		c.odd(name, map[string]any{"path": name})
	}
	of := func(name string) string { return "/agents/account.prod/applications/" + c.ns + "/" + name }
	// Each is there, with what is wrong with it, and others are as they should be.
	c.settled(of("good"), `"OutOfSync"`)
	c.settled(of("name"), `name/a.yaml:3: document 2: metadata of ConfigMap: name cannot be kept: it has the character NUL (U+0000) at byte 1`)
	c.settled(of("turn"), `U+202E`)
	c.settled(of("key"), `a key of metadata.labels cannot be kept`)
	c.settled(of("path"), `"ComparisonError"`)
	c.settled(of("note"), `"ComparisonError"`)
	c.settled(of("value"), `"OutOfSync"`)
	// What was done with such a value is in the ledger, and can be read.
	w.must(w.admin, "POST", of("value")+"/sync", `{}`)
	c.settled("/ledger?name=value", `"Succeeded"`)
	for _, path := range []string{of("value") + "/manifests", of("value") + "/tree", "/ledger?name=value"} {
		out := w.do(w.admin, "GET", path, "")
		if out.StatusCode != http.StatusOK || strings.ContainsAny(out.text, "\x00\x1b") || strings.Contains(out.text, `\u0000`) {
			t.Errorf("%s: %s", path, out)
		}
	}
	if page := into[api.Page[json.RawMessage]](t, w.must(w.admin, "GET", "/applications?limit=100", "")); len(page.Items) != 7 {
		t.Errorf("the server knows %d applications, want 7", len(page.Items))
	}
}

// odd makes an Application whose source says something else than that of others.
func (c *cluster) odd(name string, source map[string]any) {
	c.t.Helper()
	from := map[string]any{"repoURL": c.repo.URL(), "targetRevision": "main"}
	for key, value := range source {
		from[key] = value
	}
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": map[string]any{"name": name, "namespace": c.ns, "annotations": map[string]any{"example.com/note": "a\x00\u202eb"}},
		"spec":     map[string]any{"project": "default", "source": from, "destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": c.ns}},
	}}
	in := c.dynamic.Resource(v1alpha1.GroupVersion().WithResource("applications")).Namespace(c.ns)
	if _, err := in.Create(c.t.Context(), obj, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = in.Delete(context.WithoutCancel(c.t.Context()), name, metav1.DeleteOptions{}) // with its namespace at the latest
	})
}
