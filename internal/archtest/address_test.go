package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
	"testing"
)

// readsUsers are the functions that look at the user of an address for another purpose than to show it without one.
func readsUsers() map[string]string {
	return map[string]string{
		"internal/address/git.go:ParseGit":                    "git gets the user apart from the address",
		"internal/webhook/repository.go:parseURL":             "addresses are compared, and none is shown",
		"internal/webhook/repository.go:parseShort":           "addresses are compared, and none is shown",
		"internal/project/normal.go:divide":                   "addresses are compared, and none is shown",
		"internal/project/normal.go:untagged":                 "the digest of an artifact",
		"internal/agent/verb/revision.go:commitPage":          "the host of the page of a commit",
		"internal/server/authn/claims.go:admits":              "the domain of a mail address",
		"internal/server/authn/claims.go:userName":            "the name in a mail address",
		"internal/server/store/mirror/deployed.go:splitImage": "the digest of an image",
		"internal/engine/render/kustomize/edit.go:parseImage": "the digest of an image",
		"internal/engine/render/need/need.go:Alias":           "the name of a Helm repository is behind the sign, and no user",
		"internal/agent/beside/helm.go:taggedVersion":         "an image has a digest behind the sign, and no user",
		"internal/address/registry.go:ParseRegistry":          "the digest of an artifact",
		"internal/agent/upgrade/upgrade.go:digestOf":          "the digest of an image",
		"internal/agent/upgrade/upgrade.go:repositoryOf":      "the digest of an image",
		"internal/server/notify/guard.go:secretParts":         "the parts of a secret that redact looks for",
	}
}

// TestAddressesAreCleanedInOnePlace fails where a function takes the user out of an address by hand: every such one has
// missed a form of a password so far. internal/redact has the only one.
func TestAddressesAreCleanedInOnePlace(t *testing.T) {
	t.Parallel()
	known := readsUsers()
	seen := map[string]bool{}
	eachGoFile(t, parser.SkipObjectResolution, func(name string, files *token.FileSet, file *ast.File) {
		if strings.HasSuffix(name, "_test.go") || path.Dir(name) == "internal/redact" || strings.HasPrefix(name, "test/") {
			return
		}
		for _, d := range file.Decls {
			of := ""
			if f, ok := d.(*ast.FuncDecl); ok {
				of = f.Name.Name
			}
			why := cleansAddress(d)
			if why == "" {
				continue
			}
			place := name + ":" + of
			seen[place] = true
			if known[place] == "" {
				t.Errorf("%s:%d, %s, %s: use redact.Addresses, redact.JSONAddresses or redact.URLs", name, files.Position(d.Pos()).Line, of, why)
			}
		}
	})
	for place := range known {
		if !seen[place] {
			t.Errorf("%s does not look at the user of an address any more: take it out of the list", place)
		}
	}
}

// cleansAddress says how a declaration looks for the user of an address; "" for not at all.
func cleansAddress(d ast.Decl) (why string) {
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				if s, ok := to.(*ast.SelectorExpr); ok && s.Sel.Name == "User" && len(n.Rhs) == 1 && isNil(n.Rhs[0]) {
					why = "takes the user out of a URL"
				}
			}
		case *ast.CallExpr:
			s, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				break
			}
			pkg, _ := s.X.(*ast.Ident)
			searches := pkg != nil && (pkg.Name == "strings" || pkg.Name == "bytes") && (strings.HasPrefix(s.Sel.Name, "LastIndex") || strings.HasPrefix(s.Sel.Name, "Cut") || strings.HasPrefix(s.Sel.Name, "Index"))
			for _, arg := range n.Args {
				text := literal(arg)
				if searches && text == "@" {
					why = "looks for the end of a user"
				}
				if pkg != nil && pkg.Name == "regexp" && strings.Contains(text, "//") && strings.Contains(text, "@") {
					why = "matches the user of an address"
				}
			}
		}
		return true
	})
	return why
}

func isNil(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "nil"
}

// literal is a text or a character as it is written in a program; "" for what is none.
func literal(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	switch lit.Kind {
	case token.STRING:
		text, _ := strconv.Unquote(lit.Value)
		return text
	case token.CHAR:
		r, _, _, _ := strconv.UnquoteChar(strings.Trim(lit.Value, "'"), '\'')
		return string(r)
	}
	return ""
}
