package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// shipping is a store with an agent of the account, whose Argo project shop
// belongs to project acme.shop.
type shipping struct {
	*bench
	t     *testing.T
	agent api.Agent
	epoch int64
	seq   int64
}

func newShipping(t *testing.T, b *bench) *shipping {
	t.Helper()
	b.tree(t)
	s := &shipping{bench: b, t: t}
	s.agent, s.epoch = b.agent(t, "prod", "account")
	must[api.Mapping](t)(b.SetMapping(t.Context(), api.Mapping{Agent: s.agent.ID, ArgoProject: "shop", Project: "acme.shop"}))
	return s
}

func (s *shipping) tell(items ...agentapi.Item) []gateway.Changed {
	s.t.Helper()
	s.seq++
	return must[[]gateway.Changed](s.t)(s.ApplyItems(s.t.Context(), s.agent.UID, s.epoch, s.seq, items, s.clock.Now()))
}

func (s *shipping) service(scope api.Scope, name string) api.Service {
	s.t.Helper()
	return must[api.Service](s.t)(s.Services().Create(s.t.Context(), api.Service{Meta: api.Meta{Name: name, Scope: scope}}))
}

func (s *shipping) environment(scope api.Scope, name string, clusters ...string) api.Environment {
	s.t.Helper()
	v := api.Environment{Meta: api.Meta{Name: name, Scope: scope}}
	for _, c := range clusters {
		v.Clusters = append(v.Clusters, api.EnvironmentCluster{Agent: s.agent.ID, Cluster: c})
	}
	return must[api.Environment](s.t)(s.Environments().Create(s.t.Context(), v))
}

// expect checks what an application is of, both as stored and as explained.
func (s *shipping) expect(when, app, service, environment string) {
	s.t.Helper()
	got := must[api.ApplicationDetail](s.t)(s.GetApplication(s.t.Context(), s.agent.ID, "argocd", app))
	said := must[api.ApplicationLinked](s.t)(s.GetLink(s.t.Context(), s.agent.ID, "argocd", app))
	have := []string{got.Service, got.Environment, said.Service, said.Environment}
	if diff := cmp.Diff([]string{service, environment, service, environment}, have); diff != "" {
		s.t.Errorf("%s: service and environment of %s, stored and explained (-want +got):\n%s", when, app, diff)
	}
}

// cluster is a cluster as an agent tells it.
func cluster(secret, name, server, project string) agentapi.Item {
	body, _ := json.Marshal(agentapi.Setting{Fields: map[string]string{"name": name, "server": server, "project": project}})
	return agentapi.Item{
		Key:  agentapi.Key{Kind: agentapi.ItemCluster, Namespace: "argocd", Name: secret},
		Hash: agentapi.Hash(body), Body: body,
	}
}

func to(destination map[string]any) func(map[string]any) {
	return func(r map[string]any) { r["spec"].(map[string]any)["destination"] = destination }
}

func TestALabelNamesWhatIsNearest(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		s := newShipping(t, b)
		labels := map[string]any{api.LabelService: "checkout", api.LabelEnvironment: "live"}
		s.tell(app("one", "shop", labelled(labels)), app("two", "default", labelled(labels)))
		s.expect("there is none", "one", "", "")
		s.service("account", "checkout")
		s.environment("org.acme", "live")
		s.expect("made later", "one", "account.checkout", "org.acme.live")
		s.expect("of another scope", "two", "account.checkout", "")
		s.service("org.other", "checkout")
		s.service("project.acme.shop", "checkout")
		s.expect("made nearer", "one", "project.acme.shop.checkout", "org.acme.live")
		s.expect("not made nearer", "two", "account.checkout", "")
		s.tell(app("three", "shop", labelled(map[string]any{api.LabelService: "account.checkout", api.LabelEnvironment: "org.other.live"})))
		s.expect("ids", "three", "account.checkout", "")
		if err := s.DeleteMapping(t.Context(), s.agent.ID, "shop"); err != nil {
			t.Fatal(err)
		}
		s.expect("moved to the account", "one", "account.checkout", "")
		must[api.Mapping](t)(b.SetMapping(t.Context(), api.Mapping{Agent: s.agent.ID, ArgoProject: "shop", Project: "acme.shop"}))
		s.expect("moved back", "one", "project.acme.shop.checkout", "org.acme.live")
		code(t, s.Services().Delete(t.Context(), "project.acme.shop.checkout", api.DeleteOptions{}), api.CodeConflict)
		if err := s.Services().Delete(t.Context(), "project.acme.shop.checkout", api.DeleteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		s.expect("the nearest is gone", "one", "account.checkout", "org.acme.live")
		unknown := must[api.ApplicationLinked](t)(s.GetLink(t.Context(), s.agent.ID, "argocd", "two")).Unknown
		if diff := cmp.Diff([]string{api.LabelEnvironment + "=live"}, unknown); diff != "" {
			t.Errorf("unknown labels (-want +got):\n%s", diff)
		}
	})
}

