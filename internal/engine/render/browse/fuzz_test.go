package browse

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slipway-gitops/slipway/internal/source/dirtree"
)

// What is told of a directory is bounded text, and no value of it.
func FuzzDirectory(f *testing.F) {
	f.Add("name: web\nversion: 1\n", "a: {b: planted}\nc: [planted]\n", "images: [{name: x, newTag: 1}]\n")
	f.Add("name: {a: planted}\n", "\"a\\0b\": planted\nplanted\n", "resources: [1, {a: b}]\n")
	f.Add("a: &a [*a]", "? {a: b}\n: planted", "namespace: "+strings.Repeat("é", 600))
	f.Fuzz(func(t *testing.T, chart, values, kustomization string) {
		root := t.TempDir()
		for name, text := range map[string]string{"Chart.yaml": chart, "values.yaml": values, "k/kustomization.yaml": kustomization} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		tree, err := dirtree.Open(root, "1")
		if err != nil {
			t.Fatal(err)
		}
		defer tree.Close()
		for _, dir := range []string{".", "k"} {
			got, err := Look(tree, dir)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Items) > maxItems {
				t.Errorf("%d items", len(got.Items))
			}
			if got.Details == nil {
				continue
			}
			if h := got.Details.Helm; h != nil {
				if len(h.Parameters) > maxParameters {
					t.Errorf("%d parameters", len(h.Parameters))
				}
				for _, p := range h.Parameters {
					if !utf8.ValidString(p.Name) || p.Type == "" {
						t.Errorf("a parameter is called %q and is a %q", p.Name, p.Type)
					}
				}
			}
		}
	})
}
