package diff_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
)

func TestUnifiedWritesHunks(t *testing.T) {
	t.Parallel()
	lines := func(change map[int]string) map[string]any {
		list := []any{}
		for i := range 20 {
			text := fmt.Sprintf("line %02d", i)
			if c, ok := change[i]; ok {
				text = c
			}
			if text != "" {
				list = append(list, text)
			}
		}
		return map[string]any{"a": list}
	}
	cases := []struct {
		name     string
		from, to map[string]any
		how      diff.Text
		want     string
	}{
		{"equal documents give nothing", lines(nil), lines(nil), diff.Text{Context: 3}, ""},
		{"changes far apart are two hunks", lines(nil), lines(map[int]string{2: "two", 17: ""}), diff.Text{Context: 1}, `
@@ -3,3 +3,3 @@
 - line 01
-- line 02
+- two
 - line 03
@@ -18,3 +18,2 @@
 - line 16
-- line 17
 - line 18
`},
		{"changes near by are one", lines(nil), lines(map[int]string{2: "", 4: ""}), diff.Text{Context: 1}, `
@@ -3,5 +3,3 @@
 - line 01
-- line 02
 - line 03
-- line 04
 - line 05
`},
		{"nothing before", nil, map[string]any{"a": int64(1)}, diff.Text{Context: 3}, "\n@@ -0,0 +1 @@\n+a: 1\n"},
		{"nothing after", map[string]any{"a": int64(1)}, nil, diff.Text{Context: 3}, "\n@@ -1 +0,0 @@\n-a: 1\n"},
		{
			"in colour",
			map[string]any{"a": int64(1)},
			map[string]any{"a": int64(2)},
			diff.Text{Color: true},
			"\n\x1b[36m@@ -1 +1 @@\x1b[0m\n\x1b[31m-a: 1\x1b[0m\n\x1b[32m+a: 2\x1b[0m\n",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.how.From, c.how.To = "live", "wanted"
			got, err := diff.Unified(c.from, c.to, c.how)
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			if c.want != "" {
				want = "--- live\n+++ wanted" + c.want
			}
			if c.how.Color {
				want = "\x1b[1m--- live\x1b[0m\n\x1b[1m+++ wanted\x1b[0m" + c.want
			}
			if delta := cmp.Diff(want, got); delta != "" {
				t.Error(delta)
			}
		})
	}
}

// TestUnifiedHoldsBothDocuments reads both documents back out of a difference with all lines in it.
func TestUnifiedHoldsBothDocuments(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		most := 12
		if round%100 == 99 {
			most = 4000 // more edits than are looked for
		}
		doc := func() (map[string]any, string) {
			list := []any{}
			text := "a:\n"
			for range 1 + r.IntN(most) {
				v := int64(r.IntN(4))
				if most > 100 {
					v = r.Int64N(100000)
				}
				list = append(list, v)
				text += fmt.Sprintf("- %d\n", v)
			}
			return map[string]any{"a": list}, text
		}
		from, fromText := doc()
		to, toText := doc()
		got, err := diff.Unified(from, to, diff.Text{Context: -1})
		if err != nil {
			t.Fatal(err)
		}
		if got == "" {
			if fromText != toText {
				t.Fatalf("no difference of\n%s and\n%s", fromText, toText)
			}
			continue
		}
		var a, b strings.Builder
		for _, line := range strings.SplitAfter(got, "\n")[3:] {
			if line == "" {
				continue
			}
			if line[0] != '+' {
				a.WriteString(line[1:])
			}
			if line[0] != '-' {
				b.WriteString(line[1:])
			}
		}
		if a.String() != fromText || b.String() != toText {
			t.Fatalf("round %d: %s", round, got)
		}
	}
}

func TestControlCharactersOfAnObjectNeitherStopItsDiffNorReachTheTerminal(t *testing.T) {
	t.Parallel()
	before := map[string]any{"data": map[string]any{"a": "x"}}
	after := map[string]any{"data": map[string]any{"a": "one\ntwo \x1b[31m \u009b31m \x7f", "\x1bkey": "v"}}
	text, err := diff.Unified(before, after, diff.Text{From: "a", To: "b", Context: 3})
	if err != nil || text == "" || strings.ContainsAny(text, "\x1b\u009b\x7f") {
		t.Errorf("%q, %v", text, err)
	}
}
