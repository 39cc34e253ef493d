package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/slipway-gitops/slipway/test/bench/score"
)

// resultVersion is that of the JSON layout.
const resultVersion = 1

// result is everything that one call found.
type result struct {
	Version      int           `json:"version"`
	Time         time.Time     `json:"time"`
	Machine      score.Machine `json:"machine"`
	Load         float64       `json:"load"` // of the machine before the start
	Server       string        `json:"server"`
	Database     string        `json:"database"`
	Agents       int           `json:"agents"`
	Applications int           `json:"applications"` // of all agents
	MeanBytes    int           `json:"meanBytes"`    // of an Application
	Seed         uint64        `json:"seed"`
	Churn        float64       `json:"churn"`
	Figures      []figure      `json:"figures"`
}

// figure is one thing that was measured.
type figure struct {
	Phase string `json:"phase"`
	Name  string `json:"name"`
	Unit  string `json:"unit"`
	// Value is what is judged: of several samples the 95th percentile.
	Value float64 `json:"value"`
	// Samples is how many there are; 0 for a single figure.
	Samples int     `json:"samples,omitempty"`
	P50     float64 `json:"p50,omitempty"`
	P99     float64 `json:"p99,omitempty"`
	Max     float64 `json:"max,omitempty"`
	// Limit is the target; 0 where there is none.
	Limit float64 `json:"limit,omitempty"`
}

func (f figure) met() bool { return f.Limit == 0 || f.Value < f.Limit }

// samples collects times from several goroutines.
type samples struct {
	mu     sync.Mutex
	values []float64 // milliseconds
}

func (s *samples) add(d time.Duration) {
	s.mu.Lock()
	s.values = append(s.values, float64(d)/float64(time.Millisecond))
	s.mu.Unlock()
}

func (s *samples) figure(phase, name string, limit float64) figure {
	s.mu.Lock()
	defer s.mu.Unlock()
	return figure{
		Phase: phase, Name: name, Unit: "ms", Samples: len(s.values), Limit: limit, Value: score.Percentile(s.values, 95),
		P50: score.Percentile(s.values, 50), P99: score.Percentile(s.values, 99), Max: score.Percentile(s.values, 100),
	}
}

// missed names the targets that were missed.
func (r result) missed() []string {
	var out []string
	for _, f := range r.Figures {
		if !f.met() {
			out = append(out, f.Phase+": "+f.Name)
		}
	}
	return out
}

// publish prints the result and stores it. A result that is not whole never becomes the baseline.
func publish(o options, r result, whole bool, stdout io.Writer) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	if o.record && whole {
		if err := os.WriteFile(o.baseline, append(text, '\n'), 0o644); err != nil {
			return fmt.Errorf("store result: %w", err)
		}
	}
	if o.json {
		_, err := fmt.Fprintf(stdout, "%s\n", text)
		return err
	}
	before := map[string]float64{}
	if o.baseline != "" && !o.record {
		if before, err = load(o.baseline, r, stdout); err != nil {
			return err
		}
	}
	return table(stdout, r, before)
}

// load reads the figures of a baseline; none where there is no file, or where it is of another fleet.
func load(file string, r result, stdout io.Writer) (map[string]float64, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		_, err := fmt.Fprintf(stdout, "no baseline at %s; record one with --record\n", file)
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("read baseline: %w", err)
	}
	var was result
	if err := json.Unmarshal(text, &was); err != nil {
		return nil, fmt.Errorf("read baseline %s: %w: record it again with --record", file, err)
	}
	if was.Agents != r.Agents || was.Applications != r.Applications || was.Database != r.Database || was.Churn != r.Churn {
		_, err := fmt.Fprintf(stdout, "the baseline is of %d agents and %d applications on %s: not compared\n", was.Agents,
			was.Applications, was.Database)
		return nil, err
	}
	out := map[string]float64{}
	for _, f := range was.Figures {
		out[f.Phase+f.Name] = f.Value
	}
	return out, nil
}

// table prints a result for people.
func table(out io.Writer, r result, before map[string]float64) error {
	fmt.Fprintf(out, "slipway-server %s on %s · %d agents, %d applications of %.1f kB · %g changes/s\n",
		r.Server, r.Database, r.Agents, r.Applications, float64(r.MeanBytes)/1000, r.Churn)
	fmt.Fprintf(out, "%d cores (%s) · %d MiB · Linux %s · %s · load before %.1f\n\n", r.Machine.Cores, r.Machine.Processor,
		r.Machine.MemoryMiB, r.Machine.Kernel, r.Machine.Go, r.Load)
	grid := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(grid, "phase\tfigure\tn\tp50\tp95\tp99\tmax\ttarget\tverdict\tbaseline")
	for _, f := range r.Figures {
		count, p50, p99, worst, limit, verdict, was := "", "", "", "", "", "", ""
		if f.Samples > 0 {
			count, p50, p99, worst = fmt.Sprint(f.Samples), show(f.P50), show(f.P99), show(f.Max)
		}
		if f.Limit > 0 {
			limit, verdict = "< "+show(f.Limit), "met"
			if !f.met() {
				verdict = "MISSED"
			}
		}
		if v, there := before[f.Phase+f.Name]; there {
			was = show(v)
		}
		fmt.Fprintf(grid, "%s\t%s\t%s\t%s\t%s %s\t%s\t%s\t%s\t%s\t%s\n", f.Phase, f.Name, count, p50, show(f.Value), f.Unit, p99,
			worst, limit, verdict, was)
	}
	return grid.Flush()
}

func show(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
