package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// exactRooms are where documents are judged, or are used after they were. Names match in any case in encoding/json, and the
// last of two counts; other readers differ.
func exactRooms() []string {
	return []string{"internal/server", "internal/server/httpapi", "internal/server/gateway", "internal/server/authn", "internal/agent", "internal/agent/link", "internal/webhook", "api/agentapi"}
}

// looseReaders are functions that read a document in a way of their own, by package.
func looseReaders() map[string][]string {
	return map[string][]string{
		"json":     {"Unmarshal", "NewDecoder"},
		"yaml":     {"Unmarshal", "UnmarshalStrict", "NewDecoder"},
		"kjson":    {"UnmarshalStrict", "UnmarshalCaseSensitivePreserveInts"},
		"sigsyaml": {"Unmarshal"},
	}
}

// exempt are files that may, by why nothing depends on how they are read.
func exempt() map[string]string {
	return map[string]string{
		"internal/agent/install.go":     "reads definitions that are part of the program",
		"internal/agent/linkreach.go":   "looks for secrets to hide, and takes for one what any reader could",
		"internal/agent/verb_source.go": "lists the charts of an index, which decides nothing",
	}
}

func TestWhatIsJudgedIsReadByTheStrictDecoder(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	eachGoFile(t, parser.SkipObjectResolution, func(name string, files *token.FileSet, file *ast.File) {
		if !slices.Contains(exactRooms(), path.Dir(name)) || strings.HasSuffix(name, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, ok := selector.X.(*ast.Ident)
			if !ok || !slices.Contains(looseReaders()[of.Name], selector.Sel.Name) {
				return true
			}
			if used[name] = exempt()[name] != ""; !used[name] {
				t.Errorf("%s:%d reads with %s.%s: use internal/strict, which has one meaning for a document", name, files.Position(n.Pos()).Line, of.Name, selector.Sel.Name)
			}
			return true
		})
	})
	for name := range exempt() {
		if !used[name] {
			t.Errorf("%s needs no exemption any more: take it out", name)
		}
	}
}
