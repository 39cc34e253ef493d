package mirror_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

func TestAnApplicationIsListedAsItsAgentToldIt(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		a, epoch := b.Agent(t, "prod", "account")
		shop := storetest.App("shop", "default")
		changes := storetest.Must[[]gateway.Changed](t)(b.ApplyItems(t.Context(), a.UID, epoch, 1, []agentapi.Item{shop}, b.Clock.Now()))
		want := []gateway.Changed{{Key: shop.Key, After: shop.Hash, Scope: "account", Labels: map[string]string{"team": "shop"}}}
		if diff := cmp.Diff(want, changes); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		finished := time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)
		page := storetest.Must[api.Page[api.Application]](t)(b.ListApplications(t.Context(), storetest.All(api.TypeApplication), api.ApplicationFilter{}))
		listed := []api.Application{{
			ID: "account.prod/argocd/shop", Agent: "account.prod", Namespace: "argocd", Name: "shop", Scope: "account", ArgoProject: "default",
			Labels: map[string]string{"team": "shop"}, Sync: "Synced", Health: "Healthy", Phase: "Succeeded", Message: "done", Revision: "abc",
			RepoURL: "https://git.example.org/shop.git", Path: "deploy", Destination: "in-cluster/shop", AutoSync: true, Conditions: []string{"Held"},
			FinishedAt: &finished, UpdatedAt: b.Clock.Now(), Held: true, Version: "abc",
		}}
		if diff := cmp.Diff(listed, page.Items); diff != "" {
			t.Errorf("list (-want +got):\n%s", diff)
		}
		detail := storetest.Must[api.ApplicationDetail](t)(b.GetApplication(t.Context(), "account.prod", "argocd", "shop"))
		if diff := cmp.Diff(listed[0], detail.Application); diff != "" {
			t.Errorf("detail (-want +got):\n%s", diff)
		}
		if string(detail.Resource) != string(shop.Body) {
			t.Errorf("resource is %s", detail.Resource)
		}
		_, err := b.GetApplication(t.Context(), "account.prod", "argocd", "none")
		storetest.Code(t, err, api.CodeNotFound)
	})
}

func TestABatchChangesWhatItSays(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		a, epoch := b.Agent(t, "prod", "account")
		one, two := storetest.App("one", "default"), storetest.App("two", "default")
		storetest.Must[[]gateway.Changed](t)(b.ApplyItems(ctx, a.UID, epoch, 1, []agentapi.Item{one, two}, b.Clock.Now()))
		changed := storetest.App("one", "default", storetest.Labelled(map[string]any{"team": "new", "more": "x"}))
		// Twice the same key: the last state counts, and each says what it did.
		batch := []agentapi.Item{changed, two, storetest.Gone(two), storetest.App("three", "p"), storetest.Gone(storetest.App("four", "p")), storetest.Gone(storetest.App("three", "p")), two}
		got := storetest.Must[[]gateway.Changed](t)(b.ApplyItems(ctx, a.UID, epoch, 2, batch, b.Clock.Now()))
		team := func(s string) map[string]string { return map[string]string{"team": s} }
		want := []gateway.Changed{
			{Key: one.Key, Before: one.Hash, After: changed.Hash, Scope: "account", Labels: map[string]string{"team": "new", "more": "x"}},
			{Key: two.Key, Before: two.Hash, After: two.Hash, Scope: "account", Labels: team("two")},
			{Key: two.Key, Before: two.Hash, Scope: "account", Labels: team("two"), Removed: true},
			{Key: batch[3].Key, After: batch[3].Hash, Scope: "account", Labels: team("three")},
			{Key: batch[4].Key},
			{Key: batch[3].Key, Before: batch[3].Hash, Scope: "account", Labels: team("three"), Removed: true},
			{Key: two.Key, After: two.Hash, Scope: "account", Labels: team("two")},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		for labels, names := range map[string][]string{"team=new": {"one"}, "team=one": {}, "more=x": {"one"}, "team=two": {"two"}, "team=three": {}} {
			key, value, _ := strings.Cut(labels, "=")
			page := storetest.Must[api.Page[api.Application]](t)(b.ListApplications(ctx, storetest.All(api.TypeApplication), api.ApplicationFilter{
				ItemFilter: api.ItemFilter{ListOptions: api.ListOptions{Labels: map[string]string{key: value}}},
			}))
			if diff := cmp.Diff(names, storetest.IDs(page, func(a api.Application) string { return a.Name })); diff != "" {
				t.Errorf("%s (-want +got):\n%s", labels, diff)
			}
		}
	})
}

