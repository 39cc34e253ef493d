package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/notify"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// password is that of everybody in these tests.
const password = "correct horse battery"

// world is a server that does not listen, with something of every noun in it.
type world struct {
	t      *testing.T
	server *Server
	// admin is a token that may do everything.
	admin string
	// delivery is the id of a notification.
	delivery string
	// batches are how many the agent brought after the first.
	batches int64
	// Entry is the id of the entry of the ledger.
	entry string
}

// plenty lets tests ask as fast as they can.
func plenty() core.Limits {
	return core.Limits{
		PerSecond: 1e6, Burst: 1e6, AddressPerSecond: 1e6, AddressBurst: 1e6, SignInPerMinute: 6e7, SignInBurst: 1e6,
	}
}

func newServer(t *testing.T, change func(*Config)) *Server {
	t.Helper()
	cfg := Config{
		Listen: "127.0.0.1:0", PublicURL: "http://slipway.test", Data: t.TempDir(), AdminPassword: password, Limits: plenty(), Version: "1.2.3",
		Hash: authn.Params{Memory: 64, Time: 1, Threads: 1},
	}
	if change != nil {
		change(&cfg)
	}
	s, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, server: newServer(t, nil)}
	w.admin = w.signIn("admin")
	for _, made := range []struct{ path, body string }{
		{"users", `{"name":"ada","password":"` + password + `"}`},
		{"users", `{"name":"grace","password":"` + password + `"}`},
		{"organizations", `{"name":"acme"}`},
		{"organizations", `{"name":"other"}`},
		{"projects", `{"name":"shop","organization":"acme"}`},
		{"groups", `{"name":"developers","scope":"org.acme","members":["ada"]}`},
		{"service-accounts", `{"name":"ci","scope":"org.acme"}`},
		{"roles", `{"name":"deployer","scope":"org.acme","permissions":["application_sync"]}`},
		{"resource-groups", `{"name":"shop-apps","scope":"org.acme","types":["application"],"selectors":["team=shop"]}`},
		{"bindings", `{"name":"developers","scope":"org.acme","principal":{"type":"group","id":"org.acme.developers"},"role":"account.developer"}`},
		{"agents", `{"name":"prod"}`},
		{"services", `{"name":"checkout","scope":"org.acme"}`},
		{"environments", `{"name":"production","scope":"org.acme","type":"Production"}`},
		{"notification-channels", `{"name":"ops","scope":"org.acme","kind":"webhook","secret":"ops","url":"https://hooks.example.org/"}`},
		{"notification-rules", `{"name":"failures","scope":"org.acme","events":["token.expiring"],"channel":"org.acme.ops","before":"9000h"}`},
		{"services", `{"name":"basket"}`},
		{"environments", `{"name":"staging"}`},
		{"tokens", `{"name":"robot","owner":{"type":"serviceaccount","id":"org.acme.ci"}}`},
	} {
		if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/"+made.path, made.body); code != http.StatusOK {
			t.Fatalf("make %s: %d %s", made.path, code, answer)
		}
	}
	w.report()
	w.notify()
	w.upgrade()
	return w
}

