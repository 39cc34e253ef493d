package place

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/project"
)

// recorder is an API server that notes as whom it was asked.
type recorder struct {
	mu    sync.Mutex
	asked []string
}

// ServeHTTP implements http.Handler.
func (s *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.Method+" "+r.Header.Get("Impersonate-User"))
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"b"}}`)
}

// last returns the last request, and forgets all.
func (s *recorder) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.asked = nil }()
	if len(s.asked) == 0 {
		return ""
	}
	return s.asked[len(s.asked)-1]
}

func settingsWith(config map[string]string) *Settings {
	s := NewSettings(func() {})
	s.configs[ConfigArgoCD] = config
	return s
}

func accountsOf(t *testing.T, list ...v1alpha1.DestinationServiceAccount) func(string) (*project.Rules, error) {
	t.Helper()
	p := &v1alpha1.AppProject{Spec: v1alpha1.AppProjectSpec{DestinationServiceAccounts: list}}
	p.Name = "shop"
	rules, err := project.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return func(called string) (*project.Rules, error) {
		if called != "shop" {
			return nil, fmt.Errorf("project %q does not exist", called)
		}
		return rules, nil
	}
}

func TestWhoSyncsAct(t *testing.T) {
	t.Parallel()
	rules := accountsOf(t, v1alpha1.DestinationServiceAccount{Server: "https://one", Namespace: "*", DefaultServiceAccount: "deployer"})
	on := map[string]string{keyImpersonate: "true"}
	for _, c := range []struct {
		name, project, server, namespace string
		config                           map[string]string
		user, denial                     string
	}{
		{"by default as the agent", "shop", "https://one", "web", nil, "", ""},
		{"only \"true\" is yes", "shop", "https://one", "web", map[string]string{keyImpersonate: "yes"}, "", ""},
		{"as the account of the destination", "shop", "https://one", "web", on, "system:serviceaccount:web:deployer", ""},
		{"as nobody where there is none", "shop", "https://two", "web", on, "", "no matching service account found for destination server https://two and namespace web"},
		{"as the agent where that is meant", "shop", "https://two", "web", map[string]string{keyImpersonate: "true", keyEnforce: "false"}, "", ""},
		{"as nobody without a namespace for the account", "shop", "https://one", "", on, "", "write defaultServiceAccount as namespace:name"},
		{"as nobody without a project", "gone", "https://one", "web", on, "", `project "gone" does not exist`},
		{"not even where it is not enforced", "gone", "https://one", "web", map[string]string{keyImpersonate: "true", keyEnforce: "false"}, "", "does not exist"},
	} {
		cl := &Clusters{Settings: settingsWith(c.config), Rules: rules}
		got := cl.actor(c.project, clusterEntry{server: c.server}, c.namespace)
		if got.user != c.user || (got.Denial == "") != (c.denial == "") || !strings.Contains(got.Denial, c.denial) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestClientsActAsWhoTheyShould(t *testing.T) {
	t.Parallel()
	server := &recorder{}
	web := httptest.NewServer(server)
	defer web.Close()
	config := &rest.Config{Host: web.URL}
	own, err := apply.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	d := &Destination{rest: config, Target: apply.Target{Client: own}}
	key := object.Key{Kind: "ConfigMap", Namespace: "b", Name: "a"}
	res := live.Resource{Kind: key.GroupKind(), Version: "v1", Plural: "configmaps", Namespaced: true}
	leave, err := guard.JudgeObject(key, object.ConsentUnset, guard.Loss{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		who         Actor
		read, write string
	}{
		{Actor{}, "GET ", "DELETE "},
		{Actor{user: "system:serviceaccount:web:deployer"}, "GET system:serviceaccount:web:deployer", "DELETE system:serviceaccount:web:deployer"},
		{Actor{Denial: "no account"}, "GET ", ""},
	} {
		client, err := d.actors.client(c.who, d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Get(t.Context(), res, key); err != nil || server.last() != c.read {
			t.Errorf("%+v reads otherwise than %q: %v", c.who, c.read, err)
		}
		err = client.Delete(t.Context(), leave, res, key, "", "Background")
		if got := server.last(); got != c.write {
			t.Errorf("%+v writes as %q", c.who, got)
		}
		if denied := c.who.Denial != ""; denied != (err != nil) || denied && (apply.Retriable(err) || !strings.HasSuffix(apply.Explain(key, err), "no account")) {
			t.Errorf("%+v: %v", c.who, err)
		}
		if again, _ := d.actors.client(c.who, d); again != client {
			t.Errorf("%+v gets another client", c.who)
		}
	}
	for i := range 3 * maxActors {
		if _, err := d.actors.client(Actor{user: fmt.Sprint(i)}, d); err != nil {
			t.Fatal(err)
		}
	}
	if len(d.actors) > maxActors {
		t.Errorf("%d clients are kept", len(d.actors))
	}
}
