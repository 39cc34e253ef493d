package mirror_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/census"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
	"github.com/slipway-gitops/slipway/internal/server/store/work"
)

// state is an edit of an application as an agent sends it.
func state(sync, health string, conditions ...string) func(map[string]any) {
	return func(resource map[string]any) {
		status, _ := resource["status"].(map[string]any)
		status["sync"], status["health"] = map[string]any{"status": sync, "revision": "abc"}, map[string]any{"status": health}
		var list []any
		for _, c := range conditions {
			list = append(list, map[string]any{"type": c})
		}
		status["conditions"] = list
		status["summary"] = map[string]any{"images": []any{"registry.example.org/shop:1.4.2"}}
	}
}

// fleetFilters are filters of every kind.
func fleetFilters() map[string]api.FleetFilter {
	return map[string]api.FleetFilter{
		"all": {}, "sync": {Sync: []string{"OutOfSync"}}, "health": {Health: []string{"Degraded", "Missing"}}, "phase": {Phase: []string{"Succeeded"}},
		"held": {Held: true}, "old drift": {DriftOlder: "1h"}, "recent": {Since: "7d"}, "not recent": {Since: "1m"}, "version": {Version: "1.4.2"},
		"no version": {Version: "9"}, "agent": {Agent: "account.prod"}, "cluster": {Cluster: "in-cluster"}, "namespace": {Namespace: "argocd"},
		"repository": {RepoURL: "https://git.example.org/a1"}, "label": {Labels: map[string]string{"team": "a2"}}, "a label": {Labels: map[string]string{"team": ""}},
		"search": {Search: "A1"}, "search repository": {Search: "git.example"}, "search words": {Search: "prod  in-cluster A1"}, "search no scope": {Search: "account"}, "scope": {Scope: "org.acme"}, "Argo project": {ArgoProject: "shop"},
		"environment": {Environment: "org.acme.production"}, "region": {Region: "eu"}, "type": {Type: "Production"}, "stale": {Stale: true},
		"needs attention": {Attention: api.ApplicationAttentionKinds()}, "is held": {Attention: []string{api.AttentionHeld}},
		"degraded or drifts": {Attention: []string{api.AttentionDegraded, api.AttentionDrift}, Sync: []string{"OutOfSync"}},
		"several":            {Sync: []string{"OutOfSync"}, Health: []string{"Degraded"}, Held: true},
	}
}

// leaves says what a filter should let through, the long way.
func leaves(f api.FleetFilter, a *api.Application, places map[string]api.Environment, now time.Time) bool {
	is := func(want, have string) bool { return want == "" || want == have }
	among := func(want []string, have string) bool { return len(want) == 0 || slices.Contains(want, have) }
	cluster, _, _ := strings.Cut(a.Destination, "/")
	found := func(word string) bool {
		agent := a.Agent[strings.LastIndex(a.Agent, ".")+1:]
		return slices.ContainsFunc([]string{a.Name, a.Namespace, a.RepoURL, cluster, agent}, func(text string) bool { return strings.Contains(strings.ToLower(text), word) })
	}
	for word := range strings.FieldsSeq(strings.ToLower(f.Search)) {
		if !found(word) {
			return false
		}
	}
	for key, value := range f.Labels {
		if have, there := a.Labels[key]; !there || value != "" && value != have {
			return false
		}
	}
	drifted, recent := true, true
	if f.DriftOlder != "" {
		age, _ := api.ParseAge(f.DriftOlder)
		drifted = !a.DriftSince.IsZero() && !a.DriftSince.After(now.Add(-age))
	}
	if f.Since != "" {
		age, _ := api.ParseAge(f.Since)
		recent = a.FinishedAt != nil && !a.FinishedAt.Before(now.Add(-age))
	}
	at := places[a.Environment]
	return is(f.Agent, a.Agent) && is(f.ArgoProject, a.ArgoProject) && is(f.Namespace, a.Namespace) && is(f.Cluster, cluster) && is(f.Version, a.Version) &&
		is(f.Environment, a.Environment) && is(f.Service, a.Service) && is(f.Region, at.Region) && is(f.Type, at.Type) &&
		among(f.Sync, a.Sync) && among(f.Health, a.Health) && among(f.Phase, a.Phase) && (f.Scope == "" || f.Scope.Contains(a.Scope)) &&
		is(f.RepoURL, strings.TrimSuffix(a.RepoURL, ".git")) &&
		(len(f.Attention) == 0 || slices.Contains(f.Attention, needOf(a, now))) && drifted && recent && (!f.Held || a.Held) && (!f.Stale || a.Stale)
}

