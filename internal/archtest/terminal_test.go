package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// bare are the files of the command line that write to a terminal what it obeys, by why nothing of others is in it.
func bare() map[string]string {
	return map[string]string{
		"internal/cli/app/exec.go":     "a terminal of a container draws on that of the user, who asked for it",
		"internal/cli/declare/edit.go": "the user's own editor draws on it",
		"internal/cli/delta/delta.go":  "puts colors around lines that it made legible",
	}
}

// TestTheCommandLineShowsTextsOfOthersThroughOneDoor finds code that writes past iostream.Screen.
func TestTheCommandLineShowsTextsOfOthersThroughOneDoor(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	eachGoFile(t, parser.SkipObjectResolution, func(name string, files *token.FileSet, file *ast.File) {
		if !strings.HasPrefix(name, "internal/cli/") || strings.HasPrefix(name, "internal/cli/iostream/") || strings.HasSuffix(name, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, ok := selector.X.(*ast.Ident)
			if !ok {
				return true
			}
			switch call := of.Name + "." + selector.Sel.Name; call {
			case "os.Stdout", "os.Stderr", "fmt.Print", "fmt.Printf", "fmt.Println":
				t.Errorf("%s:%d uses %s: write to the streams of the command, which make texts of others legible", name, files.Position(n.Pos()).Line, call)
			case "iostream.Bare":
				if used[name] = bare()[name] != ""; !used[name] {
					t.Errorf("%s:%d uses %s: write to the stream as it is", name, files.Position(n.Pos()).Line, call)
				}
			}
			return true
		})
	})
	for name := range bare() {
		if !used[name] {
			t.Errorf("%s needs no exception any more: take it out", name)
		}
	}
}
