package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
)

const thing = "/api/v1/agents/account.prod/applications/argocd/thing"

func (w *world) ok(token, method, path, body string) string {
	w.t.Helper()
	code, answer := w.do(token, method, path, body)
	if code >= 300 {
		w.t.Fatalf("%s %s %s: %d %s", method, path, body, code, answer)
	}
	return answer
}

func TestWhatRunsWhereIsThatOfWhatMayBeSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.admin, http.MethodPut, thing+"/link", `{"service":"account.basket","environment":"account.staging"}`)
	ada := w.user("eve", "account.viewer", "org.acme")
	for path, part := range map[string]string{
		"/api/v1/fleet/services": `"account.prod/argocd/thing"`, "/api/v1/instances": `"web-0"`, "/api/v1/applications?environment=account.staging": `"thing"`,
		"/api/v1/agents/account.prod/applications/argocd/thing/link": `"environmentBy":"hand"`,
	} {
		if answer := w.ok(w.admin, http.MethodGet, path, ""); !strings.Contains(answer, part) {
			t.Errorf("%s does not have %s: %s", path, part, answer)
		}
		if _, answer := w.do(ada, http.MethodGet, path, ""); strings.Contains(answer, part) {
			t.Errorf("somebody of org.acme is shown %s: %s", path, answer)
		}
	}
	code, answer := w.do(w.admin, http.MethodPut, "/api/v1/services/account.basket?upsert=true", `{"name":"basket","description":"x"}`)
	if code != http.StatusOK || !strings.Contains(answer, `"version":2`) {
		t.Errorf("change a service: %d %s", code, answer)
	}
}

func TestALinkTakesTheRightToSeeWhatItIsTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.admin, http.MethodPost, "/api/v1/roles", `{"name":"linker","permissions":["application_view","application_edit"]}`)
	linker := w.user("linker", "account.linker", "account")
	for _, body := range []string{`{"service":"account.basket"}`, `{"environment":"account.staging"}`, `{"service":"account.none"}`} {
		if code, answer := w.do(linker, http.MethodPut, thing+"/link", body); code != http.StatusNotFound {
			t.Errorf("link %s without the right to see it: %d %s", body, code, answer)
		}
	}
	w.ok(w.admin, http.MethodPut, thing+"/link", `{"service":"account.basket"}`)
	code, answer := w.do(w.admin, http.MethodDelete, "/api/v1/services/account.basket", "")
	if p := problemOf(t, answer); code != http.StatusConflict || len(p.References) != 1 || p.References[0].ID != "account.prod/argocd/thing" {
		t.Errorf("delete a service that is linked: %d %s", code, answer)
	}
	w.ok(linker, http.MethodDelete, thing+"/link", "")
	w.ok(w.admin, http.MethodDelete, "/api/v1/services/account.basket", "")
}

func TestAClusterOfAnEnvironmentIsOneThatMayBeSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.admin, http.MethodPost, "/api/v1/roles", `{"name":"planner","permissions":["environment_view","environment_edit","agent_view"]}`)
	planner := w.user("planner", "account.planner", "account")
	body := func(cluster string) string {
		return fmt.Sprintf(`{"name":"production","type":"Production","clusters":[{"agent":"account.prod","cluster":%q}]}`, cluster)
	}
	const path = "/api/v1/environments/org.acme.production"
	if code, answer := w.do(planner, http.MethodPut, path, body("edge")); code != http.StatusNotFound {
		t.Errorf("add a cluster without the right to see it: %d %s", code, answer)
	}
	w.ok(planner, http.MethodPut, path, body("in-cluster"))
	if answer := w.ok(w.admin, http.MethodPut, path, body("https://edge.example.org:6443")); !strings.Contains(answer, `"cluster":"edge"`) {
		t.Errorf("the cluster is not called by its name: %s", answer)
	}
	// What is there already may stay.
	w.ok(planner, http.MethodPut, path, body("edge"))
}