// needOf is why an application needs attention at a time.
func needOf(a *api.Application, now time.Time) string {
	row := census.Row{Held: a.Held, Conditions: a.Conditions}
	row.Cells[census.Sync], row.Cells[census.Health], row.Cells[census.Phase] = a.Sync, a.Health, a.Phase
	if a.FinishedAt != nil {
		row.FinishedAt = a.FinishedAt.UnixMicro()
	}
	if need := row.Need(); need != api.AttentionDrift || !a.DriftSince.After(now.Add(-api.AttentionDriftAge)) {
		return need
	}
	return ""
}

// sameAsListed compares, for all filters and rights, what is counted and listed with what a look at every application gives,
// read by a store that has seen nothing before.
func sameAsListed(t *testing.T, b *storetest.Bench, when string) {
	t.Helper()
	fresh := storetest.Open(t, b.URL, false)
	every := storetest.Must[api.Page[api.Application]](t)(fresh.ListApplications(t.Context(), storetest.All(api.TypeApplication), api.ApplicationFilter{}))
	places := map[string]api.Environment{}
	for _, e := range storetest.Must[api.Page[api.Environment]](t)(b.Environments.List(t.Context(), storetest.All(api.TypeEnvironment), api.ListOptions{})).Items {
		places[e.ID] = e
	}
	for who, visible := range map[string]rbac.Filter{
		"all":      storetest.All(api.TypeApplication),
		"acme":     {Type: api.TypeApplication, Terms: []rbac.Term{{Scope: "org.acme", All: true}}},
		"one":      {Type: api.TypeApplication, Terms: []rbac.Term{{Scope: "account", IDs: []string{"account.prod/argocd/a1"}}}},
		"selected": {Type: api.TypeApplication, Terms: []rbac.Term{{Scope: "account", Selectors: []rbac.Selector{storetest.Must[rbac.Selector](t)(rbac.ParseSelector("team in (a1,a2)"))}}}},
		"nobody":   {Type: api.TypeApplication},
		"others":   storetest.All(api.TypeAgent),
	} {
		for name, filter := range fleetFilters() {
			want := []api.Application{}
			var drifted, held int64
			for _, a := range every.Items {
				if !visible.Matches(rbac.Object{Type: api.TypeApplication, Scope: a.Scope, ID: a.ID, Labels: a.Labels}) || !leaves(filter, &a, places, b.Clock.Now()) {
					continue
				}
				want = append(want, a)
				if !a.DriftSince.IsZero() {
					drifted++
				}
				if a.Held {
					held++
				}
			}
			listed := storetest.Must[api.Page[api.Application]](t)(b.ListFleet(t.Context(), visible, filter, api.ListOptions{}))
			if diff := cmp.Diff(api.Page[api.Application]{Items: want, Total: int64(len(want))}, listed); diff != "" {
				t.Errorf("%s, filter %s, who sees %s: listed (-want +got):\n%s", when, name, who, diff)
			}
			ids := storetest.Must[[]string](t)(b.FleetIDs(t.Context(), visible, filter, 100))
			counted := storetest.Must[api.FleetSummary](t)(b.Summary(t.Context(), visible, filter))
			var ages int64
			for _, v := range counted.DriftAge.Values {
				ages += v.Count
			}
			if counted.Total != listed.Total || len(ids) != len(want) || ages != drifted || counted.Held != held {
				t.Errorf("%s, filter %s, who sees %s: counted %d, of which %d drift and %d are held, want %d, %d and %d; ids %v",
					when, name, who, counted.Total, ages, counted.Held, len(want), drifted, held, ids)
			}
		}
	}
}