func TestALinkByHandStaysWithoutItsApplication(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		s := newShipping(t, b)
		one := app("one", "shop")
		s.tell(one)
		s.service("org.acme", "checkout")
		s.service("org.other", "foreign")
		s.environment("org.acme", "live")
		set := func(link api.ApplicationLink) error {
			_, err := s.SetLink(ctx, s.agent.ID, "argocd", "one", link)
			return err
		}
		code(t, set(api.ApplicationLink{}), api.CodeInvalid)
		code(t, set(api.ApplicationLink{Service: "org.acme.none"}), api.CodeInvalid)
		code(t, set(api.ApplicationLink{Service: "org.other.foreign"}), api.CodeInvalid)
		if err := set(api.ApplicationLink{Service: "org.acme.checkout", Environment: "org.acme.live"}); err != nil {
			t.Fatal(err)
		}
		code(t, set(api.ApplicationLink{Service: "org.acme.checkout", Version: 7}), api.CodeConflict)
		s.expect("linked", "one", "org.acme.checkout", "org.acme.live")
		s.tell(gone(one))
		refs := s.Environments().Delete(ctx, "org.acme.live", api.DeleteOptions{})
		code(t, refs, api.CodeConflict)
		s.tell(one)
		s.expect("deleted and made anew", "one", "org.acme.checkout", "org.acme.live")
		if err := s.Environments().Delete(ctx, "org.acme.live", api.DeleteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		s.expect("the environment is gone", "one", "org.acme.checkout", "")
		must[api.ApplicationDetail](t)(s.GetApplication(ctx, s.agent.ID, "argocd", "one"))
		if err := s.DeleteLink(ctx, s.agent.ID, "argocd", "one"); err != nil {
			t.Fatal(err)
		}
		s.expect("not linked any more", "one", "", "")
		code(t, s.DeleteLink(ctx, s.agent.ID, "argocd", "one"), api.CodeNotFound)
	})
}

func TestAnEnvironmentHasTheApplicationsOfItsClusters(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		s := newShipping(t, b)
		const edge = "https://edge.example.org"
		s.tell(cluster("edge", "edge", edge, ""), app("named", "shop", to(map[string]any{"name": "edge"})),
			app("addressed", "default", to(map[string]any{"server": edge})), app("home", "shop", to(map[string]any{"server": api.InClusterServer})))
		wide := s.environment("account", "edges", edge)
		if diff := cmp.Diff([]api.EnvironmentCluster{{Agent: s.agent.ID, Cluster: "edge"}}, wide.Clusters); diff != "" {
			t.Errorf("clusters (-want +got):\n%s", diff)
		}
		s.expect("by name", "named", "", "account.edges")
		s.expect("by address", "addressed", "", "account.edges")
		s.expect("elsewhere", "home", "", "")
		s.environment("org.acme", "shops", "edge", api.InCluster)
		s.expect("nearer", "named", "", "org.acme.shops")
		s.expect("not in that scope", "addressed", "", "account.edges")
		s.expect("the agent's own", "home", "", "org.acme.shops")
		_, err := s.Environments().Create(ctx, api.Environment{
			Meta: api.Meta{Name: "again", Scope: "org.acme"}, Clusters: []api.EnvironmentCluster{{Agent: s.agent.ID, Cluster: "edge"}},
		})
		code(t, err, api.CodeInvalid)
		wide.Clusters = nil
		wide = must[api.Environment](t)(s.Environments().Update(ctx, wide))
		s.expect("taken out", "addressed", "", "")
		wide.Clusters = []api.EnvironmentCluster{{Agent: s.agent.ID, Cluster: "edge"}}
		must[api.Environment](t)(s.Environments().Update(ctx, wide))
		s.tell(cluster("edge", "edge", "https://moved.example.org", ""))
		s.expect("the cluster has another address", "addressed", "", "")
		s.tell(app("addressed", "default", to(map[string]any{"server": "https://moved.example.org"})))
		s.expect("the application follows", "addressed", "", "account.edges")
		err = s.Environments().Delete(ctx, "org.acme.shops", api.DeleteOptions{})
		code(t, err, api.CodeConflict)
		if err := s.Environments().Delete(ctx, "org.acme.shops", api.DeleteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		s.expect("the nearer one is gone", "named", "", "account.edges")
		must[api.Item](t)(s.GetItem(ctx, api.KindCluster, s.agent.ID, "argocd", "edge"))
	})
}

