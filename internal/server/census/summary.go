package census

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

// Summary counts what was found, by what it is and how it is.
func (s *Selection) Summary() api.FleetSummary {
	t := s.newTally()
	for _, row := range s.rows {
		t.add(row)
	}
	return t.summary()
}

// Count counts what was found by one column.
func (s *Selection) Count(column int) map[string]int64 {
	n := make([]int64, len(s.texts[column]))
	for _, row := range s.rows {
		n[row.cells[column]]++
	}
	out := map[string]int64{}
	for i, text := range s.texts[column] {
		if n[i] > 0 {
			out[text] = n[i]
		}
	}
	return out
}

// tally counts.
type tally struct {
	of                 *Selection
	cells              [Namespace][]int64
	labels             []int64
	total, held, stale int64
	needs              []int64
	before             int64 // api.AttentionDriftAge ago
	hour, day, week    int64 // before these times, in microseconds, it drifts for longer
	drift              [4]int64
}

func (s *Selection) newTally() *tally {
	t := &tally{
		of: s, labels: make([]int64, len(s.labels)), needs: make([]int64, len(kinds())), before: s.driftBefore(),
		hour: s.now.Add(-time.Hour).UnixMicro(), day: s.now.Add(-24 * time.Hour).UnixMicro(), week: s.now.Add(-7 * 24 * time.Hour).UnixMicro(),
	}
	for i := range t.cells {
		t.cells[i] = make([]int64, len(s.texts[i]))
	}
	return t
}

func (t *tally) add(row *compact) {
	t.total++
	for i := range Namespace {
		t.cells[i][row.cells[i]]++
	}
	for _, l := range row.labels {
		t.labels[l]++
	}
	if row.held {
		t.held++
	}
	if t.of.stale(row) {
		t.stale++
	}
	t.needs[row.needNow(t.before)]++
	switch since := row.driftSince; {
	case since == 0:
	case since > t.hour:
		t.drift[0]++
	case since > t.day:
		t.drift[1]++
	case since > t.week:
		t.drift[2]++
	default:
		t.drift[3]++
	}
}

func (t *tally) summary() api.FleetSummary {
	by := func(column int) api.FleetCounts { return counts(t.of.texts[column], t.cells[column]) }
	out := api.FleetSummary{
		Total: t.total, Held: t.held, Stale: t.stale,
		Sync: by(Sync), Health: by(Health), Phase: by(Phase), Version: by(Version), Agent: by(Agent), Cluster: by(Cluster),
		Environment: by(Environment), Service: by(Service), ArgoProject: by(ArgoProject), Scope: by(Scope),
		Attention: counts(kinds()[1:], t.needs[1:]),
		DriftAge:  counts([]string{api.DriftHour, api.DriftDay, api.DriftWeek, api.DriftOld}, t.drift[:]),
	}
	regions := newDictionary()
	var inRegion []int64
	for i, id := range t.of.texts[Environment] {
		n := regions.number(t.of.places[id].Region)
		if int(n) == len(inRegion) {
			inRegion = append(inRegion, 0)
		}
		inRegion[n] += t.cells[Environment][i]
	}
	out.Region = counts(regions.texts, inRegion)
	labels := make([]string, len(t.labels))
	for i, text := range t.of.labels {
		if t.labels[i] > 0 {
			labels[i] = strings.Replace(text, "\x00", "=", 1)
		}
	}
	out.Label = counts(labels, t.labels)
	return out
}

// counts lists what was counted, the most frequent first. Of many values it sorts only those that it lists.
func counts(texts []string, n []int64) api.FleetCounts {
	out := api.FleetCounts{Values: make([]api.FleetCount, 0, min(len(texts), api.MaxFleetValues)+1)}
	order := func(a, b api.FleetCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	}
	for i, text := range texts {
		if n[i] == 0 {
			continue
		}
		out.Distinct++
		one := api.FleetCount{Value: text, Count: n[i]}
		if last := len(out.Values) - 1; last+1 == api.MaxFleetValues && order(one, out.Values[last]) > 0 {
			out.Others += one.Count
			continue
		}
		at, _ := slices.BinarySearchFunc(out.Values, one, order)
		out.Values = slices.Insert(out.Values, at, one)
		if len(out.Values) > api.MaxFleetValues {
			out.Others += out.Values[api.MaxFleetValues].Count
			out.Values = out.Values[:api.MaxFleetValues]
		}
	}
	return out
}
