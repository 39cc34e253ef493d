package plain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
)

// at makes a repository of files; a name that ends in @ is a symbolic link to its content.
func at(t testing.TB, files map[string]string) render.Request {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		link := strings.HasSuffix(name, "@")
		full := filepath.Join(root, strings.TrimSuffix(name, "@"))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if link {
			err = os.Symlink(content, full)
		} else {
			err = os.WriteFile(full, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	tree, err := dirtree.Open(root, "1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
	})
	return render.Request{Source: v1alpha1.ApplicationSource{Path: "app", Directory: &v1alpha1.DirectorySource{}}, Tree: tree}
}

func config(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n"
}

func TestDirectoryGivesTheObjectsOfItsFiles(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"app/a.yaml":          config("a"),
		"app/b.yml":           config("b"),
		"app/c.json":          `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}`,
		"app/notes.txt":       config("text"),
		"app/values.yaml":     "replicas: 2\n",
		"app/skipped.yaml":    "# +argocd:skip-file-rendering\n{{ not: yaml",
		"app/sub/d.yaml":      config("d"),
		"app/sub/deep/e.yaml": config("e"),
		"app/link.yaml@":      "../shared/f.yaml",
		"app/gone.yaml@":      "nowhere.yaml",
		"shared/f.yaml":       config("f"),
	}
	tests := []struct {
		name string
		dir  v1alpha1.DirectorySource
		want string
	}{
		{"the directory alone", v1alpha1.DirectorySource{}, "a b c f"},
		{"with what is below", v1alpha1.DirectorySource{Recurse: true}, "a b c f d e"},
		{"included files", v1alpha1.DirectorySource{Recurse: true, Include: "{a,sub/*}.yaml"}, "a d e"},
		{"excluded files", v1alpha1.DirectorySource{Recurse: true, Exclude: "{sub/*,link.yaml}"}, "a b c"},
		{"exclude wins over include", v1alpha1.DirectorySource{Include: "*.yaml", Exclude: "a.*"}, "f"},
		{"every extension", v1alpha1.DirectorySource{DisableExtensionFilter: true, Include: "*.txt"}, "text"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			req := at(t, files)
			*req.Source.Directory = tc.dir
			res, err := Renderer{}.Render(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, o := range res.Objects {
				names = append(names, o.Key.Name)
			}
			if d := cmp.Diff(tc.want, strings.Join(names, " ")); d != "" {
				t.Errorf("objects (-want +got):\n%s", d)
			}
		})
	}
}

func TestDirectoryThatCannotBeReadIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		set   func(*render.Request)
		want  string
		is    error
	}{
		{name: "bad YAML in something like a manifest", files: map[string]string{"app/a.yaml": config("a") + "data:\n  x: y: z\n"}, want: "app/a.yaml:"},
		{name: "a document without kind after a manifest", files: map[string]string{"app/a.yaml": config("a") + "---\nfoo: bar\n"}, want: "app/a.yaml:6: document 2: the object has no kind"},
		{name: "an object without name", files: map[string]string{"app/a.yaml": "apiVersion: v1\nkind: Pod\n"}, want: "app/a.yaml:1: document 1: Pod has no metadata.name"},
		{name: "JSON without kind", files: map[string]string{"app/package.json": `{"name": "x"}`}, want: "app/package.json:1: the object has no kind"},
		{name: "a link out of the repository", files: map[string]string{"app/a.yaml@": "../../etc/passwd"}, want: "illegal filepath app/a.yaml"},
		{name: "links in a circle", files: map[string]string{"app/a.yaml@": "b.yaml", "app/b.yaml@": "a.yaml"}, want: "too many levels"},
		{
			name: "a directory that links back", files: map[string]string{"app/sub/up@": "..", "app/a.yaml": config("a")},
			set: func(r *render.Request) { r.Source.Directory.Recurse = true }, want: "app/sub/up",
		},
		{name: "a bad glob", files: map[string]string{"app/a.yaml": ""}, set: func(r *render.Request) { r.Source.Directory.Include = "{a" }, want: "spec.source.directory.include"},
		{name: "too many bytes", files: map[string]string{"app/a.yaml": config("a")}, set: func(r *render.Request) { r.Limits.Bytes = 20 }, want: "larger than 20 bytes", is: document.ErrLimit},
		{name: "Jsonnet that nobody evaluates", files: map[string]string{"app/a.jsonnet": "{}"}, want: "app/a.jsonnet", is: render.ErrJsonnet},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			req := at(t, tc.files)
			if tc.set != nil {
				tc.set(&req)
			}
			_, err := Renderer{}.Render(t.Context(), req)
			if err == nil || !strings.Contains(err.Error(), tc.want) || tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if err != nil && len(err.Error()) > 400 {
				t.Errorf("the message has %d characters", len(err.Error()))
			}
		})
	}
}

