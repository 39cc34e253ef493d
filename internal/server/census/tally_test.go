package census_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/census"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// rows is a source of one agent.
type rows struct {
	list   []census.Row
	places map[string]census.Place
}

func (r rows) ReadFleet(context.Context, map[string]int64) (changed []census.Delta, agents []census.Presence, places map[string]census.Place, err error) {
	return []census.Delta{{UID: "1", Edition: 1, Whole: true, Rows: r.list}}, []census.Presence{{UID: "1"}}, r.places, nil
}

func (r *rows) add(name, environment, sync, health string, held bool) {
	row := census.Row{ID: "account.a/argocd/" + name, Held: held}
	row.Cells[census.Name], row.Cells[census.Environment] = name, environment
	row.Cells[census.Sync], row.Cells[census.Health], row.Cells[census.Scope] = sync, health, "org.acme"
	r.list = append(r.list, row)
}

func TestAMatrixHasTheWorstFirst(t *testing.T) {
	t.Parallel()
	source := rows{places: map[string]census.Place{"account.prod": {Region: "eu"}, "account.stage": {Region: "eu"}}}
	for i := range 3 {
		source.add(fmt.Sprint("good", i), "account.stage", "Synced", "Healthy", false)
	}
	source.add("bad", "account.prod", "OutOfSync", "Degraded", true)
	source.add("odd", "account.prod", "<script>", "", false)
	source.add("none", "", "Synced", "Healthy", false)
	visible := within(rbac.Term{Scope: "account", All: true})
	found := look(t, census.New(), source, visible, api.FleetFilter{})
	prod := api.FleetTally{
		Value: "account.prod", Total: 2, Held: 1,
		Sync: map[string]int64{"OutOfSync": 1, "Unknown": 1}, Health: map[string]int64{"Degraded": 1, "Unknown": 1},
	}
	stage := api.FleetTally{Value: "account.stage", Total: 3, Sync: map[string]int64{"Synced": 3}, Health: map[string]int64{"Healthy": 3}}
	none := api.FleetTally{Total: 1, Sync: map[string]int64{"Synced": 1}, Health: map[string]int64{"Healthy": 1}}
	want := api.FleetMatrix{Rows: []api.FleetTally{prod, stage, none}, Distinct: 3}
	if diff := cmp.Diff(want, found.Matrix(census.Environment)); diff != "" {
		t.Error(diff)
	}
	eu := api.FleetTally{
		Value: "eu", Total: 5, Held: 1,
		Sync: map[string]int64{"OutOfSync": 1, "Synced": 3, "Unknown": 1}, Health: map[string]int64{"Degraded": 1, "Healthy": 3, "Unknown": 1},
	}
	if diff := cmp.Diff(api.FleetMatrix{Rows: []api.FleetTally{eu, none}, Distinct: 2}, found.Matrix(census.Region)); diff != "" {
		t.Error(diff)
	}
}

func TestAMatrixCountsOnlyWhatMayBeSeen(t *testing.T) {
	t.Parallel()
	source := rows{}
	source.add("mine", "account.prod", "Synced", "Healthy", false)
	visible := within(rbac.Term{Scope: "org.other", All: true})
	got := look(t, census.New(), source, visible, api.FleetFilter{}).Matrix(census.Environment)
	if len(got.Rows) != 0 || got.Distinct != 0 {
		t.Errorf("somebody of another organization is told of %+v", got)
	}
}

func TestAMatrixIsBounded(t *testing.T) {
	t.Parallel()
	source := rows{}
	for i := range 150 {
		source.add(fmt.Sprint("app", i), fmt.Sprintf("account.e%03d", i), "Synced", "Healthy", false)
	}
	visible := within(rbac.Term{Scope: "account", All: true})
	got := look(t, census.New(), source, visible, api.FleetFilter{}).Matrix(census.Environment)
	if len(got.Rows) != api.MaxFleetValues || got.Distinct != 150 || got.Others != 50 {
		t.Errorf("got %d rows, %d values and %d others", len(got.Rows), got.Distinct, got.Others)
	}
}