func TestWhatIsCountedIsWhatIsListed(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		b.Tree(t)
		prod, epoch := b.Agent(t, "prod", "account")
		acme, acmeEpoch := b.Agent(t, "edge", "org.acme")
		sameAsListed(t, b, "empty")
		seq := int64(0)
		send := func(a api.Agent, epoch int64, items ...agentapi.Item) {
			t.Helper()
			seq++
			storetest.Must[[]gateway.Changed](t)(b.ApplyItems(ctx, a.UID, epoch, seq, items, b.Clock.Now()))
		}
		send(prod, epoch, storetest.App("a1", "shop", state("OutOfSync", "Degraded", "Held")), storetest.App("a2", "shop", state("Synced", "Healthy")), storetest.App("a3", "default"))
		send(acme, acmeEpoch, storetest.App("a1", "shop", state("OutOfSync", "Missing")), storetest.App("a4", "default"))
		sameAsListed(t, b, "reported")
		sum := storetest.Must[api.FleetSummary](t)(b.Summary(ctx, storetest.All(api.TypeApplication), api.FleetFilter{}))
		if sum.Total != 5 || sum.Held != 3 || !slices.Contains(sum.Sync.Values, api.FleetCount{Value: "OutOfSync", Count: 2}) ||
			!slices.Contains(sum.Label.Values, api.FleetCount{Value: "team=a1", Count: 2}) {
			t.Errorf("counted %+v", sum)
		}

		b.Clock.Move(3 * time.Hour)
		sameAsListed(t, b, "later")
		send(prod, epoch, storetest.App("a1", "shop", state("OutOfSync", "Progressing")), storetest.App("a2", "shop", state("OutOfSync", "Healthy")))
		sameAsListed(t, b, "changed")
		drift := storetest.Must[api.Page[api.Application]](t)(b.ListFleet(ctx, rbac.Filter{Type: api.TypeApplication, Terms: []rbac.Term{{Scope: "account", All: true}}}, api.FleetFilter{DriftOlder: "2h"}, api.ListOptions{}))
		if drift.Total != 2 {
			t.Errorf("%d are out of sync for two hours, want 2: a new state does not begin anew, and what drifts now is not old", drift.Total)
		}
		storetest.Must[api.Environment](t)(b.Environments.Create(ctx, api.Environment{
			Meta: api.Meta{Name: "production", Scope: "org.acme"}, Type: api.EnvironmentProduction, Region: "eu", Clusters: []api.EnvironmentCluster{{Agent: acme.ID, Cluster: "in-cluster"}},
		}))
		sameAsListed(t, b, "linked")
		storetest.Must[api.Mapping](t)(b.SetMapping(ctx, api.Mapping{Agent: prod.ID, ArgoProject: "shop", Project: "acme.shop"}))
		sameAsListed(t, b, "mapped")
		gone := storetest.App("a2", "shop")
		send(prod, epoch, agentapi.Item{Key: gone.Key, Deleted: true})
		sameAsListed(t, b, "deleted")
		storetest.Must[[]gateway.Changed](t)(b.Reconcile(ctx, prod.UID, epoch, gateway.Reconciliation{MarkStale: []agentapi.Key{storetest.App("a3", "default").Key}}, b.Clock.Now()))
		sameAsListed(t, b, "lost")
		away := gateway.Health{State: agentapi.StateDisconnected, Since: b.Clock.Now(), LastHeartbeat: b.Clock.Now()}
		storetest.Must[bool](t)(b.MarkLost(ctx, acme.UID, acmeEpoch, away, b.Clock.Now()))
		sameAsListed(t, b, "away")
		old := storetest.Must[api.FleetSummary](t)(b.Summary(ctx, storetest.All(api.TypeApplication), api.FleetFilter{}))
		of := storetest.Must[api.FleetMatrix](t)(b.Matrix(ctx, storetest.All(api.TypeApplication), api.FleetFilter{}, "agent"))
		if stale := map[string]int64{of.Rows[0].Value: of.Rows[0].Stale, of.Rows[1].Value: of.Rows[1].Stale}; old.Stale != 3 || stale[acme.ID] != 2 || stale[prod.ID] != 1 {
			t.Errorf("%d are stale, want 3: one that is not reported, and two of an agent that is away: %v", old.Stale, stale)
		}
		if err := b.Agents.Delete(ctx, acme.ID, api.DeleteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		sameAsListed(t, b, "without an agent")
	})
}

