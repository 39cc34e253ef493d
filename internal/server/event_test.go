package server

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

// watch reads server-sent events about objects of some types, of a user, until the test ends.
func (w *world) watch(server *httptest.Server, token, after string, types ...string) <-chan api.Event {
	w.t.Helper()
	query := url.Values{"type": types}.Encode()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, server.URL+"/api/v1/events?"+query, http.NoBody)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	answer, err := server.Client().Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		w.t.Fatalf("events: %s %v", answer.Status, answer.Header)
	}
	out := make(chan api.Event, 100)
	lines := bufio.NewScanner(answer.Body)
	lines.Scan() // the welcome: from here on nothing is missed
	go func() {
		defer close(out)
		defer answer.Body.Close()
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var e api.Event
				if json.Unmarshal([]byte(data), &e) == nil {
					out <- e
				}
			}
		}
	}()
	return out
}

func next(t *testing.T, events <-chan api.Event) api.Event {
	t.Helper()
	select {
	case e, open := <-events:
		if !open {
			t.Fatal("the stream ended")
		}
		return e
	case <-time.After(time.Minute):
		t.Fatal("no event came")
	}
	return api.Event{}
}

func TestEventsReachThoseWhoMaySeeTheObjectAndGoOnWhereTheyWere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := httptest.NewServer(w.server.Handler())
	t.Cleanup(server.Close)
	elsewhere := w.user("elsewhere", api.RoleAdmin, "org.other")
	all, some := w.watch(server, w.admin, "", api.TypeRole), w.watch(server, elsewhere, "", api.TypeRole)
	create := func(name, scope string) {
		if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/roles", `{"name":"`+name+`","scope":"`+scope+`","permissions":["agent_view"]}`); code != http.StatusOK {
			t.Fatalf("%d %s", code, answer)
		}
	}
	create("one", "org.acme")
	create("two", "org.other")
	first := next(t, all)
	if first.Type != "role.changed" || first.Object.ID != "org.acme.one" {
		t.Errorf("first: %+v", first)
	}
	if second := next(t, all); second.Object.ID != "org.other.two" {
		t.Errorf("second: %+v", second)
	}
	if only := next(t, some); only.Object.ID != "org.other.two" {
		t.Errorf("who may not see the first got %+v", only)
	}
	if again := next(t, w.watch(server, w.admin, first.ID, api.TypeRole)); again.Object.ID != "org.other.two" {
		t.Errorf("after %s comes %+v", first.ID, again)
	}
	if reset := next(t, w.watch(server, w.admin, "another-1")); reset.Type != api.EventReset {
		t.Errorf("after an event of another process comes %+v", reset)
	}
}

func TestWhoAskedForAJobIsToldOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := httptest.NewServer(w.server.Handler())
	t.Cleanup(server.Close)
	if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/roles", `{"name":"lister","permissions":["application_view"]}`); code != http.StatusOK {
		t.Fatalf("%d %s", code, answer)
	}
	reader := w.user("reader", "account.lister", "account")
	other := w.user("other", "account.developer", "org.other")
	own, others := w.watch(server, reader, "", api.TypeJob), w.watch(server, other, "", api.TypeJob, api.TypeRole)
	const job = `{"action":"refresh","targets":[{"agent":"account.prod","namespace":"argocd","name":"thing"}]}`
	if code, answer := w.do(reader, http.MethodPost, "/api/v1/jobs", job); code != http.StatusOK {
		t.Fatalf("%d %s", code, answer)
	}
	if e := next(t, own); e.Type != "job.changed" || len(e.Data) == 0 {
		t.Errorf("who asked for it got %+v", e)
	}
	if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/roles", `{"name":"late","scope":"org.other","permissions":["agent_view"]}`); code != http.StatusOK {
		t.Fatalf("%d %s", code, answer)
	}
	if e := next(t, others); e.Type != "role.changed" {
		t.Errorf("somebody else got %+v", e)
	}
}

