package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// waitNames finds the constants that name waits for the metrics, and the functions that are tests.
func waitNames(t *testing.T) (waits, tests map[string]bool) {
	t.Helper()
	waits, tests = map[string]bool{}, map[string]bool{}
	named := regexp.MustCompile(`^[Ww]ait[A-Z]`)
	eachGoFile(t, parser.SkipObjectResolution, func(name string, _ *token.FileSet, file *ast.File) {
		test := strings.HasSuffix(name, "_test.go")
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if test && d.Recv == nil {
					tests[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					v, ok := s.(*ast.ValueSpec)
					if !ok || test || d.Tok != token.CONST || len(v.Values) != 1 || !named.MatchString(v.Names[0].Name) {
						continue
					}
					if lit, ok := v.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
						if text, err := strconv.Unquote(lit.Value); err == nil {
							waits[text] = true
						}
					}
				}
			}
		}
	})
	return waits, tests
}

// TestEveryWaitHasASecondLookAndATestThatDropsItsEvent holds docs/reference/waits.md to the code: each row names a test that
// exists, and the names of waits in the page are those that the metrics have.
func TestEveryWaitHasASecondLookAndATestThatDropsItsEvent(t *testing.T) {
	t.Parallel()
	waits, tests := waitNames(t)
	quoted, page := regexp.MustCompile("^`([A-Za-z0-9]+)`$"), regexp.MustCompile("^`(web/src/[A-Za-z0-9/]+\\.test\\.ts)`$")
	counted, rows := map[string]bool{}, 0
	for line := range strings.Lines(textOf(t, "docs/reference/waits.md")) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[0] == "wait" {
			continue
		}
		rows++
		if len(cells) != 5 {
			t.Errorf("the wait %q has %d cells, want wait, event, second look, counted and test", cells[0], len(cells))
			continue
		}
		if cells[2] == "" || strings.EqualFold(cells[2], "none") {
			t.Errorf("the wait %q has no second look: write how it is noticed without its event, or why it needs none", cells[0])
		}
		for named := range strings.SplitSeq(cells[4], ", ") {
			if m := page.FindStringSubmatch(named); m != nil {
				textOf(t, m[1]) // it fails where there is no such file
			} else if m := quoted.FindStringSubmatch(named); m == nil || !tests[m[1]] {
				t.Errorf("the wait %q names the test %s, which does not exist: write what it is called now", cells[0], named)
			}
		}
		switch m := quoted.FindStringSubmatch(cells[3]); {
		case cells[3] == "no":
		case m == nil || !waits[m[1]]:
			t.Errorf("the wait %q is counted as %s, which no constant names: write the value of the constant in code quotes, or no", cells[0], cells[3])
		default:
			counted[m[1]] = true
		}
	}
	for name := range waits {
		if !counted[name] {
			t.Errorf("no row of docs/reference/waits.md is counted as %s: add the row of this wait", name)
		}
	}
	if rows < 30 {
		t.Errorf("only %d waits are found: the pattern does not fit any more", rows)
	}
}
