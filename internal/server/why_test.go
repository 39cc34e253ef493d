package server

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
)

const shopPath = "/api/v1/agents/account.prod/applications/argocd/thing"

// tell has the agent tell of its Application and its project as they are now.
func (w *world) tell(app, project string) {
	w.t.Helper()
	ctx := w.t.Context()
	agent, err := w.server.store.Agents.Get(ctx, "account.prod")
	if err != nil {
		w.t.Fatal(err)
	}
	w.batches++
	var batch []agentapi.Item
	for kind, body := range map[agentapi.ItemKind]string{agentapi.ItemApplication: app, agentapi.ItemArgoProject: project} {
		if body == "" {
			continue
		}
		name := "thing"
		if kind == agentapi.ItemArgoProject {
			name = "default"
		}
		batch = append(batch, agentapi.Item{Key: agentapi.Key{Kind: kind, Namespace: "argocd", Name: name}, Hash: agentapi.Hash([]byte(body)), Body: json.RawMessage(body)})
	}
	if _, err := w.server.store.ApplyItems(ctx, agent.UID, agent.Status.Epoch, 1+w.batches, batch, time.Now()); err != nil {
		w.t.Fatal(err)
	}
}

// appOf is an Application, with more of its spec and its status.
func appOf(spec, status string) string {
	return `{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"thing","namespace":"argocd","resourceVersion":"9","labels":{"team":"shop"}},` +
		`"spec":{"project":"default","source":{"repoURL":"https://git.example.org/shop.git","path":"deploy"},"destination":{"server":"https://edge.example.org:6443","namespace":"shop"}` + spec + `},` +
		`"status":` + status + `}`
}

func TestWhyIsToldFromWhatTheServerKnows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(appOf(`,"syncPolicy":{"automated":{}}`, `{"sync":{"status":"OutOfSync"},"health":{"status":"Healthy"},"resources":[
		{"kind":"ConfigMap","version":"v1","namespace":"shop","name":"settings","status":"OutOfSync","health":{"status":"Healthy"}}]}`),
		`{"apiVersion":"argoproj.io/v1alpha1","kind":"AppProject","metadata":{"name":"default","namespace":"argocd","resourceVersion":"3"},
		"spec":{"syncWindows":[{"kind":"deny","schedule":"* * * * *","duration":"1h","applications":["*"],"manualSync":true}]}}`)
	ask := func(token string) api.Why {
		t.Helper()
		code, answer := w.do(token, http.MethodGet, shopPath+"/why", "")
		var out api.Why
		if err := json.Unmarshal([]byte(answer), &out); code != http.StatusOK || err != nil {
			t.Fatalf("%d %s", code, answer)
		}
		return out
	}
	got := ask(w.admin)
	if r := got.Reasons[0]; r.Code != "HeldByWindow" || len(r.Actions) != 1 || r.Actions[0].Action != api.WhySync || !strings.HasPrefix(got.State, "OutOfSync, Healthy, held") {
		t.Errorf("the answer is %+v", got)
	}
	if got.Window == nil || !got.Window.Manual || got.Window.Reason == "" {
		t.Errorf("the closed window is %+v", got.Window)
	}
	// Who may not see the project is not told of its windows, and is told that they were not looked at.
	if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/roles", `{"name":"looker","permissions":["application_view"]}`); code != http.StatusOK {
		t.Fatal(code, answer)
	}
	got = ask(w.user("looker", "account.looker", "account"))
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "sync windows are not looked at") || got.Reasons[0].Code != "SyncDue" || got.Window != nil {
		t.Errorf("without the permission to see the project the answer is %+v", got)
	}
}

func TestAnApplicationThatNobodyCanReadIsSaidSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(strings.Replace(appOf("", "{}"), `"path":"deploy"`, `"path":7`, 1), "")
	code, answer := w.do(w.admin, http.MethodGet, shopPath+"/why", "")
	if p := problemOf(t, answer); code != http.StatusUnprocessableEntity || !strings.Contains(p.Detail, "correct its fields") {
		t.Errorf("%d %s", code, answer)
	}
}

