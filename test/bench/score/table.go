package score

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// WriteTable prints a result for people: machine and shape, one line for each workload, the marks, the remarks.
func WriteTable(out io.Writer, r Result) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s · %d applications x %d objects in %d namespaces · runs: %d\n",
		r.Engine.Kind, r.Engine.Version, r.Shape.Apps, r.Shape.Objects, min(r.Shape.Namespaces, r.Shape.Apps), r.Runs)
	fmt.Fprintf(&text, "%d cores (%s) · %d MiB · Linux %s · %s · Kubernetes %s\n",
		r.Machine.Cores, r.Machine.Processor, r.Machine.MemoryMiB, r.Machine.Kernel, r.Machine.Go, r.Machine.Kubernetes)
	if r.Engine.StartSeconds > 0 {
		fmt.Fprintf(&text, "engine ready after %s with %.0f MiB\n", seconds(r.Engine.StartSeconds), r.Engine.MemoryMiB)
	}
	text.WriteByte('\n')
	grid := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(grid, "workload\twall\tstatus\tp50\tp99\tCPU\tPSS MiB\tRSS MiB\traw\tAPI requests")
	for _, m := range r.Workloads {
		fmt.Fprintf(grid, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.Name, seconds(m.WallSeconds),
			seconds(m.StatusSeconds), seconds(m.P50Seconds), seconds(m.P99Seconds), cpu(m), mebibytes(m.PSSMiB),
			mebibytes(m.RSSMiB), rawTime(m), verbs(m.Verbs))
	}
	if err := grid.Flush(); err != nil {
		return fmt.Errorf("lay out table: %w", err)
	}
	for _, m := range r.Workloads {
		if m.ClusterMiB > 0 {
			fmt.Fprintf(&text, "\n%s: each cluster takes %.2f MiB, and %.1f ms of processor time in an idle minute\n", m.Name, m.ClusterMiB,
				m.ClusterCPUSeconds*1000)
		}
	}
	writeMarks(&text, r)
	if r.Load > float64(r.Machine.Cores)/2 {
		fmt.Fprintf(&text, "note: the machine was busy before the start (load %.1f); these times are too long\n", r.Load)
	}
	for _, m := range r.Workloads {
		for i, s := range m.Samples {
			for _, note := range s.Notes {
				fmt.Fprintf(&text, "note: %s, run %d: %s\n", m.Name, i+1, note)
			}
		}
	}
	if _, err := io.WriteString(out, text.String()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

func writeMarks(text *strings.Builder, r Result) {
	grid := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(grid, "\ntarget\tfound\tlimit\tverdict")
	for _, m := range r.Workloads {
		for _, mark := range m.Marks {
			verdict := "met"
			if !mark.Met {
				verdict = "MISSED"
			}
			if mark.Against != "" {
				verdict += " (" + mark.Against + ")"
			}
			fmt.Fprintf(grid, "%s %s\t%.3g %s\t%.3g %s\t%s\n",
				m.Name, mark.Figure, mark.Value, mark.Unit, mark.Limit, mark.Unit, verdict)
		}
	}
	// A tabwriter over a strings.Builder has nothing that can fail.
	_ = grid.Flush()
}

// Change is one figure beside the same one in a baseline.
type Change struct {
	Workload, Figure string
	Before, Now      float64
}

// Compare lists the figures that both results have. It refuses to compare results of different shapes.
func Compare(baseline, now Result) ([]Change, error) {
	if baseline.Version != now.Version {
		return nil, fmt.Errorf("compare with baseline: it has layout %d, this program writes %d; record it again", baseline.Version, now.Version)
	}
	if baseline.Shape != now.Shape {
		return nil, fmt.Errorf("compare with baseline: it was recorded with %+v, this is %+v; use the same sizes or record it again",
			baseline.Shape, now.Shape)
	}
	var out []Change
	for _, m := range now.Workloads {
		at := slices.IndexFunc(baseline.Workloads, func(b Measurement) bool { return b.Name == m.Name })
		if at < 0 {
			continue
		}
		b := baseline.Workloads[at]
		add := func(figure string, before, now float64) {
			if before > 0 && now > 0 {
				out = append(out, Change{Workload: m.Name, Figure: figure, Before: before, Now: now})
			}
		}
		if m.Name != Idle && m.Name != LinkedIdle {
			add("wall s", b.WallSeconds, m.WallSeconds)
		}
		add("p50 s", b.P50Seconds, m.P50Seconds)
		add("p99 s", b.P99Seconds, m.P99Seconds)
		add("CPU s", b.CPUSeconds, m.CPUSeconds)
		add("memory MiB", b.MemoryMiB(), m.MemoryMiB())
		add("MiB for each cluster", b.ClusterMiB, m.ClusterMiB)
	}
	return out, nil
}

// WriteChanges prints a comparison. When the machines differ, it says so first: then only ratios within a run mean much.
func WriteChanges(out io.Writer, baseline, now Result, changes []Change) error {
	var text strings.Builder
	fmt.Fprintf(&text, "\nagainst the baseline of %s\n", baseline.Time.UTC().Format("2006-01-02 15:04 MST"))
	if baseline.Machine != now.Machine {
		text.WriteString("note: the baseline is from another machine or Kubernetes version\n")
	}
	grid := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(grid, "workload\tfigure\tbefore\tnow\tchange")
	for _, c := range changes {
		fmt.Fprintf(grid, "%s\t%s\t%.3g\t%.3g\t%+.0f%%\n", c.Workload, c.Figure, c.Before, c.Now, (c.Now/c.Before-1)*100)
	}
	if err := grid.Flush(); err != nil {
		return fmt.Errorf("lay out comparison: %w", err)
	}
	if _, err := io.WriteString(out, text.String()); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

func seconds(s float64) string {
	switch {
	case s <= 0:
		return "-"
	case s < 1:
		return fmt.Sprintf("%.1f ms", s*1000)
	}
	return fmt.Sprintf("%.2f s", s)
}

func cpu(m Measurement) string {
	if m.Name == Raw {
		return "-"
	}
	if m.Commits > 1 {
		return fmt.Sprintf("%.3f s a commit", m.CPUSeconds)
	}
	return fmt.Sprintf("%.3f s", m.CPUSeconds)
}

func rawTime(m Measurement) string {
	if m.RawP50Seconds > 0 && m.P50Seconds > 0 {
		return seconds(m.RawP50Seconds) + " p50"
	}
	return seconds(m.RawSeconds)
}

func mebibytes(n float64) string {
	if n <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", n)
}

// verbs prints counts by verb, the largest first.
func verbs(counts map[string]int) string {
	if len(counts) == 0 {
		return "-"
	}
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = fmt.Sprintf("%s %d", name, counts[name])
	}
	return strings.Join(parts, ", ")
}
