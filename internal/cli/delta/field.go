package delta

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

// table is what the fields are for people. Its lines begin with a # so that the diff can still be read by programs.
func table(list []api.FieldDiff) string {
	if len(list) == 0 {
		return ""
	}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "# FIELD\tLIVE\tWANTED\tOWNER\tSINCE")
	for _, f := range list {
		owner, since := f.Manager, f.Since
		if f.Subresource != "" {
			owner += "/" + f.Subresource
		}
		if len(f.Others) > 0 {
			owner += fmt.Sprintf(" +%d", len(f.Others))
		}
		if owner == "" {
			owner, since = "-", "-"
		}
		path := f.Path
		if f.Ignored {
			path += " (ignored)"
		}
		row := []string{path, short(f.Live), short(f.Wanted), owner, since}
		for i := range row {
			row[i] = iostream.Clean(row[i])
		}
		_, _ = fmt.Fprintln(w, "# "+strings.Join(row, "\t"))
	}
	_ = w.Flush() // to a buffer
	return out.String()
}

// width is how many characters of a value a table shows.
const width = 40

func short(v any) string {
	if v == nil {
		return "-"
	}
	text, ok := v.(string)
	if !ok || text == "" {
		raw, err := json.Marshal(v)
		if err != nil {
			return "?"
		}
		text = string(raw)
	}
	text = strings.ReplaceAll(text, "\n", `\n`)
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}
