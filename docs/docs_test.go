// Package docs checks the documentation: links lead somewhere, and what is named exists.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the root of the repository as seen from this package.
const root = ".."

func pages(t *testing.T) []string {
	t.Helper()
	out := []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"}
	err := filepath.WalkDir(".", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".md" {
			out = append(out, filepath.Join("docs", name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, name string) string {
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
		text := read(t, page)
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
				t.Errorf("%s links to %s, which does not exist", page, m[1])
				continue
			}
			if anchor != "" && !anchors(read(t, file))[anchor] {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
}

func TestMetricsPageNamesEveryMetricAndNoOther(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`slipway_[a-z_]+`)
	inCode, inPage := map[string]bool{}, map[string]bool{}
	for _, m := range name.FindAllString(read(t, "internal/agent/metrics.go"), -1) {
		inCode[m] = true
	}
	page := read(t, "docs/reference/metrics.md")
	for _, m := range name.FindAllString(page, -1) {
		inPage[m] = true
	}
	for m := range inCode {
		if !strings.Contains(page, "| `"+m+"` |") {
			t.Errorf("docs/reference/metrics.md does not say what %s means", m)
		}
	}
	for m := range inPage {
		if !inCode[m] {
			t.Errorf("docs/reference/metrics.md names %s, which the agent does not have", m)
		}
	}
}

func TestFilesThatPagesNameExist(t *testing.T) {
	t.Parallel()
	// A path in code quotes that begins with a directory of the repository.
	file := regexp.MustCompile("`((?:api|cmd|internal|dev|test|tools|deploy|docs)/[A-Za-z0-9_./-]+)`")
	for _, page := range pages(t) {
		for _, m := range file.FindAllStringSubmatch(read(t, page), -1) {
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s names %s, which does not exist", page, m[1])
			}
		}
	}
}
