package history_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/chain"
	"github.com/slipway-gitops/slipway/internal/server/audit"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

var _ audit.Storage = (*store.Store)(nil)

func TestEntriesOfTheAuditAreOneChainWhoeverWrites(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 5 {
					if _, err := b.AppendAudit(t.Context(), "", b.Entry("role.create", api.Ref{Type: "role", ID: "account.r", Scope: "account"})); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if n := b.Verify(t); n != 20 {
			t.Errorf("%d entries, want 20", n)
		}
		odd := b.Entry("role.\x00create", api.Ref{})
		odd.Message, odd.At = "a\xffb", odd.At.Add(1234*time.Nanosecond)
		written := storetest.Must[audit.Entry](t)(b.AppendAudit(t.Context(), "", odd))
		read := storetest.Must[[]audit.Entry](t)(b.AuditEntries(t.Context(), 20, 10))
		if diff := cmp.Diff([]audit.Entry{written}, read); diff != "" {
			t.Errorf("read (-written +read):\n%s", diff)
		}
		b.Verify(t)
	})
}

func TestAnEntryWithAKeyIsWrittenOnce(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if _, err := b.AppendAudit(t.Context(), "agent/1", b.Entry("application.sync", api.Ref{})); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if again := storetest.Must[audit.Entry](t)(b.AppendAudit(t.Context(), "agent/1", b.Entry("x.y", api.Ref{}))); again.ID != 0 {
			t.Errorf("written again: %+v", again)
		}
		if n := b.Verify(t); n != 1 {
			t.Errorf("%d entries, want 1", n)
		}
	})
}

func TestRetentionMovesTheAnchorAndKeepsTheChain(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		var entries []audit.Entry
		for range 10 {
			b.Clock.Move(time.Hour)
			entries = append(entries, storetest.Must[audit.Entry](t)(b.AppendAudit(ctx, "", b.Entry("role.create", api.Ref{}))))
		}
		place := func(n int) audit.Head {
			if n == 0 {
				return audit.Head{}
			}
			return chain.HeadOf(entries[n-1])
		}
		if err := b.PruneAudit(ctx, place(6)); err != nil {
			t.Fatal(err)
		}
		if n := b.Verify(t); n != 4 {
			t.Errorf("%d entries are left, want 4", n)
		}
		if diff := cmp.Diff(place(6), storetest.Must[audit.Head](t)(b.AuditAnchor(ctx))); diff != "" {
			t.Errorf("anchor (-want +got):\n%s", diff)
		}
		forged := place(8)
		forged.Hash = "0"
		for name, h := range map[string]audit.Head{"back": place(3), "the newest": place(10), "a hash that is another": forged} {
			if err := b.PruneAudit(ctx, h); err == nil {
				t.Errorf("%s is pruned", name)
			}
		}
		b.Verify(t)
	})
}

func TestTheAuditIsFilteredAndPagedTheNewestFirst(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		objects := []api.Ref{
			{Type: "role", ID: "account.r", Scope: "account"},
			{Type: "role", ID: "org.acme.r", Scope: "org.acme"},
			{Type: "application", ID: "project.acme.shop.a/argocd/x", Scope: "project.acme.shop"},
			{},
		}
		start := b.Clock.Now()
		for i := range 12 {
			b.Clock.Move(time.Minute)
			action := []string{"role.create", "role.delete", "application.sync", "session.create"}[i%4]
			storetest.Must[audit.Entry](t)(b.AppendAudit(ctx, "", b.Entry(action, objects[i%4])))
		}
		numbers := func(visible rbac.Filter, f api.AuditFilter) []int64 {
			list := []int64{}
			for {
				page := storetest.Must[api.Page[api.AuditEntry]](t)(b.ListAudit(ctx, visible, f))
				for _, e := range page.Items {
					list = append(list, e.ID)
				}
				if f.Cursor = page.NextCursor; f.Cursor == "" {
					return list
				}
			}
		}
		org := rbac.Filter{Type: api.TypeAudit, Terms: []rbac.Term{{Scope: "org.acme", All: true}}}
		one := rbac.Filter{Type: api.TypeAudit, Terms: []rbac.Term{{Scope: "account", IDs: []string{"5", "12"}}}}
		for name, test := range map[string]struct {
			visible rbac.Filter
			filter  api.AuditFilter
			want    []int64
		}{
			"all":          {storetest.All(api.TypeAudit), api.AuditFilter{ListOptions: api.ListOptions{Limit: 5}}, []int64{12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}},
			"oldest":       {storetest.All(api.TypeAudit), api.AuditFilter{Action: "role.create", ListOptions: api.ListOptions{Sort: "id", Limit: 2}}, []int64{1, 5, 9}},
			"noun":         {storetest.All(api.TypeAudit), api.AuditFilter{Action: "role.", From: start.Add(5 * time.Minute), To: start.Add(9 * time.Minute)}, []int64{6, 5}},
			"object":       {storetest.All(api.TypeAudit), api.AuditFilter{ObjectType: "role", ObjectID: "org.acme.r"}, []int64{10, 6, 2}},
			"outcome":      {storetest.All(api.TypeAudit), api.AuditFilter{Outcome: "failed"}, []int64{}},
			"actor":        {storetest.All(api.TypeAudit), api.AuditFilter{Actor: "ada", Action: "session.create", RequestID: "r"}, []int64{12, 8, 4}},
			"number":       {storetest.All(api.TypeAudit), api.AuditFilter{ID: 7}, []int64{7}},
			"unseen":       {org, api.AuditFilter{ID: 5}, []int64{}},
			"scope":        {storetest.All(api.TypeAudit), api.AuditFilter{ListOptions: api.ListOptions{Scope: "org.acme", Limit: 3}}, []int64{11, 10, 7, 6, 3, 2}},
			"rights":       {org, api.AuditFilter{}, []int64{11, 10, 7, 6, 3, 2}},
			"rights by id": {one, api.AuditFilter{}, []int64{12, 5}},
			"no rights":    {rbac.Filter{}, api.AuditFilter{}, []int64{}},
		} {
			if diff := cmp.Diff(test.want, numbers(test.visible, test.filter)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
}
