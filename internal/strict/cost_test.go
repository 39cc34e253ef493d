package strict

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestALongDocumentCostsWhatItsLengthSays compares a document with one that is 16 times as long, in every shape that could make
// a scan go back or look at something again. What is quadratic takes 256 times as long, whatever else the machine does.
func TestALongDocumentCostsWhatItsLengthSays(t *testing.T) {
	t.Parallel()
	numbered := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, shape := range map[string]func(n int) string{
		"many names":                    func(n int) string { return `{"labels":{` + numbered(n, `"n%d":""`) + "}}" },
		"many names with escapes":       func(n int) string { return `{"labels":{` + numbered(n, `"\u006e%d":""`) + "}}" },
		"many names that are left out":  func(n int) string { return "{" + numbered(n, `"KIND%d":1`) + "}" },
		"many objects":                  func(n int) string { return `{"list":[` + numbered(n, `{"kind":"%d"}`) + "]}" },
		"many names in other letters":   func(n int) string { return `{"list":[` + numbered(n, `{"KIND":"%d"}`) + "]}" },
		"many numbers":                  func(n int) string { return `{"spec":{"any":[` + numbered(n, `1.%d`) + "]}}" },
		"one long text":                 func(n int) string { return `{"kind":"` + strings.Repeat("x", 8*n) + `"}` },
		"one long text with escapes":    func(n int) string { return `{"kind":"` + strings.Repeat(`\n`, 4*n) + `"}` },
		"one long name":                 func(n int) string { return `{"` + strings.Repeat("K", 8*n) + `":1}` },
		"one long name without its end": func(n int) string { return `{"` + strings.Repeat(`\u004b`, n) },
		"blanks":                        func(n int) string { return "{" + strings.Repeat(" ", 8*n) + "}" },
	} {
		t.Run(name, func(t *testing.T) {
			const short, times, patience = 1000, 16, 100 // a hundred times as long at most, of what takes 16 times as long
			if few, many := fastest(shape(short)), fastest(shape(short*times)); many > patience*few+50*time.Millisecond {
				t.Errorf("%s for the short one, and %s for one %d times as long", few, many, times)
			}
		})
	}
}

// fastest is the shortest time of several that a document takes by every rule.
func fastest(doc string) time.Duration {
	best := time.Hour
	for range 3 {
		begun := time.Now()
		for _, rules := range [][]Rule{nil, {Unknown}, {Foreign}} {
			var into outer
			_ = Decode([]byte(doc), &into, rules...) // refused or not, it takes its time
		}
		best = min(best, time.Since(begun))
	}
	return best
}
