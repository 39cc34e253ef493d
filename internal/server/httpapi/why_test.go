package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// looker is a door with an agent that has found a container which crashes.
type looker struct {
	*door
	core.Entities[api.Agent] // one is read, and nothing else
	asked                    []string
	age                      api.Age // of the copy
	fail                     error
}

func (l *looker) GetApplication(_ context.Context, agent, namespace, name string) (api.ApplicationDetail, error) {
	return api.ApplicationDetail{
		Application: api.Application{ID: api.ItemID(agent, namespace, name), Scope: api.ScopeAccount, Age: l.age},
		Resource: json.RawMessage(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"web","namespace":"argocd","annotations":{"slipway.io/rollback":"{\"id\":1,\"revisions\":[\"1111111111111111111111111111111111111111\"]}"}},
			"spec":{"project":"default","source":{"repoURL":"https://git.example.org/web.git","targetRevision":"main"},"destination":{"name":"in-cluster","namespace":"shop"}},
			"status":{"sync":{"status":"Synced","revision":"2222222222222222222222222222222222222222"},"health":{"status":"Progressing"},
			"history":[{"id":4,"revision":"3333333333333333333333333333333333333333","deployedAt":"2030-05-06T11:00:00Z"}],
			"resources":[{"group":"apps","kind":"Deployment","version":"v1","namespace":"shop","name":"web","status":"Synced","health":{"status":"Progressing","message":"Waiting for rollout"}}]}}`),
	}, nil
}

// GetItem knows no project.
func (l *looker) GetItem(context.Context, string, string, string, string) (api.Item, error) {
	return api.Item{}, api.Errorf(api.CodeNotFound, "there is none")
}

// Get implements the list of agents.
func (l *looker) Get(_ context.Context, id string) (api.Agent, error) {
	return api.Agent{Meta: api.Meta{ID: id}, Status: api.AgentStatus{State: api.AgentConnected}}, nil
}

func (l *looker) Ask(_ context.Context, o item.Order) (json.RawMessage, error) {
	body, err := json.Marshal(o.Body)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.asked = append(l.asked, o.Kind+" "+string(body))
	l.mu.Unlock()
	switch {
	case l.fail != nil:
		return nil, l.fail
	case o.Kind == "application.tips":
		return json.RawMessage(`{"items":[{"tip":"4444444444444444444444444444444444444444","tipSeenAt":"2030-05-06T11:59:50Z"}]}`), nil
	}
	// An agent that sends lines unasked must not give them to who may not read them.
	return json.RawMessage(`{"items":[{"code":"Crash","what":"container app of Pod shop/web-1 crashes: exit code 1","next":"fix it",
		"of":{"group":"apps","kind":"Deployment","namespace":"shop","name":"web"},"object":{"kind":"Pod","namespace":"shop","name":"web-1"},"container":"app",
		"evidence":[{"object":{"kind":"Pod","namespace":"shop","name":"web-1"},"source":"status","text":"restarted 3 times"}],"log":{"lines":["a line of the log"]}}]}`), nil
}

func looking(t *testing.T) (*looker, *httptest.Server) {
	t.Helper()
	d, closed := serve(t, newFar())
	closed.Close()
	d.policy = rbac.NewPolicy(nil, nil, []api.Binding{
		{Meta: api.Meta{ID: "account.ada", Name: "ada", Scope: api.ScopeAccount}, Role: api.RoleAdmin, Principal: api.Principal{Type: api.PrincipalUser, ID: "ada"}},
		{Meta: api.Meta{ID: "account.bob", Name: "bob", Scope: api.ScopeAccount}, Role: api.RoleViewer, Principal: api.Principal{Type: api.PrincipalUser, ID: "bob"}},
	})
	l := &looker{door: d}
	h, err := httpapi.New(httpapi.Config{Items: l, Commands: l, AgentList: l, Base: core.Base{
		Authn: d, Policies: d, Audits: d, PublicURL: "http://slipway.test", FingerprintKey: make([]byte, 32),
	}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return l, server
}

func whyOf(t *testing.T, server *httptest.Server, user, query string) (api.Why, string) {
	t.Helper()
	code, text, _ := get(t, server, user, app+"/why"+query, "")
	var out api.Why
	if err := json.Unmarshal([]byte(text), &out); code != http.StatusOK || err != nil {
		t.Fatalf("%d %s", code, text)
	}
	return out, text
}

func TestWhyNamesWhatFailsWhileTheApplicationIsProgressing(t *testing.T) {
	t.Parallel()
	l, server := looking(t)
	out, _ := whyOf(t, server, "ada", "")
	r := out.Reasons[0]
	if r.What != "container app of Pod shop/web-1 crashes: exit code 1" || r.Code != "Progressing" || r.Finding == nil || len(r.Finding.Evidence) != 1 ||
		!strings.Contains(r.Why, "Waiting for rollout") || !strings.HasPrefix(r.Next, "fix it; ") {
		t.Errorf("the first reason is %+v", r)
	}
	if !slices.Equal(l.asked, []string{`application.findings {}`}) {
		t.Errorf("the agent was asked for %q", l.asked)
	}
}

func TestLinesOfALogTakeTheRightToReadLogs(t *testing.T) {
	t.Parallel()
	l, server := looking(t)
	out, text := whyOf(t, server, "bob", "?logs=true")
	log := out.Reasons[0].Finding.Log
	if strings.Contains(text, "a line of the log") || log == nil || !strings.HasPrefix(log.Note, "the container has a log, and you may not read it: ") {
		t.Errorf("without the right the answer is %s", text)
	}
	if !slices.Equal(l.asked, []string{`application.findings {}`}) {
		t.Errorf("without the right the agent was asked for %q", l.asked)
	}
	out, _ = whyOf(t, server, "ada", "?logs=true")
	if log := out.Reasons[0].Finding.Log; !slices.Equal(log.Lines, []string{"a line of the log"}) || l.asked[1] != `application.findings {"logs":true}` {
		t.Errorf("with the right the log is %+v, and the agent was asked for %q", log, l.asked)
	}
	if len(l.entries) != 0 {
		t.Errorf("the audit has %+v", l.entries)
	}
}

func TestWhyIsAnsweredWithoutTheAgent(t *testing.T) {
	t.Parallel()
	l, server := looking(t)
	l.fail = api.Errorf(api.CodeUnavailable, "it does not answer")
	out, _ := whyOf(t, server, "ada", "")
	if len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "it does not answer") || out.Reasons[0].Finding != nil || out.Reasons[0].Code == "" {
		t.Errorf("the answer is %+v", out)
	}
	l.age, l.asked = api.Age{Stale: true, AgentAway: true, AsOf: time.Date(2030, 5, 6, 12, 0, 0, 0, time.UTC)}, nil
	out, _ = whyOf(t, server, "ada", "")
	if out.Reasons[0].Code != "AgentAway" || !out.Stale || len(out.Warnings) != 0 || len(l.asked) != 0 {
		t.Errorf("while the agent is away the answer is %+v, and it was asked for %q", out, l.asked)
	}
}

func TestTipComparedDeployedAndPinnedAreWhatTheyAre(t *testing.T) {
	t.Parallel()
	_, server := looking(t)
	code, text, _ := get(t, server, "bob", app+"/revision-status", "")
	var out api.RevisionStatus
	if err := json.Unmarshal([]byte(text), &out); code != http.StatusOK || err != nil {
		t.Fatalf("%d %s", code, text)
	}
	s := out.Sources[0]
	for what, got := range map[string]string{"4": s.Tip, "2": s.Compared, "3": s.Deployed, "1": s.Pinned} {
		if got != strings.Repeat(what, 40) {
			t.Errorf("%s is %q in %s", what, got, text)
		}
	}
	if s.TipSeenAt.IsZero() || s.TargetRevision != "main" || out.Deployment != 4 || out.Pinned != 1 {
		t.Errorf("it is %s", text)
	}
}