func TestAClusterReachesItsEnvironment(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		s := newShipping(t, b)
		s.tell(cluster("mine", "mine", "https://mine.example.org", "shop"))
		create := func(scope api.Scope, agent, cluster string) error {
			_, err := s.Environments().Create(t.Context(), api.Environment{
				Meta: api.Meta{Name: "live", Scope: scope}, Clusters: []api.EnvironmentCluster{{Agent: agent, Cluster: cluster}},
			})
			return err
		}
		code(t, create("account", s.agent.ID, "none"), api.CodeInvalid)
		code(t, create("account", "account.none", api.InCluster), api.CodeInvalid)
		code(t, create("org.acme", s.agent.ID, "mine"), api.CodeInvalid)
		if err := create("project.acme.shop", s.agent.ID, "mine"); err != nil {
			t.Errorf("a cluster of the project: %v", err)
		}
		code(t, s.Agents().Delete(t.Context(), s.agent.ID, api.DeleteOptions{}), api.CodeConflict)
		if err := s.Agents().Delete(t.Context(), s.agent.ID, api.DeleteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		left := must[api.Environment](t)(s.Environments().Get(t.Context(), "project.acme.shop.live"))
		if len(left.Clusters) != 0 {
			t.Errorf("the environment has clusters of an agent that is gone: %v", left.Clusters)
		}
	})
}

