package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// cutting are the files that shorten a text by themselves: legible, what does more than to keep a beginning, and what may import
// the standard library alone.
func cutting() map[string]string {
	return map[string]string{
		"internal/legible/legible.go":     "has Cut and Prefix",
		"internal/engine/object/text.go":  "keeps both ends",
		"internal/cli/iostream/screen.go": "removes the last character that was typed",
		"internal/strict/scan.go":         "imports the standard library alone",
		"api/argo/v1alpha1/decode.go":     "imports the standard library alone",
	}
}

// TestTextsAreShortenedInOnePlace finds texts that are cut to a number of bytes, and then to whole characters, outside of legible:
// a dozen functions did that, each with another mark and another limit.
func TestTextsAreShortenedInOnePlace(t *testing.T) {
	t.Parallel()
	left := cutting()
	eachGoFile(t, parser.SkipObjectResolution, func(name string, files *token.FileSet, file *ast.File) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			cuts := false
			switch n := n.(type) {
			case *ast.CallExpr:
				cuts = text(n.Fun) == "utf8.RuneStart" || text(n.Fun) == "strings.ToValidUTF8" && isPrefix(n.Args[0])
			case *ast.BinaryExpr:
				mark, ok := n.Y.(*ast.BasicLit)
				cuts = ok && n.Op == token.ADD && isPrefix(n.X) && (strings.Contains(mark.Value, "…") || strings.Contains(mark.Value, "..."))
			}
			if cuts && cutting()[name] == "" {
				t.Errorf("%s: shortens a text: use legible.Cut, or legible.Prefix where it must not end in an ellipsis", files.Position(n.Pos()))
			}
			if cuts {
				delete(left, name)
			}
			return true
		})
	})
	for name := range left {
		t.Errorf("%s does not shorten texts any more: take it out of cutting", name)
	}
}

// isPrefix reports whether an expression is the beginning of something: s[:n].
func isPrefix(e ast.Expr) bool {
	slice, ok := e.(*ast.SliceExpr)
	return ok && slice.Low == nil
}
