package setting

import (
	"fmt"

	"github.com/slipway-gitops/slipway/api"
)

// stepLines are the layers of a connection for people: with a mark, what was found, how long it took, and the next step.
func stepLines(steps []api.SettingStep) []string {
	var out []string
	for _, s := range steps {
		mark, detail := "✓", s.Detail
		switch s.Status {
		case api.StepFailed:
			mark = "✗"
		case api.StepSkipped:
			mark, detail = "-", "not tested"
		}
		line := fmt.Sprintf("%s %-14s  %s", mark, s.Layer, detail)
		if s.Millis > 0 {
			line += fmt.Sprintf("  (%d ms)", s.Millis)
		}
		out = append(out, line)
		if s.Next != "" {
			out = append(out, fmt.Sprintf("  %-14s  %s", "", s.Next))
		}
	}
	return out
}
