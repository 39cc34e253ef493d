package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/cli/manifest"
)

func TestObjectsAreReadInTheirOrder(t *testing.T) {
	t.Parallel()
	const text = `# a comment
---
kind: A
count: 3
---
{"kind": "B"}
---
kind: List
apiVersion: v1
items:
- {kind: C}
- {kind: D}
---
kind: ConfigMapLike
metadata: {name: has-items-of-its-own}
items: [x]
`
	file := filepath.Join(t.TempDir(), "all.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func() ([]map[string]any, error){
		"file":           func() ([]map[string]any, error) { return manifest.Read(file, nil) },
		"standard input": func() ([]map[string]any, error) { return manifest.Read("-", strings.NewReader(text)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs, err := read()
			if err != nil {
				t.Fatal(err)
			}
			var kinds []string
			for _, doc := range docs {
				kinds = append(kinds, doc["kind"].(string))
			}
			if diff := cmp.Diff([]string{"A", "B", "C", "D", "ConfigMapLike"}, kinds); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
			if docs[0]["count"] != int64(3) {
				t.Errorf("a whole number is read as %T", docs[0]["count"])
			}
		})
	}
}

func TestFilesThatHoldNoObjectsAreErrorsThatNameThem(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "scalar": "just text", "list": "- a\n- b\n", "broken": "{a: b", "duplicate": "a: 1\na: 2\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if docs, err := manifest.Read("-", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "manifest") {
				t.Errorf("got %v, %v", docs, err)
			}
		})
	}
}
