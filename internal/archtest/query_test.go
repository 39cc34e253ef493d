package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// asQuery finds a parameter of a request in a sentence, such as "delete it with ?force=true".
var asQuery = regexp.MustCompile(` \?[a-zA-Z]+=`)

// TestNoMessageTellsPeopleToChangeAQuery finds texts of the server and the agent that name a parameter as only a program can give
// it: the same message is shown by pages and by the command line. The description of the API, in tags, may.
func TestNoMessageTellsPeopleToChangeAQuery(t *testing.T) {
	t.Parallel()
	texts := 0
	eachGoFile(t, parser.SkipObjectResolution, func(name string, files *token.FileSet, file *ast.File) {
		if !isShipped(name) || !strings.HasPrefix(name, "internal/server/") && !strings.HasPrefix(name, "internal/agent/") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if _, tags := n.(*ast.StructType); tags {
				return false
			}
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				texts++
				if found := asQuery.FindString(lit.Value); found != "" {
					t.Errorf("%s: %q: name what it does, not the parameter: a page and a command have other words for it", files.Position(lit.Pos()), found)
				}
			}
			return true
		})
	})
	if texts < 1000 || !asQuery.MatchString("delete it with ?force=true") {
		t.Errorf("only %d texts are looked at: the pattern does not fit any more", texts)
	}
}
