package iostream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Format is the value of the flag --output.
type Format string

// The formats. Table is what people get when they do not ask.
const (
	Table Format = ""
	JSON  Format = "json"
	YAML  Format = "yaml"
)

// String returns the format as it is written on the command line.
func (f *Format) String() string { return string(*f) }

// Type is what the help text calls a value.
func (f *Format) Type() string { return "json|yaml" }

// Set reads a format; anything but the known ones is an error.
func (f *Format) Set(s string) error {
	if v := Format(s); slices.Contains([]Format{Table, JSON, YAML}, v) {
		*f = v
		return nil
	}
	return fmt.Errorf("want json or yaml")
}

// Print writes v as JSON or YAML; both have the keys of v's JSON form.
func (s Streams) Print(f Format, v any) error {
	raw, err := Encode(f, v)
	if err != nil {
		return err
	}
	_, err = s.Out.Write(raw)
	return err
}

// Encode returns v as indented JSON, or as YAML.
func Encode(f Format, v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode output: %w", err)
	}
	if f != YAML {
		return buf.Bytes(), nil
	}
	raw, err := object.YAML(buf.Bytes())
	if err != nil {
		return nil, fmt.Errorf("encode output: %w", err)
	}
	return raw, nil
}

// Rows is a table: a header and lines of as many cells.
type Rows struct {
	Header []string
	lines  [][]string
}

// Add appends one line.
func (r *Rows) Add(cells ...string) { r.lines = append(r.lines, cells) }

// Len returns the number of lines.
func (r *Rows) Len() int { return len(r.lines) }

// Table writes r: aligned and with its header on a terminal, else one tab-separated line each and no header, for cut
// and awk.
func (s Streams) Table(r *Rows) error {
	if !s.TTY {
		for _, line := range r.lines {
			if _, err := fmt.Fprintln(s.Out, strings.Join(cells(line), "\t")); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(s.Out, 0, 0, 3, ' ', 0)
	writeLine(w, r.Header)
	for _, line := range r.lines {
		writeLine(w, line)
	}
	return w.Flush()
}

func writeLine(w io.Writer, line []string) {
	// A tabwriter keeps its first error for Flush.
	_, _ = fmt.Fprintln(w, strings.TrimRight(strings.Join(cells(line), "\t"), "\t"))
}

// cells keeps a cell on its line and in its column, and keeps control characters of foreign text off the terminal.
func cells(line []string) []string {
	out := make([]string, len(line))
	for i, c := range line {
		out[i] = Clean(c)
	}
	return out
}

// Clean makes one printable line of foreign text: line breaks and tabs become spaces, other control characters go, and so
// do those that turn the direction of what follows, by which a line can say something else than it shows.
func Clean(text string) string { return object.Line(text) }
