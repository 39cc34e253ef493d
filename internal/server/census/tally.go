package census

import (
	"cmp"
	"slices"

	"github.com/slipway-gitops/slipway/api"
)

// Region is what rows can be put together by beside the columns: the region of their environment.
const Region = ChangedAt + 1

// The statuses that a Matrix distinguishes. What a cluster says is anything, so all else counts as the last of them.
//
//nolint:gochecknoglobals // tables
var (
	syncs   = []string{"Synced", "OutOfSync", "Unknown"}
	healths = []string{"Healthy", "Progressing", "Degraded", "Suspended", "Missing", "Unknown"}
)

// Matrix says how what was found is, for each value of a column, or of Region.
func (s *Selection) Matrix(by int) api.FleetMatrix {
	column, texts, numbers := by, s.texts[Environment], []uint32(nil)
	if by == Region {
		column = Environment
		regions := newDictionary()
		numbers = make([]uint32, len(texts))
		for i, id := range texts {
			numbers[i] = regions.number(s.places[id].Region)
		}
		texts = regions.texts
	} else {
		texts = s.texts[by]
	}
	sync, health := known(s.texts[Sync], syncs), known(s.texts[Health], healths)
	tallies := make([]*standing, len(texts))
	for _, row := range s.rows {
		number := row.cells[column]
		if numbers != nil {
			number = numbers[number]
		}
		t := tallies[number]
		if t == nil {
			t = &standing{value: texts[number]}
			tallies[number] = t
		}
		t.add(row, s.stale(row), sync[row.cells[Sync]], health[row.cells[Health]])
	}
	return list(slices.DeleteFunc(tallies, func(t *standing) bool { return t == nil }))
}

// standing counts the rows of one value.
type standing struct {
	value              string
	total, held, stale int64
	bad                int64 // not healthy, or out of sync
	sync               [3]int64
	health             [6]int64
}

func (t *standing) add(row *compact, stale bool, sync, health int) {
	t.total++
	t.sync[sync]++
	t.health[health]++
	if row.held {
		t.held++
	}
	if stale {
		t.stale++
	}
	if sync != 0 || health != 0 {
		t.bad++
	}
}

// known gives each text the place of the status that it is, or the last one.
func known(texts, statuses []string) []int {
	out := make([]int, len(texts))
	for i, text := range texts {
		if out[i] = slices.Index(statuses, text); out[i] < 0 {
			out[i] = len(statuses) - 1
		}
	}
	return out
}

func list(tallies []*standing) api.FleetMatrix {
	slices.SortFunc(tallies, func(a, b *standing) int {
		return cmp.Or(cmp.Compare(b.bad, a.bad), cmp.Compare(b.total, a.total), cmp.Compare(a.value, b.value))
	})
	out := api.FleetMatrix{Rows: make([]api.FleetTally, 0, min(len(tallies), api.MaxFleetValues)), Distinct: len(tallies)}
	for i, t := range tallies {
		if i >= api.MaxFleetValues {
			out.Others += t.total
			continue
		}
		out.Rows = append(out.Rows, api.FleetTally{
			Value: t.value, Total: t.total, Held: t.held, Stale: t.stale, Sync: named(syncs, t.sync[:]), Health: named(healths, t.health[:]),
		})
	}
	return out
}

func named(statuses []string, n []int64) map[string]int64 {
	out := map[string]int64{}
	for i, status := range statuses {
		if n[i] > 0 {
			out[status] = n[i]
		}
	}
	return out
}
