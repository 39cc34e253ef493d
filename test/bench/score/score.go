// Package score holds what a benchmark run found: figures, their statistics, the targets they are judged by, and
// how they print as a table and compare with a recorded baseline. It is pure.
package score

import (
	"math"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/test/bench/corpus"
)

// Version is that of the JSON layout.
const Version = 1

// Result is everything one call of the benchmark found.
type Result struct {
	Version  int          `json:"version"`
	Time     time.Time    `json:"time"`
	Machine  Machine      `json:"machine"`
	Engine   Engine       `json:"engine"`
	Shape    corpus.Shape `json:"shape"`
	Runs     int          `json:"runs"`
	Profiled bool         `json:"profiled,omitempty"`
	// Load is the load average of the machine before anything was started: what else was going on.
	Load      float64       `json:"load"`
	Workloads []Measurement `json:"workloads"`
}

// Machine says where the figures were taken.
type Machine struct {
	Cores      int    `json:"cores"`
	Processor  string `json:"processor"`
	MemoryMiB  int64  `json:"memoryMiB"`
	Kernel     string `json:"kernel"`
	Go         string `json:"go"`
	Kubernetes string `json:"kubernetes"`
}

// Engine says what was measured.
type Engine struct {
	// Kind is "slipway", or "external" for an engine that another program started.
	Kind    string `json:"kind"`
	Version string `json:"version,omitempty"`
	// StartSeconds is the median time from the start of the process to its being ready, MemoryMiB what it held then.
	StartSeconds float64 `json:"startSeconds,omitempty"`
	MemoryMiB    float64 `json:"memoryMiB,omitempty"`
}

// Sample is one run of one workload.
type Sample struct {
	// WallSeconds is the time until the live objects were as wanted.
	WallSeconds float64 `json:"wallSeconds"`
	// StatusSeconds is the time until the Applications showed it too; 0 if it was not measured.
	StatusSeconds float64 `json:"statusSeconds,omitempty"`
	// CPUSeconds is the processor time of the engine for the workload until it came to rest.
	CPUSeconds float64 `json:"cpuSeconds"`
	// BenchCPUSeconds is the processor time that the benchmark itself took from the machine in that time.
	BenchCPUSeconds float64 `json:"benchCPUSeconds"`
	// RawSeconds is what a bare client takes for the same writes; 0 where there is no such thing.
	RawSeconds float64 `json:"rawSeconds,omitempty"`
	// Latencies are those of single objects or commits, in seconds.
	Latencies []float64 `json:"latencies,omitempty"`
	// RawLatencies are those of the bare client.
	RawLatencies []float64 `json:"rawLatencies,omitempty"`
	// Peak memory of all processes of the engine in MiB: proportional, resident, and the highest resident set that
	// the kernel saw on the main process.
	PSSMiB float64 `json:"pssMiB,omitempty"`
	RSSMiB float64 `json:"rssMiB,omitempty"`
	HWMMiB float64 `json:"hwmMiB,omitempty"`
	// Requests are API requests by verb and resource ("PATCH configmaps"), as the API server counted them, without
	// those of the benchmark and of the control plane.
	Requests map[string]int `json:"requests,omitempty"`
	// EngineRequests are those that the engine itself counts, when it publishes that: with the resource, or by HTTP
	// method alone ("PATCH"), then with its lease and its watches.
	EngineRequests map[string]int `json:"engineRequests,omitempty"`
	// Verbs are the requests summed up by verb; the engine's own count when that knows resources.
	Verbs map[string]int `json:"verbs,omitempty"`
	// ExtraWrites are the write requests of the engine, for each application, that a refresh without any change does
	// not call for. Only noop-refresh fills it; absent means unknown.
	ExtraWrites *float64 `json:"extraWrites,omitempty"`
	// ApplicationBytes is the size of the largest Application that was seen, ApplicationWrites how often it was written
	// after its creation. Only waves fills them.
	ApplicationBytes  int `json:"applicationBytes,omitempty"`
	ApplicationWrites int `json:"applicationWrites,omitempty"`
	// ClusterMiB is what a cluster more takes of the memory of the engine at rest, ClusterCPUSeconds of its processor time in a minute
	// in which nothing happens. Only clusters fills them.
	ClusterMiB        float64 `json:"clusterMiB,omitempty"`
	ClusterCPUSeconds float64 `json:"clusterCPUSeconds,omitempty"`
	// Notes are remarks a reader must know.
	Notes []string `json:"notes,omitempty"`
}

