package delivery_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

func TestServicesAreProposedFirstAndMadeThen(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		s := storetest.NewShipping(t, b)
		s.Environment("org.acme", "nightly")
		s.Environment("org.acme", "home", api.InCluster)
		away := storetest.To(map[string]any{"name": "away"})
		s.Tell(
			storetest.App("checkout-prod", "shop", away), storetest.App("checkout-pre-prod", "shop", away), storetest.App("basket-nightly", "shop", away), storetest.App("alone", "default", away),
			storetest.App("labelled", "shop", away, storetest.Labelled(map[string]any{api.LabelService: "search", api.LabelEnvironment: "org.acme.blue"})),
			storetest.App("wrong", "shop", away, storetest.Labelled(map[string]any{api.LabelService: "org.other.search"})),
			storetest.App("placed-prod", "shop", storetest.To(map[string]any{"server": api.InClusterServer})),
		)
		storetest.Must[api.Mapping](t)(b.SetMapping(ctx, api.Mapping{Agent: s.Agent.ID, ArgoProject: "default", Project: "acme.web"}))
		const shop, web, acme = "project.acme.shop.", "project.acme.web.", "org.acme."
		want := api.LinkPlan{
			Services:     []string{shop + "basket", shop + "checkout", shop + "placed", shop + "search", shop + "wrong", web + "alone"},
			Environments: []string{acme + "blue", shop + "pre-prod", shop + "prod"},
			Items: []api.LinkProposal{
				{Application: "alone", Service: web + "alone", MakesService: true, Link: true},
				{Application: "basket-nightly", Service: shop + "basket", MakesService: true, Environment: acme + "nightly", Link: true},
				{Application: "checkout-pre-prod", Service: shop + "checkout", MakesService: true, Environment: shop + "pre-prod", MakesEnvironment: true, Link: true},
				{Application: "checkout-prod", Service: shop + "checkout", Environment: shop + "prod", MakesEnvironment: true, Link: true},
				{Application: "labelled", Service: shop + "search", MakesService: true, Environment: acme + "blue", MakesEnvironment: true},
				{Application: "placed-prod", Service: shop + "placed", MakesService: true, Link: true},
				{Application: "wrong", Service: shop + "wrong", MakesService: true, Link: true},
			},
		}
		for i := range want.Items {
			want.Items[i].Application = "account.prod/argocd/" + want.Items[i].Application
		}
		yes := func(api.LinkPlan) error { return nil }
		plan := storetest.Must[api.LinkPlan](t)(s.LinkApplications(ctx, s.Agent.ID, true, yes))
		for i := range plan.Items {
			if plan.Items[i].Why == "" {
				t.Errorf("%s has no reason", plan.Items[i].Application)
			}
			plan.Items[i].Why = ""
		}
		if diff := cmp.Diff(want, plan); diff != "" {
			t.Fatalf("the plan (-want +got):\n%s", diff)
		}
		refused := errors.New("refused")
		if _, err := s.LinkApplications(ctx, s.Agent.ID, false, func(api.LinkPlan) error { return refused }); !errors.Is(err, refused) {
			t.Errorf("got %v, want that it is refused", err)
		}
		if page := storetest.Must[api.Page[api.Service]](t)(s.Services.List(ctx, storetest.All(api.TypeService), api.ListOptions{})); page.Total != 0 {
			t.Errorf("asking and being refused has made %d services", page.Total)
		}
		storetest.Must[api.LinkPlan](t)(s.LinkApplications(ctx, s.Agent.ID, false, yes))
		for _, of := range [][3]string{
			{"checkout-prod", shop + "checkout", shop + "prod"},
			{"checkout-pre-prod", shop + "checkout", shop + "pre-prod"},
			{"basket-nightly", shop + "basket", acme + "nightly"},
			{"labelled", shop + "search", acme + "blue"},
			{"placed-prod", shop + "placed", acme + "home"},
			{"wrong", shop + "wrong", ""},
			{"alone", web + "alone", ""},
		} {
			s.Expect("made", of[0], of[1], of[2])
		}
		prod := storetest.Must[api.Environment](t)(s.Environments.Get(ctx, shop+"prod"))
		pre := storetest.Must[api.Environment](t)(s.Environments.Get(ctx, shop+"pre-prod"))
		if prod.Type != api.EnvironmentProduction || pre.Type != api.EnvironmentPreProduction {
			t.Errorf("the types are %s and %s", prod.Type, pre.Type)
		}
		again := storetest.Must[api.LinkPlan](t)(s.LinkApplications(ctx, s.Agent.ID, false, yes))
		if len(again.Items) != 0 {
			t.Errorf("what is linked is proposed again: %+v", again.Items)
		}
	})
}
