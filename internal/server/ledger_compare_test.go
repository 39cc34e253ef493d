package server

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
)

// entryIDs are the ids of the entries that somebody sees, by the name of the application and the oldest first.
func (w *world) entryIDs(token, query string) map[string][]string {
	w.t.Helper()
	code, answer := w.do(token, http.MethodGet, "/api/v1/ledger?sort=finishedAt&"+query, "")
	var page api.Page[api.LedgerEntry]
	if err := json.Unmarshal([]byte(answer), &page); err != nil || code != http.StatusOK {
		w.t.Fatal(code, answer, err)
	}
	out := map[string][]string{}
	for _, e := range page.Items {
		out[e.Name] = append(out[e.Name], e.ID)
	}
	return out
}

func TestTwoEntriesAreComparedObjectByObject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/agents", `{"name":"edge","scope":"org.acme"}`); code != http.StatusOK {
		t.Fatal(code, answer)
	}
	edge, far, now := w.session("org.acme.edge"), w.newAgent("far"), time.Now()
	w.operated(edge, "01", "web", api.LedgerSync, `{"data":{"x":"before"}}`, now.Add(-3*time.Hour))
	w.operated(edge, "02", "web", api.LedgerSync, `{"data":{"x":"after"}}`, now.Add(-2*time.Hour))
	w.operated(edge, "03", "odd", api.LedgerSync, `[]`, now.Add(-time.Hour))
	w.operated(far, "04", "away", api.LedgerSync, `{"data":{"x":"after"}}`, now.Add(-time.Hour))
	ids := w.entryIDs(w.admin, "agent=org.acme.edge")
	away := w.entryIDs(w.admin, "agent=account.far")["away"][0]
	compare := func(id, other string) (out api.LedgerComparison) {
		t.Helper()
		code, answer := w.do(w.admin, http.MethodGet, "/api/v1/ledger/"+id+"/diff/"+other, "")
		if err := json.Unmarshal([]byte(answer), &out); err != nil || code != http.StatusOK {
			t.Fatal(code, answer, err)
		}
		return out
	}
	older, newer := ids["web"][0], ids["web"][1]
	out := compare(older, newer)
	if out.From.ID != older || out.To.ID != newer || len(out.Items) != 1 || out.Same != 0 || out.Truncated || len(out.Warnings) != 0 {
		t.Fatalf("got %+v", out)
	}
	item := out.Items[0]
	for _, want := range []string{"--- " + older, "+++ " + newer, "-  x: before", "+  x: after"} {
		if item.Change != "changed" || item.Name != "web" || !strings.Contains(item.Diff, want+"\n") {
			t.Errorf("%q is not in the difference: %+v", want, item)
		}
	}
	if out := compare(newer, away); len(out.Items) != 0 || out.Same != 1 {
		t.Errorf("entries of two applications that rendered the same differ: %+v", out)
	}
	if out := compare(newer, ids["odd"][0]); len(out.Items) != 1 || out.Items[0].Diff != "" || len(out.Warnings) != 1 {
		t.Errorf("what is no manifest is compared without a warning: %+v", out)
	}

	reader := w.user("reader", "account.viewer", "org.acme")
	if len(w.entryIDs(reader, "")["web"]) != 2 {
		t.Fatal("the reader does not see the entries of one agent")
	}
	if code, answer := w.do(reader, http.MethodGet, "/api/v1/ledger/"+older+"/diff/"+newer, ""); code != http.StatusOK {
		t.Errorf("who sees both may not compare them: %d %s", code, answer)
	}
	for _, path := range []string{newer + "/diff/" + away, away + "/diff/" + newer, newer + "/diff/nosuch"} {
		code, answer := w.do(reader, http.MethodGet, "/api/v1/ledger/"+path, "")
		if code != http.StatusNotFound || strings.Contains(answer, "after") {
			t.Errorf("%s is compared for who does not see both: %d %s", path, code, answer)
		}
	}
}

func TestWhatArgoCDDeployedIsNotComparedWithWhatIsRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	edge, now := w.newAgent("edge"), time.Now()
	beside := gateway.Record{ID: "01", LedgerDetail: api.LedgerDetail{LedgerEntry: api.LedgerEntry{
		Namespace: "argocd", Name: "web", Action: api.LedgerSync, Phase: "Succeeded", Engine: string(agentapi.EngineArgoCD),
		StartedAt: now.Add(-3 * time.Hour), FinishedAt: now.Add(-3 * time.Hour),
	}}}
	if _, err := w.server.store.KeepRecords(t.Context(), edge.UID, edge.Epoch, gateway.RecordBatch{Records: []gateway.Record{beside}}, now); err != nil {
		t.Fatal(err)
	}
	w.operated(edge, "02", "web", api.LedgerSync, `{"data":{"x":"after"}}`, now.Add(-time.Hour))
	w.operated(edge, "03", "other", api.LedgerSync, `{"data":{"x":"after"}}`, now.Add(-time.Hour))
	ask := func(path string, out any) {
		t.Helper()
		if code, answer := w.do(w.admin, http.MethodGet, "/api/v1/ledger/"+path, ""); code != http.StatusOK || json.Unmarshal([]byte(answer), out) != nil {
			t.Fatal(path, code, answer)
		}
	}
	var times api.LedgerDiff
	ask("diff?agent=account.edge&from="+now.Add(-2*time.Hour).UTC().Format(time.RFC3339), &times)
	if len(times.Differences) != 1 || times.Differences[0].Application != "account.edge/argocd/other" {
		t.Errorf("the differences are %+v, want only that of the application that Slipway deployed", times.Differences)
	}
	if len(times.Warnings) != 1 || !strings.Contains(times.Warnings[0], "account.edge/argocd/web") {
		t.Errorf("the warnings are %q, want one that names the application that is left out", times.Warnings)
	}
	ids := w.entryIDs(w.admin, "agent=account.edge")["web"]
	var entries api.LedgerComparison
	ask(ids[0]+"/diff/"+ids[1], &entries)
	if len(entries.Items) != 0 || len(entries.Warnings) != 1 {
		t.Errorf("two entries, one of them of Argo CD, are compared: %+v", entries)
	}
}
