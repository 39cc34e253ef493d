package delivery_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

func TestALabelNamesWhatIsNearest(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		s := storetest.NewShipping(t, b)
		labels := map[string]any{api.LabelService: "checkout", api.LabelEnvironment: "live"}
		s.Tell(storetest.App("one", "shop", storetest.Labelled(labels)), storetest.App("two", "default", storetest.Labelled(labels)))
		s.Expect("there is none", "one", "", "")
		s.Service("account", "checkout")
		s.Environment("org.acme", "live")
		s.Expect("made later", "one", "account.checkout", "org.acme.live")
		s.Expect("of another scope", "two", "account.checkout", "")
		s.Service("org.other", "checkout")
		s.Service("project.acme.shop", "checkout")
		s.Expect("made nearer", "one", "project.acme.shop.checkout", "org.acme.live")
		s.Expect("not made nearer", "two", "account.checkout", "")
		s.Tell(storetest.App("three", "shop", storetest.Labelled(map[string]any{api.LabelService: "account.checkout", api.LabelEnvironment: "org.other.live"})))
		s.Expect("ids", "three", "account.checkout", "")
		if err := s.DeleteMapping(t.Context(), s.Agent.ID, "shop"); err != nil {
			t.Fatal(err)
		}
		s.Expect("moved to the account", "one", "account.checkout", "")
		storetest.Must[api.Mapping](t)(b.SetMapping(t.Context(), api.Mapping{Agent: s.Agent.ID, ArgoProject: "shop", Project: "acme.shop"}))
		s.Expect("moved back", "one", "project.acme.shop.checkout", "org.acme.live")
		storetest.Code(t, s.Services.Delete(t.Context(), "project.acme.shop.checkout", api.DeleteOptions{}), api.CodeConflict)
		if err := s.Services.Delete(t.Context(), "project.acme.shop.checkout", api.DeleteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		s.Expect("the nearest is gone", "one", "account.checkout", "org.acme.live")
		unknown := storetest.Must[api.ApplicationLinked](t)(s.GetLink(t.Context(), s.Agent.ID, "argocd", "two")).Unknown
		if diff := cmp.Diff([]string{api.LabelEnvironment + "=live"}, unknown); diff != "" {
			t.Errorf("unknown labels (-want +got):\n%s", diff)
		}
	})
}

func TestALinkByHandStaysWithoutItsApplication(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		s := storetest.NewShipping(t, b)
		one := storetest.App("one", "shop")
		s.Tell(one)
		s.Service("org.acme", "checkout")
		s.Service("org.other", "foreign")
		s.Environment("org.acme", "live")
		set := func(link api.ApplicationLink) error {
			_, err := s.SetLink(ctx, s.Agent.ID, "argocd", "one", link)
			return err
		}
		storetest.Code(t, set(api.ApplicationLink{}), api.CodeInvalid)
		storetest.Code(t, set(api.ApplicationLink{Service: "org.acme.none"}), api.CodeInvalid)
		storetest.Code(t, set(api.ApplicationLink{Service: "org.other.foreign"}), api.CodeInvalid)
		if err := set(api.ApplicationLink{Service: "org.acme.checkout", Environment: "org.acme.live"}); err != nil {
			t.Fatal(err)
		}
		storetest.Code(t, set(api.ApplicationLink{Service: "org.acme.checkout", Version: 7}), api.CodeConflict)
		s.Expect("linked", "one", "org.acme.checkout", "org.acme.live")
		s.Tell(storetest.Gone(one))
		refs := s.Environments.Delete(ctx, "org.acme.live", api.DeleteOptions{})
		storetest.Code(t, refs, api.CodeConflict)
		s.Tell(one)
		s.Expect("deleted and made anew", "one", "org.acme.checkout", "org.acme.live")
		if err := s.Environments.Delete(ctx, "org.acme.live", api.DeleteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		s.Expect("the environment is gone", "one", "org.acme.checkout", "")
		storetest.Must[api.ApplicationDetail](t)(s.GetApplication(ctx, s.Agent.ID, "argocd", "one"))
		if err := s.DeleteLink(ctx, s.Agent.ID, "argocd", "one"); err != nil {
			t.Fatal(err)
		}
		s.Expect("not linked any more", "one", "", "")
		storetest.Code(t, s.DeleteLink(ctx, s.Agent.ID, "argocd", "one"), api.CodeNotFound)
	})
}

