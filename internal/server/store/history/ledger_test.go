package history_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/history"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

func namesAt(t *testing.T, b *storetest.Bench, minute int) []string {
	t.Helper()
	at := time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC)
	page := storetest.Must[api.Page[api.LedgerState]](t)(b.LedgerAt(t.Context(), storetest.All(api.TypeApplication), api.LedgerFilter{To: at}))
	out := []string{}
	for _, s := range page.Items {
		for _, o := range s.Objects {
			out = append(out, fmt.Sprint(s.Entry.Revision, " ", o.Name, " ", o.Images))
		}
	}
	return out
}

func TestTheLedgerSaysWhatRanAtATime(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		a, epoch := b.Agent(t, "prod", api.ScopeAccount)
		failed := func(d *api.LedgerDetail) {
			d.Phase = "Failed"
			d.Changes = slices.DeleteFunc(d.Changes, func(c api.LedgerChange) bool { return c.Name == "b" })
			d.Changes = append(d.Changes, api.LedgerChange{LedgerKey: storetest.ObjectKey("b"), Verb: api.LedgerChanged, Outcome: "Failed"})
		}
		b.Record(t, a, epoch, []string{"1", "2", "3"},
			storetest.RecordOf("0a", 10, map[string]string{"a": "1", "b": "2"}),
			storetest.RecordOf("0b", 20, map[string]string{"a": "3", "b": "3"}, failed),
			storetest.RecordOf("0c", 25, map[string]string{"a": "4", "b": "4"}, func(d *api.LedgerDetail) { d.Action = api.LedgerDryRun }),
			storetest.RecordOf("0d", 30, map[string]string{"a": "3"}),
			storetest.RecordOf("0e", 40, nil, func(d *api.LedgerDetail) { d.Action = api.LedgerDelete }),
		)
		for minute, want := range map[int][]string{
			5:  {},
			10: {"rev-0a a [image:1]", "rev-0a b [image:2]"},
			19: {"rev-0a a [image:1]", "rev-0a b [image:2]"},
			20: {"rev-0a a [image:3]", "rev-0a b [image:2]"}, // what a failed one had applied runs
			29: {"rev-0a a [image:3]", "rev-0a b [image:2]"}, // a dry run changes nothing
			30: {"rev-0d a [image:3]"},
			40: {},
		} {
			if diff := cmp.Diff(want, namesAt(t, b, minute)); diff != "" {
				t.Errorf("12:%02d (-want +got)\n%s", minute, diff)
			}
		}
		nobody := rbac.Filter{Type: api.TypeApplication, Terms: []rbac.Term{{Scope: "org.other", All: true}}}
		page := storetest.Must[api.Page[api.LedgerState]](t)(b.LedgerAt(t.Context(), nobody, api.LedgerFilter{To: time.Date(2026, 3, 1, 12, 10, 0, 0, time.UTC)}))
		if page.Total != 0 {
			t.Errorf("who may not see the application sees %d states of it", page.Total)
		}
	})
}

func TestARecordIsKeptOnceHoweverOftenItIsTold(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		a, epoch := b.Agent(t, "prod", api.ScopeAccount)
		r := storetest.RecordOf("0a", 10, map[string]string{"a": "1"})
		first := b.Record(t, a, epoch, []string{"1"}, r)
		again := b.Record(t, a, epoch, nil, r, r)
		if len(first.Added) != 1 || len(again.Added) != 0 || len(first.Lacks) != 1 || len(again.Lacks) != 0 {
			t.Errorf("first %+v, again %+v", first, again)
		}
		found := func(d *api.LedgerDetail) { d.Recovered, d.Revision, d.Sources[0].Revision = true, "rev-0a", "rev-0a" }
		recovered := b.Record(t, a, epoch, nil, storetest.RecordOf("0b", 20, nil, found), storetest.RecordOf("0c", 10, nil, found))
		if len(recovered.Added) != 0 {
			t.Errorf("what an agent found after it had told of it is kept again: %+v", recovered.Added)
		}
		news := b.Record(t, a, epoch, nil, storetest.RecordOf("0d", 30, nil, func(d *api.LedgerDetail) { d.Recovered = true }))
		if len(news.Added) != 1 {
			t.Error("what an agent found of another revision is not kept")
		}
		other, otherEpoch := b.Agent(t, "dev", api.ScopeAccount)
		foreign := b.Record(t, other, otherEpoch, nil, r)
		if len(foreign.Added) != 1 || len(foreign.Lacks) != 1 {
			t.Errorf("a record of another agent is taken for this one's, or its manifest: %+v", foreign)
		}
		_, err := b.KeepRecords(t.Context(), a.UID, epoch-1, gateway.RecordBatch{Records: []gateway.Record{storetest.RecordOf("0e", 50, nil)}}, b.Clock.Now())
		if !errors.Is(err, gateway.ErrFenced) {
			t.Errorf("an agent of an earlier session is answered %v", err)
		}
	})
}

