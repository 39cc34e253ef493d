package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// What one can hold in the head. A type with more methods is several things; a package with more lines has a part that can be read
// and tested alone.
const (
	maxMethods      = 40
	maxFields       = 20
	maxPackageLines = 5000
	maxPackageFiles = 40
)

// listed are the types that have a field for each thing of a list that is made elsewhere.
func listed() map[string]string {
	return map[string]string{
		"fields of internal/server/store/mirror.stored":       "columns of a table",
		"fields of internal/server/store/mirror.fields":       "columns of a table",
		"fields of internal/server/notify.Fields":             "what a template may name",
		"fields of internal/server/httpapi/fleet.FilterInput": "parameters of a query",
	}
}

// TestNoTypeAndNoPackageIsTooLarge counts methods and fields of each type and lines and files of each package, without tests and
// generated files. What users and programs configure may have as many fields as it has settings, and what is said on the wire as
// many as are said: api, and types whose names end in Config, Options, Settings or Flags.
func TestNoTypeAndNoPackageIsTooLarge(t *testing.T) {
	t.Parallel()
	sizes := map[string]int{}
	eachGoFile(t, parser.SkipObjectResolution, func(name string, files *token.FileSet, file *ast.File) {
		dir := path.Dir(name)
		shipped := strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "cmd/")
		if !shipped || strings.HasSuffix(name, "_test.go") || ast.IsGenerated(file) {
			return
		}
		sizes["lines of "+dir] += files.File(file.Pos()).LineCount()
		sizes["files of "+dir]++
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					sizes["methods of "+dir+"."+receiver(d.Recv.List[0].Type)]++
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					countFields(sizes, dir, spec)
				}
			}
		}
	})
	limits := map[string]int{"methods": maxMethods, "fields": maxFields, "lines": maxPackageLines, "files": maxPackageFiles}
	for what, n := range sizes {
		if listed()[what] != "" {
			continue
		}
		limit := limits[what[:strings.Index(what, " ")]]
		if n > limit {
			t.Errorf("%s: %d, and there may be %d: give a part of it a type, or a package, of its own", what, n, limit)
		}
	}
}

// receiver is the name of the type that a method has.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// countFields adds the fields of a struct, embedded ones included.
func countFields(sizes map[string]int, dir string, spec ast.Spec) {
	typed, ok := spec.(*ast.TypeSpec)
	if !ok {
		return
	}
	of, ok := typed.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, ending := range []string{"config", "options", "settings", "flags"} {
		if strings.HasSuffix(strings.ToLower(typed.Name.Name), ending) {
			return
		}
	}
	for _, f := range of.Fields.List {
		sizes["fields of "+dir+"."+typed.Name.Name] += max(1, len(f.Names))
	}
}
