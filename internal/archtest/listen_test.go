package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// servers are what listens and serves in the standard library, by the path of its package. The server of the link is a
// library with deadlines of its own; peers reach it through a handler of ours, or with the secret of the servers.
func servers() map[string][]string {
	return map[string][]string{
		"net/http":   {"Server", "Serve", "ServeTLS", "ListenAndServe", "ListenAndServeTLS"},
		"net":        {"Listen", "ListenTCP", "ListenUnix", "ListenConfig", "FileListener"},
		"crypto/tls": {"Listen", "NewListener"},
	}
}

func TestWhatIsShippedServesThroughTheInlet(t *testing.T) {
	t.Parallel()
	found := 0
	eachGoFile(t, parser.SkipObjectResolution, func(name string, files *token.FileSet, file *ast.File) {
		shipped := strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "api/")
		if !shipped || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "internal/testenv/") {
			return
		}
		forbidden := map[string][]string{}
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if path == "net/http/cgi" || path == "net/http/fcgi" || path == "net/rpc" {
				t.Errorf("%s imports %s, which serves without deadlines: use internal/inlet", name, path)
			}
			local := path[strings.LastIndex(path, "/")+1:]
			if spec.Name != nil {
				local = spec.Name.Name
			}
			if names, ok := servers()[path]; ok {
				forbidden[local] = names
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if of, ok := selector.X.(*ast.Ident); ok && slices.Contains(forbidden[of.Name], selector.Sel.Name) {
				if strings.HasPrefix(name, "internal/inlet/") {
					found++
					return true
				}
				if name == "internal/git/proxy.go" { // takes one connection, of the ssh client that the agent starts
					return true
				}
				t.Errorf("%s:%d uses %s.%s: internal/inlet makes servers and listeners, with deadlines for slow peers and bounds on connections",
					name, files.Position(n.Pos()).Line, of.Name, selector.Sel.Name)
			}
			return true
		})
	})
	if found == 0 {
		t.Error("internal/inlet makes no server: this test looks for the wrong names")
	}
}
