package score

import (
	"slices"

	"github.com/slipway-gitops/slipway/test/bench/corpus"
)

// The workloads by name.
const (
	Raw   = "raw"
	Cold  = "cold"
	All   = "all"
	One   = "one"
	Drift = "drift"
	Noop  = "noop-refresh"
	Idle  = "idle"
	Waves = "waves"
	// Those of an agent that is linked to a server.
	LinkedOne  = "linked-one"
	LinkedIdle = "linked-idle"
	// Commits of one project while another one burns processor time.
	Fair = "fair"
	// Commits to one of many clusters.
	Clusters = "clusters"
)

// Names lists the workloads that run unless others are asked for, in the order in which they run.
func Names() []string { return slices.Concat(ofAnyEngine(), Linked(), []string{Fair, Clusters}) }

// Linked lists the workloads that need an agent of ours, which is started again with a link to a server.
func Linked() []string { return []string{LinkedOne, LinkedIdle} }

// ofAnyEngine lists those that run first, and with any engine.
func ofAnyEngine() []string { return []string{Raw, Cold, All, One, Drift, Noop, Idle} }

// Known lists all workloads there are, in the order in which they run.
func Known() []string {
	return slices.Concat(ofAnyEngine(), []string{Waves}, Linked(), []string{Fair, Clusters})
}

// The shape that the targets were set for: 200 applications of 10 objects.
const (
	targetApps    = 200
	targetObjects = 10
)

// applicationLimit is what an Application may take in the API server, which stores no more than 1.5 MiB of anything.
const applicationLimit = 1_000_000

// clusterMemory is what a cluster with one Application of 10 objects may take in the agent, in MiB.
const clusterMemory = 1.5

// Judge holds a measurement against the targets and fills its marks. Targets of work that grows with the number of
// applications or objects grow with it above the shape that they were set for, but do not shrink below it: there the
// constant part prevails. Those of one commit, of drift in 50 objects and of an idle engine are the same everywhere.
// Memory may be 120 MiB up to 200 applications and 300 MiB at 2,000, on a straight line in between and beyond.
func Judge(m *Measurement, shape corpus.Shape) {
	apps := max(1, float64(shape.Apps)/targetApps)
	objects := max(1, float64(shape.Apps*shape.Objects)/(targetApps*targetObjects))
	m.Marks = nil
	mark := func(figure string, value, limit float64, unit, against string) {
		m.Marks = append(m.Marks, Mark{
			Figure: figure, Value: value, Limit: limit, Unit: unit, Against: against, Met: value <= limit,
		})
	}
	switch m.Name {
	case Raw, LinkedOne, LinkedIdle:
		return // the linked ones stand beside one and idle, which have the targets
	case Cold:
		if m.RawSeconds > 0 {
			mark("wall", m.WallSeconds, 2*m.RawSeconds, "s", "2 x raw")
		}
		mark("cpu", m.CPUSeconds, 6*objects, "s", "")
	case All:
		mark("wall", m.WallSeconds, 3*apps, "s", "")
		mark("cpu", m.CPUSeconds, 3*apps, "s", "")
	case One:
		mark("p50", m.P50Seconds, 0.3, "s", "")
		mark("cpu", m.CPUSeconds, 0.1, "s", "")
	case Drift:
		mark("wall", m.WallSeconds, 0.5, "s", "")
		mark("cpu", m.CPUSeconds, 0.5, "s", "")
	case Noop:
		mark("cpu", m.CPUSeconds, apps*targetApps/1000, "s", "1 s for 1000 applications")
		if m.ExtraWrites != nil {
			mark("writes", *m.ExtraWrites, 0, "an application", "")
		}
	case Idle:
		mark("cpu", m.CPUSeconds, 0.05, "s", "")
	case Waves:
		if len(m.Samples) > 0 {
			mark("application", float64(m.ApplicationBytes), applicationLimit, "bytes", "")
		}
		return // the targets of memory are for applications of 10 objects
	case Clusters:
		mark("p50", m.P50Seconds, 0.3, "s", "one of 50 clusters")
		mark("cpu", m.CPUSeconds, 0.1, "s", "")
		mark("memory", m.ClusterMiB, clusterMemory, "MiB", "for each cluster")
		return // the agent holds 50 clusters more than the target of memory is for
	case Fair:
		var latencies []float64
		for _, s := range m.Samples {
			latencies = append(latencies, s.Latencies...)
		}
		mark("p95", Percentile(latencies, 95), 2, "s", "10 applications of another project burn")
		return // what burns takes what memory it may
	}
	if memory := m.MemoryMiB(); memory > 0 {
		mark("memory", memory, 120+max(0, float64(shape.Apps-targetApps))*180/1800, "MiB", "")
	}
}

// Missed lists the marks that were not met, as "workload figure".
func (r Result) Missed() []string {
	var out []string
	for _, m := range r.Workloads {
		for _, mark := range m.Marks {
			if !mark.Met {
				out = append(out, m.Name+" "+mark.Figure)
			}
		}
	}
	return out
}