func TestHealthComesLaterAndOnce(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		a, epoch := b.Agent(t, "prod", api.ScopeAccount)
		b.Record(t, a, epoch, nil, storetest.RecordOf("0a", 10, nil))
		at := b.Clock.Now()
		batch := gateway.RecordBatch{
			Healthy: []agentapi.Healthy{{ID: "0a", At: at}, {ID: "0a", At: at.Add(time.Hour)}, {ID: "0f", At: at}}, Known: []string{"0a", "0e"},
		}
		answer := storetest.Must[gateway.RecordAnswer](t)(b.KeepRecords(t.Context(), a.UID, epoch, batch, at))
		if diff := cmp.Diff([]string{"0f", "0e"}, answer.Unknown); diff != "" || len(answer.Added) != 1 {
			t.Errorf("unknown (-want +got)\n%s\nadded %d", diff, len(answer.Added))
		}
		page := storetest.Must[api.Page[api.LedgerEntry]](t)(b.ListLedger(t.Context(), storetest.All(api.TypeApplication), api.LedgerFilter{}))
		if len(page.Items) != 1 || !page.Items[0].HealthyAt.Equal(at) {
			t.Errorf("got %+v", page.Items)
		}
	})
}

func TestTheLedgerIsFiltered(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		a, epoch := b.Agent(t, "prod", api.ScopeAccount)
		b.Record(t, a, epoch, nil,
			storetest.RecordOf("0a", 10, map[string]string{"a": "1"}, func(d *api.LedgerDetail) { d.Actor, d.Counts.Changed = "user:ada", 1 }),
			storetest.RecordOf("0b", 20, nil, func(d *api.LedgerDetail) { d.Automatic, d.Phase = true, "Failed" }),
			storetest.RecordOf("0c", 30, map[string]string{"a": "2", "b": "2"}, func(d *api.LedgerDetail) { d.Name, d.Automatic = "api", true }))
		yes := true
		for name, tt := range map[string]struct {
			filter api.LedgerFilter
			want   []string
		}{
			"all, the newest first": {api.LedgerFilter{}, []string{"rev-0c", "rev-0b", "rev-0a"}},
			"the oldest first":      {api.LedgerFilter{ListOptions: api.ListOptions{Sort: "finishedAt"}}, []string{"rev-0a", "rev-0b", "rev-0c"}},
			"by name":               {api.LedgerFilter{Name: "web"}, []string{"rev-0b", "rev-0a"}},
			"by agent":              {api.LedgerFilter{Agent: "account.other"}, []string{}},
			"by actor":              {api.LedgerFilter{Actor: "ada"}, []string{"rev-0a"}},
			"by phase":              {api.LedgerFilter{Phase: "Failed"}, []string{"rev-0b"}},
			"automatic ones":        {api.LedgerFilter{Automatic: &yes}, []string{"rev-0c", "rev-0b"}},
			"those with an effect":  {api.LedgerFilter{Changed: true}, []string{"rev-0a"}},
			"by revision":           {api.LedgerFilter{Revision: "rev-0b"}, []string{"rev-0b"}},
			"by another revision":   {api.LedgerFilter{Revision: "REV-0b"}, []string{}},
			"from a time": {
				api.LedgerFilter{From: time.Date(2026, 3, 1, 12, 20, 0, 0, time.UTC), To: time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)}, []string{"rev-0b"},
			},
		} {
			page := storetest.Must[api.Page[api.LedgerEntry]](t)(b.ListLedger(t.Context(), storetest.All(api.TypeApplication), tt.filter))
			if diff := cmp.Diff(tt.want, storetest.IDs(page, func(e api.LedgerEntry) string { return e.Revision })); diff != "" {
				t.Errorf("%s (-want +got)\n%s", name, diff)
			}
		}
		filter := api.LedgerFilter{Kind: "Deployment", ObjectNS: "shop", Object: "a", ListOptions: api.ListOptions{Limit: 1}}
		var got []string
		for {
			page := storetest.Must[api.Page[api.LedgerObjectChange]](t)(b.LedgerObjectChanges(t.Context(), storetest.All(api.TypeApplication), filter))
			got = append(got, storetest.IDs(page, func(c api.LedgerObjectChange) string { return c.Entry.Revision + c.Hash[:2] + c.Change.Verb })...)
			if filter.Cursor = page.NextCursor; filter.Cursor == "" {
				break
			}
		}
		if diff := cmp.Diff([]string{"rev-0c" + storetest.HashOf("2")[:2] + "changed", "rev-0a" + storetest.HashOf("1")[:2] + "changed"}, got); diff != "" {
			t.Errorf("changes to an object (-want +got)\n%s", diff)
		}
	})
}