func TestTheServerSaysWhatItWouldLinkBeforeItDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = "/api/v1/agents/account.prod/links"
	var plan api.LinkPlan
	read := func(answer string) {
		t.Helper()
		if err := json.Unmarshal([]byte(answer), &plan); err != nil || len(plan.Items) != 1 || plan.Items[0].Service != "account.thing" || !plan.Items[0].MakesService {
			t.Errorf("the plan is %s", answer)
		}
	}
	w.ok(w.admin, http.MethodPost, "/api/v1/roles", `{"name":"keeper","permissions":["agent_view","agent_edit","application_view","application_edit"]}`)
	if code, answer := w.do(w.user("keeper", "account.keeper", "account"), http.MethodPost, path, ""); code != http.StatusForbidden {
		t.Errorf("make services without the right to: %d %s", code, answer)
	}
	read(w.ok(w.admin, http.MethodPost, path+"?dryRun=true", ""))
	if code, _ := w.do(w.admin, http.MethodGet, "/api/v1/services/account.thing", ""); code != http.StatusNotFound {
		t.Errorf("a dry run has made the service: %d", code)
	}
	read(w.ok(w.admin, http.MethodPost, path, ""))
	w.ok(w.admin, http.MethodGet, "/api/v1/services/account.thing", "")
	if answer := w.ok(w.admin, http.MethodGet, "/api/v1/audit?action=agent.link", ""); !strings.Contains(answer, "account.thing") {
		t.Errorf("the audit does not say what was made: %s", answer)
	}
}

// arrives has the agent of the world bring a new application, which the server stores. It returns what the server is to notice.
func (w *world) arrives(name string) gateway.Change {
	w.t.Helper()
	ctx := w.t.Context()
	kept, err := w.server.store.Agents.Get(ctx, "account.prod")
	if err != nil {
		w.t.Fatal(err)
	}
	body := fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"argocd"},"spec":{"project":"default"}}`, name)
	key := agentapi.Key{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: name}
	w.batches++
	items := []agentapi.Item{{Key: key, Hash: agentapi.Hash([]byte(body)), Body: json.RawMessage(body)}}
	changed, err := w.server.store.ApplyItems(ctx, kept.UID, kept.Status.Epoch, 1+w.batches, items, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	return gateway.Change{UID: kept.UID, Items: changed}
}

// linked checks what the new applications are linked to that the server links until it has linked some.
func (w *world) linked(l *autolinker) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	published := make(chan string, 100)
	l.publish = func(_ context.Context, e api.Event) { published <- e.Object.ID }
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.run(ctx)
	}()
	defer func() {
		cancel()
		<-done
	}()
	for waiting := map[string]bool{"account.search": true, "account.prod": true}; len(waiting) > 0; {
		select {
		case id := <-published:
			delete(waiting, id)
		case <-time.After(time.Minute):
			w.t.Fatalf("nothing is linked: %v are not made", waiting)
		}
	}
	answer := w.ok(w.admin, http.MethodGet, "/api/v1/agents/account.prod/applications/argocd/search-prod", "")
	if !strings.Contains(answer, `"service":"account.search"`) || !strings.Contains(answer, `"environment":"account.prod"`) {
		w.t.Errorf("the application is not linked: %s", answer)
	}
	// One that was there before is left alone.
	if answer := w.ok(w.admin, http.MethodGet, thing, ""); strings.Contains(answer, `"service":`) {
		w.t.Errorf("an application that was there is linked too: %s", answer)
	}
	if answer := w.ok(w.admin, http.MethodGet, "/api/v1/audit?action=agent.link", ""); strings.Count(answer, "account.search") == 0 {
		w.t.Errorf("the audit does not say what was made: %s", answer)
	}
	if left, err := w.server.store.Unlinked(ctx); err != nil || len(left) > 0 {
		w.t.Errorf("agents %v have applications to link, %v", left, err)
	}
}

func TestNewApplicationsAreLinkedWhereTheirAgentIsSetToThat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.admin, http.MethodPut, "/api/v1/agents/account.prod", `{"name":"prod","autoCreate":true}`)
	l, change := w.server.newAutolinker(), w.arrives("search-prod")
	heard := change
	heard.Heard = true
	if l.notice(heard); len(l.fresh) > 0 || len(l.wake) > 0 {
		t.Errorf("it links what another server reported: %v", l.fresh)
	}
	l.notice(gateway.Change{UID: "nobody", Items: change.Items})
	if l.notice(change); !l.fresh[change.UID] || len(l.wake) != 1 {
		t.Errorf("a new application wakes nobody: %v", l.fresh)
	}
	w.linked(l)
}

// TestApplicationsThatAKilledServerDidNotLinkAreLinkedByTheNext drops the report to the part of the server that links.
func TestApplicationsThatAKilledServerDidNotLinkAreLinkedByTheNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.admin, http.MethodPut, "/api/v1/agents/account.prod", `{"name":"prod","autoCreate":true}`)
	w.arrives("search-prod")
	data := w.server.cfg.Data
	if err := w.server.Close(); err != nil {
		t.Fatal(err)
	}
	w.server = newServer(t, func(c *Config) { c.Data = data })
	w.linked(w.server.newAutolinker())
}
