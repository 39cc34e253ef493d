// Package dora measures deliveries, from what the ledger says of operations: how often, how fast, how many failed, and how
// soon that was fixed. Pure.
package dora

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

// Lookback is how long before a time operations have to be known, to distinguish a new revision from one that was there already.
const Lookback = 30 * 24 * time.Hour

// healthyWithin is how long a change may take to be healthy, where no other change follows before.
const healthyWithin = time.Hour

// Operation is one operation on an application. Times are zero for what did not happen, or is not known.
type Operation struct {
	Application, Service, Environment, ArgoProject, Scope string
	// Action and Phase are those of api.LedgerEntry, Revision what all sources were at.
	Action, Phase, Revision string
	Automatic               bool
	// Changed says that an object was made, changed or deleted.
	Changed                                                   bool
	Committed, Detected, Rendered, Applied, Finished, Healthy time.Time
}

// read is an operation, judged.
type read struct {
	Operation
	// change says that it brought a revision which was not there before, first that the revision is a new one, and not one
	// of a rollback.
	change, first bool
	failed        bool
	restored      time.Time // when it was healthy after the failure; zero for not yet
}

func (o *Operation) succeeded() bool { return o.Phase == "Succeeded" }

// deployment is an operation that succeeded and changed something.
func (o *Operation) deployment() bool { return o.succeeded() && o.Changed }

// touched reports whether the revision concerns the application. What was rendered before the agent learned of the revision
// did not change with it: others in the repository did, and something else made this operation.
func (o *Operation) touched() bool {
	return o.Revision != "" && (o.Rendered.IsZero() || o.Detected.IsZero() || !o.Rendered.Before(o.Detected))
}

// judge finds changes and failures. The operations are in the order of their end; now is when it is asked.
func judge(list []Operation, now time.Time) []read {
	byApplication := map[string][]int{}
	out := make([]read, len(list))
	for i := range list {
		out[i] = read{Operation: list[i]}
		byApplication[list[i].Application] = append(byApplication[list[i].Application], i)
	}
	for _, places := range byApplication {
		judgeOne(out, places, now)
	}
	return out
}

// judgeOne judges the operations of one application.
func judgeOne(all []read, places []int, now time.Time) {
	deployed, tried := "", ""
	known := map[string]bool{}
	var changes []int
	for _, i := range places {
		o := &all[i]
		// A retry of what failed is no further change.
		o.change = o.Action == api.LedgerSync && o.touched() && o.Revision != deployed && o.Revision != tried
		o.first = o.Action == api.LedgerSync && o.touched() && o.succeeded() && !known[o.Revision]
		switch {
		case o.Action == api.LedgerPartial: // the application is of two revisions then
		case o.succeeded():
			deployed, tried = o.Revision, ""
			known[o.Revision] = true
		default:
			tried = o.Revision
		}
		if o.change {
			changes = append(changes, i)
		}
	}
	cures := healthyFrom(all, places)
	for n, i := range changes {
		next := time.Time{}
		if n+1 < len(changes) {
			next = all[changes[n+1]].Finished
		}
		from, _ := slices.BinarySearch(places, i)
		all[i].failed = failed(all, places[from:], next, now)
		if all[i].failed {
			all[i].restored = restored(&all[i], cures[from+1])
		}
	}
}

// failed reports whether the change at the first of some places failed: by its result, by a rollback, or since it was not
// healthy in time.
func failed(all []read, places []int, next, now time.Time) bool {
	o := &all[places[0]]
	if !o.succeeded() {
		return true
	}
	for _, i := range places[1:] {
		p := &all[i]
		if !next.IsZero() && !p.Finished.Before(next) {
			break
		}
		if p.Action == api.LedgerRollback && p.succeeded() {
			return true
		}
	}
	limit := o.Finished.Add(healthyWithin)
	if !next.IsZero() && next.Before(limit) {
		limit = next
	}
	if o.Healthy.IsZero() {
		return !now.Before(limit)
	}
	return o.Healthy.After(limit)
}

// healthyFrom says for each of some places when an application was healthy first of what succeeded there or later; the last
// one more is zero.
func healthyFrom(all []read, places []int) []time.Time {
	out := make([]time.Time, len(places)+1)
	for n := len(places) - 1; n >= 0; n-- {
		out[n] = out[n+1]
		if o := &all[places[n]]; o.succeeded() && !o.Healthy.IsZero() {
			out[n] = sooner(later(o.Healthy, o.Finished), out[n])
		}
	}
	return out
}

// restored is when an application was healthy first after a change of it failed; then is when it was by a later operation.
func restored(change *read, then time.Time) time.Time {
	// One that was healthy in time and was left anyway was no fix.
	if !change.succeeded() || change.Healthy.Before(change.Finished.Add(healthyWithin)) {
		return then
	}
	return sooner(change.Healthy, then)
}

