package support

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clusters "k8s.io/client-go/tools/clientcmd/api"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/remote"
)

const (
	// planted is the secret: nothing of a bundle may hold it, in any case or encoding.
	planted, encoded = "hunter2", "aHVudGVyMg"
	// said is a text that may be told but for what is secret in it.
	said = `fetch https://ada:hunter2@git.invalid/shop.git?q=hunter2#hunter2 failed: password=hunter2, {"apiToken": "hunter2"}, ` +
		`Authorization: Bearer hunter2HUNTER2hunter2, slp_hunter2_hunter2`
	// resource has the secret wherever an object may: as it is where nothing is kept, and in texts where something is.
	resource = `{"apiVersion":"argoproj.io/v1alpha1","kind":"Application",
		"metadata":{"name":"shop","namespace":"argocd","labels":{"a":"hunter2","argocd.argoproj.io/secret-type":"repository"},
			"annotations":{"a":"hunter2","kubectl.kubernetes.io/last-applied-configuration":"hunter2"},"managedFields":[{"manager":"hunter2"}]},
		"spec":{"project":"hunter2","source":{"repoURL":"https://ada:hunter2@git.invalid/shop.git?q=hunter2","path":"hunter2","helm":{"values":"a: hunter2"}},
			"template":{"spec":{"containers":[{"name":"agent","image":"agent:1","args":["--a=hunter2"],"env":[{"name":"A","value":"hunter2"}]}]}},
			"containers":[{"name":"agent","args":["--a=hunter2"],"ports":[{"name":"metrics","containerPort":8082},{"name":"pprof","containerPort":8083}]}]},
		"data":{"key":"hunter2"},"stringData":{"key":"hunter2"},"type":"Warning","reason":SAID,"message":SAID,
		"status":{"health":{"status":"Degraded","message":SAID},"conditions":[{"type":"SyncError","message":SAID}],
			"operationState":{"phase":"Failed","message":SAID,"operation":{"sync":{"manifests":["hunter2"]}},
				"syncResult":{"revision":"abc","source":{"repoURL":"hunter2"},"resources":[{"kind":"ConfigMap","name":"web","message":SAID}]}},
			"message":SAID,"containerStatuses":[{"name":"agent","lastState":{"terminated":{"message":SAID}}}]}}`
)

// object is a resource of Kubernetes, of another kind.
func object(apiVersion, kind string) string {
	text, err := json.Marshal(said)
	if err != nil {
		panic(err) // of a text: it cannot
	}
	out := strings.ReplaceAll(resource, "SAID", string(text))
	return strings.Replace(out, `"argoproj.io/v1alpha1","kind":"Application"`, `"`+apiVersion+`","kind":"`+kind+`"`, 1)
}

// fill plants the secret in every text of a value of the API, but for those that name what it is of.
func fill(v reflect.Value, name string) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2030, 6, 1, 0, 0, 0, 0, time.UTC)))
		return
	case json.RawMessage:
		v.Set(reflect.ValueOf(json.RawMessage(object("v1", "Secret"))))
		return
	}
	switch v.Kind() {
	case reflect.String:
		if v.SetString(said); name == "ID" || name == "Agent" || name == "Namespace" || name == "Name" {
			v.SetString("shop")
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value, name)
		v.SetMapIndex(reflect.ValueOf("password").Convert(v.Type().Key()), value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), v.Type().Field(i).Name)
			}
		}
	}
}

