package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pages lists what people read, as paths from the root.
func pages(t *testing.T) []string {
	t.Helper()
	out := []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(name string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".md" {
			out = append(out, strings.TrimPrefix(filepath.ToSlash(name), root+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// textOf reads a file by its path from the root.
func textOf(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// anchors lists what the headings of a page are linked by.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	drop := regexp.MustCompile("[^a-z0-9 _-]")
	for _, line := range strings.Split(text, "\n") {
		if heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			out[strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")] = true
		}
	}
	return out
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, page := range pages(t) {
		text := textOf(t, page)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			file := page
			if target != "" {
				file = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				t.Errorf("%s links to %s, which does not exist: correct the link, or remove it", page, m[1])
				continue
			}
			if anchor != "" && !anchors(textOf(t, file))[anchor] {
				t.Errorf("%s links to %s, which has no such heading: use the heading's words in lower case, with hyphens", page, m[1])
			}
		}
	}
}

func TestMetricsPageNamesEveryMetricAndNoOther(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`slipway_[a-z_]+`)
	inCode, inPage := map[string]bool{}, map[string]bool{}
	for _, program := range []string{"agent", "server"} {
		for _, file := range []string{"metrics.go", "gauge.go"} {
			for _, m := range name.FindAllString(textOf(t, "internal/"+program+"/"+file), -1) {
				inCode[m] = true
			}
		}
	}
	page := textOf(t, "docs/reference/metrics.md")
	for _, m := range name.FindAllString(page, -1) {
		inPage[m] = true
	}
	for m := range inCode {
		if !strings.Contains(page, "| `"+m+"` |") {
			t.Errorf("docs/reference/metrics.md does not explain %s: add its row", m)
		}
	}
	for m := range inPage {
		if !inCode[m] {
			t.Errorf("docs/reference/metrics.md names %s, which neither agent nor server has: remove its row, or correct the name", m)
		}
	}
}

func TestFilesThatPagesNameExist(t *testing.T) {
	t.Parallel()
	// A path in code quotes that begins with a directory of the repository.
	file := regexp.MustCompile("`((?:api|cmd|internal|dev|test|tools|deploy|docs)/[A-Za-z0-9_./-]+)`")
	for _, page := range pages(t) {
		for _, m := range file.FindAllStringSubmatch(textOf(t, page), -1) {
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s names %s, which does not exist: write where it is now", page, m[1])
			}
		}
	}
}

func TestTheMapNamesWhatIsInTheCode(t *testing.T) {
	t.Parallel()
	declared, files := map[string]bool{}, "\n"
	eachGoFile(t, parser.SkipObjectResolution, func(name string, _ *token.FileSet, file *ast.File) {
		files += "/" + name + "\n"
		ast.Inspect(file, func(n ast.Node) bool {
			switch d := n.(type) {
			case *ast.FuncDecl:
				declared[d.Name.Name] = true
			case *ast.TypeSpec:
				declared[d.Name.Name] = true
			case *ast.Field:
				for _, name := range d.Names {
					declared[name.Name] = true
				}
			}
			return true
		})
	})
	// A file of Go in code quotes, with the end of its path or without.
	file := regexp.MustCompile("`([a-z0-9_/]+\\.go)`")
	for _, page := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md"} {
		for _, m := range file.FindAllStringSubmatch(textOf(t, page), -1) {
			if !strings.Contains(files, "/"+m[1]+"\n") {
				t.Errorf("%s names %s, and no path ends in it: write where it is now", page, m[1])
			}
		}
	}
	// A name with a package, a type or a variable in front, in code quotes.
	qualified := regexp.MustCompile("`[A-Za-z]+(?:\\.[A-Za-z]+)*\\.([A-Za-z]+)`")
	for _, m := range qualified.FindAllStringSubmatch(textOf(t, "ARCHITECTURE.md"), -1) {
		switch m[1] {
		case "go", "md", "yml", "tsx": // a file
		default:
			if !declared[m[1]] {
				t.Errorf("ARCHITECTURE.md names %s, which no code declares: write what it is called now", m[0])
			}
		}
	}
}

func TestEveryTestThatASecurityPageNamesExists(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile("`(Test[A-Z][A-Za-z0-9]+)`")
	var tests strings.Builder
	for _, dir := range []string{"internal", "test", "cmd", "api"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			tests.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for _, page := range pages(t) {
		if !strings.HasPrefix(page, "docs/security/") {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(textOf(t, page), -1) {
			if n++; !strings.Contains(tests.String(), "func "+m[1]+"(t *testing.T)") {
				t.Errorf("%s names %s, which does not exist: write what the test is called now", page, m[1])
			}
		}
	}
	if n == 0 {
		t.Error("no page in docs/security names a test")
	}
}
