package server

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
)

// newAgent makes an agent and begins its session.
func (w *world) newAgent(name string) gateway.Agent {
	w.t.Helper()
	if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/agents", fmt.Sprintf(`{"name":%q}`, name)); code != http.StatusOK {
		w.t.Fatal(code, answer)
	}
	return w.session("account." + name)
}

// session registers an agent and begins its session.
func (w *world) session(id string) gateway.Agent {
	w.t.Helper()
	ctx, now, s := w.t.Context(), time.Now(), w.server.store
	_, hash := gateway.NewToken()
	if err := s.SetRegistration(ctx, id, hash, now.Add(time.Hour)); err != nil {
		w.t.Fatal(err)
	}
	agent, err := s.RegisterAgent(ctx, hash, gateway.Registration{PublicKey: "U" + hash[:55], SealKey: make([]byte, 32), ClusterUID: "c", Namespace: "argocd"}, now)
	if err == nil {
		agent, err = s.BeginSession(ctx, agent.UID, gateway.Session{ClusterUID: "c", Namespace: "argocd"}, now)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return agent
}

// deployed has an agent tell of an operation of the application web that deployed one ConfigMap.
func (w *world) deployed(agent gateway.Agent, id, text string, at time.Time) {
	w.t.Helper()
	w.operated(agent, id, "web", api.LedgerSync, text, at)
}

// operated has an agent tell of an operation of an application, which has one ConfigMap.
func (w *world) operated(agent gateway.Agent, id, application, action, text string, at time.Time) {
	w.t.Helper()
	sum := sha256.Sum256([]byte(text))
	key := api.LedgerKey{Kind: "ConfigMap", Namespace: "shop", Name: "web"}
	record := gateway.Record{ID: id, LedgerDetail: api.LedgerDetail{
		LedgerEntry: api.LedgerEntry{Namespace: "argocd", Name: application, Action: action, Phase: "Succeeded", StartedAt: at, FinishedAt: at},
		Objects:     []api.LedgerObject{{LedgerKey: key, Hash: hex.EncodeToString(sum[:])}},
	}}
	e, err := zstd.NewWriter(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	content := gateway.Content{Hash: hex.EncodeToString(sum[:]), Packed: e.EncodeAll([]byte(text), nil), Size: len(text)}
	for _, b := range []gateway.RecordBatch{{Records: []gateway.Record{record}}, {Contents: []gateway.Content{content}}} {
		if _, err := w.server.store.KeepRecords(w.t.Context(), agent.UID, agent.Epoch, b, at); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestADifferenceHasTheManifestsOfAnAgentAndOfTheOneInItsPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := time.Now()
	w.deployed(w.newAgent("edge"), "01", `{"data":{"x":"before"}}`, now.Add(-48*time.Hour))
	if code, answer := w.do(w.admin, http.MethodDelete, "/api/v1/agents/account.edge?force=true", ""); code >= 300 {
		t.Fatal(code, answer)
	}
	w.deployed(w.newAgent("edge"), "02", `{"data":{"x":"after"}}`, now.Add(-time.Hour))
	code, answer := w.do(w.admin, http.MethodGet, "/api/v1/ledger/diff?manifests=true&agent=account.edge", "")
	var out api.LedgerDiff
	if err := json.Unmarshal([]byte(answer), &out); err != nil || code != http.StatusOK || len(out.Differences) != 1 {
		t.Fatal(code, answer, err)
	}
	d := out.Differences[0]
	if d.Change != "changed" || !strings.Contains(string(d.ManifestBefore), "before") || !strings.Contains(string(d.ManifestAfter), "after") {
		t.Errorf("before %s, after %s: %+v", d.ManifestBefore, d.ManifestAfter, d)
	}
}

func TestADifferenceOfManyApplicationsComesInPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	edge, now := w.newAgent("edge"), time.Now()
	before, after := now.Add(-48*time.Hour), now.Add(-time.Hour)
	// One goes, one comes, one changes and one stays: what is a page of one day is none of the other.
	w.operated(edge, "01", "goes", api.LedgerSync, `{"x":1}`, before)
	w.operated(edge, "02", "goes", api.LedgerDelete, `{"x":1}`, after)
	w.operated(edge, "03", "comes", api.LedgerSync, `{"x":1}`, after)
	w.operated(edge, "04", "turns", api.LedgerSync, `{"x":1}`, before)
	w.operated(edge, "05", "turns", api.LedgerSync, `{"x":2}`, after)
	w.operated(edge, "06", "stays", api.LedgerSync, `{"x":1}`, before)
	for _, limit := range []int{1, 2, 3, 200} {
		var have []string
		cursor, pages := "", 0
		for {
			code, answer := w.do(w.admin, http.MethodGet, fmt.Sprintf("/api/v1/ledger/diff?manifests=true&agent=account.edge&limit=%d&cursor=%s", limit, cursor), "")
			var out api.LedgerDiff
			if err := json.Unmarshal([]byte(answer), &out); err != nil || code != http.StatusOK || out.Truncated {
				t.Fatal(code, answer, err)
			}
			for _, d := range out.Differences {
				have = append(have, fmt.Sprintf("%s %s %s %s", strings.TrimPrefix(d.Application, "account.edge/argocd/"), d.Change, string(d.ManifestBefore), string(d.ManifestAfter)))
			}
			if pages++; out.NextCursor == "" || pages > 10 {
				break
			}
			cursor = out.NextCursor
		}
		want := []string{`comes added  {"x":1}`, `goes removed {"x":1} `, `turns changed {"x":1} {"x":2}`}
		if d := cmp.Diff(want, have); d != "" || limit == 200 && pages != 1 {
			t.Errorf("in %d pages of %d (-want +got):\n%s", pages, limit, d)
		}
	}
	for _, query := range []string{"from=2030-06-02T00:00:00Z&to=2030-06-01T00:00:00Z", "sort=application", "page=2"} {
		if code, answer := w.do(w.admin, http.MethodGet, "/api/v1/ledger/diff?"+query, ""); code != http.StatusUnprocessableEntity && code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, code, answer)
		}
	}
}