func TestABatchOfAnotherSessionIsFenced(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		a, epoch := b.Agent(t, "prod", "account")
		items := []agentapi.Item{storetest.App("one", "default")}
		apply := func(uid string, epoch, seq int64) error {
			_, err := b.ApplyItems(ctx, uid, epoch, seq, items, b.Clock.Now())
			return err
		}
		for _, step := range []struct {
			uid        string
			epoch, seq int64
			want       error
		}{
			{a.UID, epoch, 2, nil},
			{a.UID, epoch, 2, nil}, // the one stored last, again
			{a.UID, epoch, 1, gateway.ErrStale},
			{a.UID, epoch - 1, 3, gateway.ErrFenced},
			{a.UID, epoch + 1, 3, gateway.ErrFenced},
			{"nobody", epoch, 3, gateway.ErrUnknown},
		} {
			if err := apply(step.uid, step.epoch, step.seq); !errors.Is(err, step.want) {
				t.Errorf("%+v: got %v", step, err)
			}
		}
		next := storetest.Must[gateway.Agent](t)(b.BeginSession(ctx, a.UID, gateway.Session{}, b.Clock.Now()))
		if err := apply(a.UID, epoch, 3); !errors.Is(err, gateway.ErrFenced) {
			t.Errorf("the session before: got %v", err)
		}
		if err := apply(a.UID, next.Epoch, 1); err != nil {
			t.Errorf("the present session: %v", err)
		}
		storetest.Must[string](t)(b.RevokeAgent(ctx, a.ID))
		if err := apply(a.UID, next.Epoch, 2); !errors.Is(err, gateway.ErrFenced) {
			t.Errorf("revoked: got %v", err)
		}
		_, err := b.Reconcile(ctx, a.UID, next.Epoch, gateway.Reconciliation{}, b.Clock.Now())
		if !errors.Is(err, gateway.ErrFenced) {
			t.Errorf("reconcile when revoked: got %v", err)
		}
	})
}

func TestAnInventoryRemovesMarksAndUnmarks(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		a, epoch := b.Agent(t, "prod", "account")
		one, two, three := storetest.App("one", "p"), storetest.App("two", "p"), storetest.App("three", "p")
		storetest.Must[[]gateway.Changed](t)(b.ApplyItems(ctx, a.UID, epoch, 1, []agentapi.Item{one, two, three}, b.Clock.Now()))
		b.Clock.Move(time.Minute)
		none := agentapi.Key{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: "none"}
		r := gateway.Reconciliation{Remove: []agentapi.Key{one.Key, none}, MarkStale: []agentapi.Key{two.Key, none}, Unmark: []agentapi.Key{three.Key}}
		got := storetest.Must[[]gateway.Changed](t)(b.Reconcile(ctx, a.UID, epoch, r, b.Clock.Now()))
		want := []gateway.Changed{
			{Key: one.Key, Before: one.Hash, Scope: "account", Labels: map[string]string{"team": "one"}, Removed: true},
			{Key: two.Key, Before: two.Hash, Scope: "account", Labels: map[string]string{"team": "two"}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		entries := storetest.Must[[]gateway.Entry](t)(b.Entries(ctx, a.UID))
		wantEntries := []gateway.Entry{
			{Entry: agentapi.Entry{Key: three.Key, Hash: three.Hash}}, {Entry: agentapi.Entry{Key: two.Key, Hash: two.Hash}, Stale: true},
		}
		if diff := cmp.Diff(wantEntries, entries); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
		page := storetest.Must[api.Page[api.Application]](t)(b.ListApplications(ctx, storetest.All(api.TypeApplication), api.ApplicationFilter{ItemFilter: api.ItemFilter{Stale: true}}))
		if len(page.Items) != 1 || page.Items[0].Name != "two" || !page.Items[0].StaleSince.Equal(b.Clock.Now()) {
			t.Errorf("stale: %+v", page.Items)
		}
		storetest.Code(t, b.DropItem(ctx, api.KindApplication, a.ID, "argocd", "three"), api.CodeConflict)
		// What is told of again is not stale any more, also with the same hash.
		back := storetest.Must[[]gateway.Changed](t)(b.ApplyItems(ctx, a.UID, epoch, 2, []agentapi.Item{two}, b.Clock.Now()))
		if back[0].Before != "" || back[0].After != two.Hash {
			t.Errorf("back: %+v", back)
		}
		storetest.Must[[]gateway.Changed](t)(b.Reconcile(ctx, a.UID, epoch, gateway.Reconciliation{MarkStale: []agentapi.Key{two.Key}}, b.Clock.Now()))
		unmarked := storetest.Must[[]gateway.Changed](t)(b.Reconcile(ctx, a.UID, epoch, gateway.Reconciliation{Unmark: []agentapi.Key{two.Key}}, b.Clock.Now()))
		if len(unmarked) != 1 || unmarked[0].After != two.Hash {
			t.Errorf("unmarked: %+v", unmarked)
		}
		storetest.Must[[]gateway.Changed](t)(b.Reconcile(ctx, a.UID, epoch, gateway.Reconciliation{MarkStale: []agentapi.Key{two.Key}}, b.Clock.Now()))
		if err := b.DropItem(ctx, api.KindApplication, a.ID, "argocd", "two"); err != nil {
			t.Error(err)
		}
		storetest.Code(t, b.DropItem(ctx, api.KindApplication, a.ID, "argocd", "two"), api.CodeNotFound)
	})
}