func TestWhatAnAgentReportedSaysHowOldItIsWhileTheAgentIsAway(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		prod, epoch := b.Agent(t, "prod", "account")
		repository := agentapi.Item{
			Key: agentapi.Key{Kind: agentapi.ItemRepository, Namespace: "argocd", Name: "shop"}, Hash: "h", Body: []byte(`{"fields":{"url":"https://git.example.org/shop"}}`),
		}
		storetest.Must[[]gateway.Changed](t)(b.ApplyItems(ctx, prod.UID, epoch, 1, []agentapi.Item{storetest.App("web", "default"), repository}, b.Clock.Now()))
		heard := b.Clock.Now().Add(time.Minute)
		save := func(state agentapi.State) {
			t.Helper()
			if err := b.SaveHealth(ctx, prod.UID, epoch, gateway.Health{State: state, Since: heard, LastHeartbeat: heard}); err != nil {
				t.Fatal(err)
			}
		}
		check := func(when string, want api.Age) {
			t.Helper()
			one := storetest.Must[api.ApplicationDetail](t)(b.GetApplication(ctx, prod.ID, "argocd", "web"))
			listed := storetest.Must[api.Page[api.Application]](t)(b.ListFleet(ctx, storetest.All(api.TypeApplication), api.FleetFilter{}, api.ListOptions{}))
			item := storetest.Must[api.Item](t)(b.GetItem(ctx, api.KindRepository, prod.ID, "argocd", "shop"))
			some := storetest.Must[api.Page[api.Item]](t)(b.ListItems(ctx, api.KindRepository, storetest.All(api.TypeRepository), api.ItemFilter{Stale: true}))
			for what, got := range map[string]api.Age{"one": one.Age, "in a list": listed.Items[0].Age, "a repository": item.Age} {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s, %s (-want +got):\n%s", when, what, diff)
				}
			}
			if (len(some.Items) == 1) != want.Stale {
				t.Errorf("%s: the filter for what is stale finds %d repositories", when, len(some.Items))
			}
		}
		save(agentapi.StateConnected)
		check("connected", api.Age{})
		save(agentapi.StateDegraded)
		check("degraded", api.Age{})
		storetest.Must[bool](t)(b.MarkLost(ctx, prod.UID, epoch, gateway.Health{State: agentapi.StateDisconnected, Since: heard.Add(25 * time.Second), LastHeartbeat: heard}, heard))
		check("away", api.Age{Stale: true, AsOf: heard, AgentAway: true})
		save(agentapi.StateConnected)
		check("back", api.Age{})
		storetest.Must[string](t)(b.RevokeAgent(ctx, prod.ID))
		check("revoked", api.Age{Stale: true, AsOf: heard, AgentAway: true})
	})
}

func TestTheListOfApplicationsBeginsWithTheWorst(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		prod, epoch := b.Agent(t, "prod", "account")
		items := []agentapi.Item{
			storetest.App("a-fine", "shop", state("Synced", "Healthy")), storetest.App("b-held", "shop", state("OutOfSync", "Healthy", "Held")),
			storetest.App("c-broken", "shop", state("Synced", "Degraded")), storetest.App("d-unread", "shop", state("Unknown", "Healthy")),
		}
		storetest.Must[[]gateway.Changed](t)(b.ApplyItems(t.Context(), prod.UID, epoch, 1, items, b.Clock.Now()))
		for sort, want := range map[string]string{"attention": "d-unread c-broken b-held a-fine", "-attention": "a-fine b-held c-broken d-unread"} {
			var got []string
			options := api.ListOptions{Sort: sort, Limit: 1}
			for {
				page := storetest.Must[api.Page[api.Application]](t)(b.ListFleet(t.Context(), storetest.All(api.TypeApplication), api.FleetFilter{}, options))
				for _, a := range page.Items {
					got = append(got, a.Name)
				}
				if options.Cursor = page.NextCursor; options.Cursor == "" {
					break
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("sorted by %s: %v, want %s", sort, got, want)
			}
		}
	})
}

