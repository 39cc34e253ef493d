package jsonnet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
)

func run(t *testing.T, opts v1alpha1.JsonnetSource, files map[string]string) ([]string, error) {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := dirtree.Open(root, "1")
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	res, err := New().Render(t.Context(), render.Request{
		Source: v1alpha1.ApplicationSource{Path: "app", Directory: &v1alpha1.DirectorySource{Jsonnet: opts}},
		Tree:   tree,
	})
	var names []string
	for _, o := range res.Objects {
		names = append(names, o.Key.String())
	}
	return names, err
}

const one = `{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'a'}}`

func TestJsonnetFileGivesItsObjects(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		opts  v1alpha1.JsonnetSource
		files map[string]string
		want  []string
	}{
		{name: "an object", files: map[string]string{"app/a.jsonnet": one}, want: []string{"ConfigMap a"}},
		{name: "an array with nulls", files: map[string]string{"app/a.jsonnet": "[" + one + ", null, " + one + " + {kind: 'Pod'}]"}, want: []string{"ConfigMap a", "Pod a"}},
		{name: "other files in order of their names", files: map[string]string{
			"app/b.jsonnet": one, "app/a.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n",
		}, want: []string{"Pod p", "ConfigMap a"}},
		{name: "an import beside it, one above and one from a library", files: map[string]string{
			"app/a.jsonnet":       "(import 'x.libsonnet') + (import '../shared/y.libsonnet') + (import 'z.libsonnet')",
			"app/x.libsonnet":     "{apiVersion: 'v1'}",
			"shared/y.libsonnet":  "{kind: 'ConfigMap'}",
			"vendor/z.libsonnet":  "{metadata: {name: 'first'}}",
			"vendor2/z.libsonnet": "{metadata: {name: 'second'}}",
		}, opts: v1alpha1.JsonnetSource{Libs: []string{"vendor", "vendor2"}}, want: []string{"ConfigMap second"}},
		{name: "variables and arguments, as text and as code", files: map[string]string{
			"app/a.jsonnet": "function(name, more) " + one + " + {metadata: {name: name + more[0] + std.extVar('e') + std.extVar('c').x}}",
		}, opts: v1alpha1.JsonnetSource{
			TLAs:    []v1alpha1.JsonnetVar{{Name: "name", Value: "n"}, {Name: "more", Value: "['m']", Code: true}},
			ExtVars: []v1alpha1.JsonnetVar{{Name: "e", Value: "e"}, {Name: "c", Value: "{x: 'c'}", Code: true}},
		}, want: []string{"ConfigMap nmec"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := run(t, tc.opts, tc.files)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("objects (-want +got):\n%s", d)
			}
		})
	}
}

func TestJsonnetThatReachesOutOrRunsAwayIsRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, code, want string
		libs             []string
	}{
		{name: "an absolute import", code: "importstr '/etc/passwd'", want: "the name is absolute"},
		{name: "an import above the repository", code: "importstr '../../../../../etc/passwd'", want: "not found"},
		{name: "a library outside", code: one, libs: []string{"../lib"}, want: "outside repository root"},
		{name: "endless recursion", code: "local f(x) = f(x) + 1; f(1)", want: "max stack frames exceeded"},
		{name: "an import of itself", code: "import 'a.jsonnet'", want: "app/a.jsonnet"},
		{name: "bad syntax", code: "{\n  a:\n", want: "app/a.jsonnet:3"},
		{name: "a name with a zero byte", code: `import "a\u0000b"`, want: "app/a.jsonnet"},
		{name: "a text", code: "'x'", want: "it is not an object"},
		{name: "no name", code: "[{apiVersion: 'v1', kind: 'Pod'}]", want: "element 0: Pod has no metadata.name"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := run(t, v1alpha1.JsonnetSource{Libs: tc.libs}, map[string]string{"app/a.jsonnet": tc.code})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
