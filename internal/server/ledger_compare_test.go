package server

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
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
