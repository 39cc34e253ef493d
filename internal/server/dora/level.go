package dora

import (
	"cmp"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

// maxApplications is how many applications service levels are listed for.
const maxApplications = 1000

// way gathers how long the stages of deliveries took.
type way struct {
	deliveries                                   int64
	detected, rendered, applied, healthy, entire []time.Duration
}

func (w *way) add(o *Operation) {
	w.deliveries++
	w.detected = appendSpan(w.detected, o.Committed, o.Detected)
	w.rendered = appendSpan(w.rendered, o.Detected, o.Rendered)
	w.applied = appendSpan(w.applied, o.Rendered, o.Applied)
	w.healthy = appendSpan(w.healthy, o.Applied, o.Healthy)
	w.entire = appendSpan(w.entire, o.Committed, o.Healthy)
}

func (w *way) level(application string) api.ServiceLevel {
	return api.ServiceLevel{
		Application: application, Deliveries: w.deliveries, Detected: quantiles(w.detected), Rendered: quantiles(w.rendered),
		Applied: quantiles(w.applied), Healthy: quantiles(w.healthy), Whole: quantiles(w.entire),
	}
}

// Levels says how long the deliveries took that ended from one time until another: new revisions that were deployed.
// What was there before has to be in the list too, which is in the order of their end.
func Levels(list []Operation, from, to, now time.Time) api.ServiceLevels {
	out := api.ServiceLevels{From: from.UTC(), To: to.UTC(), Applications: []api.ServiceLevel{}}
	var all way
	byApplication := map[string]*way{}
	for _, o := range judge(list, now) {
		if !o.first || o.Finished.Before(from) || !o.Finished.Before(to) {
			continue
		}
		all.add(&o.Operation)
		of := byApplication[o.Application]
		if of == nil {
			of = &way{}
			byApplication[o.Application] = of
		}
		of.add(&o.Operation)
	}
	out.All = all.level("")
	for id, of := range byApplication {
		out.Applications = append(out.Applications, of.level(id))
	}
	slowest := func(l *api.ServiceLevel) float64 {
		if l.Whole.P99 == nil {
			return -1
		}
		return *l.Whole.P99
	}
	slices.SortFunc(out.Applications, func(a, b api.ServiceLevel) int {
		return cmp.Or(cmp.Compare(slowest(&b), slowest(&a)), cmp.Compare(a.Application, b.Application))
	})
	if more := len(out.Applications) - maxApplications; more > 0 {
		out.Applications, out.More = out.Applications[:maxApplications], more
	}
	return out
}
