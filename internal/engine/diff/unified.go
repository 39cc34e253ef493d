package diff

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Text says how Unified writes.
type Text struct {
	From, To string // names of the two documents
	Context  int    // unchanged lines around a change; negative means all
	Color    bool   // with ANSI colours, for terminals
}

// maxEdits bounds the work on two documents: beyond, the differing middle is shown as removed and added whole.
const maxEdits = 1500

// Unified writes the difference of two objects as YAML in the unified format; "" when they are equal. Secrets must have
// been masked before. Either object can be nil.
func Unified(from, to map[string]any, how Text) (string, error) {
	a, err := yamlLines(from)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", how.From, err)
	}
	b, err := yamlLines(to)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", how.To, err)
	}
	edits := script(a, b)
	w := unifiedWriter{how: how}
	w.hunks(edits)
	return w.out.String(), nil
}

func yamlLines(obj map[string]any) ([]string, error) {
	if len(obj) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	if raw, err = object.YAML(raw); err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n"), nil
}

// edit is one line of the result: ' ' in both, '-' only in the first document, '+' only in the second.
type edit struct {
	sign byte
	line string
}

// script finds a short list of edits that turns a into b.
func script(a, b []string) []edit {
	var head, tail []edit
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = append(head, edit{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append(tail, edit{' ', a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	out := append(head, middle(a, b)...)
	for i := len(tail) - 1; i >= 0; i-- {
		out = append(out, tail[i])
	}
	return out
}

// middle follows, for a growing number of edits, how far each diagonal gets (Myers), and keeps the steps to walk back.
func middle(a, b []string) []edit {
	limit := min(len(a)+len(b), maxEdits)
	offset := limit + 1
	reach := make([]int, 2*offset+1)
	var trail [][]int
	for d := 0; d <= limit; d++ {
		trail = append(trail, append([]int(nil), reach[offset-d:offset+d+1]...))
		for k := -d; k <= d; k += 2 {
			x := reach[offset+k-1] + 1
			if k == -d || k != d && reach[offset+k-1] < reach[offset+k+1] {
				x = reach[offset+k+1]
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			reach[offset+k] = x
			if x >= len(a) && x-k >= len(b) {
				return walkBack(a, b, trail)
			}
		}
	}
	out := make([]edit, 0, len(a)+len(b))
	for _, line := range a {
		out = append(out, edit{'-', line})
	}
	for _, line := range b {
		out = append(out, edit{'+', line})
	}
	return out
}

func walkBack(a, b []string, trail [][]int) []edit {
	var back []edit
	x, y := len(a), len(b)
	for d := len(trail) - 1; d >= 0; d-- {
		at := func(k int) int { // reach before step d, of diagonal k
			if i := k + d; i >= 0 && i < len(trail[d]) {
				return trail[d][i]
			}
			return -1
		}
		k := x - y
		from := k - 1
		if k == -d || k != d && at(k-1) < at(k+1) {
			from = k + 1
		}
		px := at(from)
		py := px - from
		if d == 0 {
			px, py = 0, 0
		}
		for x > px && y > py {
			x, y = x-1, y-1
			back = append(back, edit{' ', a[x]})
		}
		switch {
		case d == 0:
		case from == k+1:
			y--
			back = append(back, edit{'+', b[y]})
		default:
			x--
			back = append(back, edit{'-', a[x]})
		}
	}
	for i, j := 0, len(back)-1; i < j; i, j = i+1, j-1 {
		back[i], back[j] = back[j], back[i]
	}
	return back
}

type unifiedWriter struct {
	how Text
	out strings.Builder
}

// ANSI colours.
const (
	plain = "\x1b[0m"
	bold  = "\x1b[1m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	cyan  = "\x1b[36m"
)

func (w *unifiedWriter) line(color, text string) {
	if w.how.Color && color != "" {
		text = color + text + plain
	}
	w.out.WriteString(text + "\n")
}

func (w *unifiedWriter) hunks(edits []edit) {
	context := w.how.Context
	if context < 0 {
		context = len(edits)
	}
	a, b := 0, 0 // lines of either document before edits[i]
	for i := 0; i < len(edits); i++ {
		if edits[i].sign == ' ' {
			a, b = a+1, b+1
			continue
		}
		if w.out.Len() == 0 {
			w.line(bold, "--- "+w.how.From)
			w.line(bold, "+++ "+w.how.To)
		}
		start := i - min(context, i)
		for start < i && edits[start].sign != ' ' { // belongs to the hunk before
			start++
		}
		end := hunkEnd(edits, i, context)
		a, b = w.hunk(edits[start:end], a-(i-start), b-(i-start))
		i = end - 1
	}
}

// hunkEnd joins changes whose contexts touch.
func hunkEnd(edits []edit, i, context int) int {
	end, quiet := i, 0
	for ; i < len(edits) && quiet <= 2*context; i++ {
		if edits[i].sign == ' ' {
			quiet++
			continue
		}
		quiet, end = 0, i+1
	}
	return min(end+context, len(edits))
}

func (w *unifiedWriter) hunk(edits []edit, a, b int) (int, int) {
	var inA, inB int
	for _, e := range edits {
		if e.sign != '+' {
			inA++
		}
		if e.sign != '-' {
			inB++
		}
	}
	w.line(cyan, "@@ -"+span(a, inA)+" +"+span(b, inB)+" @@")
	for _, e := range edits {
		color := ""
		switch e.sign {
		case '-':
			color = red
		case '+':
			color = green
		}
		w.line(color, string(e.sign)+e.line)
	}
	return a + inA, b + inB
}

func span(before, lines int) string {
	if lines == 0 {
		return fmt.Sprintf("%d,0", before)
	}
	if lines == 1 {
		return fmt.Sprint(before + 1)
	}
	return fmt.Sprintf("%d,%d", before+1, lines)
}
