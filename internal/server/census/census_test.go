package census_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/census"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// many is a source of 500 agents with 100 applications each, of which nothing changes.
type many struct{}

func (many) ReadFleet(_ context.Context, known map[string]int64) (changed []census.Delta, agents []census.Presence, places map[string]census.Place, err error) {
	for a := range 500 {
		uid := fmt.Sprint(a)
		agents = append(agents, census.Presence{UID: uid})
		if _, read := known[uid]; read {
			continue
		}
		d := census.Delta{UID: uid, Edition: 1, Whole: true}
		for i := range 100 {
			name := fmt.Sprintf("app-%d-%d", a, i)
			r := census.Row{ID: "account.a" + uid + "/argocd/" + name, Labels: map[string]string{"team": fmt.Sprint(i), "tier": "web"}}
			for c := range r.Cells {
				r.Cells[c] = fmt.Sprint(c, "-", i%(c+2))
			}
			r.Cells[census.Name], r.Cells[census.Agent] = name, "account.a"+uid
			r.Cells[census.Version], r.Cells[census.Service], r.Cells[census.Scope] = "1.0."+fmt.Sprint(a*i), name, "org.acme"
			d.Rows = append(d.Rows, r)
		}
		changed = append(changed, d)
	}
	return changed, agents, nil, nil
}

// look selects in a copy that is up to date.
func look(t testing.TB, c *census.Census, source census.Source, visible rbac.Filter, filter api.FleetFilter) *census.Selection {
	t.Helper()
	turn, err := c.Turn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer turn.End()
	if err := turn.Update(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	s, err := turn.Select(visible, filter, time.Date(2030, 6, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func within(terms ...rbac.Term) rbac.Filter {
	return rbac.Filter{Type: api.TypeApplication, Terms: terms}
}

func BenchmarkSummaryOf50000(b *testing.B) {
	c, visible := census.New(), within(rbac.Term{Scope: "org.acme", All: true})
	if got := look(b, c, many{}, visible, api.FleetFilter{}).Total(); got != 50_000 {
		b.Fatal(got)
	}
	for b.Loop() {
		look(b, c, many{}, visible, api.FleetFilter{}).Summary()
	}
}

func BenchmarkPageOf50000(b *testing.B) {
	everything := rbac.Term{Scope: "account", All: true}
	selector, err := rbac.ParseSelector("team in (1,2,3),tier=web")
	if err != nil {
		b.Fatal(err)
	}
	for name, test := range map[string]struct {
		term   rbac.Term
		filter api.FleetFilter
		order  census.Order
	}{
		"by id":         {everything, api.FleetFilter{}, census.Order{By: census.ID}},
		"by name":       {everything, api.FleetFilter{}, census.Order{By: census.Name}},
		"by name, deep": {everything, api.FleetFilter{}, census.Order{By: census.Name, Skip: 25_000}},
		"by health":     {everything, api.FleetFilter{}, census.Order{By: census.Health, Down: true}},
		"of a label":    {everything, api.FleetFilter{Labels: map[string]string{"team": "7"}}, census.Order{By: census.ID}},
		"searched":      {everything, api.FleetFilter{Search: "-77"}, census.Order{By: census.Name}},
		"by selector":   {rbac.Term{Scope: "account", Selectors: []rbac.Selector{selector}}, api.FleetFilter{}, census.Order{By: census.Name}},
	} {
		b.Run(name, func(b *testing.B) {
			c := census.New()
			look(b, c, many{}, within(test.term), test.filter)
			test.order.Limit = 100
			for b.Loop() {
				look(b, c, many{}, within(test.term), test.filter).Page(test.order)
			}
		})
	}
}
