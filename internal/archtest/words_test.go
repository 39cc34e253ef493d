package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// answering are the calls that return the answer of a service.
func answering(called string) bool {
	return slices.Contains([]string{"Do", "RoundTrip", "Get", "Head", "Post", "PostForm", "ReadResponse", "DialContext", "open"}, called)
}

// foreignWords finds in a function the uses of the status phrase of an answer, and of what was read of its body, in texts. A
// server writes into both what it likes.
func foreignWords(f *ast.FuncDecl) (found []string) {
	answers, bodies := map[string]bool{}, map[string]bool{}
	if f.Type.Params != nil {
		for _, p := range f.Type.Params.List {
			if star, ok := p.Type.(*ast.StarExpr); ok && text(star.X) == "http.Response" {
				for _, name := range p.Names {
					answers[name.Name] = true
				}
			}
		}
	}
	mark := func(into map[string]bool, lhs []ast.Expr) {
		if name, ok := lhs[0].(*ast.Ident); ok && name.Name != "_" {
			into[name.Name] = true
		}
	}
	written := map[ast.Node]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for _, to := range a.Lhs {
			written[to] = true
		}
		call, ok := a.Rhs[0].(*ast.CallExpr)
		if !ok || len(a.Rhs) != 1 {
			return true
		}
		switch called := call.Fun.(type) {
		case *ast.SelectorExpr:
			if answering(called.Sel.Name) && len(a.Lhs) > 1 {
				// A dialer of WebSockets returns the answer second.
				mark(answers, a.Lhs[len(a.Lhs)-2:])
			}
			if called.Sel.Name == "ReadAll" && strings.Contains(text(call), ".Body") {
				mark(bodies, a.Lhs)
			}
		}
		return true
	})
	keepAnswers(f, answers)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if of, ok := n.X.(*ast.Ident); ok && n.Sel.Name == "Status" && answers[of.Name] && !written[n] {
				found = append(found, of.Name+".Status")
			}
		case *ast.CallExpr:
			if !slices.Contains([]string{"fmt.Errorf", "fmt.Sprintf", "errors.New", "refusedAs"}, text(n.Fun)) {
				return true
			}
			for _, arg := range n.Args {
				if name := textOfBody(arg, bodies); name != "" {
					found = append(found, name+" in "+text(n.Fun))
				}
			}
		}
		return true
	})
	return found
}

// keepAnswers drops what has the methods of a client and is no HTTP: nothing asks it for its code.
func keepAnswers(f *ast.FuncDecl, answers map[string]bool) {
	coded := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && (s.Sel.Name == "StatusCode" || s.Sel.Name == "Body") {
			coded[text(s.X)] = true
		}
		return true
	})
	for name := range answers {
		if !coded[name] {
			delete(answers, name)
		}
	}
}

// textOfBody is the name of a body that is the argument of a text, as it is or as a string; "" for none.
func textOfBody(arg ast.Expr, bodies map[string]bool) string {
	if call, ok := arg.(*ast.CallExpr); ok && text(call.Fun) == "string" && len(call.Args) == 1 {
		arg = call.Args[0]
	}
	if name, ok := arg.(*ast.Ident); ok && bodies[name.Name] {
		return name.Name
	}
	return ""
}

// text is the source of simple expressions.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return text(e.X) + "." + e.Sel.Name
	case *ast.CallExpr:
		args := make([]string, 0, len(e.Args))
		for _, arg := range e.Args {
			args = append(args, text(arg))
		}
		return text(e.Fun) + "(" + strings.Join(args, ", ") + ")"
	}
	return ""
}

// TestNoWordsOfAForeignServiceAreShown finds new code that shows the status phrase or the body of an answer. outward.Status and
// outward.Reason say it in words of ours.
func TestNoWordsOfAForeignServiceAreShown(t *testing.T) {
	t.Parallel()
	answers := 0
	eachGoFile(t, parser.SkipObjectResolution, func(name string, _ *token.FileSet, file *ast.File) {
		shipped := strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "api/")
		if !shipped || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "internal/testenv/") {
			return
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "StatusCode" {
					answers++
				}
				return true
			})
			for _, words := range foreignWords(f) {
				t.Errorf("%s %s shows %s: use outward.Status or outward.Reason", name, f.Name.Name, words)
			}
		}
	})
	if answers < 10 {
		t.Errorf("only %d answers are looked at: the pattern does not fit any more", answers)
	}
}

func TestForeignWordsAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body string
		want int
	}{
		{"resp, err := client.Do(req); resp.Body.Close(); return fmt.Errorf(\"it answers %s\", resp.Status)", 1},
		{"conn, resp, err := d.DialContext(ctx, to, nil); return fmt.Errorf(\"it answers %s %d, %v\", resp.Status, resp.StatusCode, conn)", 1},
		{"given.Body.Close(); return fmt.Errorf(\"it answers %s\", given.Status)", 1},
		{"given.Body.Close(); given.Status = \"200\"; return nil", 0},
		{"resp, err := client.Do(req); return fmt.Errorf(\"it answers %s\", outward.Status(resp.StatusCode))", 0},
		{"raw, err := io.ReadAll(io.LimitReader(given.Body, 9)); return fmt.Errorf(\"it says %s\", raw)", 1},
		{"raw, err := io.ReadAll(given.Body); return errors.New(string(raw))", 1},
		{"raw, err := io.ReadAll(file); return errors.New(string(raw))", 0},
		{"app, err := apps.Get(ctx, name); return fmt.Errorf(\"it is %s\", app.Status)", 0},
	} {
		source := fmt.Sprintf("package a\nfunc f(given *http.Response) error { %s }", c.body)
		file, err := parser.ParseFile(token.NewFileSet(), "a.go", source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := foreignWords(file.Decls[0].(*ast.FuncDecl)); len(got) != c.want {
			t.Errorf("%s: found %q", c.body, got)
		}
	}
}