func TestWhatIsOfAnOrganizationGoesWithIt(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		s := newShipping(t, b)
		s.service("org.other", "checkout")
		s.environment("org.other", "live", api.InCluster)
		code(t, s.Organizations().Delete(ctx, "other", api.DeleteOptions{}), api.CodeConflict)
		if err := s.Organizations().Delete(ctx, "other", api.DeleteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		for _, get := range []func(context.Context, string) error{
			func(ctx context.Context, id string) error {
				_, err := s.Services().Get(ctx, id+".checkout")
				return err
			},
			func(ctx context.Context, id string) error {
				_, err := s.Environments().Get(ctx, id+".live")
				return err
			},
		} {
			code(t, get(ctx, "org.other"), api.CodeNotFound)
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
	onBoth(t, func(t *testing.T, b *bench) {
		s := newShipping(t, b)
		s.service("org.acme", "checkout")
		label := labelled(map[string]any{api.LabelService: "checkout"})
		step := func(when string, tag, since string, edit func(map[string]any)) {
			t.Helper()
			s.clock.move(time.Minute)
			s.tell(app("one", "shop", label, edit))
			page := must[api.Page[api.ServiceRow]](t)(s.ListServiceRows(t.Context(), all(api.TypeService), all(api.TypeApplication), api.ServiceFilter{}))
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
	onBoth(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		s := newShipping(t, b)
		for _, name := range []string{"basket", "checkout", "unused"} {
			s.service("org.acme", name)
		}
		dev := s.environment("org.acme", "dev")
		dev.Region = "eu"
		must[api.Environment](t)(s.Environments().Update(ctx, dev))
		prod := s.environment("org.acme", "prod")
		prod.Type = api.EnvironmentProduction
		must[api.Environment](t)(s.Environments().Update(ctx, prod))
		one := func(service, environment, tag string) agentapi.Item {
			return app(service+"-"+environment, "shop", labelled(map[string]any{api.LabelService: service, api.LabelEnvironment: environment}),
				runs("Healthy", "shop:"+tag, "a", "2026-02-07T10:00:00Z"))
		}
		s.tell(one("basket", "dev", "1.1.0"), one("basket", "prod", "1.1.0"), one("checkout", "dev", "2.0.0"), one("checkout", "prod", "1.9.0"))
		pods, _ := json.Marshal(agentapi.Instances{Ready: 2, Total: 3, Instances: []agentapi.Instance{{Namespace: "shop", Pod: "a", Ready: true}}})
		key := agentapi.Key{Kind: agentapi.ItemInstances, Namespace: "argocd", Name: "checkout-prod"}
		told := s.tell(agentapi.Item{Key: key, Hash: agentapi.Hash(pods), Body: pods})
		if told[0].Scope != "project.acme.shop" || told[0].Labels[api.LabelService] != "checkout" {
			t.Errorf("instances are told as of %s with labels %v, not as their application", told[0].Scope, told[0].Labels)
		}
		list := func(services, applications rbac.Filter, filter api.ServiceFilter) map[string][]string {
			t.Helper()
			page := must[api.Page[api.ServiceRow]](t)(s.ListServiceRows(ctx, services, applications, filter))
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
			{"all", all(api.TypeService), all(api.TypeApplication), api.ServiceFilter{}, map[string][]string{"basket": basket, "checkout": checkout}},
			{"one application", all(api.TypeService), only, api.ServiceFilter{}, map[string][]string{"checkout": checkout[1:]}},
			{"drift of what is seen", all(api.TypeService), only, api.ServiceFilter{Drift: true}, map[string][]string{}},
			{"no service", elsewhere, all(api.TypeApplication), api.ServiceFilter{}, map[string][]string{}},
			{"no application", all(api.TypeService), rbac.Filter{Type: api.TypeApplication}, api.ServiceFilter{}, map[string][]string{}},
			{"drift", all(api.TypeService), all(api.TypeApplication), api.ServiceFilter{Drift: true}, map[string][]string{"checkout": checkout}},
			{"a service", all(api.TypeService), all(api.TypeApplication), api.ServiceFilter{Service: "org.acme.basket"}, map[string][]string{"basket": basket}},
			{"an environment", all(api.TypeService), all(api.TypeApplication), api.ServiceFilter{Environment: prod.ID}, map[string][]string{"basket": basket[1:], "checkout": checkout[1:]}},
			{"a type", all(api.TypeService), all(api.TypeApplication), api.ServiceFilter{Type: api.EnvironmentProduction}, map[string][]string{"basket": basket[1:], "checkout": checkout[1:]}},
			{"a region", all(api.TypeService), all(api.TypeApplication), api.ServiceFilter{Region: "eu"}, map[string][]string{"basket": basket[:1], "checkout": checkout[:1]}},
			{"an agent", all(api.TypeService), all(api.TypeApplication), api.ServiceFilter{Agent: "account.other"}, map[string][]string{}},
			{"a text", all(api.TypeService), all(api.TypeApplication), api.ServiceFilter{ListOptions: api.ListOptions{Search: "BASK"}}, map[string][]string{"basket": basket}},
		} {
			if diff := cmp.Diff(test.want, list(test.services, test.applications, test.filter)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.name, diff)
			}
		}
		first := must[api.Page[api.ServiceRow]](t)(s.ListServiceRows(ctx, all(api.TypeService), all(api.TypeApplication), api.ServiceFilter{ListOptions: api.ListOptions{Limit: 1, Sort: "-name"}}))
		second := must[api.Page[api.ServiceRow]](t)(s.ListServiceRows(ctx, all(api.TypeService), all(api.TypeApplication), api.ServiceFilter{ListOptions: api.ListOptions{Limit: 1, Sort: "-name", Cursor: first.NextCursor}}))
		if first.Items[0].Name != "checkout" || second.Items[0].Name != "basket" || second.NextCursor != "" || first.Total != 2 {
			t.Errorf("the pages are %+v and %+v", first, second)
		}
		instances := func(visible rbac.Filter, filter api.InstanceFilter) []string {
			t.Helper()
			return ids(must[api.Page[api.Instances]](t)(s.ListInstances(ctx, visible, filter)), func(v api.Instances) string {
				return fmt.Sprintf("%s %s %s %d/%d %d", v.Application, v.Service, v.Environment, v.Ready, v.Total, len(v.Instances))
			})
		}
		want := []string{"account.prod/argocd/checkout-prod org.acme.checkout org.acme.prod 2/3 1"}
		for _, filter := range []api.InstanceFilter{{}, {Service: "org.acme.checkout"}, {Environment: prod.ID}, {Unready: true}, {Application: "account.prod/argocd/checkout-prod"}} {
			if diff := cmp.Diff(want, instances(all(api.TypeApplication), filter)); diff != "" {
				t.Errorf("instances by %+v (-want +got):\n%s", filter, diff)
			}
		}
		none := rbac.Filter{Type: api.TypeApplication, Terms: []rbac.Term{{Scope: "org.other", All: true}}}
		if got := append(instances(none, api.InstanceFilter{}), instances(all(api.TypeApplication), api.InstanceFilter{Service: "org.acme.basket"})...); len(got) > 0 {
			t.Errorf("instances of others are seen: %v", got)
		}
	})
}