func TestManifestsAreOnlyPlannedForWhoMaySyncThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/roles", `{"name":"looker","permissions":["application_view"]}`); code != http.StatusOK {
		t.Fatal(code, answer)
	}
	looker := w.user("looker", "account.looker", "account")
	for body, want := range map[string]int{
		`{"manifests":["{}"]}`: http.StatusForbidden,
		`{"prune":true}`:       http.StatusServiceUnavailable, // it may, and no agent is there
		`{"prune":"yes"}`:      http.StatusUnprocessableEntity,
	} {
		if code, answer := w.do(looker, http.MethodPost, shopPath+"/plan", body); code != want {
			t.Errorf("%s: %d %s, want %d", body, code, answer, want)
		}
	}
}

func TestMarksOfSlipwaysEngineHaveNoEffectBesideAnArgoCD(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pin := `"annotations":{"slipway.io/rollback":"{\"id\":1,\"revisions\":[\"a\"],\"by\":\"ann\",\"at\":\"2030-05-06T09:00:00Z\"}"},"name":"thing"`
	w.tell(strings.Replace(appOf("", `{"sync":{"status":"Synced"},"health":{"status":"Healthy"},"history":[
		{"id":1,"revision":"a","deployedAt":"2030-05-06T08:00:00Z"},{"id":2,"revision":"b","deployedAt":"2030-05-06T10:00:00Z"}],
		"operationState":{"phase":"Running","message":"waiting for pruning confirmation of /Namespace/shop","startedAt":"2030-05-06T10:00:00Z"}}`),
		`"name":"thing"`, pin, 1), "")
	state := func() (shown api.ApplicationDetail, why api.Why, at api.RevisionStatus, history api.DeploymentHistory) {
		t.Helper()
		for path, out := range map[string]any{"": &shown, "/why": &why, "/revision-status": &at, "/history": &history} {
			if code, answer := w.do(w.admin, http.MethodGet, shopPath+path, ""); code != http.StatusOK || json.Unmarshal([]byte(answer), out) != nil {
				t.Fatalf("%s: %d %s", path, code, answer)
			}
		}
		return shown, why, at, history
	}
	pinned := func(d api.Deployment) bool { return d.Pinned }
	offered := func(r api.WhyReason) bool {
		return slices.ContainsFunc(r.Actions, func(a api.WhyAction) bool { return a.Action == api.WhyConfirm || a.Action == api.WhyUnpin })
	}
	shown, why, at, history := state()
	if len(shown.Unsupported) != 0 || len(why.Reasons) != 2 || !slices.ContainsFunc(why.Reasons, offered) || at.Pinned != 1 || !slices.ContainsFunc(history.Items, pinned) {
		t.Errorf("with Slipway's engine: %+v, %+v, %+v, %+v", shown.Unsupported, why, at, history)
	}
	agent, err := w.server.store.Agents.Get(t.Context(), "account.prod")
	if err == nil {
		session := gateway.Session{ClusterUID: "c", Namespace: "argocd", Versions: agentapi.Versions{Engine: agentapi.EngineArgoCD}}
		_, err = w.server.store.BeginSession(t.Context(), agent.UID, session, time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	shown, why, at, history = state()
	lack := api.AgentLack{Command: string(agentapi.KindConfirm), Message: agentapi.EngineArgoCD.Lacking(agentapi.KindConfirm)}
	if !slices.Contains(shown.Unsupported, lack) {
		t.Errorf("beside an Argo CD, what the agent does not carry out is %+v", shown.Unsupported)
	}
	if len(why.Reasons) != 1 || slices.ContainsFunc(why.Reasons, offered) || !strings.Contains(why.Reasons[0].Next, "`argocd app confirm-deletion thing`") {
		t.Errorf("beside an Argo CD, the answer is %+v", why)
	}
	if at.Pinned != 0 || at.Sources[0].Pinned != "" || slices.ContainsFunc(history.Items, pinned) {
		t.Errorf("beside an Argo CD, a pin is shown: %+v, %+v", at, history)
	}
}