func TestAnEnvironmentHasTheApplicationsOfItsClusters(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		s := storetest.NewShipping(t, b)
		const edge = "https://edge.example.org"
		s.Tell(storetest.Cluster("edge", "edge", edge, ""), storetest.App("named", "shop", storetest.To(map[string]any{"name": "edge"})),
			storetest.App("addressed", "default", storetest.To(map[string]any{"server": edge})), storetest.App("home", "shop", storetest.To(map[string]any{"server": api.InClusterServer})))
		wide := s.Environment("account", "edges", edge)
		if diff := cmp.Diff([]api.EnvironmentCluster{{Agent: s.Agent.ID, Cluster: "edge"}}, wide.Clusters); diff != "" {
			t.Errorf("clusters (-want +got):\n%s", diff)
		}
		s.Expect("by name", "named", "", "account.edges")
		s.Expect("by address", "addressed", "", "account.edges")
		s.Expect("elsewhere", "home", "", "")
		s.Environment("org.acme", "shops", "edge", api.InCluster)
		s.Expect("nearer", "named", "", "org.acme.shops")
		s.Expect("not in that scope", "addressed", "", "account.edges")
		s.Expect("the agent's own", "home", "", "org.acme.shops")
		_, err := s.Environments.Create(ctx, api.Environment{
			Meta: api.Meta{Name: "again", Scope: "org.acme"}, Clusters: []api.EnvironmentCluster{{Agent: s.Agent.ID, Cluster: "edge"}},
		})
		storetest.Code(t, err, api.CodeInvalid)
		wide.Clusters = nil
		wide = storetest.Must[api.Environment](t)(s.Environments.Update(ctx, wide))
		s.Expect("taken out", "addressed", "", "")
		wide.Clusters = []api.EnvironmentCluster{{Agent: s.Agent.ID, Cluster: "edge"}}
		storetest.Must[api.Environment](t)(s.Environments.Update(ctx, wide))
		s.Tell(storetest.Cluster("edge", "edge", "https://moved.example.org", ""))
		s.Expect("the cluster has another address", "addressed", "", "")
		s.Tell(storetest.App("addressed", "default", storetest.To(map[string]any{"server": "https://moved.example.org"})))
		s.Expect("the application follows", "addressed", "", "account.edges")
		err = s.Environments.Delete(ctx, "org.acme.shops", api.DeleteOptions{})
		storetest.Code(t, err, api.CodeConflict)
		if err := s.Environments.Delete(ctx, "org.acme.shops", api.DeleteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		s.Expect("the nearer one is gone", "named", "", "account.edges")
		storetest.Must[api.Item](t)(s.GetItem(ctx, api.KindCluster, s.Agent.ID, "argocd", "edge"))
	})
}

func TestAClusterReachesItsEnvironment(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		s := storetest.NewShipping(t, b)
		s.Tell(storetest.Cluster("mine", "mine", "https://mine.example.org", "shop"))
		create := func(scope api.Scope, agent, cluster string) error {
			_, err := s.Environments.Create(t.Context(), api.Environment{
				Meta: api.Meta{Name: "live", Scope: scope}, Clusters: []api.EnvironmentCluster{{Agent: agent, Cluster: cluster}},
			})
			return err
		}
		storetest.Code(t, create("account", s.Agent.ID, "none"), api.CodeInvalid)
		storetest.Code(t, create("account", "account.none", api.InCluster), api.CodeInvalid)
		storetest.Code(t, create("org.acme", s.Agent.ID, "mine"), api.CodeInvalid)
		if err := create("project.acme.shop", s.Agent.ID, "mine"); err != nil {
			t.Errorf("a cluster of the project: %v", err)
		}
		storetest.Code(t, s.Agents.Delete(t.Context(), s.Agent.ID, api.DeleteOptions{}), api.CodeConflict)
		if err := s.Agents.Delete(t.Context(), s.Agent.ID, api.DeleteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		left := storetest.Must[api.Environment](t)(s.Environments.Get(t.Context(), "project.acme.shop.live"))
		if len(left.Clusters) != 0 {
			t.Errorf("the environment has clusters of an agent that is gone: %v", left.Clusters)
		}
	})
}

