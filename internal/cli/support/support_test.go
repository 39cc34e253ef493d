package support

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

func newBundle() *bundle {
	return &bundle{files: map[string][]byte{}, streams: iostream.Streams{Out: io.Discard, Err: io.Discard}}
}

func gives(f found, err error) func(context.Context) (found, error) {
	return func(context.Context) (found, error) { return f, err }
}

func TestABundleIsBoundedAndSaysWhatIsCut(t *testing.T) {
	t.Parallel()
	b := newBundle()
	many := make([]any, 3000)
	for i := range many {
		many[i] = map[string]any{"a": strings.Repeat("x", 1000)}
	}
	b.total = maxTotal - 5<<19 // room for one file and a half
	for range 2 {
		if err := b.add(t.Context(), &part{"items.json", "items", gives(found{items: many}, nil)}); err != nil {
			t.Fatal(err)
		}
		if err := b.add(t.Context(), &part{"text.txt", "text", gives(found{text: strings.Repeat("a line\n", 1<<20)}, nil)}); err != nil {
			t.Fatal(err)
		}
	}
	if b.total > maxTotal || len(b.files["items.json"]) > maxFile || len(b.files["text.txt"]) > maxFile {
		t.Errorf("%d bytes", b.total)
	}
	for _, want := range []string{"of 3000 items are left out", "the rest of 7340032 bytes is left out", "the bundle is as long as it may be"} {
		if !strings.Contains(b.index.String(), want) {
			t.Errorf("the index does not say %q:\n%s", want, b.index.String())
		}
	}
}

func TestAPartThatFailsIsToldWithoutSecrets(t *testing.T) {
	t.Parallel()
	b := newBundle()
	err := b.add(t.Context(), &part{"a.json", "a", gives(found{}, errors.New("get https://ada:hunter2@x.example/?q=hunter2: denied"))})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.index.String(); b.failed != 1 || !strings.Contains(got, "FAILED: get https://x.example/") || strings.Contains(got, "hunter2") {
		t.Errorf("index:\n%s", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.add(ctx, &part{"b.json", "b", gives(found{}, ctx.Err())}); !errors.Is(err, context.Canceled) {
		t.Errorf("who interrupts it is told %v", err)
	}
}

func TestOnlyWhatIsNamedIsKept(t *testing.T) {
	t.Parallel()
	list := make([]any, maxList+5)
	for i := range list {
		list[i] = map[string]any{"name": "n", "value": "hunter2"}
	}
	got, err := keep("list.name", "whole", "absent.x").item(map[string]any{
		"list": list, "whole": map[string]any{"message": "see https://a:hunter2@x.example/y?z"}, "other": "hunter2",
	})
	if err != nil {
		t.Fatal(err)
	}
	if s := string(got); strings.Contains(s, "hunter2") || !strings.Contains(s, `"(5 more)"`) || !strings.Contains(s, `"see https://x.example/y"`) {
		t.Errorf("%s", s)
	}
}

// TestMetricsComeThroughTheAPIServer speaks with a stand-in: no kubelet runs pods for tests.
func TestMetricsComeThroughTheAPIServer(t *testing.T) {
	t.Parallel()
	stand := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/namespaces/argocd/pods":
			w.Header().Set("Content-Type", "application/json")
			const pod = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"NAME"},` +
				`"spec":{"containers":[{"name":"agent","ports":[{"name":"health","containerPort":8081},{"name":"metrics","containerPort":8082}]}]}}`
			_, _ = io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","items":[`+strings.ReplaceAll(pod, "NAME", "agent-0")+`,`+strings.ReplaceAll(pod, "NAME", "gone")+`]}`)
		case "/api/v1/namespaces/argocd/pods/agent-0:8082/proxy/metrics":
			_, _ = io.WriteString(w, "fetches{repo=\"https://ada:hunter2@git.example.org/shop?token=hunter2\"} 7\n")
		default:
			http.NotFound(w, r)
		}
	}))
	defer stand.Close()
	file := t.TempDir() + "/kubeconfig"
	config := api.NewConfig()
	config.Clusters["x"] = &api.Cluster{Server: stand.URL}
	config.Contexts["x"] = &api.Context{Cluster: "x"}
	config.CurrentContext = "x"
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	cluster, err := connect.Options{Kubeconfig: file, Namespace: "argocd"}.Connect()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newCluster(cluster)
	if err != nil {
		t.Fatal(err)
	}
	b := newBundle()
	for _, p := range s.parts() {
		if p.file == "metrics.txt" || p.file == "goroutines.txt" {
			if err := b.add(t.Context(), &p); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, want := string(b.files["metrics.txt"]), "# pod agent-0\nfetches{repo=\"https://git.example.org/shop\"} 7\n\n"; got != want {
		t.Errorf("metrics %q, want %q", got, want)
	}
	if !strings.Contains(b.index.String(), "FAILED for one: read metrics of pod gone") {
		t.Errorf("the index does not tell of the pod that is gone:\n%s", b.index.String())
	}
	if !strings.Contains(b.index.String(), "no pod of the agent has a port that is called pprof") {
		t.Errorf("index:\n%s", b.index.String())
	}
}
