package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// spoken lists the avoided words of a text of code; names are those of the code around it, which a comment may mention.
func spoken(text string, names map[string]bool) (found []string) {
	for _, word := range avoidedWords {
		for _, hit := range word.pattern.FindAllString(text, -1) {
			if !names[hit] {
				found = append(found, fmt.Sprintf("%q: write %s", hit, word.instead))
			}
		}
	}
	return found
}

// saidInGo lists the avoided words in the comments and strings of a Go file. A string without a blank is a name.
func saidInGo(files *token.FileSet, file *ast.File) (found []string) {
	names := map[string]bool{}
	check := func(at token.Pos, text string, names map[string]bool) {
		for _, fault := range spoken(text, names) {
			found = append(found, fmt.Sprintf("%d: %s", files.Position(at).Line, fault))
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			names[n.Name] = true
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && strings.Contains(text, " ") {
				check(n.Pos(), text, nil)
			}
		}
		return true
	})
	for _, group := range file.Comments {
		lines := make([]string, 0, len(group.List))
		for _, comment := range group.List {
			lines = append(lines, strings.TrimPrefix(comment.Text, "//"))
		}
		check(group.Pos(), strings.Join(lines, " "), names)
	}
	return found
}

var (
	comment = regexp.MustCompile(`(?:^|\s)(?://|\*|/\*\*?) (.*)$`)
	quoted  = regexp.MustCompile("\"([^\"]*)\"|`([^`]*)`")
	placed  = regexp.MustCompile(`\$\{[^}]*\}`)
	codeful = regexp.MustCompile(`[;=(){}<>\[\]]|\w\.\w|^[a-zA-Z]+[:,]|^\S*$`)
)

// saidInTypeScript lists the avoided words in the comments, strings and texts of a file of the pages, line by line.
func saidInTypeScript(text string) (found []string) {
	for i, line := range strings.Split(text, "\n") {
		var texts []string
		if m := comment.FindStringSubmatch(line); m != nil {
			texts, line = append(texts, m[1]), strings.TrimSuffix(line, m[0])
		}
		line = placed.ReplaceAllString(line, "")
		for _, m := range quoted.FindAllStringSubmatch(line, -1) {
			if strings.Contains(m[1]+m[2], " ") {
				texts = append(texts, m[1]+m[2])
			}
		}
		if !codeful.MatchString(strings.TrimSpace(line)) {
			texts = append(texts, line)
		}
		for _, text := range texts {
			for _, fault := range spoken(text, nil) {
				found = append(found, fmt.Sprintf("%d: %s", i+1, fault))
			}
		}
	}
	return found
}

// TestCodeIsPlainEnglish keeps comments, messages and pages to the words of docs/reference/glossary.md.
func TestCodeIsPlainEnglish(t *testing.T) {
	t.Parallel()
	eachGoFile(t, parser.ParseComments|parser.SkipObjectResolution, func(name string, files *token.FileSet, file *ast.File) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		for _, fault := range saidInGo(files, file) {
			t.Errorf("%s:%s", name, fault)
		}
	})
	eachFile(t, func(name string, content []byte) {
		ext := path.Ext(name)
		if !strings.HasPrefix(name, "web/src/") || ext != ".ts" && ext != ".tsx" || strings.Contains(name, ".test.") || strings.Contains(name, ".gen.") {
			return
		}
		for _, fault := range saidInTypeScript(string(content)) {
			t.Errorf("%s:%s", name, fault)
		}
	})
}

func TestUnplainCodeIsFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source string
		want   int
	}{
		{"package a\n\n// told is when the server was notified.\nvar told = \"told\"\n", 0},
		{"package a\n\n// Told is called, whoever\n// asked.\nvar Told = \"it is told\"\n", 2},
		{"package a\n\n// A is asked anew.\ntype A struct { B int `doc:\"What nobody knows\"` }\n", 2},
	} {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, "a.go", c.source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := saidInGo(files, file); len(got) != c.want {
			t.Errorf("%q: found %q, want %d", c.source, got, c.want)
		}
	}
	for _, c := range []struct {
		source string
		want   int
	}{
		{"const told = tell(said); // the name of it", 0},
		{"const a = typeof said === \"b\" ? \"Told by anybody\" : \"\"; // somebody else", 3},
		{"          They come by themselves.", 1},
		{"  told,\n  said: told,", 0},
	} {
		if got := saidInTypeScript(c.source); len(got) != c.want {
			t.Errorf("%q: found %q, want %d", c.source, got, c.want)
		}
	}
}
