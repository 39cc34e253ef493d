package audit

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/chain"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

func recorder() (*Recorder, *memory) {
	m := &memory{}
	return &Recorder{Storage: m, Now: func() time.Time { return noon.Add(time.Hour) }, Log: slog.New(slog.DiscardHandler)}, m
}

func example(i int) Entry {
	return Entry{
		At:    noon.Add(time.Duration(i) * time.Minute),
		Actor: api.Principal{Type: api.PrincipalUser, ID: "ada"}, IP: "192.0.2.7", UserAgent: "slipway/1", RequestID: fmt.Sprint("r", i),
		Action: "application.sync", Object: api.Ref{Type: api.TypeApplication, ID: "account.prod/argocd/shop", Scope: "org.acme"},
		Reason: "release", Before: json.RawMessage(`{"revision": "a", "count": 1.0}`), After: json.RawMessage(`{"revision":"b","count":2}`),
		Outcome: api.OutcomeSucceeded, Message: "done",
	}
}

func filled(t *testing.T, count int) (*Recorder, *memory) {
	t.Helper()
	r, m := recorder()
	for i := range count {
		if err := r.Record(t.Context(), example(i)); err != nil {
			t.Fatal(err)
		}
	}
	return r, m
}

func TestAWholeChainIsFoundWhole(t *testing.T) {
	t.Parallel()
	r, m := filled(t, 1203)
	got, err := r.VerifyAudit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := api.AuditVerification{OK: true, Checked: 1203, Message: "the chain of 1203 entries is whole", Head: m.entries[1202].Hash}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	empty, _ := recorder()
	if got, err := empty.VerifyAudit(t.Context()); err != nil || !got.OK {
		t.Errorf("an empty chain: %+v, %v", got, err)
	}
}

func TestAChangeOfTheRecordShows(t *testing.T) {
	t.Parallel()
	change := func(do func(*Entry)) func(*memory) { return func(m *memory) { do(&m.entries[4]) } }
	tests := []struct {
		name  string
		do    func(*memory)
		first int64
		why   string
	}{
		{"the actor", change(func(e *Entry) { e.Actor.ID = "eve" }), 5, "entry 5 was changed"},
		{"the time", change(func(e *Entry) { e.At = e.At.Add(time.Microsecond) }), 5, "entry 5 was changed"},
		{"the action", change(func(e *Entry) { e.Action = "application.get" }), 5, "entry 5 was changed"},
		{"the object", change(func(e *Entry) { e.Object.Scope = "account" }), 5, "entry 5 was changed"},
		{"the address", change(func(e *Entry) { e.IP = "" }), 5, "entry 5 was changed"},
		{"the program", change(func(e *Entry) { e.UserAgent = "x" }), 5, "entry 5 was changed"},
		{"the request", change(func(e *Entry) { e.RequestID = "x" }), 5, "entry 5 was changed"},
		{"the reason", change(func(e *Entry) { e.Reason, e.Message = e.Message, e.Reason }), 5, "entry 5 was changed"},
		{"the outcome", change(func(e *Entry) { e.Outcome = api.OutcomeDenied }), 5, "entry 5 was changed"},
		{"what was before", change(func(e *Entry) { e.Before = json.RawMessage(`{"revision":"c"}`) }), 5, "entry 5 was changed"},
		{"what was after", change(func(e *Entry) { e.After = nil }), 5, "entry 5 was changed"},
		{"an entry, with a hash that fits", change(func(e *Entry) { e.Actor.ID = "eve"; e.Hash = chain.Link(Head{ID: e.ID - 1, Hash: e.PrevHash}, *e).Hash }), 6, "entry 6 does not follow from entry 5"},
		{"one removed", func(m *memory) { m.entries = slices.Delete(m.entries, 4, 5) }, 5, "entry 5 is missing: after 4 comes 6"},
		{"one removed, the numbers closed", func(m *memory) {
			m.entries = slices.Delete(m.entries, 4, 5)
			for i := range m.entries {
				m.entries[i].ID = int64(i + 1)
			}
		}, 5, "entry 5 does not follow from entry 4"},
		{"two exchanged", func(m *memory) { m.entries[3], m.entries[4] = m.entries[4], m.entries[3] }, 4, "entry 4 is missing: after 3 comes 5"},
		{"the first removed", func(m *memory) { m.entries = m.entries[1:] }, 1, "entry 1 is missing"},
		{"an anchor that retention did not write", func(m *memory) { m.anchor = Head{ID: 2, Hash: "x"} }, 3, "entry 3 does not follow from entry 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, m := filled(t, 10)
			tt.do(m)
			got, err := r.VerifyAudit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got.OK || got.First != tt.first || !strings.Contains(got.Message, tt.why) {
				t.Errorf("found %+v, want entry %d: %s", got, tt.first, tt.why)
			}
		})
	}
}