func TestAMappingMovesItemsToTheirProject(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		b.Tree(t)
		a, epoch := b.Agent(t, "prod", "org.acme")
		seen := func() map[string]api.Scope {
			page := storetest.Must[api.Page[api.Application]](t)(b.ListApplications(ctx, storetest.All(api.TypeApplication), api.ApplicationFilter{}))
			scopes := map[string]api.Scope{}
			for _, item := range page.Items {
				scopes[item.Name] = item.Scope
			}
			return scopes
		}
		storetest.Must[[]gateway.Changed](t)(b.ApplyItems(ctx, a.UID, epoch, 1, []agentapi.Item{storetest.App("one", "shop")}, b.Clock.Now()))
		m := storetest.Must[api.Mapping](t)(b.SetMapping(ctx, api.Mapping{Agent: a.ID, ArgoProject: "shop", Project: "acme.shop"}))
		storetest.Must[[]gateway.Changed](t)(b.ApplyItems(ctx, a.UID, epoch, 2, []agentapi.Item{storetest.App("two", "shop"), storetest.App("three", "default")}, b.Clock.Now()))
		want := map[string]api.Scope{"one": "project.acme.shop", "two": "project.acme.shop", "three": "org.acme"}
		if diff := cmp.Diff(want, seen()); diff != "" {
			t.Errorf("mapped (-want +got):\n%s", diff)
		}
		if scope := storetest.Must[api.Scope](t)(b.ItemScope(ctx, a.ID, "shop")); scope != "project.acme.shop" {
			t.Errorf("scope of what will be: %s", scope)
		}
		_, err := b.SetMapping(ctx, api.Mapping{Agent: a.ID, ArgoProject: "shop", Project: "acme.web", Version: m.Version + 1})
		storetest.Code(t, err, api.CodeConflict)
		_, err = b.SetMapping(ctx, api.Mapping{Agent: a.ID, ArgoProject: "shop", Project: "other.web"})
		storetest.Code(t, err, api.CodeInvalid)
		m.Project = "acme.web"
		storetest.Must[api.Mapping](t)(b.SetMapping(ctx, m))
		if got := seen(); got["one"] != "project.acme.web" {
			t.Errorf("mapped anew: %v", got)
		}
		storetest.Code(t, b.Projects.Delete(ctx, "acme.web", api.DeleteOptions{}), api.CodeConflict)
		if err := b.Projects.Delete(ctx, "acme.web", api.DeleteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]api.Scope{"one": "org.acme", "two": "org.acme", "three": "org.acme"}, seen()); diff != "" {
			t.Errorf("unmapped (-want +got):\n%s", diff)
		}
		if list := storetest.Must[[]api.Mapping](t)(b.Mappings(ctx, a.ID)); len(list) != 0 {
			t.Errorf("mappings are left: %v", list)
		}
		storetest.Code(t, b.DeleteMapping(ctx, a.ID, "shop"), api.CodeNotFound)
	})
}