func TestAJobIsOneServersAtATime(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		by := api.Principal{Type: api.PrincipalUser, ID: "ada"}
		made := api.Job{ID: "j", By: by, Request: api.JobRequest{Action: api.JobSync, Limit: 2, Reason: "why"}}
		var ids []string
		for i := range 450 {
			ids = append(ids, fmt.Sprintf("account.prod/argocd/a%03d", i))
		}
		if err := b.AddJob(ctx, made, "token", ids); err != nil {
			t.Fatal(err)
		}
		const hold = time.Hour
		claim := func(who string) *api.Job {
			t.Helper()
			j, token, err := b.ClaimBulk(ctx, who, hold)
			if err != nil || j != nil && token != "token" {
				t.Fatalf("claim: %v, token %q", err, token)
			}
			return j
		}
		if j := claim("one"); j == nil || j.By != by || j.Request.Limit != 2 {
			t.Fatalf("claimed %+v", j)
		}
		if j := claim("two"); j != nil {
			t.Errorf("two servers have job %s", j.ID)
		}
		open := storetest.Must[[]api.JobTarget](t)(b.OpenTargets(ctx, "j", 2))
		if len(open) != 2 || open[0].Place != 1 || open[1].Application != ids[1] {
			t.Fatalf("open are %+v", open)
		}
		open[1].State = api.TargetRunning
		if err := b.KeepTarget(ctx, "j", "one", open[1]); err != nil {
			t.Fatal(err)
		}
		if next := storetest.Must[[]api.JobTarget](t)(b.OpenTargets(ctx, "j", 2)); next[0].Place != 2 || next[1].Place != 1 {
			t.Errorf("what has begun does not come first: %+v", next)
		}
		if err := b.KeepTarget(ctx, "j", "two", open[1]); !errors.Is(err, work.ErrLost) {
			t.Errorf("who does not have it writes: %v", err)
		}
		if was := storetest.Must[bool](t)(b.StopBulk(ctx, "j", "user:bob")); !was {
			t.Error("it is not stopped")
		}
		if who := storetest.Must[string](t)(b.HoldBulk(ctx, "j", "one", hold)); who != "user:bob" {
			t.Errorf("stopped by %q", who)
		}
		if err := b.ReleaseBulk(ctx, "j", "one", 0); err != nil {
			t.Fatal(err)
		}
		if j := claim("two"); j == nil || j.StoppedBy != "user:bob" {
			t.Fatalf("claimed after it was given back: %+v", j)
		}
		if _, err := b.HoldBulk(ctx, "j", "one", hold); !errors.Is(err, work.ErrLost) {
			t.Errorf("who gave it back holds it: %v", err)
		}
		if err := b.EndBulk(ctx, "j", "two", api.JobStopped, "stopped by user:bob"); err != nil {
			t.Fatal(err)
		}
		j := storetest.Must[api.Job](t)(b.GetJob(ctx, "j"))
		if j.State != api.JobStopped || j.Counts.Total != 450 || j.Counts.Running != 1 || j.Counts.Skipped != 449 {
			t.Errorf("it ended as %+v", j)
		}
		if page := storetest.Must[api.Page[api.Job]](t)(b.ListJobs(ctx, api.JobFilter{By: by})); page.Total != 1 || page.Items[0].Counts.Total != 450 {
			t.Errorf("listed %+v", page)
		}
		if page := storetest.Must[api.Page[api.Job]](t)(b.ListJobs(ctx, api.JobFilter{By: api.Principal{Type: "user", ID: "eve"}})); page.Total != 0 {
			t.Errorf("listed for somebody else: %+v", page)
		}
		if page := storetest.Must[api.Page[api.JobTarget]](t)(b.ListJobTargets(ctx, "j", api.TargetRunning, api.ListOptions{})); page.Total != 1 || page.Items[0].Application != ids[1] {
			t.Errorf("targets %+v", page)
		}
	})
}

func TestAViewIsOnesOwnOrEveryones(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		ada, bob := api.Principal{Type: api.PrincipalUser, ID: "ada"}, api.Principal{Type: api.PrincipalUser, ID: "bob"}
		save := func(owner api.Principal, health string) {
			t.Helper()
			storetest.Must[api.View](t)(b.SaveView(ctx, owner, api.View{Name: "bad", Filter: api.FleetFilter{Health: []string{health}}}))
		}
		save(ada, "Degraded")
		save(ada, "Missing")
		save(api.Principal{}, "Unknown")
		list := storetest.Must[[]api.View](t)(b.ListViews(ctx, ada))
		if len(list) != 2 || list[0].Everyone || list[0].Filter.Health[0] != "Missing" || !list[1].Everyone {
			t.Errorf("ada has %+v", list)
		}
		if list := storetest.Must[[]api.View](t)(b.ListViews(ctx, bob)); len(list) != 1 || !list[0].Everyone {
			t.Errorf("bob has %+v", list)
		}
		_, err := b.GetView(ctx, bob, "bad")
		storetest.Code(t, err, api.CodeNotFound)
		storetest.Code(t, b.DeleteView(ctx, bob, "bad"), api.CodeNotFound)
		if err := b.DeleteView(ctx, api.Principal{}, "bad"); err != nil {
			t.Error(err)
		}
	})
}