// meanwhile is an answer that has something done as soon as it begins.
type meanwhile struct {
	*httptest.ResponseRecorder
	once sync.Once
	do   func()
}

func (m *meanwhile) Write(b []byte) (int, error) {
	m.once.Do(m.do)
	return m.ResponseRecorder.Write(b)
}

func TestAnExportEndsInTheMiddleWhenRightsAreTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	edge := w.newAgent("edge")
	for i := range api.DefaultLimit + 50 {
		w.deployed(edge, fmt.Sprintf("%04x", i), `{}`, time.Now().Add(-time.Duration(i)*time.Second))
	}
	reader := w.user("reader", "account.viewer", "account")
	export := func(before func()) (lines int, cut bool) {
		t.Helper()
		out := &meanwhile{ResponseRecorder: httptest.NewRecorder(), do: before}
		defer func() {
			lines = strings.Count(out.Body.String(), "\n")
			if err, is := recover().(error); is && errors.Is(err, http.ErrAbortHandler) {
				cut = true
			}
		}()
		w.server.Handler().ServeHTTP(out, w.request(reader, http.MethodGet, "/api/v1/ledger/export?agent=account.edge", ""))
		return 0, false
	}
	if lines, cut := export(func() {}); cut || lines != api.DefaultLimit+50 {
		t.Fatalf("an export that nobody disturbs has %d lines, cut off: %t", lines, cut)
	}
	lines, cut := export(func() {
		if code, answer := w.do(w.admin, http.MethodDelete, "/api/v1/bindings/account.reader", ""); code >= 300 {
			t.Errorf("take the rights: %d %s", code, answer)
		}
	})
	if !cut || lines > api.DefaultLimit {
		t.Errorf("an export of whose reader the rights were taken has %d lines, cut off: %t", lines, cut)
	}
}

func TestADifferenceOfMoreThanFitsNamesNobodyWhoOnlyDoesNotFit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	edge, now := w.newAgent("edge"), time.Now()
	key, hash := api.LedgerKey{Kind: "ConfigMap", Namespace: "shop", Name: "web"}, strings.Repeat("ab", 32)
	var batch gateway.RecordBatch
	record := func(id, name string, at time.Time) {
		batch.Records = append(batch.Records, gateway.Record{ID: id, LedgerDetail: api.LedgerDetail{
			LedgerEntry: api.LedgerEntry{Namespace: "argocd", Name: name, Action: api.LedgerSync, Phase: "Succeeded", StartedAt: at, FinishedAt: at},
			Objects:     []api.LedgerObject{{LedgerKey: key, Hash: hash}},
		}})
	}
	for i := range 201 { // one more than an answer is about
		record(fmt.Sprintf("%04x", i+1), fmt.Sprintf("b%03d", i), now.Add(-48*time.Hour))
	}
	record("ffff", "a", now.Add(-time.Hour))
	if _, err := w.server.store.KeepRecords(t.Context(), edge.UID, edge.Epoch, batch, now); err != nil {
		t.Fatal(err)
	}
	code, answer := w.do(w.admin, http.MethodGet, "/api/v1/ledger/diff?agent=account.edge", "")
	var out api.LedgerDiff
	if err := json.Unmarshal([]byte(answer), &out); err != nil || code != http.StatusOK {
		t.Fatal(code, answer, err)
	}
	if len(out.Differences) != 1 || out.Differences[0].Application != "account.edge/argocd/a" || out.Differences[0].Change != "added" || out.NextCursor == "" {
		t.Errorf("one application was added: got %+v", out)
	}
}
