package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/audit"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/job"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// doer does the jobs of a world by hand.
func (w *world) doer() *bulk {
	s := w.server
	return &bulk{
		store: s.store, gateway: s.gateway, policies: &policies{store: s.store}, audit: s.audit, log: slog.New(slog.DiscardHandler), now: time.Now,
	}
}

// work is the only application of a job that somebody wants synced.
func workOn(id, user string) job.Work {
	return job.Work{
		Job:    &api.Job{ID: id, By: api.Principal{Type: api.PrincipalUser, ID: user}, Request: api.JobRequest{Action: api.JobSync, Reason: "a test"}},
		Target: api.JobTarget{Place: 1, Application: "account.prod/argocd/thing", StartedAt: time.Now()}, Command: id + "-1",
		Began: func(string) error { return nil },
	}
}

// answers has the agent's answer to a job be there already, as after a server that ended before it read it.
func (w *world) answers(of job.Work, result agentapi.Result) {
	w.t.Helper()
	ctx, s := w.t.Context(), w.server.store
	uid, err := s.AgentUID(ctx, "account.prod")
	if err != nil {
		w.t.Fatal(err)
	}
	kind, _ := jobCommand(&of.Job.Request)
	command := agentapi.Command{
		ID: of.Command, Agent: uid, Kind: kind, User: "user:" + of.Job.By.ID, Issued: time.Now(), Deadline: time.Now().Add(time.Hour),
		Target: agentapi.Target{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: "thing"},
	}
	if err := s.AddCommand(ctx, gateway.Command{Command: command}); err != nil {
		w.t.Fatal(err)
	}
	result.ID = of.Command
	if _, err := s.FinishCommand(ctx, uid, result, false, time.Now()); err != nil {
		w.t.Fatal(err)
	}
}

// noted are the entries of the audit about a job, without those of its commands.
func (w *world) noted(id string) []api.AuditEntry {
	w.t.Helper()
	every := rbac.Filter{Type: api.TypeAudit, Terms: []rbac.Term{{Scope: api.ScopeAccount, All: true}}}
	page, err := w.server.store.ListAudit(w.t.Context(), every, api.AuditFilter{Action: string(agentapi.KindSync)})
	if err != nil {
		w.t.Fatal(err)
	}
	var list []api.AuditEntry
	for _, e := range page.Items {
		if e.RequestID == id {
			list = append(list, e)
		}
	}
	return list
}

func TestTheAuditOfAJobSaysWhatTheAgentAnswered(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		job     string
		result  agentapi.Result
		state   string
		outcome string
		message string
	}{
		{"done", agentapi.Result{Status: agentapi.StatusDone}, api.TargetDone, api.OutcomeSucceeded, ""},
		{"window", agentapi.Result{Status: agentapi.StatusRefused, Code: agentapi.CodePolicy, Message: "the window is closed"}, api.TargetFailed, api.OutcomeDenied, "the window is closed"},
		{"busy", agentapi.Result{Status: agentapi.StatusFailed, Code: agentapi.CodeConflict, Message: "another operation runs"}, api.TargetFailed, api.OutcomeFailed, "another operation runs"},
	} {
		of := workOn(c.job, "admin")
		w.answers(of, c.result)
		for range 2 { // the second time as another server would
			state, message, err := w.doer().Do(t.Context(), of)
			if err != nil || state != c.state || !strings.Contains(message, c.message) {
				t.Errorf("%s: it is %s, %q, %v", c.job, state, message, err)
			}
		}
		if list := w.noted(c.job); len(list) != 1 || list[0].Outcome != c.outcome || !strings.Contains(list[0].Message, c.message) {
			t.Errorf("%s: the audit has %+v", c.job, list)
		}
	}
}

// fullDisk keeps nothing.
type fullDisk struct{ audit.Storage }

var errFullDisk = errors.New("the disk is full")

// AppendAudit implements audit.Storage.
func (fullDisk) AppendAudit(context.Context, string, audit.Entry) (audit.Entry, error) {
	return audit.Entry{}, errFullDisk
}

