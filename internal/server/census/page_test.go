package census_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/census"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// table is a source of which any row may change.
type table struct {
	rows    map[string][]census.Row // by agent
	edition map[string]int64
	since   map[string]int64 // the edition of a row, by its id
	whole   bool             // all are told as if nobody had read any
}

// ReadFleet implements census.Source.
func (f *table) ReadFleet(_ context.Context, known map[string]int64) (changed []census.Delta, agents []census.Presence, places map[string]census.Place, err error) {
	for uid, rows := range f.rows {
		agents = append(agents, census.Presence{UID: uid})
		was, read := known[uid]
		d := census.Delta{UID: uid, Edition: f.edition[uid], Whole: f.whole || !read}
		for _, r := range rows {
			if d.Whole || f.since[r.ID] > was {
				d.Rows = append(d.Rows, r)
			}
		}
		changed = append(changed, d)
	}
	return changed, agents, nil, nil
}

// put adds or changes a row.
func (f *table) put(agent, name, health string, changed int64) {
	r := census.Row{ID: agent + "/argocd/" + name, ChangedAt: changed, Labels: map[string]string{"team": health}}
	r.Cells[census.Agent], r.Cells[census.Name], r.Cells[census.Health], r.Cells[census.Scope] = agent, name, health, "org.acme"
	f.edition[agent]++
	f.since[r.ID] = f.edition[agent]
	at := slices.IndexFunc(f.rows[agent], func(have census.Row) bool { return have.ID == r.ID })
	if at < 0 {
		f.rows[agent] = append(f.rows[agent], r)
		return
	}
	f.rows[agent][at] = r
}

// sorted are the ids of all rows in an order, found the long way.
func (f *table) sorted(o census.Order) []string {
	rows := slices.Concat(slices.Collect(maps.Values(f.rows))...)
	slices.SortFunc(rows, func(a, b census.Row) int {
		by := strings.Compare(a.ID, b.ID)
		switch {
		case o.By < census.ID:
			by = cmp.Or(strings.Compare(a.Cells[o.By], b.Cells[o.By]), by)
		case o.By == census.ChangedAt:
			by = cmp.Or(cmp.Compare(a.ChangedAt, b.ChangedAt), by)
		case o.By == census.Worst:
			by = cmp.Or(cmp.Compare(rank(a), rank(b)), by)
		}
		if o.Down {
			return -by
		}
		return by
	})
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	return ids
}

// rank is how early a row is where the worst comes first.
func rank(r census.Row) int {
	kinds := api.ApplicationAttentionKinds()
	if at := slices.Index(kinds, r.Need()); at >= 0 {
		return at
	}
	return len(kinds)
}

var everything = rbac.Term{Scope: "account", All: true}

func TestPagesFollowEachOtherInTheOrderOfTheirRows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		f := &table{rows: map[string][]census.Row{}, edition: map[string]int64{}, since: map[string]int64{}}
		c := census.New()
		for range rapid.IntRange(1, 3).Draw(rt, "rounds") {
			for range rapid.IntRange(0, 40).Draw(rt, "changes") {
				// One agent's id begins with another's: what follows it in an id sorts before and behind a dash.
				agent := rapid.SampledFrom([]string{"account.a", "account.a-b", "account.a.b", "org.acme.a"}).Draw(rt, "agent")
				name := rapid.StringMatching("[a-c]{1,3}").Draw(rt, "name")
				f.put(agent, name, rapid.SampledFrom([]string{"", "Healthy", "Degraded"}).Draw(rt, "health"), rapid.Int64Range(0, 3).Draw(rt, "changed"))
			}
			o := census.Order{
				By:    rapid.SampledFrom([]int{census.ID, census.Name, census.Health, census.Agent, census.ChangedAt, census.DriftSince, census.Worst}).Draw(rt, "by"),
				Down:  rapid.Bool().Draw(rt, "down"),
				Skip:  rapid.IntRange(0, 20).Draw(rt, "skip"),
				Limit: rapid.IntRange(1, 9).Draw(rt, "limit"),
			}
			s := look(t, c, f, within(everything), api.FleetFilter{})
			want := f.sorted(o)
			if s.Total() != int64(len(want)) {
				rt.Fatalf("there are %d, of which %d were found", len(want), s.Total())
			}
			var got []string
			skip := min(o.Skip, len(want))
			for {
				ids, last := s.Page(o)
				got = append(got, ids...)
				if last == nil {
					break
				}
				if len(ids) != o.Limit {
					rt.Fatalf("a page that is not the last has %d rows of %d", len(ids), o.Limit)
				}
				o.After, o.Skip = last, 0
			}
			if !slices.Equal(got, want[skip:]) {
				rt.Fatalf("%+v:\n got %v\nwant %v", o, got, want[skip:])
			}
		}
	})
}

func TestRightsAreThoseOfTheFilter(t *testing.T) {
	t.Parallel()
	f := &table{rows: map[string][]census.Row{}, edition: map[string]int64{}, since: map[string]int64{}}
	for i := range 30 {
		f.put("account.a", fmt.Sprint("app-", i), []string{"x", "y", "z"}[i%3], 0)
	}
	select1, err := rbac.ParseSelector("team in (x,y),!owner")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		terms []rbac.Term
		want  int64
	}{
		{"nothing", nil, 0},
		{"another scope", []rbac.Term{{Scope: "org.other", All: true}}, 0},
		{"the scope", []rbac.Term{{Scope: "org.acme", All: true}}, 30},
		{"ids", []rbac.Term{{Scope: "account", IDs: []string{"account.a/argocd/app-1", "account.a/argocd/none"}}}, 1},
		{"ids of another scope", []rbac.Term{{Scope: "org.other", IDs: []string{"account.a/argocd/app-1"}}}, 0},
		{"labels", []rbac.Term{{Scope: "org.acme", Selectors: []rbac.Selector{select1}}}, 20},
		{"labels of another scope", []rbac.Term{{Scope: "org.other", Selectors: []rbac.Selector{select1}}}, 0},
		{"labels and an id", []rbac.Term{{Scope: "account", IDs: []string{"account.a/argocd/app-2"}, Selectors: []rbac.Selector{select1}}}, 21},
	} {
		if got := look(t, census.New(), f, within(test.terms...), api.FleetFilter{}).Total(); got != test.want {
			t.Errorf("%s: %d are seen, want %d", test.name, got, test.want)
		}
	}
}

func TestWhoHasFoundSomethingKeepsItWhileOthersGoOn(t *testing.T) {
	t.Parallel()
	f := &table{rows: map[string][]census.Row{}, edition: map[string]int64{}, since: map[string]int64{}}
	f.put("account.a", "web", "Healthy", 1)
	c := census.New()
	before := look(t, c, f, within(everything), api.FleetFilter{})
	f.put("account.a", "web", "Degraded", 2)
	after := look(t, c, f, within(everything), api.FleetFilter{})
	if got := before.Count(census.Health); got["Healthy"] != 1 || len(got) != 1 {
		t.Errorf("what was found before has become %v", got)
	}
	if got := after.Count(census.Health); got["Degraded"] != 1 || len(got) != 1 {
		t.Errorf("what is found now is %v", got)
	}
}

func TestWhoWaitsForATurnCanGiveUp(t *testing.T) {
	t.Parallel()
	c := census.New()
	turn, err := c.Turn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Turn(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("who has gone gets %v", err)
	}
	turn.End()
	turn.End()
	next, err := c.Turn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Turn(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("two have their turn: ended twice, it was given twice")
	}
	next.End()
}