func TestMissingNewestEntriesShowByTheHeadThatWasKeptElsewhere(t *testing.T) {
	t.Parallel()
	_, m := filled(t, 10)
	head := chain.HeadOf(m.entries[9])
	check := func(entries []Entry) error {
		v := chain.NewVerifier(Head{})
		for _, e := range entries {
			if err := v.Next(e); err != nil {
				return err
			}
		}
		return v.End(head)
	}
	if err := check(m.entries); err != nil {
		t.Error(err)
	}
	if err := check(m.entries[:7]); err == nil || !strings.Contains(err.Error(), "the chain ends at 7, and there was an entry 10") {
		t.Errorf("found %v", err)
	}
	forged := slices.Clone(m.entries[:9])
	if err := check(append(forged, chain.Link(chain.HeadOf(m.entries[8]), example(77)))); err == nil || !strings.Contains(err.Error(), "the chain was rewritten") {
		t.Errorf("found %v", err)
	}
}

func TestRetentionLeavesAnAnchorThatTheRestFollowsFrom(t *testing.T) {
	t.Parallel()
	r, m := filled(t, 10)
	removed, err := r.Prune(t.Context(), Retention{For: 55*time.Minute + 30*time.Second})
	if err != nil || removed != 5 {
		t.Fatalf("removed %d, %v", removed, err)
	}
	got, err := r.VerifyAudit(t.Context())
	if err != nil || !got.OK || got.Checked != 6 || !strings.Contains(got.Message, "5 before them were removed") {
		t.Errorf("%+v, %v", got, err)
	}
	last := m.entries[len(m.entries)-1]
	if last.Action != "audit.prune" || last.Object.ID != "1-5" || !strings.Contains(last.Message, m.anchor.Hash) {
		t.Errorf("retention is told as %+v", last)
	}
	if removed, err := r.Prune(t.Context(), Retention{Entries: 3}); err != nil || removed != 3 {
		t.Errorf("of 6 entries %d were removed to keep 3: %v", removed, err)
	}
	if removed, err := r.Prune(t.Context(), Retention{}); err != nil || removed != 0 {
		t.Errorf("without retention %d were removed: %v", removed, err)
	}
	if got, err := r.VerifyAudit(t.Context()); err != nil || !got.OK {
		t.Errorf("%+v, %v", got, err)
	}
	m.entries = m.entries[1:]
	if got, err := r.VerifyAudit(t.Context()); err != nil || got.OK {
		t.Errorf("an entry behind the anchor is missing, and it is said %+v, %v", got, err)
	}
}