// kept remembers what was read of a tree. It is for one goroutine.
type kept struct {
	source.Tree
	files map[string][]byte
	dirs  map[string][]source.Entry
}

func (k *kept) ReadFile(name string) ([]byte, error) {
	if b, ok := k.files[name]; ok {
		return b, nil
	}
	b, err := k.Tree.ReadFile(name)
	k.files[name] = b
	return b, err
}

func (k *kept) ReadDir(name string) ([]source.Entry, error) {
	if l, ok := k.dirs[name]; ok {
		return l, nil
	}
	l, err := k.Tree.ReadDir(name)
	k.dirs[name] = l
	return l, err
}

func BenchmarkRender200DirectoriesOf10Files(b *testing.B) {
	files := map[string]string{}
	for i := range 200 {
		for j := range 10 {
			files[fmt.Sprintf("apps/%d/%d.yaml", i, j)] = fmt.Sprintf(`apiVersion: v1
kind: Service
metadata:
  name: web-%d
  namespace: shop
  labels:
    app.kubernetes.io/name: web
spec:
  selector:
    app: web-%d
  ports:
  - name: http
    port: 80
    targetPort: 8080
`, j, j)
		}
	}
	req := at(b, files)
	// The files are kept in memory: what is measured is reading manifests and not this machine's file system.
	req.Tree = &kept{Tree: req.Tree, files: map[string][]byte{}, dirs: map[string][]source.Entry{}}
	all := func() {
		for i := range 200 {
			req.Source.Path = fmt.Sprintf("apps/%d", i)
			if _, err := (Renderer{}).Render(b.Context(), req); err != nil {
				b.Fatal(err)
			}
		}
	}
	all()
	for b.Loop() {
		all()
	}
}

func TestHostileGlobsOfADirectoryTakeBoundedTime(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("app/%s/%s%d.yaml", strings.Repeat("a", 200), strings.Repeat("a", 200), i)] = config(fmt.Sprint("x", i))
	}
	req := at(t, files)
	req.Source.Directory.Recurse = true
	began := time.Now()
	for _, pattern := range []string{
		strings.Repeat("*a", 2000) + "b", strings.Repeat("**a", 1300) + "b", strings.Repeat("?*", 2000) + "b", strings.Repeat("{a,b}", 800) + "x",
		strings.Repeat("{*a,a*}", 500) + "b", "{" + strings.Repeat("a*,", 1300) + "b}", strings.Repeat("{a,", 1300) + strings.Repeat("}", 1300) + "{",
		strings.Repeat("[a-z]*", 600) + "0", strings.Repeat("*", 5000),
	} {
		for _, field := range []*string{&req.Source.Directory.Include, &req.Source.Directory.Exclude} {
			*field = pattern
			_, _ = Renderer{}.Render(t.Context(), req)
			*field = ""
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("18 patterns on 50 files take %s", took)
	}
}

func TestALargeDirectoryIsLeftToAnotherProcess(t *testing.T) {
	t.Parallel()
	req := at(t, map[string]string{"app/a.yaml": config("a"), "app/b.yaml": config("b") + "data: {x: " + strings.Repeat("x", 2000) + "}\n"})
	if _, err := (Renderer{Bytes: 1000}).Render(t.Context(), req); !errors.Is(err, render.ErrElsewhere) {
		t.Errorf("the error is %v", err)
	}
	if _, err := (Renderer{Bytes: 4000}).Render(t.Context(), req); err != nil {
		t.Error(err)
	}
	p := render.Pipeline{Plain: Renderer{Bytes: 1000}, Jsonnet: Renderer{}}
	if res, err := p.Render(t.Context(), req); err != nil || len(res.Objects) != 2 {
		t.Errorf("%d objects, %v", len(res.Objects), err)
	}
}

// doubled is a tree as links make it: each directory below app/l has two, down to a depth that is permitted.
type doubled struct{ source.Tree }

func (d doubled) ReadDir(name string) ([]source.Entry, error) {
	switch {
	case !strings.HasPrefix(name, "app/l"):
		return d.Tree.ReadDir(name)
	case strings.Count(name, "/") > 40:
		return nil, nil
	}
	return []source.Entry{{Name: "a", Mode: fs.ModeDir}, {Name: "b", Mode: fs.ModeDir}}, nil
}

func TestLinksThatMultiplyDirectoriesMakeNoEndlessTree(t *testing.T) {
	t.Parallel()
	req := at(t, map[string]string{"app/a.yaml": config("a"), "app/l/b.yaml": config("b")})
	req.Tree, req.Source.Directory.Recurse = doubled{req.Tree}, true
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := (Renderer{}).Render(ctx, req); !errors.Is(err, document.ErrLimit) || !strings.Contains(err.Error(), "symbolic link") {
		t.Error(err)
	}
}