// full is an answer of the server with the secret in it.
func full[T any](change func(*T)) string {
	var v T
	fill(reflect.ValueOf(&v).Elem(), "")
	if change != nil {
		change(&v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // of values of the API: it cannot
	}
	return string(raw)
}

// last makes a page the only one.
func last[T any](p *api.Page[T]) { p.NextCursor = "" }

// planet is a stand-in for a server or a cluster, in all of whose answers there are secrets.
type planet struct {
	answers map[string]string
	// broken is a path that is not answered.
	broken string
	asked  map[string]bool
}

// ServeHTTP implements http.Handler.
func (p *planet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, there := p.answers[r.URL.Path]
	p.asked[r.URL.Path] = true
	switch {
	case r.URL.Path == p.broken:
		panic(http.ErrAbortHandler) // as a process that is killed
	case !there:
		http.NotFound(w, r)
		return
	case strings.HasSuffix(r.URL.Path, "/secrets") && !strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList"):
		answer = `{"apiVersion":"v1","kind":"SecretList","items":[` + object("v1", "Secret") + `]}`
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, answer)
}

// aServer is a server of which all is secret that may be.
func aServer() *planet {
	at := func(path string) string { return "/api/v1/" + path }
	return &planet{asked: map[string]bool{}, answers: map[string]string{
		"/healthz": "ok", "/readyz": "ok",
		at("info"):     full[api.ServerInfo](nil),
		at("overview"): full[api.Overview](nil),
		at("agents"):   full(last[api.Agent]),
		at("applications"): full(func(p *api.Page[api.Application]) {
			last(p)
			p.Items[0].Agent, p.Items[0].Namespace, p.Items[0].Name = "account.prod", "argocd", "shop"
		}),
		at("agents/account.prod/applications/argocd/shop"): full(func(d *api.ApplicationDetail) {
			d.Resource = json.RawMessage(object("argoproj.io/v1alpha1", "Application"))
		}),
		at("jobs"):   full(last[api.Job]),
		at("ledger"): full(last[api.LedgerEntry]),
		at("notification-channels"): full(func(p *api.Page[api.NotificationChannel]) {
			last(p)
			p.Items[0].URL = "https://ada:hunter2@hooks.example.org/services/hunter2?q=hunter2"
		}),
		at("notification-deliveries"): full(last[api.NotificationDelivery]),
	}}
}

// aCluster is a cluster likewise.
func aCluster() *planet {
	list := func(apiVersion, kind string) string {
		return `{"apiVersion":"` + apiVersion + `","kind":"` + kind + `List","metadata":{},"items":[` + object(apiVersion, kind) + `]}`
	}
	metadata := strings.Split(strings.SplitN(object("v1", "Secret"), `"metadata":`, 2)[1], `"spec":`)[0]
	settings := strings.ReplaceAll(list("v1", "ConfigMap"), `"name":"shop"`, `"name":"argocd-cm"`)
	lease := `{"apiVersion":"coordination.k8s.io/v1","kind":"LeaseList","metadata":{},"items":[{"apiVersion":"coordination.k8s.io/v1","kind":"Lease",
		"metadata":{"name":"agent","annotations":{"a":"hunter2"}},"spec":{"holderIdentity":"agent-0"}}]}`
	const core, apps, argo = "/api/v1/namespaces/argocd/", "/apis/apps/v1/namespaces/argocd/", "/apis/argoproj.io/v1alpha1/namespaces/argocd/"
	const leases = "/apis/coordination.k8s.io/v1/namespaces/argocd/leases"
	identities := `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadataList","items":[{"metadata":` +
		strings.TrimSuffix(strings.TrimSpace(metadata), ",") + `}]}`
	answers := map[string]string{
		"/version":            `{"gitVersion":"v1.34.0","gitCommit":"hunter2"}`,
		leases:                lease,
		apps + "deployments":  list("apps/v1", "Deployment"),
		apps + "statefulsets": list("apps/v1", "StatefulSet"),
		core + "pods":         list("v1", "Pod"),
		core + "events":       list("v1", "Event"),
		core + "configmaps":   settings,
		core + "secrets":      identities,
		argo + "applications": list("argoproj.io/v1alpha1", "Application"),
		argo + "appprojects":  list("argoproj.io/v1alpha1", "AppProject"),
	}
	answers[core+"pods/shop:8082/proxy/metrics"] = "# HELP hunter\nfetches{repo=\"https://ada:hunter2@git.invalid/shop?q=hunter2\"} 7\n"
	answers[core+"pods/shop:8083/proxy/debug/pprof/goroutine"] = "goroutine 1 [running]:\nmain.main() password=hunter2\n"
	return &planet{asked: map[string]bool{}, answers: answers}
}

// worlds are the places that a bundle may be of, with what is to be asked of each.
func worlds(t *testing.T) map[string]struct {
	*planet
	parts []part
} {
	t.Helper()
	type world = struct {
		*planet
		parts []part
	}
	server, cluster := aServer(), aCluster()
	serving, standing := httptest.NewServer(server), httptest.NewServer(cluster)
	t.Cleanup(serving.Close)
	t.Cleanup(standing.Close)
	c, err := client.New(client.Config{Server: serving.URL, Token: "slp_hunter2_hunter2"})
	if err != nil {
		t.Fatal(err)
	}
	config := clusters.NewConfig()
	config.Clusters["x"] = &clusters.Cluster{Server: standing.URL}
	config.AuthInfos["x"] = &clusters.AuthInfo{Token: planted}
	config.Contexts["x"] = &clusters.Context{Cluster: "x", AuthInfo: "x"}
	config.CurrentContext = "x"
	file := t.TempDir() + "/kubeconfig"
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	connected, err := connect.Options{Kubeconfig: file, Namespace: "argocd"}.Connect()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newCluster(connected)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]world{
		"server": {server, serverParts(&connect.Server{Client: c, Name: remote.Context{Server: serving.URL}})}, "cluster": {cluster, s.parts()},
	}
}

