package archtest

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	// root is the repository as seen from this package.
	root = "../.."
	// maxLines is the most that a file of Go may have; a reader should see its end.
	maxLines = 500
)

func TestEveryPackageHasExactlyOneComment(t *testing.T) {
	t.Parallel()
	type pkg struct {
		comments []string
		command  bool
		tests    bool // whether it consists of tests
	}
	pkgs := map[string]*pkg{}
	eachGoFile(t, parser.PackageClauseOnly|parser.ParseComments, func(name string, _ *token.FileSet, file *ast.File) {
		test := strings.HasSuffix(name, "_test.go")
		dir := path.Dir(name)
		p := pkgs[dir]
		if p == nil {
			p = &pkg{tests: true}
			pkgs[dir] = p
		}
		p.tests = p.tests && test
		p.command = p.command || file.Name.Name == "main"
		if file.Doc == nil {
			return
		}
		p.comments = append(p.comments, name)
		want := "Package " + file.Name.Name + " "
		if file.Name.Name == "main" {
			want = "Command " + path.Base(dir) + " "
		}
		if test && strings.HasSuffix(file.Name.Name, "_test") {
			want = "Package " + path.Base(dir) + " "
		}
		// A command may be called by its program's name, which is not always its directory's.
		if got := file.Doc.Text(); !strings.HasPrefix(got, want) && (file.Name.Name != "main" || !strings.HasPrefix(got, "Command ")) {
			t.Errorf("%s: the comment of the package begins with %.40q, want %q", name, got, want)
		}
	})
	for dir, p := range pkgs {
		if len(p.comments) != 1 {
			t.Errorf("%s has %d package comments, want one: %v", dir, len(p.comments), p.comments)
		}
	}
}

func TestNoFileOfGoIsTooLong(t *testing.T) {
	t.Parallel()
	eachFile(t, func(name string, content []byte) {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, ".gen.go") {
			return
		}
		if lines := bytes.Count(content, []byte("\n")); lines > maxLines {
			t.Errorf("%s has %d lines, want at most %d: split it where its subject changes", name, lines, maxLines)
		}
	})
}

func TestNothingSleeps(t *testing.T) {
	t.Parallel()
	eachUse(t, func(name string, line int, of, what string) {
		if of == "time" && what == "Sleep" {
			t.Errorf("%s:%d sleeps: wait for the event, with a context", name, line)
		}
	})
}

func TestNoFileNamesAPlaceOnOneMachine(t *testing.T) {
	t.Parallel()
	place := regexp.MustCompile("(^|[\\s\"'`=:(])/(work|root)/")
	eachFile(t, func(name string, content []byte) {
		if bytes.IndexByte(content, 0) >= 0 {
			return // not text
		}
		for i, line := range bytes.Split(content, []byte("\n")) {
			if found := place.Find(line); found != nil {
				t.Errorf("%s:%d names %s, which is not there on other machines: take the path from a flag, a variable of the environment "+
					"or t.TempDir", name, i+1, bytes.TrimSpace(found))
			}
		}
	})
}

// TestOneWordIsSpelledInOneWay holds texts to the names of the API, which people meet first.
func TestOneWordIsSpelledInOneWay(t *testing.T) {
	t.Parallel()
	other := "organ" + "isation"
	eachFile(t, func(name string, content []byte) {
		if strings.Contains(strings.ToLower(string(content)), other) {
			t.Errorf("%s has %s: write organization, as the API does", name, other)
		}
	})
}

func TestTheMapShowsEveryRoom(t *testing.T) {
	t.Parallel()
	const chart = "ARCHITECTURE.md"
	text, err := os.ReadFile(filepath.Join(root, chart))
	if err != nil {
		t.Fatalf("read the map: %v", err)
	}
	for _, room := range directories(t, "internal", "internal/engine", "cmd") {
		// Part of a path, or alone in a tree of directories or in code.
		name := regexp.QuoteMeta(path.Base(room))
		if !regexp.MustCompile("/" + name + `\b|\b` + name + "/|`" + name + "`|(?m)^[^a-z]*" + name + `\s`).Match(text) {
			t.Errorf("%s does not name %s: say there what the room is for", chart, room)
		}
	}
}

// directories lists the directories with Go files that are directly in others, as paths from the root.
func directories(t *testing.T, parents ...string) []string {
	t.Helper()
	var out []string
	for _, parent := range parents {
		entries, err := os.ReadDir(filepath.Join(root, parent))
		if err != nil {
			t.Fatalf("list rooms: %v", err)
		}
		for _, e := range entries {
			if e.IsDir() && e.Name() != "testdata" && hasGo(t, filepath.Join(root, parent, e.Name())) {
				out = append(out, path.Join(parent, e.Name()))
			}
		}
	}
	return out
}

func hasGo(t *testing.T, dir string) bool {
	t.Helper()
	found := errors.New("found")
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".go" {
			return found
		}
		return err
	})
	if err != nil && !errors.Is(err, found) {
		t.Fatalf("look for Go files: %v", err)
	}
	return err != nil
}

// eachGoFile parses every file of Go that people wrote, in all modules of the repository.
func eachGoFile(t *testing.T, mode parser.Mode, visit func(name string, files *token.FileSet, file *ast.File)) {
	t.Helper()
	eachFile(t, func(name string, content []byte) {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, ".gen.go") {
			return
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, content, mode)
		if err != nil {
			t.Errorf("parse: %v", err)
			return
		}
		visit(name, files, file)
	})
}

// eachUse visits every name that is used of a package, or of anything else that has a name: OF.WHAT, in every file of Go that
// people wrote.
func eachUse(t *testing.T, visit func(name string, line int, of, what string)) {
	t.Helper()
	eachGoFile(t, parser.SkipObjectResolution, func(name string, files *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok {
				if of, ok := selector.X.(*ast.Ident); ok {
					visit(name, files.Position(n.Pos()).Line, of.Name, selector.Sel.Name)
				}
			}
			return true
		})
	})
}

// eachFile reads every file of the repository that is not built or stored elsewhere.
func eachFile(t *testing.T, visit func(name string, content []byte)) {
	t.Helper()
	tree := os.DirFS(root)
	skip := []string{".git", ".run", "bin", "dist", "web/dist", "web/test-results"}
	seen := 0
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // gone since the listing
		}
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains(skip, name) || entry.Name() == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() || name == ".git" { // which is a file where the tree is one of several of a repository
			return nil
		}
		content, err := fs.ReadFile(tree, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		seen++
		visit(name, content)
		return nil
	})
	if err != nil {
		t.Fatalf("read the repository: %v", err)
	}
	if seen < 100 {
		t.Fatalf("saw only %d files", seen)
	}
}