func TestAnEntryThatSaysAnEarlyTimeTakesNoOthersAway(t *testing.T) {
	t.Parallel()
	r, m := filled(t, 3)
	early, late := example(0), example(0)
	early.At, late.At = noon.AddDate(-1, 0, 0), noon.AddDate(1, 0, 0)
	for _, e := range []Entry{early, late, example(4)} {
		if err := r.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if removed, err := r.Prune(t.Context(), Retention{For: 24 * time.Hour}); err != nil || removed != 0 {
		t.Errorf("removed %d, %v", removed, err)
	}
	if at := m.entries[4].At; !at.Equal(noon.Add(time.Hour).Truncate(time.Microsecond)) {
		t.Errorf("an entry of next year is of %s", at)
	}
	if removed, err := r.Prune(t.Context(), Retention{Entries: 1}); err != nil || removed != 5 || len(m.entries) != 2 {
		t.Errorf("removed %d, %v", removed, err)
	}
}

func TestRetentionWhileTheChainIsVerifiedIsNoFault(t *testing.T) {
	t.Parallel()
	r, m := filled(t, 10)
	var once sync.Once
	m.onRead = func() {
		once.Do(func() {
			if err := m.PruneAudit(t.Context(), chain.HeadOf(m.entries[3])); err != nil {
				t.Error(err)
			}
		})
	}
	if got, err := r.VerifyAudit(t.Context()); err != nil || !got.OK || got.Checked != 6 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestManyAtATimeMakeOneChain(t *testing.T) {
	t.Parallel()
	r, m := recorder()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 20 {
				if err := r.RecordOnce(t.Context(), fmt.Sprint(i%4, "/", j), example(j)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got, err := r.VerifyAudit(t.Context()); err != nil || !got.OK || got.Checked != 80 || len(m.entries) != 80 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestADatabaseThatWritesJSONAnewDoesNotBreakTheChain(t *testing.T) {
	t.Parallel()
	r, m := filled(t, 3)
	for i := range m.entries {
		m.entries[i].Before = json.RawMessage(`{ "count" : 1e0,
			"revision":"\u0061"}`)
		m.entries[i].At = m.entries[i].At.In(time.FixedZone("there", 3600))
	}
	if got, err := r.VerifyAudit(t.Context()); err != nil || !got.OK {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTheCanonicalFormIsFixed(t *testing.T) {
	t.Parallel()
	got := string(chain.Canonical(chain.Link(Head{ID: 41, Hash: "00"}, Prepare(example(0), noon))))
	want := `{"action":"application.sync","actor":{"id":"ada","type":"user"},"after":{"count":2,"revision":"b"},` +
		`"at":"2026-03-01T12:00:00.123456Z","before":{"count":1,"revision":"a"},"id":42,"ip":"192.0.2.7","message":"done",` +
		`"object":{"id":"account.prod/argocd/shop","scope":"org.acme","type":"application"},"outcome":"succeeded","reason":"release",` +
		`"requestId":"r0","userAgent":"slipway/1"}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	e := chain.Link(Head{ID: 41, Hash: "00"}, Prepare(example(0), noon))
	if e.Hash != "1" && len(e.Hash) != 64 {
		t.Errorf("hash %q", e.Hash)
	}
	for in, want := range map[string]string{
		`1.0`: "1", `1e3`: "1000", `-0`: "0", `0.10`: "0.1", `12345678901234567890123`: "12345678901234567890123",
		`1e400`: "1e400", `"<&>"`: `"<&>"`, `{"b":1,"a":[ ]}`: `{"a":[],"b":1}`, `not json`: `"not json"`, `{} {}`: `"{} {}"`,
	} {
		if got := string(chain.CanonicalJSON([]byte(in))); got != want {
			t.Errorf("%s is written %s, want %s", in, got, want)
		}
	}
}

func TestAnEntryIsBoundedAndClean(t *testing.T) {
	t.Parallel()
	long := example(0)
	long.Reason = strings.Repeat("é", 5000)
	long.UserAgent = "evil\x00\nline"
	long.After = json.RawMessage(`{"x":"` + strings.Repeat("y", 100<<10) + `"}`)
	long.Actor = api.Principal{}
	long.Outcome = ""
	got := Prepare(long, noon)
	if len(got.Reason) > maxText || !strings.HasSuffix(got.Reason, "…") {
		t.Errorf("the reason has %d bytes", len(got.Reason))
	}
	if got.UserAgent != "evil  line" {
		t.Errorf("the user agent is %q", got.UserAgent)
	}
	if string(got.After) != `{"omitted":"it had 102408 bytes, and an entry keeps 65536"}` {
		t.Errorf("after is %.100s", got.After)
	}
	if got.Actor.Type != api.PrincipalAnonymous || got.Outcome != api.OutcomeSucceeded {
		t.Errorf("actor %q, outcome %q", got.Actor.Type, got.Outcome)
	}
}

func TestAnExportHasAllEntries(t *testing.T) {
	t.Parallel()
	r, m := filled(t, 5)
	var text bytes.Buffer
	w, err := NewWriter(&text, JSONLines)
	if err != nil {
		t.Fatal(err)
	}
	head, err := r.Export(t.Context(), w, 0, nil)
	if err != nil || head != chain.HeadOf(m.entries[4]) {
		t.Fatalf("%+v, %v", head, err)
	}
	v := chain.NewVerifier(Head{})
	d := json.NewDecoder(&text)
	for d.More() {
		var e Entry
		if err := d.Decode(&e); err != nil {
			t.Fatal(err)
		}
		if err := v.Next(e); err != nil {
			t.Error(err)
		}
	}
	if err := v.End(head); err != nil || v.Checked() != 5 {
		t.Errorf("what was exported cannot be verified: %v", err)
	}
}

func TestATableHasNoFormulas(t *testing.T) {
	t.Parallel()
	r, _ := recorder()
	evil := example(0)
	evil.Reason = `=HYPERLINK("http://evil.example","click")`
	evil.Message = "@SUM(A1)"
	if err := r.Record(t.Context(), evil); err != nil {
		t.Fatal(err)
	}
	if err := r.Record(t.Context(), example(1)); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	w, err := NewWriter(&text, CSV)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Export(t.Context(), w, 0, func(e Entry) bool { return e.ID == 1 }); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&text).ReadAll()
	if err != nil || len(rows) != 2 || len(rows[1]) != len(columns) {
		t.Fatalf("%q, %v", rows, err)
	}
	for i, field := range rows[1] {
		if field != "" && strings.ContainsRune("=+-@", rune(field[0])) {
			t.Errorf("%s is %q", columns[i], field)
		}
	}
	if _, err := NewWriter(&text, "xml"); err == nil {
		t.Error("xml is a format")
	}
}

func TestAnEntryIsPreparedWithoutSecrets(t *testing.T) {
	t.Parallel()
	raw := []byte(`{"password":"hunter2","url":"https://ada:hunter2@git.example.org","in":{"kind":"Secret","data":{"a":"hunter2"}}}`)
	e := Prepare(Entry{Reason: "with password=hunter2", Message: "fetch https://u:hunter2@git.example.org/", Before: raw, After: raw}, noon)
	for _, got := range []string{e.Reason, e.Message, string(e.Before), string(e.After)} {
		if got == "" || strings.Contains(got, "hunter2") {
			t.Errorf("an entry says %q", got)
		}
	}
}