func TestAJobDoesNotGoOnWithoutItsEntryInTheAudit(t *testing.T) {
	w := newWorld(t)
	w.user("eve", "", "")
	allowed := workOn("allowed", "admin")
	w.answers(allowed, agentapi.Result{Status: agentapi.StatusDone})
	for _, of := range []job.Work{workOn("denied", "eve"), allowed} {
		doer := w.doer()
		doer.audit = &audit.Recorder{Storage: fullDisk{w.server.store}, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
		if state, message, err := doer.Do(t.Context(), of); !errors.Is(err, errFullDisk) {
			t.Errorf("%s: it is %s, %q, %v", of.Job.ID, state, message, err)
		}
		if _, _, err := w.doer().Do(t.Context(), of); err != nil || len(w.noted(of.Job.ID)) != 1 {
			t.Errorf("%s: once there is space again there are %d entries, %v", of.Job.ID, len(w.noted(of.Job.ID)), err)
		}
	}
}

func TestADryRunSaysWhichNamedApplicationsWouldBeRefused(t *testing.T) {
	w := newWorld(t)
	reader := w.user("reader", "account.viewer", "account")
	ask := func(token, action string) api.JobPlan {
		t.Helper()
		body := `{"action":"` + action + `","targets":[{"agent":"account.prod","namespace":"argocd","name":"thing"},{"agent":"account.prod","namespace":"argocd","name":"none"}]}`
		code, answer := w.do(token, http.MethodPost, "/api/v1/jobs?dryRun=true", body)
		var plan api.JobPlan
		if err := json.Unmarshal([]byte(answer), &plan); code != http.StatusOK || err != nil || len(plan.Targets) != 2 {
			t.Fatalf("%s: %d %s", action, code, answer)
		}
		return plan
	}
	plan := ask(w.admin, api.JobSync)
	if plan.Targets[0].State != api.TargetWaiting || plan.Targets[1].State != api.TargetRefused || !strings.Contains(plan.Targets[1].Message, "there is no application") {
		t.Errorf("the plan is %+v", plan)
	}
	if c := plan.Job.Counts; c.Total != 2 || c.Waiting != 1 || c.Refused != 1 {
		t.Errorf("it counts %+v", c)
	}
	if plan := ask(reader, api.JobRefresh); plan.Targets[0].State != api.TargetWaiting {
		t.Errorf("who may see it cannot have it refreshed: %+v", plan)
	}
}

func TestAJobLeavesOutWhatItsFilterIsToldToExcept(t *testing.T) {
	w := newWorld(t)
	const thing = `{"agent":"account.prod","namespace":"argocd","name":"thing"}`
	for _, c := range []struct {
		name, body string
		code       int
		left       int64
	}{
		{"nothing", `{"action":"refresh","filter":{}}`, http.StatusOK, 1},
		{"one", `{"action":"refresh","filter":{},"except":[` + thing + `,` + thing + `]}`, http.StatusOK, 0},
		{"another", `{"action":"refresh","filter":{},"except":[{"agent":"account.prod","namespace":"argocd","name":"other"}]}`, http.StatusOK, 1},
		{"of targets", `{"action":"refresh","targets":[` + thing + `],"except":[` + thing + `]}`, http.StatusUnprocessableEntity, 0},
		{"no name", `{"action":"refresh","filter":{},"except":[{"agent":"account.prod","namespace":"argocd","name":""}]}`, http.StatusUnprocessableEntity, 0},
	} {
		code, answer := w.do(w.admin, http.MethodPost, "/api/v1/jobs?dryRun=true", c.body)
		var plan api.JobPlan
		if err := json.Unmarshal([]byte(answer), &plan); code != c.code || err != nil || plan.Job.Counts.Total != c.left {
			t.Errorf("%s: %d %s", c.name, code, answer)
		}
	}
}

func TestAJobDoesNotTellOfApplicationsThatOneMayNotSee(t *testing.T) {
	w := newWorld(t)
	w.user("eve", "", "")
	here, gone := workOn("here", "eve"), workOn("gone", "eve")
	gone.Target.Application = "account.prod/argocd/none"
	_, one, err := w.doer().Do(t.Context(), here)
	_, other, fault := w.doer().Do(t.Context(), gone)
	if one != other || one == "" || err != nil || fault != nil {
		t.Errorf("one that is there: %q, %v; one that is not: %q, %v", one, err, other, fault)
	}
}

// told has the agent tell of the application, as it is after what a job asked for.
func (w *world) told(metadata, status string) {
	w.t.Helper()
	ctx, s := w.t.Context(), w.server.store
	uid, err := s.AgentUID(ctx, "account.prod")
	if err != nil {
		w.t.Fatal(err)
	}
	agent, err := s.AgentByUID(ctx, uid)
	if err != nil {
		w.t.Fatal(err)
	}
	body := `{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"thing","namespace":"argocd",` + metadata + `},"spec":{"project":"default"},"status":` + status + `}`
	w.batches++
	_, err = s.ApplyItems(ctx, uid, agent.Epoch, 1+w.batches, []agentapi.Item{{
		Key:  agentapi.Key{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: "thing"},
		Hash: agentapi.Hash([]byte(body)), Body: json.RawMessage(body),
	}}, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestARollbackOfWhatSyncsByItselfIsDoneOnceItIsThere(t *testing.T) {
	w := newWorld(t)
	const before, after = `"resourceVersion":"7"`, `"resourceVersion":"9","annotations":{"slipway.io/rollback":"{}"}`
	const pinned = `{"type":"Pinned","message":"pinned to r1 (deployment 3) by ada"}`
	at := func(revision, sync, phase, conditions string) string {
		return `{"sync":{"status":"` + sync + `","revision":"` + revision + `"},"conditions":[` + conditions + `],
			"operationState":{"phase":"` + phase + `","message":"as it is","operation":{"sync":{}},"syncResult":{"revision":"` + revision + `"}}}`
	}
	for _, c := range []struct{ name, metadata, status, state, message string }{
		{"there", after, at("r1", "Synced", "Succeeded", pinned), api.TargetDone, "it is back at deployment 3"},
		{"unnoticed", before, at("r1", "Synced", "Succeeded", ""), api.TargetFailed, "it was not over after 1s"},
		{"under-way", after, at("r1", "Synced", "Running", pinned), api.TargetFailed, "it was not over after 1s"},
		{"elsewhere", after, at("r2", "Synced", "Succeeded", pinned), api.TargetFailed, "it was not over after 1s"},
		{"held", after, at("r2", "Synced", "Succeeded", pinned+`,{"type":"Held","message":"the window is closed"}`), api.TargetFailed, "it is pinned to deployment 3, but not there: the window is closed"},
		{"fails", after, at("r1", "OutOfSync", "Failed", pinned), api.TargetFailed, "going back ended as Failed: as it is"},
		{"unpinned", `"resourceVersion":"10"`, at("r2", "Synced", "Succeeded", ""), api.TargetFailed, "the rollback was ended before it was complete"},
	} {
		w.told(c.metadata, c.status)
		of := workOn(c.name, "admin")
		of.Job.Request.Action, of.Job.Request.Timeout, of.Target.StartedAt = api.JobRollback, 1, time.Now()
		w.answers(of, agentapi.Result{
			Status: agentapi.StatusDone, Body: json.RawMessage(`{"message":"going back to deployment 3","changed":true,"version":"9","deployment":3,"revisions":["r1"]}`),
		})
		state, message, err := w.doer().Do(t.Context(), of)
		if err != nil || state != c.state || !strings.HasPrefix(message, c.message) {
			t.Errorf("%s: it is %s, %q, %v; want %s, %q", c.name, state, message, err, c.state, c.message)
		}
	}
}

func TestAnAgentThatIsAwayIsNotSaidToGoOn(t *testing.T) {
	w := newWorld(t)
	of := workOn("away", "admin")
	of.Job.Request.Timeout = 1
	state, message, err := w.doer().Do(t.Context(), of)
	if err != nil || state != api.TargetFailed || !strings.HasPrefix(message, "the agent did not answer within 1s: see whether it is connected") {
		t.Errorf("it is %s, %q, %v", state, message, err)
	}
}

func TestWhatIsOverIsSeenByAServerThatGetsTheJobTooLate(t *testing.T) {
	w := newWorld(t)
	w.told(`"resourceVersion":"9"`, `{"operationState":{"phase":"Succeeded","message":"all is well","operation":{"info":[{"name":"slipway-request","value":"r"}]}}}`)
	of := workOn("late", "admin")
	of.Target.Request, of.Target.StartedAt = "r", time.Now().Add(-24*time.Hour)
	state, message, err := w.doer().Do(t.Context(), of)
	if err != nil || state != api.TargetDone || message != "all is well" {
		t.Errorf("it is %s, %q, %v", state, message, err)
	}
}

func TestTheCommandsOfAJobAreInTheTraceOfWhoAskedForIt(t *testing.T) {
	w := newWorld(t)
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	r := w.request(w.admin, http.MethodPost, "/api/v1/jobs", `{"action":"sync","targets":[{"agent":"account.prod","namespace":"argocd","name":"thing"}],"timeout":1}`)
	r.Header.Set("Traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
	out := w.send(r)
	var plan api.JobPlan
	if err := json.Unmarshal(out.Body.Bytes(), &plan); err != nil || out.Code != http.StatusOK {
		t.Fatal(out.Code, out.Body, err)
	}
	made, err := w.server.store.GetJob(t.Context(), plan.Job.ID)
	if err != nil || !strings.Contains(made.Traceparent, trace) || made.Request.Action != api.JobSync {
		t.Fatalf("the job is %+v, %v", made, err)
	}
	of := workOn(made.ID, "admin")
	of.Job = &made
	if state, message, err := w.doer().Do(t.Context(), of); err != nil || state != api.TargetFailed { // no agent is there
		t.Fatalf("it is %s, %q, %v", state, message, err)
	}
	kept, err := w.server.store.GetCommand(t.Context(), of.Command)
	if err != nil || kept.Traceparent != made.Traceparent {
		t.Errorf("the command is %+v, %v", kept, err)
	}
}
