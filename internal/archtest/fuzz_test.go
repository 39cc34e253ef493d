package archtest

import (
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fuzzTargets lists the fuzz targets of the main module as "package name".
func fuzzTargets(t *testing.T) []string {
	t.Helper()
	var out []string
	declared := regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\)`)
	for _, dir := range []string{"api", "cmd", "internal", "test"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, "_test.go") {
				return err
			}
			file := strings.TrimPrefix(filepath.ToSlash(name), root+"/")
			for _, m := range declared.FindAllStringSubmatch(textOf(t, file), -1) {
				out = append(out, path.Dir(file)+" "+m[1])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestEveryFuzzTargetIsInTheTable(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(textOf(t, "CONTRIBUTING.md"), "### Fuzz targets\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| `([\\w/]+)` \\| \\S").FindAllStringSubmatch(table, -1) {
		listed = append(listed, m[2]+" "+m[1])
	}
	there := fuzzTargets(t)
	for _, target := range there {
		if !slices.Contains(listed, target) {
			t.Errorf("%s is missing in the table of fuzz targets in CONTRIBUTING.md: add its row", target)
		}
	}
	for _, target := range listed {
		if !slices.Contains(there, target) {
			t.Errorf("%s is in the table of fuzz targets in CONTRIBUTING.md, and there is none: remove its row", target)
		}
	}
}
