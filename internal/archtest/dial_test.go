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

// connects says which files of what is shipped make connections by themselves, and why the address is nobody's choice but
// the operator's or the user's on their own machine. All others connect through internal/outward.
func connects() map[string]string {
	return map[string]string{
		"internal/outward/dial.go":               "it is the guard",
		"internal/server/gateway/broker.go":      "servers of one installation, and NATS as configured",
		"internal/server/cluster.go":             "finds the server's own address",
		"internal/git/try.go":                    "dials the addresses that the guard has resolved",
		"internal/git/proxy.go":                  "dials the address of a proxy that the guard has resolved",
		"internal/agent/link/dial.go":            "the agent's own server",
		"internal/agent/link/register.go":        "the agent's own server",
		"internal/agent/verb/terminal.go":        "dials as the configuration of the cluster does, which is bounded",
		"internal/server/notify/sender.go":       "has the transport of the guard",
		"internal/server/notify/courier.go":      "has the transport of the guard",
		"internal/server/authn/provider.go":      "has the transport of the guard",
		"api/client/client.go":                   "the user's own server",
		"api/client/transport.go":                "the user's own server",
		"api/client/websocket.go":                "the user's own server",
		"internal/cli/stack/server.go":           "what `slipway up` has started",
		"internal/cli/stack/serve.go":            "what `slipway up` has started",
		"internal/engine/render/worker/serve.go": "refuses all HTTP of a renderer",
	}
}

// TestOnlyTheGuardConnectsToWhatOthersChoose finds new code that connects past internal/outward.
func TestOnlyTheGuardConnectsToWhatOthersChoose(t *testing.T) {
	t.Parallel()
	ways := map[string][]string{
		"net": {"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix", "Dialer"}, "crypto/tls": {"Dial", "DialWithDialer", "Dialer"},
		"net/http": {"Client", "Transport", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"},
		"net/smtp": {"Dial", "SendMail"}, "golang.org/x/crypto/ssh": {"Dial"}, "github.com/gorilla/websocket": {"Dialer", "DefaultDialer"},
	}
	found := map[string]bool{}
	eachGoFile(t, parser.SkipObjectResolution, func(name string, files *token.FileSet, file *ast.File) {
		shipped := strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "api/")
		if !shipped || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "internal/testenv/") {
			return
		}
		of := map[string]string{} // what a package is called in the file
		for _, i := range file.Imports {
			at := strings.Trim(i.Path.Value, `"`)
			called := path.Base(at)
			if i.Name != nil {
				called = i.Name.Name
			}
			of[called] = at
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				if star, is := n.(*ast.StarExpr); is { // a type in a signature connects to nothing
					if _, is := star.X.(*ast.SelectorExpr); is {
						return false
					}
				}
				return true
			}
			if pkg, ok := selector.X.(*ast.Ident); ok && slices.Contains(ways[of[pkg.Name]], selector.Sel.Name) {
				found[name] = true
				if connects()[name] == "" {
					t.Errorf("%s:%d uses %s.%s: connect through internal/outward, or say in this test whose address it is", name, files.Position(n.Pos()).Line, pkg.Name, selector.Sel.Name)
				}
			}
			return true
		})
	})
	for name := range connects() {
		if !found[name] {
			t.Errorf("%s connects to nothing any more: take it out of this test", name)
		}
	}
}
