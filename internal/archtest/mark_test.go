package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// marks are the annotations that keep what people decided. They are decoded in internal/engine/mark alone.
func marks() []string {
	return []string{"AnnotationRollback", "AnnotationDriftAllowed", "AnnotationHistoryNotes", "AnnotationDeletedBy"}
}

// decodes reports whether a call decodes one of the marks, and gives its name.
func decodes(call *ast.CallExpr) (name string, found bool) {
	called := text(call.Fun)
	if called != "strict.Decode" && called != "json.Unmarshal" {
		return "", false
	}
	ast.Inspect(call, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && slices.Contains(marks(), s.Sel.Name) {
			name, found = s.Sel.Name, true
		}
		return !found
	})
	return name, found
}

// TestOnePlaceDecodesWhatPeopleDecided finds a second reader of such an annotation: two would understand it differently, so that a
// page calls an Application pinned of which the agent refuses the pin.
func TestOnePlaceDecodesWhatPeopleDecided(t *testing.T) {
	t.Parallel()
	eachGoFile(t, parser.SkipObjectResolution, func(name string, files *token.FileSet, file *ast.File) {
		if !isShipped(name) || strings.HasPrefix(name, "internal/engine/mark/") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if mark, found := decodes(call); found {
					t.Errorf("%s decodes %s: use internal/engine/mark", files.Position(call.Pos()), mark)
				}
			}
			return true
		})
	})
}

func TestASecondReaderOfAMarkIsFound(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{
		"strict.Decode([]byte(app.Annotations[v1alpha1.AnnotationRollback]), &pin, strict.Foreign)": true,
		"json.Unmarshal([]byte(a[v1alpha1.AnnotationHistoryNotes]), &notes)":                        true,
		"strict.Decode(body, &pin, strict.Unknown)":                                                 false,
		"mark.Read(app, v1alpha1.AnnotationDeletedBy, &by)":                                         false,
	} {
		e, err := parser.ParseExpr(source)
		if err != nil {
			t.Fatal(err)
		}
		if _, found := decodes(e.(*ast.CallExpr)); found != want {
			t.Errorf("%s: found %t", source, found)
		}
	}
}