func TestWhatIsOfAnOrganizationGoesWithIt(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		s := storetest.NewShipping(t, b)
		s.Service("org.other", "checkout")
		s.Environment("org.other", "live", api.InCluster)
		storetest.Code(t, s.Organizations.Delete(ctx, "other", api.DeleteOptions{}), api.CodeConflict)
		if err := s.Organizations.Delete(ctx, "other", api.DeleteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		for _, get := range []func(context.Context, string) error{
			func(ctx context.Context, id string) error {
				_, err := s.Services.Get(ctx, id+".checkout")
				return err
			},
			func(ctx context.Context, id string) error {
				_, err := s.Environments.Get(ctx, id+".live")
				return err
			},
		} {
			storetest.Code(t, get(ctx, "org.other"), api.CodeNotFound)
		}
	})
}

// runs gives an application images and a history.
func runs(health, image, revision string, at ...string) func(map[string]any) {
	return func(r map[string]any) {
		status := r["status"].(map[string]any)
		status["health"] = map[string]any{"status": health, "lastTransitionTime": at[len(at)-1]}
		status["summary"] = map[string]any{"images": []any{"registry.example.org/aside:9", image}}
		var history []any
		for i, when := range at {
			history = append(history, map[string]any{"id": i, "revision": revision, "deployedAt": when})
		}
		status["history"] = history
		r["metadata"].(map[string]any)["annotations"] = map[string]any{api.AnnotationVersionImage: "shop"}
	}
}

func TestAVersionIsThereSinceItWasHealthyFirst(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		s := storetest.NewShipping(t, b)
		s.Service("org.acme", "checkout")
		label := storetest.Labelled(map[string]any{api.LabelService: "checkout"})
		step := func(when string, tag, since string, edit func(map[string]any)) {
			t.Helper()
			s.Clock.Move(time.Minute)
			s.Tell(storetest.App("one", "shop", label, edit))
			page := storetest.Must[api.Page[api.ServiceRow]](t)(s.ListServiceRows(t.Context(), storetest.All(api.TypeService), storetest.All(api.TypeApplication), api.ServiceFilter{}))
			got := page.Items[0].Cells[0]
			want, _ := time.Parse(time.RFC3339, since)
			if got.Version != tag || !got.Since.Equal(want) || got.Image != "registry.example.org/shop" {
				t.Errorf("%s: %s of %s since %s, want %s since %s", when, got.Version, got.Image, got.Since, tag, want)
			}
		}
		step("seen first", "1", "2026-02-01T10:00:00Z", runs("Healthy", "registry.example.org/shop:1", "a", "2026-02-01T10:00:00Z", "2026-02-03T10:00:00Z"))
		step("sick for a while", "1", "2026-02-01T10:00:00Z", runs("Degraded", "registry.example.org/shop:1", "a", "2026-02-04T10:00:00Z"))
		step("a commit that does not change the version", "1", "2026-02-01T10:00:00Z", runs("Healthy", "registry.example.org/shop:1", "b", "2026-02-05T10:00:00Z"))
		step("on its way", "2", "", runs("Progressing", "registry.example.org/shop:2", "c", "2026-02-06T10:00:00Z"))
		step("there", "2", "2026-02-06T10:01:00Z", runs("Healthy", "registry.example.org/shop:2", "c", "2026-02-06T10:00:00Z", "2026-02-06T10:01:00Z"))
		step("back", "1", "2026-02-07T10:00:00Z", runs("Healthy", "registry.example.org/shop:1", "a", "2026-02-07T10:00:00Z"))
		step("changed by hand", "3", "2026-03-01T12:07:00Z", runs("Healthy", "registry.example.org/shop:3", "a", "2026-02-07T10:00:00Z"))
		step("a digest", "sha256:ab", "2026-03-01T12:08:00Z", runs("Healthy", "registry.example.org/shop@sha256:ab", "a", "2026-02-07T10:00:00Z"))
	})
}