// sooner is the earlier of two times of which the second may be zero.
func sooner(a, b time.Time) time.Time {
	if b.IsZero() || a.Before(b) {
		return a
	}
	return b
}

// maxGroups is how many groups a report has.
const maxGroups = 100

// Report measures the operations that ended from one time until another. Those before count only as what was there; the
// list is in the order of their end. now is when it is asked.
func Report(list []Operation, from, to, now time.Time, group string, week bool) api.DORAReport {
	judged := slices.DeleteFunc(judge(list, now), func(o read) bool { return o.Finished.Before(from) || !o.Finished.Before(to) })
	out := api.DORAReport{From: from.UTC(), To: to.UTC(), DORARow: row("", judged, from, to, week)}
	if group == "" {
		return out
	}
	byGroup := map[string][]read{}
	for _, o := range judged {
		name := nameOf(&o.Operation, group)
		byGroup[name] = append(byGroup[name], o)
	}
	// The series of all groups may be larger than what they are made of: only those that are shown have one.
	deployments, names := map[string]int{}, slices.Collect(maps.Keys(byGroup))
	for name, of := range byGroup {
		for i := range of {
			if of[i].deployment() {
				deployments[name]++
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(deployments[b], deployments[a]), cmp.Compare(a, b)) })
	if more := len(names) - maxGroups; more > 0 {
		names, out.More = names[:maxGroups], more
	}
	for _, name := range names {
		out.Groups = append(out.Groups, row(name, byGroup[name], from, to, week))
	}
	return out
}

func nameOf(o *Operation, group string) string {
	switch group {
	case api.GroupService:
		return o.Service
	case api.GroupEnvironment:
		return o.Environment
	case api.GroupArgoProject:
		return o.ArgoProject
	case api.GroupScope:
		return o.Scope
	}
	return o.Application
}

func row(name string, list []read, from, to time.Time, week bool) api.DORARow {
	out := api.DORARow{Name: name, DORA: measure(list, to.Sub(from)), Series: []api.DORAPoint{}}
	i := 0
	for begin := beginOf(from, week); begin.Before(to); begin = nextOf(begin, week) {
		end := nextOf(begin, week)
		j := i
		for j < len(list) && list[j].Finished.Before(end) {
			j++
		}
		// The first and the last one may be cut.
		since, until := later(begin, from), end
		if to.Before(end) {
			until = to
		}
		out.Series = append(out.Series, api.DORAPoint{From: begin, DORA: measure(list[i:j], until.Sub(since))})
		i = j
	}
	return out
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// beginOf is when the day or the week of a time began, in UTC. Weeks begin on Monday.
func beginOf(at time.Time, week bool) time.Time {
	at = at.UTC()
	day := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	if week {
		day = day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	}
	return day
}

func nextOf(begin time.Time, week bool) time.Time {
	if week {
		return begin.AddDate(0, 0, 7)
	}
	return begin.AddDate(0, 0, 1)
}

// measure puts together what was judged.
func measure(list []read, during time.Duration) api.DORA {
	var out api.DORA
	var lead, restore []time.Duration
	for i := range list {
		o := &list[i]
		if o.deployment() {
			out.Deployments++
			if o.Automatic {
				out.Automatic++
			}
		}
		if o.first {
			lead = appendSpan(lead, o.Committed, o.Healthy)
		}
		if o.change {
			out.Changes++
		}
		if !o.failed {
			continue
		}
		out.Failures++
		if o.restored.IsZero() {
			out.Unrestored++
		} else {
			restore = appendSpan(restore, o.Finished, o.restored)
		}
	}
	if days := during.Hours() / 24; days > 0 {
		out.PerDay = float64(out.Deployments) / days
	}
	if out.Changes > 0 {
		rate := float64(out.Failures) / float64(out.Changes)
		out.FailureRate = &rate
	}
	out.LeadTime, out.Restore = quantiles(lead), quantiles(restore)
	return out
}

// appendSpan adds the time between two; clocks that differ make it 0, not less.
func appendSpan(list []time.Duration, from, to time.Time) []time.Duration {
	if from.IsZero() || to.IsZero() {
		return list
	}
	return append(list, max(to.Sub(from), 0))
}

// quantiles are the nearest ranks.
func quantiles(list []time.Duration) api.Quantiles {
	out := api.Quantiles{Count: int64(len(list))}
	if len(list) == 0 {
		return out
	}
	slices.Sort(list)
	rank := func(q float64) *float64 {
		seconds := list[max(int(math.Ceil(q*float64(len(list))))-1, 0)].Seconds()
		return &seconds
	}
	out.P50, out.P90, out.P99 = rank(0.5), rank(0.9), rank(0.99)
	return out
}
