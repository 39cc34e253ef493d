package why

import (
	"fmt"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Limits of one screen.
const (
	maxReasons = 6
	maxWhy     = 600 // bytes of one reason
)

// Text prints an answer for people: one screen.
func (a Answer) Text(now time.Time) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s%s\n", object.Line(a.Name), object.Line(a.State), since(a.Since, now))
	for _, r := range a.Reasons[:min(len(a.Reasons), maxReasons)] {
		fmt.Fprintf(&out, "\n%s%s\n", object.Line(r.What), since(r.Since, now))
		if r.Why != "" {
			fmt.Fprintf(&out, "  why:  %s\n", cut(object.Line(r.Why)))
		}
		fmt.Fprintf(&out, "  next: %s\n", object.Line(r.Next))
	}
	if n := len(a.Reasons) - maxReasons; n > 0 {
		fmt.Fprintf(&out, "\nand %d more reasons: `slipway app why %s -o yaml` lists all of them\n", n, object.Line(a.Name))
	}
	return out.String()
}

func cut(text string) string {
	if len(text) <= maxWhy {
		return text
	}
	return strings.ToValidUTF8(text[:maxWhy], "") + "..."
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