func TestNoSecretOfAnySourceIsInABundle(t *testing.T) {
	t.Parallel()
	for name, w := range worlds(t) {
		var terminal strings.Builder
		b := newBundle()
		b.streams = iostream.Streams{Out: io.Discard, Err: &terminal}
		for i := range w.parts {
			if err := b.add(t.Context(), &w.parts[i]); err != nil {
				t.Fatal(err)
			}
			if len(b.files[w.parts[i].file]) == 0 {
				t.Errorf("%s: nothing was read of %s, in which a secret is planted:\n%s", name, w.parts[i].file, b.index.String())
			}
		}
		for path := range w.answers {
			if !w.asked[path] {
				t.Errorf("%s: nobody reads %s, in which a secret is planted", name, path)
			}
		}
		b.files[indexFile], b.files["terminal"] = []byte(b.index.String()), []byte(terminal.String())
		for file, raw := range b.files {
			for _, line := range strings.Split(string(raw), "\n") {
				if strings.Contains(strings.ToLower(line), planted) || strings.Contains(line, encoded) {
					t.Errorf("%s: a secret is in %s: %.300s", name, file, line)
				}
			}
		}
	}
}

func TestWhatCannotBeReachedIsToldAndTheRestIsThere(t *testing.T) {
	t.Parallel()
	for name, w := range worlds(t) {
		broken := map[string]string{"server": "/api/v1/jobs", "cluster": "/apis/coordination.k8s.io/v1/namespaces/argocd/leases"}[name]
		file := map[string]string{"server": "jobs.json", "cluster": "leases.json"}[name]
		w.broken = broken
		var terminal strings.Builder
		b := newBundle()
		b.streams = iostream.Streams{Out: io.Discard, Err: &terminal}
		for i := range w.parts {
			if err := b.add(context.WithoutCancel(t.Context()), &w.parts[i]); err != nil {
				t.Fatal(err)
			}
			if got := len(b.files[w.parts[i].file]) > 0; got == (w.parts[i].file == file) {
				t.Errorf("%s: %s is there: %t", name, w.parts[i].file, got)
			}
		}
		for where, text := range map[string]string{"the index": b.index.String(), "the terminal": terminal.String()} {
			if strings.Count(text, "FAILED: ") != 1 || !strings.Contains(text, file) {
				t.Errorf("%s: %s says\n%s", name, where, text)
			}
		}
		if b.failed != 1 {
			t.Errorf("%s: %d parts failed", name, b.failed)
		}
	}
}
