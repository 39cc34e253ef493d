package census

import (
	"slices"

	"github.com/slipway-gitops/slipway/api"
)

// need is why an application needs attention: a place in kinds, or nothing.
type need uint8

// nothing is the need of an application that is as it should be.
const nothing need = 0

// kinds are the needs of applications, the worst first, after nothing.
func kinds() []string { return append([]string{""}, api.ApplicationAttentionKinds()...) }

// needs are the numbers of kinds.
func needs(names []string) []bool {
	out := make([]bool, len(kinds()))
	for i, kind := range kinds() {
		out[i] = i > 0 && slices.Contains(names, kind)
	}
	return out
}

func needOf(kind string) need { return need(max(slices.Index(kinds(), kind), 0)) } //nolint:gosec // there are few kinds

// Need says why an application needs attention: the worst of what is so, and "" for nothing. It is the one rule that cards, lists
// and filters go by. For api.AttentionDrift, DriftSince has to be long ago as well, which depends on the time of the question.
func (r *Row) Need() string {
	sync, health := r.Cells[Sync], r.Cells[Health]
	unfinished := r.Cells[Phase] == "" && r.FinishedAt == 0 && (sync == "" || sync == "OutOfSync")
	switch {
	case sync == "Unknown", r.has("ComparisonError", "InvalidSpecError", "UnknownError"):
		return api.AttentionSource
	case unfinished && !r.Held && (health == "Missing" || health == "Unknown" || health == ""):
		return api.AttentionNew
	case health == "Degraded", health == "Missing" && !unfinished:
		return api.AttentionDegraded
	case r.Cells[Phase] == "Failed", r.Cells[Phase] == "Error", r.has("SyncError", "DeletionError"):
		return api.AttentionSync
	case r.Held:
		return api.AttentionHeld
	case sync == "OutOfSync":
		return api.AttentionDrift
	}
	return ""
}

func (r *Row) has(conditions ...string) bool {
	return slices.ContainsFunc(r.Conditions, func(c string) bool { return slices.Contains(conditions, c) })
}

// need is why a row needs attention now. before is api.AttentionDriftAge ago, in microseconds.
func (row *compact) needNow(before int64) need {
	if row.need == drifts && (row.driftSince == 0 || row.driftSince > before) {
		return nothing
	}
	return row.need
}

// drifts is the need that takes a time.
var drifts = needOf(api.AttentionDrift) //nolint:gochecknoglobals // a constant

// Needing is an application that needs attention, and why.
type Needing struct{ ID, Kind string }

// Attention counts the rows that need attention by why they do, and gives the first of those that the list has, the worst first: at
// most limit of all but api.AttentionNew, and at most limit of that. Of one kind, failed operations come with the last one first, what
// is out of sync with the oldest first, and all others by their ids.
func (s *Selection) Attention(limit int) (counts map[string]int64, list, apart []Needing) {
	names := kinds()
	of := make([][]place, len(names))
	agents := s.agents.of(s.texts[Agent])
	for _, row := range s.rows {
		n := row.needNow(s.driftBefore())
		if n == nothing {
			continue
		}
		by := int64(0)
		switch names[n] {
		case api.AttentionSync:
			by = -row.finishedAt
		case api.AttentionDrift:
			by = row.driftSince
		}
		of[n] = append(of[n], place{by, agents[row.cells[Agent]], row})
	}
	counts = map[string]int64{}
	for n, places := range of {
		if len(places) == 0 {
			continue
		}
		counts[names[n]] = int64(len(places))
		into := &list
		if names[n] == api.AttentionNew {
			into = &apart
		}
		room := min(limit-len(*into), len(places))
		if room <= 0 {
			continue
		}
		first(places, room, false)
		slices.SortFunc(places[:room], func(a, b place) int { return a.compare(&b, false) })
		for _, p := range places[:room] {
			*into = append(*into, Needing{p.row.id, names[n]})
		}
	}
	return counts, list, apart
}

// driftBefore is since when an application has to be out of sync by now to need attention, in microseconds.
func (s *Selection) driftBefore() int64 { return s.now.Add(-api.AttentionDriftAge).UnixMicro() }
