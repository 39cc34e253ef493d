package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestNoReturnReadsWhatItsOwnCallFills finds "return v, fill(&v)": Go leaves open whether v is read before or after the call, and so
// whether the caller gets what was filled in.
func TestNoReturnReadsWhatItsOwnCallFills(t *testing.T) {
	t.Parallel()
	eachGoFile(t, parser.SkipObjectResolution, func(name string, files *token.FileSet, file *ast.File) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			r, ok := n.(*ast.ReturnStmt)
			if !ok || len(r.Results) < 2 {
				return true
			}
			read := map[string]bool{}
			for _, result := range r.Results {
				if id, ok := result.(*ast.Ident); ok {
					read[id.Name] = true
				}
			}
			for _, result := range r.Results {
				if v := filled(result, read); v != "" {
					t.Errorf("%s: returns %s beside the call that fills it: make the call a statement before", files.Position(n.Pos()), v)
				}
			}
			return true
		})
	})
}

// filled is a variable of read whose address a call in an expression takes.
func filled(e ast.Expr, read map[string]bool) (v string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if _, later := n.(*ast.FuncLit); later {
			return false
		}
		if call, ok := n.(*ast.CallExpr); ok {
			for _, arg := range call.Args {
				ast.Inspect(arg, func(n ast.Node) bool {
					if address, ok := n.(*ast.UnaryExpr); ok && address.Op == token.AND && read[variableOf(address.X)] {
						v = variableOf(address.X)
					}
					return true
				})
			}
		}
		return true
	})
	return v
}

// variableOf is the variable of which an expression is a part.
func variableOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return variableOf(e.X)
	case *ast.IndexExpr:
		return variableOf(e.X)
	case *ast.ParenExpr:
		return variableOf(e.X)
	}
	return ""
}