func TestApplicationsAreFilteredByWhatTheyShow(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		a, epoch := b.Agent(t, "prod", "account")
		several := storetest.App("three", "default", func(r map[string]any) {
			spec := r["spec"].(map[string]any)
			delete(spec, "source")
			spec["sources"] = []any{map[string]any{"repoURL": "https://git.example.org/shared"}, map[string]any{"repoURL": "https://git.example.org/ONE/", "chart": "c"}}
			spec["destination"] = map[string]any{"server": "https://k8s.example.org"}
			r["status"] = map[string]any{"sync": map[string]any{"status": "OutOfSync"}, "health": map[string]any{"status": "Degraded"}}
		})
		// A resource with fields of a wrong type is kept, too.
		odd := storetest.App("odd", "default", func(r map[string]any) { r["status"] = "nonsense" })
		batch := []agentapi.Item{storetest.App("one", "default"), storetest.App("two", "other"), several, odd}
		storetest.Must[[]gateway.Changed](t)(b.ApplyItems(ctx, a.UID, epoch, 1, batch, b.Clock.Now()))
		for name, test := range map[string]struct {
			filter api.ApplicationFilter
			want   []string
		}{
			"sync":        {api.ApplicationFilter{Sync: []string{"OutOfSync", "Unknown"}}, []string{"three"}},
			"health":      {api.ApplicationFilter{Health: []string{"Healthy"}}, []string{"one", "two"}},
			"project":     {api.ApplicationFilter{ItemFilter: api.ItemFilter{ArgoProject: "other"}}, []string{"two"}},
			"agent":       {api.ApplicationFilter{ItemFilter: api.ItemFilter{Agent: "account.none"}}, []string{}},
			"repository":  {api.ApplicationFilter{RepoURL: "https://git.example.org/one"}, []string{"one", "three"}},
			"destination": {api.ApplicationFilter{Destination: "https://k8s.example.org"}, []string{"three"}},
			"namespace":   {api.ApplicationFilter{Namespace: "elsewhere"}, []string{}},
			"search":      {api.ApplicationFilter{ItemFilter: api.ItemFilter{ListOptions: api.ListOptions{Search: "ODD"}}}, []string{"odd"}},
		} {
			page := storetest.Must[api.Page[api.Application]](t)(b.ListApplications(ctx, storetest.All(api.TypeApplication), test.filter))
			if diff := cmp.Diff(test.want, storetest.IDs(page, func(a api.Application) string { return a.Name })); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		for _, sort := range []string{"name", "-health", "updatedAt", "-sync", "finishedAt"} {
			var names []string
			cursor := ""
			for {
				page := storetest.Must[api.Page[api.Application]](t)(b.ListApplications(ctx, storetest.All(api.TypeApplication), api.ApplicationFilter{
					ItemFilter: api.ItemFilter{ListOptions: api.ListOptions{Sort: sort, Limit: 1, Cursor: cursor}},
				}))
				names = append(names, storetest.IDs(page, func(a api.Application) string { return a.Name })...)
				if cursor = page.NextCursor; cursor == "" {
					break
				}
			}
			if len(names) != 4 {
				t.Errorf("sort %s: %v", sort, names)
			}
		}
	})
}