func TestWhatIsOldOrTooMuchGoesButNotWhatRuns(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		a, epoch := b.Agent(t, "prod", api.ScopeAccount)
		b.Record(t, a, epoch, []string{"1", "2", "3"},
			storetest.RecordOf("0a", 10, map[string]string{"a": "1", "x": "2"}), storetest.RecordOf("0b", 20, map[string]string{"a": "2"}), storetest.RecordOf("0c", 30, map[string]string{"a": "3"}))
		detail := storetest.Must[api.Page[api.LedgerEntry]](t)(b.ListLedger(ctx, storetest.All(api.TypeApplication), api.LedgerFilter{}))
		newest := detail.Items[0].ID
		n := storetest.Must[int64](t)(b.PruneLedger(ctx, history.LedgerLimits{Before: time.Date(2026, 3, 1, 12, 15, 0, 0, time.UTC), Bytes: 0}))
		left := countRows(t, b)
		if diff := cmp.Diff(map[string]int{"ledger_entry": 2, "ledger_object": 2, "ledger_name": 1, "ledger_blob": 2}, left); diff != "" || n != 1 {
			t.Errorf("%d removed; rows (-want +got)\n%s", n, diff)
		}
		n = storetest.Must[int64](t)(b.PruneLedger(ctx, history.LedgerLimits{Before: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), Bytes: 0}))
		if got := countRows(t, b)["ledger_entry"]; got != 1 || n != 1 {
			t.Errorf("%d removed and %d left, want the deployment that runs", n, got)
		}
		contents := storetest.Must[map[string][]byte](t)(b.LedgerContents(ctx, newest, []string{storetest.HashOf("3")}, 1<<20))
		if string(contents[storetest.HashOf("3")]) != "3" {
			t.Errorf("its manifest is %q", contents)
		}
		storetest.Must[int64](t)(b.PruneLedger(ctx, history.LedgerLimits{Bytes: 1}))
		for table, n := range countRows(t, b) {
			if n != 0 {
				t.Errorf("%d rows left in %s, which is to take one byte at most", n, table)
			}
		}
		var bytes int64
		if err := b.Direct(t).QueryRowContext(ctx, "SELECT number FROM ledger_place WHERE id = 'bytes'").Scan(&bytes); err != nil || bytes != 0 {
			t.Errorf("%d bytes are counted where nothing is left (%v)", bytes, err)
		}
	})
}

// rows counts what is in the tables of the ledger.
func countRows(t *testing.T, b *storetest.Bench) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, table := range []string{"ledger_entry", "ledger_object", "ledger_name", "ledger_blob"} {
		var n int
		if err := b.Direct(t).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		out[table] = n
	}
	return out
}
