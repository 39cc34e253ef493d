package why

import (
	"fmt"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cause"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// Limits of one screen.
const (
	maxReasons = 6
	maxWhy     = 600 // bytes of one reason
)

// Text prints an answer for people: one screen.
func (a Answer) Text(now time.Time) string { return Text(a.API(), now) }

// Text prints an answer for people: one screen, and what shows each finding.
func Text(w api.Why, now time.Time) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s%s\n", object.Line(w.Name), object.Line(w.State), since(w.Since, now))
	for _, r := range w.Reasons[:min(len(w.Reasons), maxReasons)] {
		fmt.Fprintf(&out, "\n%s%s\n", object.Line(r.What), since(r.Since, now))
		if r.Why != "" {
			fmt.Fprintf(&out, "  why:  %s\n", legible.Cut(object.Line(r.Why), maxWhy))
		}
		if r.Finding != nil {
			finding(&out, r.Finding, now)
		}
		fmt.Fprintf(&out, "  next: %s\n", object.Line(r.Next))
	}
	if n := len(w.Reasons) - maxReasons; n > 0 {
		fmt.Fprintf(&out, "\nand %d more reasons: `slipway app why %s -o yaml` lists all of them\n", n, object.Line(w.Name))
	}
	return out.String()
}

// finding prints what shows a finding, and the end of a log.
func finding(out *strings.Builder, f *api.Finding, now time.Time) {
	for _, e := range f.Evidence {
		about := objectText("", e.Object.Kind, e.Object.Namespace, e.Object.Name)
		if e.Container != "" {
			about += ", container " + e.Container
		}
		fmt.Fprintf(out, "  seen: %s: %s%s\n", object.Line(about), legible.Cut(object.Line(e.Text), maxWhy), seen(e, now))
	}
	switch log := f.Log; {
	case log == nil:
	case len(log.Lines) > 0:
		run := ""
		if log.Previous {
			run = ", the run before"
		}
		fmt.Fprintf(out, "  log:  container %s%s:\n", object.Line(f.Container), run)
		for _, line := range log.Lines {
			fmt.Fprintf(out, "        | %s\n", object.Line(line))
		}
	case log.Note == cause.NotAsked:
		fmt.Fprintf(out, "  log:  --logs shows the last lines of container %s\n", object.Line(f.Container))
	default:
		fmt.Fprintf(out, "  log:  %s\n", object.Line(log.Note))
	}
}

// seen says how often and when something was reported.
func seen(e api.Evidence, now time.Time) string {
	var parts []string
	if e.Count > 1 {
		parts = append(parts, fmt.Sprintf("%d times", e.Count))
	}
	if !e.Since.IsZero() {
		parts = append(parts, "since "+Age(now.Sub(e.Since)))
	}
	if !e.Last.IsZero() && e.Last.After(e.Since) {
		parts = append(parts, "last "+Age(now.Sub(e.Last))+" ago")
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// since prints a moment and how long ago it was.
func since(at, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	return fmt.Sprintf(", since %s (%s)", at.UTC().Format(time.RFC3339), Age(now.Sub(at)))
}

// Age prints a duration in its largest one or two units, for example 3d4h or 12s.
func Age(d time.Duration) string {
	const day = 24 * time.Hour
	d = max(d, 0).Truncate(time.Second)
	switch {
	case d >= day:
		return units(int(d/day), "d", int(d%day/time.Hour), "h")
	case d >= time.Hour:
		return units(int(d/time.Hour), "h", int(d%time.Hour/time.Minute), "m")
	case d >= time.Minute:
		return units(int(d/time.Minute), "m", int(d%time.Minute/time.Second), "s")
	}
	return fmt.Sprintf("%ds", int(d/time.Second))
}

func units(large int, unit string, small int, fine string) string {
	if small == 0 {
		return fmt.Sprintf("%d%s", large, unit)
	}
	return fmt.Sprintf("%d%s%d%s", large, unit, small, fine)
}
