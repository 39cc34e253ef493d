package helm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
)

func treeOf(t *testing.T, names ...string) source.Tree {
	t.Helper()
	dir := t.TempDir()
	for _, n := range names {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(n)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, n), []byte("a: 1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := dirtree.Open(dir, "1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

func TestValueFilePatternsExpandInOrder(t *testing.T) {
	t.Parallel()
	main := treeOf(t, "app/b.yaml", "app/a.yaml", "app/sub/c.yaml", "app/sub/deep/d.yaml", "other/e.yaml")
	ref := treeOf(t, "x/1.yaml", "x/2.yaml")
	tests := []struct {
		name  string
		files []string
		want  []string
	}{
		{"a star stays in its directory", []string{"*.yaml"}, []string{"app/a.yaml", "app/b.yaml"}},
		{"files come before directories", []string{"**/*.yaml"}, []string{"app/a.yaml", "app/b.yaml", "app/sub/c.yaml", "app/sub/deep/d.yaml"}},
		{"a named file keeps its place", []string{"*.yaml", "a.yaml"}, []string{"app/b.yaml", "app/a.yaml"}},
		{"a file of two patterns comes once", []string{"*.yaml", "**/*.yaml"}, []string{"app/a.yaml", "app/b.yaml", "app/sub/c.yaml", "app/sub/deep/d.yaml"}},
		{"patterns in directories", []string{"/o*/?.yaml"}, []string{"other/e.yaml"}},
		{"double star in the middle", []string{"/**/deep/*.yaml"}, []string{"app/sub/deep/d.yaml"}},
		{"patterns in another source", []string{"$r/x/[0-9].yaml"}, []string{"$r/x/1.yaml", "$r/x/2.yaml"}},
		{"no match and ignored", []string{"no/*.yaml"}, nil},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			j := newJob(render.Request{
				Source: v1alpha1.ApplicationSource{Path: "app", Helm: &v1alpha1.HelmSource{ValueFiles: tc.files, IgnoreMissingValueFiles: true}},
				Tree:   main,
				Refs:   map[string]source.Tree{"r": ref},
			})
			files, err := j.valueFiles()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range files {
				got = append(got, f.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCommasOfParametersAreEscaped(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain":   "plain",
		"a, b":    `a\, b`,
		`a\,b,c`:  `a\,b\,c`,
		"{a,b}":   "{a,b}",
		`,,\,`:    `\,\,\,`,
		`\,,\\,,`: `\,\,\\,\,`,
	} {
		if got := escapeSetValue(in); got != want {
			t.Errorf("escapeSetValue(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestHostilePatternsOfValueFilesTakeBoundedTime(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 20 {
		names = append(names, "app/"+strings.Repeat("a/", i)+strings.Repeat("a", 200)+".yaml")
	}
	main := treeOf(t, names...)
	began := time.Now()
	for _, pattern := range []string{
		strings.Repeat("**/", 30) + "b", strings.Repeat("*a", 100) + "b", strings.Repeat("**/a*/", 20) + "b", strings.Repeat("{a,b}", 100) + "x",
		strings.Repeat("{a,", 200) + strings.Repeat("}", 200), strings.Repeat("{*a,a*}", 30) + "b", "**/" + strings.Repeat("*a", 100) + "b",
	} {
		j := newJob(render.Request{
			Source: v1alpha1.ApplicationSource{Path: "app", Helm: &v1alpha1.HelmSource{ValueFiles: []string{pattern}, IgnoreMissingValueFiles: true}},
			Tree:   main,
		})
		one := time.Now()
		_, err := j.valueFiles()
		if took := time.Since(one); took > time.Second {
			t.Errorf("%.20q takes %s: %v", pattern, took, err)
		}
	}
	t.Log(time.Since(began))
}
