package link

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	slipwayagent "github.com/slipway-gitops/slipway/internal/agent"
	agentlink "github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// planted is in every secret of the test, and must be nowhere at the server.
const planted = "PLANTED-sesame-4711"

// place is a namespace with a whole agent.
type place struct {
	t       *testing.T
	ns      string
	dynamic dynamic.Interface
	core    typed.CoreV1Interface
}

func newPlace(t *testing.T) *place {
	t.Helper()
	cfg := testenv.Cluster(t)
	d, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	core, err := typed.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &place{t: t, ns: testenv.Namespace(t), dynamic: d, core: core}
}

// secret makes a labelled Secret.
func (p *place) secret(name, kind string, data map[string]string) {
	p.t.Helper()
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1alpha1.LabelSecretType: kind, "team": "shop"}}, StringData: data,
	}
	if _, err := p.core.Secrets(p.ns).Create(p.t.Context(), s, metav1.CreateOptions{}); err != nil {
		p.t.Fatal(err)
	}
}

// make makes an object of Argo CD's kinds.
func (p *place) make(resource, kind, name string, spec map[string]any) {
	p.t.Helper()
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion().String(), "kind": kind, "metadata": map[string]any{
			"name": name, "namespace": p.ns, "annotations": map[string]any{"kubectl.kubernetes.io/last-applied-configuration": planted},
		}, "spec": spec,
	}}
	if _, err := p.dynamic.Resource(v1alpha1.Resource(resource)).Namespace(p.ns).Create(p.t.Context(), obj, metav1.CreateOptions{}); err != nil {
		p.t.Fatal(err)
	}
}

// run starts the agent and returns what it logs.
func (p *place) run(server, token string) *testenv.Record {
	p.t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		p.t.Fatal(err)
	}
	log := testenv.NewRecord()
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.t.Context()))
	a, err := slipwayagent.New(ctx, slipwayagent.Config{
		REST: testenv.Cluster(p.t), Namespace: p.ns, Data: p.t.TempDir(), Identity: "agent-" + p.ns, Version: "1.2.3", InstallCRDs: true,
		Outbound: &outward.Policy{Private: true, Allow: outward.List{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}},
		Poll:     time.Hour, Budget: plan.DefaultBudget(), Log: slog.New(slog.NewJSONHandler(log, nil)),
		Link: &slipwayagent.LinkConfig{
			Server: u, Transport: agentlink.Transport{Insecure: true, Proxy: func(*url.URL) (*url.URL, error) { return nil, nil }},
			Token: func() (string, error) { return token, nil },
		},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	p.t.Cleanup(sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			p.t.Error(err)
		}
		if p.t.Failed() {
			p.t.Logf("the agent's log:\n%s", log)
		}
	}))
	return log
}

func (p *place) key(kind agentapi.ItemKind, name string) agentapi.Key {
	return agentapi.Key{Kind: kind, Namespace: p.ns, Name: name}
}

func TestAWholeAgentIsSeenAndAskedThroughTheServer(t *testing.T) {
	t.Parallel()
	s := startServer(t, newStore())
	uid, token := s.token("account.prod")
	p := newPlace(t)
	repo := testenv.Git(t).NewRepo("shop")
	repo.Commit(map[string]string{"config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop}\ndata: {a: b}\n"}, "first")
	p.secret("repo", v1alpha1.SecretTypeRepository, map[string]string{"url": "https://ann:" + planted + "@git.example/x", "type": "git", "password": planted})
	p.secret("prod", v1alpha1.SecretTypeCluster, map[string]string{
		"name": "prod", "server": "https://" + planted + "@127.0.0.1:1", "config": `{"bearerToken":"` + planted + `"}`,
	})
	log := p.run(s.http.URL, token)
	log.Await(t, limit, "connected to the server")
	p.make(v1alpha1.ResourceApplications, v1alpha1.KindApplication, "shop", map[string]any{
		"project": "default", "source": map[string]any{"repoURL": repo.URL(), "path": "."},
		"destination": map[string]any{"server": v1alpha1.InClusterServer, "namespace": p.ns},
	})
	p.make(v1alpha1.ResourceApplications, v1alpha1.KindApplication, "leaky", map[string]any{
		"project": "default", "source": map[string]any{"repoURL": "https://ann:" + planted + "@127.0.0.1:1/x", "path": "."},
		"destination": map[string]any{"name": "prod", "namespace": p.ns}, "info": []any{map[string]any{"name": "note", "value": "token " + planted}},
	})
	p.make(v1alpha1.ResourceApplicationSets, v1alpha1.KindApplicationSet, "set", map[string]any{
		"generators": []any{}, "template": map[string]any{"metadata": map[string]any{"name": "x"}, "spec": map[string]any{
			"project": "", "destination": map[string]any{}, "source": map[string]any{"repoURL": "https://" + planted + "@h/x"},
		}},
	})
	has := func(key agentapi.Key, words ...string) func() bool {
		return func() bool {
			body := s.store.body(key)
			for _, w := range words {
				if !strings.Contains(body, w) {
					return false
				}
			}
			return body != ""
		}
	}
	s.store.until(t, "the application with its state", has(p.key(agentapi.ItemApplication, "shop"), `"status":"OutOfSync"`))
	s.store.until(t, "the application that cannot be compared", has(p.key(agentapi.ItemApplication, "leaky"), "ComparisonError"))
	for _, key := range []agentapi.Key{
		p.key(agentapi.ItemArgoProject, "default"), p.key(agentapi.ItemApplicationSet, "set"), p.key(agentapi.ItemRepository, "repo"),
		p.key(agentapi.ItemCluster, "prod"),
	} {
		s.store.until(t, key.String(), has(key))
	}
	var cluster agentapi.Setting
	if err := json.Unmarshal([]byte(s.store.body(p.key(agentapi.ItemCluster, "prod"))), &cluster); err != nil {
		t.Fatal(err)
	}
	if cluster.Fields["name"] != "prod" || cluster.Labels["team"] != "shop" || len(cluster.Secrets) != 1 || cluster.Secrets[0] != "config.bearerToken" {
		t.Errorf("the server knows of the cluster: %+v", cluster)
	}

	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	body, err := json.Marshal(api.SyncRequest{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.gateway.Commands.Do(ctx, uid, agentapi.Command{
		Kind: agentapi.KindSync, Target: agentapi.Target{Kind: agentapi.ItemApplication, Namespace: p.ns, Name: "shop"}, Body: body,
		User: "user:ann", Reason: "because", Deadline: time.Now().Add(time.Minute),
	})
	if err != nil || got.Status != agentapi.StatusDone {
		t.Fatalf("sync: %+v, %v", got, err)
	}
	s.store.until(t, "the sync", has(p.key(agentapi.ItemApplication, "shop"), `"phase":"Succeeded"`, `"status":"Synced"`))
	s.store.until(t, "its beginning and its end", func() bool {
		return s.store.Events(agentapi.EventSyncStarted) == 1 && s.store.Events(agentapi.EventSyncFinished) == 1
	})
	if _, err := p.core.ConfigMaps(p.ns).Get(t.Context(), "shop", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	s.store.until(t, "what a heartbeat says of the agent", func() bool {
		h, _ := s.gateway.Health(uid)
		return h.Versions.Agent == "1.2.3" && strings.HasPrefix(h.Versions.Kubernetes, "v") && len(h.Components) == 4
	})
	if text := s.store.everything(); strings.Contains(text, planted) {
		t.Errorf("a secret reached the server: %s", text)
	}
	if strings.Contains(log.String(), planted) || strings.Contains(log.String(), token) {
		t.Error("a secret is in the log")
	}
}
