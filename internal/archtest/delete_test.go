package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// ownDeletions are the functions that delete what no Application deploys: objects of the agent's own, and the resources that
// Argo CD's definitions describe. What an Application takes with it is judged when its deletion is carried out.
func ownDeletions() map[string]string {
	return map[string]string{
		"internal/agent/shard/shard.go end":               "the lease of this replica",
		"internal/agent/succession/keeper.go permit":      "nothing: it holds deletions back after a takeover",
		"internal/agent/upgrade/guard.go guard":           "the Job of the agent's last upgrade",
		"internal/agent/shard/member.go look":             "leases of replicas that are gone",
		"internal/agent/verb/app.go removeApplication":    "an Application: the guard judges what goes with it",
		"internal/agent/verb/object.go objectDelete":      "an AppProject or ApplicationSet: the guard judges what goes with its Applications",
		"internal/agent/setting/setting.go settingDelete": "the Secret of a repository, a cluster or a credential",
		"internal/agent/setting/address.go withdraw":      "the Secret that a command has just made",
	}
}

func TestWhatDeletesObjectsAsksTheDeletionGuard(t *testing.T) {
	t.Parallel()
	own, seen, judged := ownDeletions(), map[string]bool{}, 0
	eachGoFile(t, parser.SkipObjectResolution, func(name string, files *token.FileSet, file *ast.File) {
		if !strings.HasPrefix(name, "internal/agent/") && !strings.HasPrefix(name, "internal/engine/") || strings.HasSuffix(name, "_test.go") {
			return
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			deletes, asks := false, false
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					deletes = deletes || isDeletion(n)
				case *ast.SelectorExpr:
					of, _ := n.X.(*ast.Ident)
					deletes = deletes || n.Sel.Name == "DeleteOptions" || n.Sel.Name == "DeleteCollection" || n.Sel.Name == "MethodDelete"
					asks = asks || n.Sel.Name == "Check" && of != nil && of.Name == "leave"
				}
				return true
			})
			place := name + " " + f.Name.Name
			switch {
			case !deletes:
			case asks:
				judged++
			case own[place] != "":
				seen[place] = true
			default:
				t.Errorf("%s:%d: %s deletes objects without the deletion guard: call leave.Check (internal/engine/guard) first, or "+
					"add it to ownDeletions with the reason",
					name, files.Position(f.Pos()).Line, f.Name.Name)
			}
		}
	})
	for place := range own {
		if !seen[place] {
			t.Errorf("%s deletes nothing any more: take it off the list", place)
		}
	}
	if judged == 0 {
		t.Error("nothing asks the guard: this test looks for the wrong names")
	}
}

// isDeletion reports whether a call deletes through a client without handing on a Leave: X.Delete(ctx, …), or the request
// X.Delete().
func isDeletion(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "Delete" && s.Sel.Name != "Evict" {
		return false
	}
	if len(call.Args) == 0 {
		return true
	}
	first, ok := call.Args[0].(*ast.Ident)
	if !ok || first.Name != "ctx" {
		return false // of a list, or of a map
	}
	for _, arg := range call.Args[1:] {
		if id, ok := arg.(*ast.Ident); ok && id.Name == "leave" { // its type has no other maker than the guard
			return false
		}
	}
	return true
}