// Measurement is one workload over all runs. Its own figures are medians over the runs, peaks are maxima, and
// percentiles are over the latencies of all runs together.
type Measurement struct {
	Name string `json:"name"`
	// Commits is how many commits one run makes, at least 1; CPUSeconds is for one commit.
	Commits       int            `json:"commits"`
	WallSeconds   float64        `json:"wallSeconds"`
	StatusSeconds float64        `json:"statusSeconds,omitempty"`
	CPUSeconds    float64        `json:"cpuSeconds"`
	RawSeconds    float64        `json:"rawSeconds,omitempty"`
	P50Seconds    float64        `json:"p50Seconds,omitempty"`
	P99Seconds    float64        `json:"p99Seconds,omitempty"`
	RawP50Seconds float64        `json:"rawP50Seconds,omitempty"`
	RawP99Seconds float64        `json:"rawP99Seconds,omitempty"`
	PSSMiB        float64        `json:"pssMiB,omitempty"`
	RSSMiB        float64        `json:"rssMiB,omitempty"`
	HWMMiB        float64        `json:"hwmMiB,omitempty"`
	Verbs         map[string]int `json:"verbs,omitempty"`
	ExtraWrites   *float64       `json:"extraWrites,omitempty"`

	ApplicationBytes  int `json:"applicationBytes,omitempty"`
	ApplicationWrites int `json:"applicationWrites,omitempty"`

	ClusterMiB        float64 `json:"clusterMiB,omitempty"`
	ClusterCPUSeconds float64 `json:"clusterCPUSeconds,omitempty"`

	Marks   []Mark   `json:"marks,omitempty"`
	Samples []Sample `json:"samples"`
}

// Mark is one figure beside its target.
type Mark struct {
	Figure string  `json:"figure"`
	Value  float64 `json:"value"`
	Limit  float64 `json:"limit"`
	Unit   string  `json:"unit"`
	// Against says where the limit comes from when it is not a plain number, such as "2 x raw".
	Against string `json:"against,omitempty"`
	Met     bool   `json:"met"`
}

// MemoryMiB is the peak to hold against a target: proportional memory where it is known, else resident.
func (m Measurement) MemoryMiB() float64 {
	if m.PSSMiB > 0 {
		return m.PSSMiB
	}
	return m.RSSMiB
}

// Measure sums up the samples of one workload. Commits is the number of commits in each of them.
func Measure(name string, commits int, samples []Sample) Measurement {
	m := Measurement{Name: name, Commits: max(commits, 1), Samples: samples}
	column := func(pick func(Sample) float64) float64 {
		values := make([]float64, len(samples))
		for i, s := range samples {
			values[i] = pick(s)
		}
		return Median(values)
	}
	m.WallSeconds = column(func(s Sample) float64 { return s.WallSeconds })
	m.StatusSeconds = column(func(s Sample) float64 { return s.StatusSeconds })
	m.CPUSeconds = column(func(s Sample) float64 { return s.CPUSeconds }) / float64(m.Commits)
	m.ClusterMiB = column(func(s Sample) float64 { return s.ClusterMiB })
	m.ClusterCPUSeconds = column(func(s Sample) float64 { return s.ClusterCPUSeconds })
	m.RawSeconds = column(func(s Sample) float64 { return s.RawSeconds })
	var latencies, raw, writes []float64
	for _, s := range samples {
		latencies = append(latencies, s.Latencies...)
		raw = append(raw, s.RawLatencies...)
		if s.ExtraWrites != nil {
			writes = append(writes, *s.ExtraWrites)
		}
		m.PSSMiB = max(m.PSSMiB, s.PSSMiB)
		m.RSSMiB = max(m.RSSMiB, s.RSSMiB)
		m.HWMMiB = max(m.HWMMiB, s.HWMMiB)
		m.ApplicationBytes = max(m.ApplicationBytes, s.ApplicationBytes)
		m.ApplicationWrites = max(m.ApplicationWrites, s.ApplicationWrites)
	}
	m.P50Seconds, m.P99Seconds = Percentile(latencies, 50), Percentile(latencies, 99)
	m.RawP50Seconds, m.RawP99Seconds = Percentile(raw, 50), Percentile(raw, 99)
	if len(writes) > 0 {
		median := Median(writes)
		m.ExtraWrites = &median
	}
	if len(samples) > 0 {
		// Counts of several runs have no useful median by verb; the last run has warm caches everywhere.
		m.Verbs = samples[len(samples)-1].Verbs
	}
	return m
}

// Median returns the middle value, or the mean of the two middle ones; 0 of nothing.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Percentile returns the smallest value that at least p percent of the values do not exceed; 0 of nothing. With
// fewer than 100 values the 99th is the largest.
func Percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}