// report has the agent tell of an item of every kind.
func (w *world) report() {
	w.t.Helper()
	ctx, now := w.t.Context(), time.Now()
	token, hash := gateway.NewToken()
	_ = token
	s := w.server.store
	must := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	must(s.SetRegistration(ctx, "account.prod", hash, now.Add(time.Hour)))
	agent, err := s.RegisterAgent(ctx, hash, gateway.Registration{PublicKey: "U" + strings.Repeat("A", 55), SealKey: make([]byte, 32), ClusterUID: "c", Namespace: "argocd"}, now)
	must(err)
	agent, err = s.BeginSession(ctx, agent.UID, gateway.Session{ClusterUID: "c", Namespace: "argocd"}, now)
	must(err)
	resource := func(kind, name, spec string) string {
		return fmt.Sprintf(`{"apiVersion":"argoproj.io/v1alpha1","kind":%q,"metadata":{"name":%q,"namespace":"argocd","resourceVersion":"7","labels":{"team":"shop"}},"spec":%s}`, kind, name, spec)
	}
	app := `{"project":"default","source":{"repoURL":"https://git.example.org/shop.git","path":"deploy"},"destination":{"server":"https://edge.example.org:6443","namespace":"shop"}}`
	items := []struct {
		kind agentapi.ItemKind
		body string
	}{
		{agentapi.ItemApplication, resource("Application", "thing", app)},
		{agentapi.ItemApplicationSet, resource("ApplicationSet", "thing", `{"template":{"spec":{"project":"default"}}}`)},
		{agentapi.ItemArgoProject, resource("AppProject", "thing", `{}`)},
		{agentapi.ItemRepository, `{"fields":{"url":"https://git.example.org/shop.git"}}`},
		{agentapi.ItemRepoCreds, `{"fields":{"url":"https://git.example.org/"}}`},
		{agentapi.ItemCluster, `{"fields":{"server":"https://edge.example.org:6443","name":"edge"}}`},
		{agentapi.ItemCertificate, `{"fields":{"serverName":"git.example.org"}}`},
		{agentapi.ItemGPGKey, `{"fields":{"keyID":"4AEE18F83AFDEB23"}}`},
	}
	var batch []agentapi.Item
	for _, item := range items {
		batch = append(batch, agentapi.Item{
			Key: agentapi.Key{Kind: item.kind, Namespace: "argocd", Name: "thing"}, Hash: agentapi.Hash([]byte(item.body)), Body: json.RawMessage(item.body),
		})
	}
	pods := `{"ready":1,"total":1,"instances":[{"namespace":"shop","pod":"web-0","ready":true}]}`
	batch = append(batch, agentapi.Item{
		Key: agentapi.Key{Kind: agentapi.ItemInstances, Namespace: "argocd", Name: "thing"}, Hash: agentapi.Hash([]byte(pods)), Body: json.RawMessage(pods),
	})
	_, err = s.ApplyItems(ctx, agent.UID, agent.Epoch, 1, batch, now)
	must(err)
	hash = strings.Repeat("ab", 32)
	web := api.LedgerKey{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	kept, err := s.KeepRecords(ctx, agent.UID, agent.Epoch, gateway.RecordBatch{Records: []gateway.Record{{ID: "0a", LedgerDetail: api.LedgerDetail{
		LedgerEntry: api.LedgerEntry{Namespace: "argocd", Name: "thing", Action: api.LedgerSync, Phase: "Succeeded", StartedAt: now, FinishedAt: now},
		Objects:     []api.LedgerObject{{LedgerKey: web, Hash: hash}},
		Changes:     []api.LedgerChange{{LedgerKey: web, Verb: api.LedgerCreated, Outcome: "Succeeded"}},
	}}}}, now)
	must(err)
	w.entry = kept.Added[0].ID
}

// signIn gives a token of a user.
func (w *world) signIn(user string) string {
	w.t.Helper()
	code, answer := w.do("", http.MethodPost, "/api/v1/session", fmt.Sprintf(`{"username":%q,"password":%q,"token":"test"}`, user, password))
	var session api.Session
	if err := json.Unmarshal([]byte(answer), &session); code != http.StatusOK || err != nil || session.Token == "" {
		w.t.Fatalf("sign in %s: %d %s", user, code, answer)
	}
	return session.Token
}

// user makes somebody who has a role at a scope, or none, and gives their token.
func (w *world) user(name, role, scope string) string {
	w.t.Helper()
	if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/users", fmt.Sprintf(`{"name":%q,"password":%q}`, name, password+" one")); code != http.StatusOK {
		w.t.Fatalf("make user %s: %d %s", name, code, answer)
	}
	if role != "" {
		body := fmt.Sprintf(`{"name":%q,"scope":%q,"principal":{"type":"user","id":%q},"role":%q}`, name, scope, name, role)
		if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/bindings", body); code != http.StatusOK {
			w.t.Fatalf("bind %s: %d %s", name, code, answer)
		}
	}
	// The first password is somebody else's choice: a session is good for choosing one's own, and for nothing else.
	answer := w.send(w.request("", http.MethodPost, "/api/v1/session", fmt.Sprintf(`{"username":%q,"password":%q}`, name, password+" one")))
	change := w.request("", http.MethodPost, "/api/v1/session/password", fmt.Sprintf(`{"current":%q,"new":%q}`, password+" one", password))
	for _, cookie := range answer.Result().Cookies() {
		change.AddCookie(cookie)
	}
	if out := w.send(change); out.Code != http.StatusNoContent {
		w.t.Fatalf("change password of %s: %d %s", name, out.Code, out.Body)
	}
	return w.signIn(name)
}

func (w *world) request(token, method, path, body string) *http.Request {
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(w.t.Context(), method, path, reader)
	r.RemoteAddr = "192.0.2.1:1234"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r
}

func (w *world) send(r *http.Request) *httptest.ResponseRecorder {
	out := httptest.NewRecorder()
	out.Body = &bytes.Buffer{}
	w.server.Handler().ServeHTTP(out, r)
	return out
}

func (w *world) do(token, method, path, body string) (int, string) {
	out := w.send(w.request(token, method, path, body))
	return out.Code, out.Body.String()
}

// Problem is the error of an answer.
func problemOf(t *testing.T, answer string) api.Problem {
	t.Helper()
	var p api.Problem
	if err := json.Unmarshal([]byte(answer), &p); err != nil {
		t.Fatalf("no problem: %s", answer)
	}
	return p
}

// notify has a rule tell something.
func (w *world) notify() {
	w.t.Helper()
	ctx := w.t.Context()
	if _, _, err := w.server.store.GatherNotifications(ctx, true, notify.Tell, func(api.Ref, bool) {}); err != nil {
		w.t.Fatal(err)
	}
	every := rbac.Filter{Type: api.TypeNotificationRule, Terms: []rbac.Term{{Scope: api.ScopeAccount, All: true}}}
	page, err := w.server.store.ListNotifications(ctx, every, api.DeliveryFilter{})
	if err != nil || len(page.Items) == 0 {
		w.t.Fatalf("%d notifications, %v", len(page.Items), err)
	}
	w.delivery = page.Items[0].ID
}

// upgrade makes a release, and an upgrade of the agent that nothing runs.
func (w *world) upgrade() {
	w.t.Helper()
	release := api.AgentRelease{Version: "1.4.0", Digest: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}
	if err := w.server.store.AddRelease(w.t.Context(), release); err != nil {
		w.t.Fatal(err)
	}
	u := api.Upgrade{ID: "someupgrade", By: api.Principal{Type: api.PrincipalUser, ID: "admin"}, Request: api.UpgradeRequest{Scope: api.ScopeAccount}}
	targets := []api.UpgradeTarget{{Place: 1, Agent: "account.prod", State: api.UpgradeTargetWaiting, Version: "1.4.0", Digest: release.Digest}}
	if err := w.server.store.AddUpgrade(w.t.Context(), u, "", targets); err != nil {
		w.t.Fatal(err)
	}
}
