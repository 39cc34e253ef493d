package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
)

// historied has an agent tell of the application web, which was deployed four times and is pinned: the ledger was not there
// for the first one, and lost the third.
// pinned is the JSON of the revisions that a rollback names.
func (w *world) historied(agent gateway.Agent, now time.Time, pinned string) {
	w.t.Helper()
	at := func(hours int) string { return now.Add(-time.Duration(hours) * time.Hour).UTC().Format(time.RFC3339) }
	body := fmt.Sprintf(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"web","namespace":"argocd","annotations":{
		"slipway.io/rollback":%q,"slipway.io/history-notes":"{\"1\":{\"by\":\"user:ada\",\"reason\":\"first\",\"subject\":\"begin\"}}"}},
		"spec":{"project":"default","source":{"repoURL":"https://git.example.org/web.git","path":"."}},"status":{"history":[
		{"id":1,"revision":"a","deployedAt":%q},{"id":2,"revision":"b","deployedAt":%q},{"id":3,"revision":"c","deployedAt":%q},{"id":4,"revision":"d","deployedAt":%q}]}}`,
		`{"id":2,"revisions":`+pinned+`}`, at(10), at(6), at(5), at(1))
	item := agentapi.Item{
		Key: agentapi.Key{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: "web"}, Hash: agentapi.Hash([]byte(body)), Body: json.RawMessage(body),
	}
	if _, err := w.server.store.ApplyItems(w.t.Context(), agent.UID, agent.Epoch, 1, []agentapi.Item{item}, now); err != nil {
		w.t.Fatal(err)
	}
	var batch gateway.RecordBatch
	for i, e := range []struct {
		hours                         int
		name, action, phase, revision string
	}{
		{6, "web", api.LedgerSync, "Succeeded", "b"},
		{4, "web", api.LedgerSync, "Failed", "x"},
		{3, "web", api.LedgerPartial, "Succeeded", "c"},
		{2, "web", api.LedgerDryRun, "Succeeded", "d"},
		{1, "web", api.LedgerSync, "Succeeded", "d"},
		{1, "other", api.LedgerSync, "Succeeded", "d"},
	} {
		end := now.Add(-time.Duration(e.hours) * time.Hour)
		batch.Records = append(batch.Records, gateway.Record{ID: fmt.Sprintf("%02x", i+1), LedgerDetail: api.LedgerDetail{LedgerEntry: api.LedgerEntry{
			Namespace: "argocd", Name: e.name, Action: e.action, Phase: e.phase, Revision: e.revision, StartedAt: end, FinishedAt: end, Actor: "user:grace",
		}}})
	}
	if _, err := w.server.store.KeepRecords(w.t.Context(), agent.UID, agent.Epoch, batch, now); err != nil {
		w.t.Fatal(err)
	}
}

func TestAHistoryIsOfTheLedgerAndOfTheStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.historied(w.newAgent("edge"), time.Now().Truncate(time.Second), `["b"]`)
	const path = "/api/v1/agents/account.edge/applications/argocd/web/history"
	want := []string{
		"4 d Succeeded sync user:grace current", "- c Succeeded partial user:grace", "- x Failed sync user:grace", "3 c Succeeded ",
		"2 b Succeeded sync user:grace pinned", "1 a Succeeded user:ada first begin",
	}
	for _, limit := range []int{1, 2, 3, 4, 5, 6, 50} {
		var have []string
		for cursor, pages := "", 0; pages < 10; pages++ {
			code, answer := w.do(w.admin, http.MethodGet, fmt.Sprintf("%s?limit=%d&cursor=%s", path, limit, cursor), "")
			var out api.DeploymentHistory
			if err := json.Unmarshal([]byte(answer), &out); err != nil || code != http.StatusOK || len(out.Items) > limit {
				t.Fatal(code, answer, err)
			}
			for _, d := range out.Items {
				have = append(have, deploymentText(d))
			}
			if cursor = out.NextCursor; cursor == "" {
				break
			}
		}
		for i := range want {
			want[i] = strings.TrimSpace(want[i])
		}
		if d := cmp.Diff(want, have); d != "" {
			t.Errorf("in pages of %d (-want +got):\n%s", limit, d)
		}
	}
	if code, answer := w.do(w.admin, http.MethodGet, path+"?cursor=none", ""); code != http.StatusUnprocessableEntity && code != http.StatusBadRequest {
		t.Errorf("a cursor of nobody: %d %s", code, answer)
	}
}

func TestARollbackThatTheAgentRefusesPinsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.historied(w.newAgent("edge"), time.Now().Truncate(time.Second), `["b","x"]`) // of two sources, and the application has one
	code, answer := w.do(w.admin, http.MethodGet, "/api/v1/agents/account.edge/applications/argocd/web/history", "")
	if code != http.StatusOK || strings.Contains(answer, `"pinned":true`) {
		t.Errorf("%d %s", code, answer)
	}
}

func deploymentText(d api.Deployment) string {
	words := []string{"-", d.Revision, d.Outcome, d.Action, d.InitiatedBy, d.Reason}
	if d.ID != nil {
		words[0] = fmt.Sprint(*d.ID)
	}
	if d.Commit != nil {
		words = append(words, d.Commit.Subject)
	}
	if d.Current {
		words = append(words, "current")
	}
	if d.Pinned {
		words = append(words, "pinned")
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}