func TestSettingsOfAnAgentAreItemsAndKnowTheirApplications(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		a, epoch := b.Agent(t, "prod", "account")
		setting := func(kind agentapi.ItemKind, name string, fields map[string]string) agentapi.Item {
			body, _ := json.Marshal(agentapi.Setting{Fields: fields, Labels: map[string]string{"kind": string(kind)}})
			return agentapi.Item{Key: agentapi.Key{Kind: kind, Namespace: "argocd", Name: name}, Hash: agentapi.Hash(body), Body: body}
		}
		batch := []agentapi.Item{
			storetest.App("one", "shop"),
			setting(agentapi.ItemRepository, "repo", map[string]string{"url": "https://git.example.org/one"}),
			setting(agentapi.ItemRepository, "unused", map[string]string{"url": "https://git.example.org/on"}),
			setting(agentapi.ItemCluster, "local", map[string]string{"name": "in-cluster", "server": "https://kubernetes.default.svc"}),
			{Key: agentapi.Key{Kind: agentapi.ItemArgoProject, Namespace: "argocd", Name: "shop"}, Hash: "1", Body: json.RawMessage(`{}`)},
			setting(agentapi.ItemGPGKey, "key", nil),
		}
		storetest.Must[[]gateway.Changed](t)(b.ApplyItems(ctx, a.UID, epoch, 1, batch, b.Clock.Now()))
		for kind, want := range map[string]map[string]int{
			api.KindRepository: {"repo": 1, "unused": 0}, api.KindCluster: {"local": 1}, api.KindArgoProject: {"shop": 1}, api.KindGPGKey: {"key": 0},
		} {
			page := storetest.Must[api.Page[api.Item]](t)(b.ListItems(ctx, kind, storetest.All(kind), api.ItemFilter{}))
			if len(page.Items) != len(want) {
				t.Errorf("%s: %+v", kind, page.Items)
			}
			for _, item := range page.Items {
				got := storetest.Must[api.Item](t)(b.GetItem(ctx, kind, item.Agent, item.Namespace, item.Name))
				if diff := cmp.Diff(item, got); diff != "" {
					t.Errorf("%s (-list +get):\n%s", item.ID(), diff)
				}
				if refs := storetest.Must[[]api.Ref](t)(b.ItemReferences(ctx, got)); len(refs) != want[item.Name] {
					t.Errorf("%s is used by %v", item.ID(), refs)
				}
			}
		}
		o := storetest.Must[api.Overview](t)(b.Overview(ctx, storetest.All(api.TypeAgent), storetest.All(api.TypeApplication), storetest.All(api.TypeCluster), rbac.Filter{}))
		want := api.Overview{
			Agents: map[string]int64{"Never": 1}, Applications: 1, Sync: map[string]int64{"Synced": 1}, Health: map[string]int64{"Healthy": 1}, Clusters: 1,
		}
		if diff := cmp.Diff(want, o); diff != "" {
			t.Errorf("overview (-want +got):\n%s", diff)
		}
	})
}

func TestAnAgentGoesWithAllThatItTold(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		a, epoch := b.Agent(t, "prod", "account")
		storetest.Must[[]gateway.Changed](t)(b.ApplyItems(ctx, a.UID, epoch, 1, []agentapi.Item{storetest.App("one", "default")}, b.Clock.Now()))
		storetest.Code(t, b.Agents.Delete(ctx, a.ID, api.DeleteOptions{}), api.CodeConflict)
		if err := b.Agents.Delete(ctx, a.ID, api.DeleteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		// One of the same name has nothing of it, not even its labels.
		again, epoch := b.Agent(t, "prod", "account")
		if again.UID == a.UID {
			t.Error("the uid is given twice")
		}
		storetest.Must[[]gateway.Changed](t)(b.ApplyItems(ctx, again.UID, epoch, 1, []agentapi.Item{storetest.App("one", "default")}, b.Clock.Now()))
	})
}

// How long it takes is the benchmark's; here it is only said.
func TestAThousandItemsAreStoredAtOnce(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		a, epoch := b.Agent(t, "prod", "account")
		var items, changed []agentapi.Item
		for i := range 1000 {
			name := fmt.Sprintf("app-%04d", i)
			items = append(items, storetest.App(name, "default"))
			changed = append(changed, storetest.App(name, "default", func(r map[string]any) { r["status"].(map[string]any)["health"] = map[string]any{"status": "Degraded"} }))
		}
		for seq, batch := range [][]agentapi.Item{items, changed, changed} {
			start := time.Now()
			told := storetest.Must[[]gateway.Changed](t)(b.ApplyItems(t.Context(), a.UID, epoch, int64(seq+1), batch, b.Clock.Now()))
			t.Logf("batch %d: %v", seq, time.Since(start))
			if len(told) != len(batch) {
				t.Errorf("batch %d: %d of %d are told of", seq, len(told), len(batch))
			}
		}
	})
}
