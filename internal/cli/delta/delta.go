// Package delta prints what would change: one unified diff per object, and the managers of the fields that differ.
package delta

import (
	"io"
	"math"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// Print prints differences, with colors also where the output is no terminal if color is set. Its error is that of an
// answer "differs" when there are any that count.
func Print(common *connect.Common, list []api.ObjectDiff, color bool) error {
	differs := false
	for _, d := range list {
		differs = differs || d.Verb != string(diff.Keep)
	}
	if err := write(common, list, color || common.TTY); err != nil {
		return err
	}
	if differs {
		return iostream.Differs()
	}
	if common.Output == iostream.Table {
		common.Sayf("no differences")
	}
	return nil
}

func write(common *connect.Common, list []api.ObjectDiff, color bool) error {
	if common.Output != iostream.Table {
		return common.Print(common.Output, map[string]any{"items": list})
	}
	for _, d := range list {
		text := d.Diff
		key := object.Key{Group: d.Group, Kind: d.Kind, Namespace: d.Namespace, Name: d.Name}
		if d.Error != "" {
			text = "# " + iostream.Clean(key.String()+": cannot be tried out: "+d.Error) + "\n"
		} else if text == "" {
			text = "# " + iostream.Clean(key.String()) + ": only ignored fields differ\n"
		} else if color {
			// The colors are ours alone.
			if _, err := io.WriteString(iostream.Bare(common.Out), colored(legible.Text(text, math.MaxInt))); err != nil {
				return err
			}
			text = ""
		}
		if _, err := io.WriteString(common.Out, text+table(d.Fields)); err != nil {
			return err
		}
	}
	return nil
}

// colored gives the lines of a unified diff the colors that people expect.
func colored(text string) string {
	const plain = "\x1b[0m"
	var out strings.Builder
	for line := range strings.Lines(text) {
		body, end := strings.TrimSuffix(line, "\n"), strings.HasSuffix(line, "\n")
		start := ""
		switch {
		case strings.HasPrefix(body, "--- "), strings.HasPrefix(body, "+++ "):
			start = "\x1b[1m"
		case strings.HasPrefix(body, "@@"):
			start = "\x1b[36m"
		case strings.HasPrefix(body, "-"):
			start = "\x1b[31m"
		case strings.HasPrefix(body, "+"):
			start = "\x1b[32m"
		}
		if start != "" {
			body = start + body + plain
		}
		out.WriteString(body)
		if end {
			out.WriteByte('\n')
		}
	}
	return out.String()
}