func TestWhoMaySeeTheAuditIsToldOfEachEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := httptest.NewServer(w.server.Handler())
	t.Cleanup(server.Close)
	elsewhere := w.user("elsewhere", api.RoleAdmin, "org.other")
	reader := w.user("reader", "account.viewer", "org.acme")
	all, some := w.watch(server, w.admin, "", api.TypeAudit), w.watch(server, elsewhere, "", api.TypeAudit)
	none := w.watch(server, reader, "", api.TypeAudit, api.TypeRole)
	for _, scope := range []string{"org.acme", "org.other"} {
		if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/roles", `{"name":"made","scope":"`+scope+`","permissions":["agent_view"]}`); code != http.StatusOK {
			t.Fatalf("%d %s", code, answer)
		}
	}
	if code, _ := w.do("", http.MethodPost, "/api/v1/session", `{"username":"admin","password":"wrong"}`); code != http.StatusUnauthorized {
		t.Fatalf("a wrong password is answered %d", code)
	}
	for _, scope := range []api.Scope{"org.acme", "org.other", api.ScopeAccount} {
		e := next(t, all)
		if e.Type != "audit.recorded" || e.Object.Scope != scope || e.Object.ID == "" || len(e.Data) > 0 {
			t.Errorf("of what was done in %q comes %+v", scope, e)
		}
	}
	if e := next(t, some); e.Object.Scope != "org.other" {
		t.Errorf("who may see the audit of org.other only got %+v", e)
	}
	if e := next(t, none); e.Type != "role.changed" {
		t.Errorf("who may not see the audit got %+v", e)
	}
}

func TestWhoMaySeeARuleIsToldOfItsMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := httptest.NewServer(w.server.Handler())
	t.Cleanup(server.Close)
	elsewhere := w.user("elsewhere", api.RoleAdmin, "org.other")
	all, others := w.watch(server, w.admin, "", api.TypeNotificationRule), w.watch(server, elsewhere, "", api.TypeNotificationRule, api.TypeRole)
	if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/notification-deliveries/"+w.delivery+"/resend", ""); code != http.StatusOK {
		t.Fatalf("%d %s", code, answer)
	}
	want := api.Ref{Type: api.TypeNotificationRule, ID: "org.acme.failures", Scope: "org.acme"}
	if e := next(t, all); e.Type != "notificationrule.told" || e.Object != want {
		t.Errorf("when a message is sent again comes %+v", e)
	}
	if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/roles", `{"name":"late","scope":"org.other","permissions":["agent_view"]}`); code != http.StatusOK {
		t.Fatalf("%d %s", code, answer)
	}
	if e := next(t, others); e.Type != "role.changed" {
		t.Errorf("who may not see the rule got %+v", e)
	}
}

func TestEveryChangeIsInTheAuditWithWhatItWasAndWhatItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	entries := func(query string) []api.AuditEntry {
		t.Helper()
		code, answer := w.do(w.admin, http.MethodGet, "/api/v1/audit?limit=1000&"+query, "")
		var page api.Page[api.AuditEntry]
		if err := json.Unmarshal([]byte(answer), &page); code != http.StatusOK || err != nil {
			t.Fatalf("%d %s", code, answer)
		}
		return page.Items
	}
	r := w.request(w.admin, http.MethodPut, "/api/v1/roles/org.acme.deployer", `{"name":"deployer","permissions":["application_view"]}`)
	r.Header.Set("X-Slipway-Reason", "less is more")
	r.Header.Set("User-Agent", "test")
	if out := w.send(r); out.Code != http.StatusOK {
		t.Fatalf("%d %s", out.Code, out.Body)
	}
	found := entries("action=role.update")
	if len(found) != 1 {
		t.Fatalf("%d entries", len(found))
	}
	e := found[0]
	if e.Actor.ID != "admin" || e.IP != "192.0.2.1" || e.UserAgent != "test" || e.RequestID == "" || e.Reason != "less is more" ||
		e.Object.ID != "org.acme.deployer" || e.Object.Scope != "org.acme" || e.Outcome != api.OutcomeSucceeded ||
		!strings.Contains(string(e.Before), "application_sync") || !strings.Contains(string(e.After), "application_view") {
		t.Errorf("%+v\nbefore %s\nafter %s", e, e.Before, e.After)
	}
	if code, answer := w.do(w.admin, http.MethodGet, fmt.Sprintf("/api/v1/audit/%d", e.ID), ""); code != http.StatusOK || !strings.Contains(answer, "less is more") {
		t.Errorf("the entry by its number: %d %s", code, answer)
	}
	elsewhere := w.user("elsewhere", api.RoleAdmin, "org.other")
	for token, number := range map[string]int64{w.admin: e.ID + 1_000_000, elsewhere: e.ID} {
		if code, answer := w.do(token, http.MethodGet, fmt.Sprintf("/api/v1/audit/%d", number), ""); code != http.StatusNotFound || !strings.Contains(answer, "no audit entry") {
			t.Errorf("entry %d, which is not there or may not be seen: %d %s", number, code, answer)
		}
	}
	nobody := w.user("nobody", "", "")
	if code, _ := w.do(nobody, http.MethodDelete, "/api/v1/roles/org.acme.deployer", ""); code != http.StatusNotFound {
		t.Errorf("%d", code)
	}
	if denied := entries("outcome=denied&actor=nobody"); len(denied) != 1 || denied[0].Action != "role.delete" {
		t.Errorf("what was denied: %+v", denied)
	}
	w.do("", http.MethodPost, "/api/v1/session", `{"username":"ada","password":"guess"}`)
	if wrong := entries("action=session.create&outcome=denied"); len(wrong) != 1 || wrong[0].Object.ID != "ada" || wrong[0].Actor.Type != api.PrincipalAnonymous {
		t.Errorf("a wrong password: %+v", wrong)
	}
	raw, err := json.Marshal(entries(""))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(raw); strings.Contains(text, password) || strings.Contains(text, "slp_") || strings.Contains(text, "sla_") {
		t.Error("the audit holds a secret")
	}
	if code, answer := w.do(w.admin, http.MethodGet, "/api/v1/audit/verification", ""); code != http.StatusOK || !strings.Contains(answer, `"ok":true`) {
		t.Errorf("%d %s", code, answer)
	}
	code, answer := w.do(w.admin, http.MethodGet, "/api/v1/audit/export", "")
	if lines := strings.Count(answer, "\n"); code != http.StatusOK || lines < len(entries(""))-1 {
		t.Errorf("an export of %d lines: %d", lines, code)
	}
	if code, answer = w.do(w.admin, http.MethodGet, "/api/v1/audit/export?format=csv&action=role.update", ""); code != http.StatusOK || strings.Count(answer, "\n") != 2 {
		t.Errorf("a table: %d %s", code, answer)
	}
}

func TestAccessSaysYesOrNoAndWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		name, body string
		want       bool
		why        string
	}{
		{"through a group", `{"principal":{"type":"user","id":"ada"},"permission":"application_sync","scope":"project.acme.shop"}`, true, "org.acme.developers"},
		{"not elsewhere", `{"principal":{"type":"user","id":"ada"},"permission":"application_sync","scope":"org.other"}`, false, "no binding"},
		{"not for an object elsewhere", `{"principal":{"type":"user","id":"ada"},"permission":"application_sync","object":"account.prod/argocd/thing"}`, false, "no binding"},
		{"oneself", `{"permission":"setting_edit"}`, true, "account.admin"},
	} {
		code, answer := w.do(w.admin, http.MethodPost, "/api/v1/access/can", c.body)
		var got api.AccessAnswer
		if err := json.Unmarshal([]byte(answer), &got); code != http.StatusOK || err != nil || got.Allowed != c.want || !strings.Contains(got.Why, c.why) {
			t.Errorf("%s: %d %s", c.name, code, answer)
		}
	}
	nobody := w.user("nobody", "", "")
	if code, answer := w.do(nobody, http.MethodPost, "/api/v1/access/can", `{"principal":{"type":"user","id":"ada"},"permission":"application_sync"}`); code != http.StatusForbidden {
		t.Errorf("about others: %d %s", code, answer)
	}
}

func TestAMappingMovesWhatAProjectHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("dora", api.RoleDeveloper, "org.acme")
	list := func() string {
		_, answer := w.do(ada, http.MethodGet, "/api/v1/applications", "")
		return answer
	}
	if answer := list(); strings.Contains(answer, "thing") {
		t.Fatalf("seen before it is mapped: %s", answer)
	}
	if code, answer := w.do(w.admin, http.MethodPut, "/api/v1/agents/account.prod/mappings/default", `{"argoProject":"default","project":"acme.shop"}`); code != http.StatusOK {
		t.Fatalf("%d %s", code, answer)
	}
	if answer := list(); !strings.Contains(answer, `"scope":"project.acme.shop"`) {
		t.Errorf("not seen after it is mapped: %s", answer)
	}
	// Who may edit it here may not move it where they may not.
	body := `{"resource":{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"thing","namespace":"argocd"},"spec":{"project":"another"}}}`
	if code, answer := w.do(ada, http.MethodPut, "/api/v1/agents/account.prod/applications/argocd/thing?wait=0", body); code != http.StatusForbidden && code != http.StatusNotFound {
		t.Errorf("moved out of reach: %d %s", code, answer)
	}
}
