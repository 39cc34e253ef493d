package census_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/census"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// asked is the time of the questions of look.
func asked() time.Time { return time.Date(2030, 6, 1, 0, 0, 0, 0, time.UTC) }

func rowOf(sync, health, phase string, held bool, conditions ...string) census.Row {
	r := census.Row{Held: held, Conditions: conditions}
	r.Cells[census.Sync], r.Cells[census.Health], r.Cells[census.Phase] = sync, health, phase
	if phase != "" {
		r.FinishedAt = 1
	}
	return r
}

func TestAnApplicationNeedsAttentionForTheWorstOfWhatIsSo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why  string
		row  census.Row
		want string
	}{
		{"as it should be", rowOf("Synced", "Healthy", "Succeeded", false), ""},
		{"on its way", rowOf("Synced", "Progressing", "Running", false), ""},
		{"suspended by somebody", rowOf("Synced", "Suspended", "Succeeded", false), ""},
		{"a warning", rowOf("Synced", "Healthy", "Succeeded", false, "OrphanedResourceWarning"), ""},
		{"it could not be compared", rowOf("Unknown", "Healthy", "Succeeded", false), api.AttentionSource},
		{"an error of its source", rowOf("Synced", "Healthy", "Succeeded", false, "ComparisonError"), api.AttentionSource},
		{"a specification that is wrong, before anything was deployed", rowOf("", "", "", false, "InvalidSpecError"), api.AttentionSource},
		{"an error of its source is worse than its health", rowOf("Unknown", "Degraded", "Failed", true, "ComparisonError"), api.AttentionSource},
		{"degraded", rowOf("Synced", "Degraded", "Succeeded", false), api.AttentionDegraded},
		{"degraded is worse than a failed sync", rowOf("OutOfSync", "Degraded", "Failed", true), api.AttentionDegraded},
		{"it was deployed, and is gone", rowOf("OutOfSync", "Missing", "Succeeded", false), api.AttentionDegraded},
		{"degraded though nobody deployed it", rowOf("OutOfSync", "Degraded", "", false), api.AttentionDegraded},
		{"a failed sync", rowOf("OutOfSync", "Healthy", "Failed", false), api.AttentionSync},
		{"a sync that ended with an error", rowOf("Synced", "Healthy", "Error", true), api.AttentionSync},
		{"a failed deletion", rowOf("Synced", "Healthy", "Succeeded", false, "DeletionError"), api.AttentionSync},
		{"held", rowOf("OutOfSync", "Healthy", "Succeeded", true), api.AttentionHeld},
		{"held before it was ever deployed", rowOf("OutOfSync", "Missing", "", true), api.AttentionHeld},
		{"out of sync", rowOf("OutOfSync", "Healthy", "Succeeded", false), api.AttentionDrift},
		{"out of sync, and never deployed by us", rowOf("OutOfSync", "Healthy", "", false), api.AttentionDrift},
		{"never deployed", rowOf("OutOfSync", "Missing", "", false), api.AttentionNew},
		{"nobody has looked at it yet", rowOf("", "", "", false), api.AttentionNew},
	} {
		if got := c.row.Need(); got != c.want {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}

// someRow is an application in any state.
func someRow(r *rand.Rand, name string) census.Row {
	among := func(texts ...string) string { return texts[r.IntN(len(texts))] }
	row := rowOf(among("Synced", "Synced", "OutOfSync", "Unknown", ""), among("Healthy", "Healthy", "Degraded", "Missing", "Progressing", ""),
		among("Succeeded", "Succeeded", "Failed", "Error", ""), r.IntN(5) == 0)
	if r.IntN(8) == 0 {
		row.Conditions = []string{among("ComparisonError", "SyncError", "SharedResourceWarning")}
	}
	if row.Cells[census.Sync] == "OutOfSync" {
		row.DriftSince = asked().Add(-time.Duration(r.IntN(120)) * time.Minute).UnixMicro()
	}
	if row.FinishedAt != 0 {
		row.FinishedAt = asked().Add(-time.Duration(r.IntN(1000)) * time.Minute).UnixMicro()
	}
	row.ID, row.Cells[census.Name], row.Cells[census.Agent], row.Cells[census.Scope] = "account.a/argocd/"+name, name, "account.a", "org.acme"
	return row
}

func TestCardsListsAndFiltersAgreeOnWhatNeedsAttention(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	visible := within(rbac.Term{Scope: "account", All: true})
	source := &table{rows: map[string][]census.Row{"a": nil}, edition: map[string]int64{"a": 1}, since: map[string]int64{}}
	for i := range 300 {
		source.rows["a"] = append(source.rows["a"], someRow(random, fmt.Sprintf("app%03d", i)))
	}
	c := census.New()
	for round := range 20 {
		want := map[string][]string{}
		for _, r := range source.rows["a"] {
			kind := r.Need()
			if kind == api.AttentionDrift && r.DriftSince > asked().Add(-time.Hour).UnixMicro() {
				kind = ""
			}
			if kind != "" {
				want[kind] = append(want[kind], r.ID)
			}
		}
		summed := map[string]int64{}
		for _, n := range look(t, c, source, visible, api.FleetFilter{}).Summary().Attention.Values {
			summed[n.Value] = n.Count
		}
		counts, list, apart := look(t, c, source, visible, api.FleetFilter{Attention: api.ApplicationAttentionKinds()}).Attention(1000)
		listed := map[string][]string{}
		for _, n := range append(list, apart...) {
			listed[n.Kind] = append(listed[n.Kind], n.ID)
		}
		for _, kind := range api.ApplicationAttentionKinds() {
			found, _ := look(t, c, source, visible, api.FleetFilter{Attention: []string{kind}}).Page(census.Order{By: census.ID, Limit: 1000})
			slices.Sort(want[kind])
			slices.Sort(listed[kind])
			n := int64(len(want[kind]))
			if summed[kind] != n || counts[kind] != n || !slices.Equal(found, append([]string{}, want[kind]...)) || !slices.Equal(listed[kind], want[kind]) {
				t.Errorf("round %d, %s: %d are so, %d are counted in the summary and %d in the list, %d are listed and %d found",
					round, kind, n, summed[kind], counts[kind], len(listed[kind]), len(found))
			}
		}
		// What changes leaves the list, or comes into it.
		for range 30 {
			at := random.IntN(len(source.rows["a"]))
			r := someRow(random, source.rows["a"][at].Cells[census.Name])
			source.edition["a"]++
			source.rows["a"][at], source.since[r.ID] = r, source.edition["a"]
		}
	}
}

func TestTheListOfWhatNeedsAttentionBeginsWithTheWorstAndIsBounded(t *testing.T) {
	t.Parallel()
	source := &table{rows: map[string][]census.Row{}, edition: map[string]int64{"a": 1}, since: map[string]int64{}}
	add := func(name string, finished, drift time.Duration, r census.Row) {
		r.ID, r.Cells[census.Name], r.Cells[census.Agent], r.Cells[census.Scope] = "account.a/argocd/"+name, name, "account.a", "org.acme"
		if finished > 0 {
			r.FinishedAt = asked().Add(-finished).UnixMicro()
		}
		if drift > 0 {
			r.DriftSince = asked().Add(-drift).UnixMicro()
		}
		source.rows["a"] = append(source.rows["a"], r)
	}
	add("drift-2h", time.Hour, 2*time.Hour, rowOf("OutOfSync", "Healthy", "Succeeded", false))
	add("drift-9h", time.Hour, 9*time.Hour, rowOf("OutOfSync", "Healthy", "Succeeded", false))
	add("drift-now", time.Hour, time.Minute, rowOf("OutOfSync", "Healthy", "Succeeded", false))
	add("failed-long-ago", 9*time.Hour, 0, rowOf("Synced", "Healthy", "Failed", false))
	add("failed-now", time.Minute, 0, rowOf("Synced", "Healthy", "Failed", false))
	add("held", time.Hour, 0, rowOf("Synced", "Healthy", "Succeeded", true))
	add("degraded-b", time.Hour, 0, rowOf("Synced", "Degraded", "Succeeded", false))
	add("degraded-a", time.Hour, 0, rowOf("Synced", "Degraded", "Succeeded", false))
	add("source", time.Hour, 0, rowOf("Unknown", "Healthy", "Succeeded", false))
	add("new-b", 0, time.Minute, rowOf("OutOfSync", "Missing", "", false))
	add("new-a", 0, time.Minute, rowOf("OutOfSync", "Missing", "", false))
	add("fine", time.Hour, 0, rowOf("Synced", "Healthy", "Succeeded", false))
	names := func(list []census.Needing) (out []string) {
		for _, n := range list {
			out = append(out, n.ID[len("account.a/argocd/"):])
		}
		return out
	}
	visible := within(rbac.Term{Scope: "account", All: true})
	found := look(t, census.New(), source, visible, api.FleetFilter{Attention: api.ApplicationAttentionKinds()})
	_, list, apart := found.Attention(100)
	whole := []string{"source", "degraded-a", "degraded-b", "failed-now", "failed-long-ago", "held", "drift-9h", "drift-2h"}
	if diff := cmp.Diff([][]string{whole, {"new-a", "new-b"}}, [][]string{names(list), names(apart)}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	counts, list, apart := found.Attention(4)
	if diff := cmp.Diff([][]string{whole[:4], {"new-a", "new-b"}}, [][]string{names(list), names(apart)}); diff != "" {
		t.Errorf("four rows (-want +got):\n%s", diff)
	}
	if counts[api.AttentionSync] != 2 || counts[api.AttentionDrift] != 2 || counts[api.AttentionNew] != 2 {
		t.Errorf("counts are of all, and not of the rows: %v", counts)
	}
	others := look(t, census.New(), source, within(rbac.Term{Scope: "org.other", All: true}), api.FleetFilter{Attention: api.ApplicationAttentionKinds()})
	if counts, list, apart := others.Attention(100); len(counts)+len(list)+len(apart) > 0 {
		t.Errorf("somebody of another organization is told of %v %v %v", counts, list, apart)
	}
}

func BenchmarkAttentionOf50000(b *testing.B) {
	c, visible := census.New(), within(rbac.Term{Scope: "org.acme", All: true})
	for b.Loop() {
		look(b, c, many{}, visible, api.FleetFilter{Attention: api.ApplicationAttentionKinds()}).Attention(20)
	}
}