func TestTheMatrixShowsWhatMayBeSeen(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		s := storetest.NewShipping(t, b)
		for _, name := range []string{"basket", "checkout", "unused"} {
			s.Service("org.acme", name)
		}
		dev := s.Environment("org.acme", "dev")
		dev.Region = "eu"
		storetest.Must[api.Environment](t)(s.Environments.Update(ctx, dev))
		prod := s.Environment("org.acme", "prod")
		prod.Type = api.EnvironmentProduction
		storetest.Must[api.Environment](t)(s.Environments.Update(ctx, prod))
		one := func(service, environment, tag string) agentapi.Item {
			return storetest.App(service+"-"+environment, "shop", storetest.Labelled(map[string]any{api.LabelService: service, api.LabelEnvironment: environment}),
				runs("Healthy", "shop:"+tag, "a", "2026-02-07T10:00:00Z"))
		}
		s.Tell(one("basket", "dev", "1.1.0"), one("basket", "prod", "1.1.0"), one("checkout", "dev", "2.0.0"), one("checkout", "prod", "1.9.0"))
		pods, _ := json.Marshal(agentapi.Instances{Ready: 2, Total: 3, Instances: []agentapi.Instance{{Namespace: "shop", Pod: "a", Ready: true}}})
		key := agentapi.Key{Kind: agentapi.ItemInstances, Namespace: "argocd", Name: "checkout-prod"}
		told := s.Tell(agentapi.Item{Key: key, Hash: agentapi.Hash(pods), Body: pods})
		if told[0].Scope != "project.acme.shop" || told[0].Labels[api.LabelService] != "checkout" {
			t.Errorf("instances are told as of %s with labels %v, not as their application", told[0].Scope, told[0].Labels)
		}
		list := func(services, applications rbac.Filter, filter api.ServiceFilter) map[string][]string {
			t.Helper()
			page := storetest.Must[api.Page[api.ServiceRow]](t)(s.ListServiceRows(ctx, services, applications, filter))
			out := map[string][]string{}
			for _, row := range page.Items {
				for _, c := range row.Cells {
					out[row.Name] = append(out[row.Name], fmt.Sprintf("%s %s %d/%d", c.Environment, c.Version, c.Ready, c.Total))
				}
			}
			if int(page.Total) < len(page.Items) {
				t.Errorf("the total is %d of %d", page.Total, len(page.Items))
			}
			return out
		}
		basket := []string{"org.acme.dev 1.1.0 0/0", "org.acme.prod 1.1.0 0/0"}
		checkout := []string{"org.acme.dev 2.0.0 0/0", "org.acme.prod 1.9.0 2/3"}
		only := rbac.Filter{Type: api.TypeApplication, Terms: []rbac.Term{{Scope: "account", IDs: []string{"account.prod/argocd/checkout-prod"}}}}
		elsewhere := rbac.Filter{Type: api.TypeService, Terms: []rbac.Term{{Scope: "org.other", All: true}}}
		for _, test := range []struct {
			name                   string
			services, applications rbac.Filter
			filter                 api.ServiceFilter
			want                   map[string][]string
		}{
			{"all", storetest.All(api.TypeService), storetest.All(api.TypeApplication), api.ServiceFilter{}, map[string][]string{"basket": basket, "checkout": checkout}},
			{"one application", storetest.All(api.TypeService), only, api.ServiceFilter{}, map[string][]string{"checkout": checkout[1:]}},
			{"drift of what is seen", storetest.All(api.TypeService), only, api.ServiceFilter{Drift: true}, map[string][]string{}},
			{"no service", elsewhere, storetest.All(api.TypeApplication), api.ServiceFilter{}, map[string][]string{}},
			{"no application", storetest.All(api.TypeService), rbac.Filter{Type: api.TypeApplication}, api.ServiceFilter{}, map[string][]string{}},
			{"drift", storetest.All(api.TypeService), storetest.All(api.TypeApplication), api.ServiceFilter{Drift: true}, map[string][]string{"checkout": checkout}},
			{"a service", storetest.All(api.TypeService), storetest.All(api.TypeApplication), api.ServiceFilter{Service: "org.acme.basket"}, map[string][]string{"basket": basket}},
			{"an environment", storetest.All(api.TypeService), storetest.All(api.TypeApplication), api.ServiceFilter{Environment: prod.ID}, map[string][]string{"basket": basket[1:], "checkout": checkout[1:]}},
			{"a type", storetest.All(api.TypeService), storetest.All(api.TypeApplication), api.ServiceFilter{Type: api.EnvironmentProduction}, map[string][]string{"basket": basket[1:], "checkout": checkout[1:]}},
			{"a region", storetest.All(api.TypeService), storetest.All(api.TypeApplication), api.ServiceFilter{Region: "eu"}, map[string][]string{"basket": basket[:1], "checkout": checkout[:1]}},
			{"an agent", storetest.All(api.TypeService), storetest.All(api.TypeApplication), api.ServiceFilter{Agent: "account.other"}, map[string][]string{}},
			{"a text", storetest.All(api.TypeService), storetest.All(api.TypeApplication), api.ServiceFilter{ListOptions: api.ListOptions{Search: "BASK"}}, map[string][]string{"basket": basket}},
		} {
			if diff := cmp.Diff(test.want, list(test.services, test.applications, test.filter)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.name, diff)
			}
		}
		first := storetest.Must[api.Page[api.ServiceRow]](t)(s.ListServiceRows(ctx, storetest.All(api.TypeService), storetest.All(api.TypeApplication), api.ServiceFilter{ListOptions: api.ListOptions{Limit: 1, Sort: "-name"}}))
		second := storetest.Must[api.Page[api.ServiceRow]](t)(s.ListServiceRows(ctx, storetest.All(api.TypeService), storetest.All(api.TypeApplication), api.ServiceFilter{ListOptions: api.ListOptions{Limit: 1, Sort: "-name", Cursor: first.NextCursor}}))
		if first.Items[0].Name != "checkout" || second.Items[0].Name != "basket" || second.NextCursor != "" || first.Total != 2 {
			t.Errorf("the pages are %+v and %+v", first, second)
		}
		instances := func(visible rbac.Filter, filter api.InstanceFilter) []string {
			t.Helper()
			return storetest.IDs(storetest.Must[api.Page[api.Instances]](t)(s.ListInstances(ctx, visible, filter)), func(v api.Instances) string {
				return fmt.Sprintf("%s %s %s %d/%d %d", v.Application, v.Service, v.Environment, v.Ready, v.Total, len(v.Instances))
			})
		}
		want := []string{"account.prod/argocd/checkout-prod org.acme.checkout org.acme.prod 2/3 1"}
		for _, filter := range []api.InstanceFilter{{}, {Service: "org.acme.checkout"}, {Environment: prod.ID}, {Unready: true}, {Application: "account.prod/argocd/checkout-prod"}} {
			if diff := cmp.Diff(want, instances(storetest.All(api.TypeApplication), filter)); diff != "" {
				t.Errorf("instances by %+v (-want +got):\n%s", filter, diff)
			}
		}
		none := rbac.Filter{Type: api.TypeApplication, Terms: []rbac.Term{{Scope: "org.other", All: true}}}
		if got := append(instances(none, api.InstanceFilter{}), instances(storetest.All(api.TypeApplication), api.InstanceFilter{Service: "org.acme.basket"})...); len(got) > 0 {
			t.Errorf("instances of others are seen: %v", got)
		}
	})
}
