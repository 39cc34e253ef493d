package memo

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/plain"
	"github.com/slipway-gitops/slipway/internal/source"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// files is a tree in memory whose sums are computed once, as git has them.
type files struct {
	revision string
	content  map[string]string
	sums     map[string]string
	broken   error // what every read fails with
}

func newFiles(revision string, content map[string]string) *files {
	f := &files{revision: revision, content: content, sums: map[string]string{}}
	all := map[string][]string{}
	for name := range content {
		for dir := path.Dir(name); ; dir = path.Dir(dir) {
			all[dir] = append(all[dir], name)
			if dir == "." {
				break
			}
		}
		f.sums[name] = hashOf(content[name])
	}
	for dir, names := range all {
		slices.Sort(names)
		var b strings.Builder
		for _, n := range names {
			b.WriteString(n + "=" + content[n] + "\n")
		}
		f.sums[dir] = hashOf(b.String())
	}
	return f
}

func hashOf(s string) string {
	h := fnv.New128a()
	h.Write([]byte(s))
	return fmt.Sprintf("%x", h.Sum(nil))
}

func (f *files) Revision() string { return f.revision }

func (f *files) ReadFile(name string) ([]byte, error) {
	if f.broken != nil {
		return nil, f.broken
	}
	if c, ok := f.content[name]; ok {
		return []byte(c), nil
	}
	return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

func (f *files) ReadDir(dir string) ([]source.Entry, error) {
	if _, ok := f.sums[dir]; !ok {
		return nil, fmt.Errorf("%s: %w", dir, fs.ErrNotExist)
	}
	found := map[string]source.Entry{}
	for name := range f.content {
		rel := name
		if dir != "." {
			if !strings.HasPrefix(name, dir+"/") {
				continue
			}
			rel = name[len(dir)+1:]
		}
		first, _, deeper := strings.Cut(rel, "/")
		e := source.Entry{Name: first, Size: -1}
		if deeper {
			e.Mode = fs.ModeDir
		}
		found[first] = e
	}
	return slices.SortedFunc(maps.Values(found), func(a, b source.Entry) int { return strings.Compare(a.Name, b.Name) }), nil
}

func (f *files) Stat(name string) (source.Entry, error) {
	if _, ok := f.content[name]; ok {
		return source.Entry{Name: path.Base(name), Size: -1}, nil
	}
	if _, ok := f.sums[name]; ok {
		return source.Entry{Name: path.Base(name), Mode: fs.ModeDir, Size: -1}, nil
	}
	return source.Entry{}, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

func (f *files) Sum(name string) (string, error) { return f.sums[name], nil }

func (f *files) ListSum(name string) (string, error) {
	l, err := f.ReadDir(name)
	return hashOf(fmt.Sprint(l)), err
}

// with returns a later revision in which some files are different; empty content removes one.
func (f *files) with(revision string, changes ...string) *files {
	c := maps.Clone(f.content)
	for i := 0; i < len(changes); i += 2 {
		if c[changes[i]] = changes[i+1]; changes[i+1] == "" {
			delete(c, changes[i])
		}
	}
	return newFiles(revision, c)
}

func configMap(name, value string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\ndata:\n  key: " + value + "\n"
}

func base() *files {
	return newFiles("1111111111", map[string]string{
		"web/a.yaml":      configMap("a", "1"),
		"web/b.yaml":      configMap("b", "1"),
		"web/README.md":   "about",
		"other/c.yaml":    configMap("c", "1"),
		"values/all.yaml": "x: 1",
	})
}

// counter counts how often it renders.
type counter struct {
	render.Renderer
	n atomic.Int64
}

func (c *counter) Render(ctx context.Context, req render.Request) (render.Result, error) {
	c.n.Add(1)
	return c.Renderer.Render(ctx, req)
}

func newMemo(opts Options) (*Memo, *counter) {
	c := &counter{Renderer: &render.Pipeline{Plain: plain.Renderer{}, Helm: reader{}}}
	return New(c, opts), c
}

// reader stands for a tool that reads one file of its own source and one of another.
type reader struct{}

func (reader) Render(_ context.Context, req render.Request) (render.Result, error) {
	for _, t := range []struct {
		tree source.Tree
		name string
	}{{req.Tree, "web/a.yaml"}, {req.Refs["values"], "values/all.yaml"}} {
		if t.tree == nil {
			continue
		}
		if _, err := t.tree.ReadFile(t.name); err != nil {
			return render.Result{}, err
		}
	}
	return render.Result{}, nil
}

func request(t source.Tree) render.Request {
	return render.Request{
		App:    render.App{Name: "web", Project: "default"},
		Source: v1alpha1.ApplicationSource{RepoURL: "https://example.com/r.git", Path: "web"},
		Tree:   t,
	}
}

func TestSecondRenderingHitsOnlyWhileWhatWasReadIsUnchanged(t *testing.T) {
	t.Parallel()
	helm := func(r *render.Request) {
		r.Source.Helm = &v1alpha1.HelmSource{}
		r.Refs = map[string]source.Tree{"values": base()}
	}
	tests := []struct {
		name   string
		before func(*render.Request)
		after  func(*render.Request)
		scope  string
		hit    bool
	}{
		{name: "nothing changed", hit: true},
		{name: "a commit touched another directory", after: commit("other/c.yaml", configMap("c", "2")), hit: true},
		{name: "a commit touched a file beside that nobody reads", after: commit("web/README.md", "more"), hit: true},
		{name: "a commit changed a file", after: commit("web/b.yaml", configMap("b", "2"))},
		{name: "a commit added a file", after: commit("web/d.yaml", configMap("d", "1"))},
		{name: "a commit removed a file", after: commit("web/b.yaml", "")},
		{name: "a commit added an override file", after: commit("web/.argocd-source.yaml", "directory: {exclude: a.yaml}")},
		{name: "another scope", scope: "other"},
		{name: "another application", after: func(r *render.Request) { r.App.Name = "shop" }},
		{name: "another namespace", after: func(r *render.Request) { r.Namespace = "shop" }},
		{name: "another repository", after: func(r *render.Request) { r.Source.RepoURL += "x" }},
		{name: "an option", after: func(r *render.Request) { r.Source.Directory = &v1alpha1.DirectorySource{Recurse: true} }},
		{name: "another limit", after: func(r *render.Request) { r.Limits.Objects = 5 }},
		{name: "the default limit spelled out", after: func(r *render.Request) { r.Limits.Objects = 20_000 }, hit: true},
		{name: "another cluster that nobody asked about", after: func(r *render.Request) { r.Cluster.KubeVersion = "v1.2.3" }, hit: true},
		{name: "a ref changed where it is read", before: helm, after: func(r *render.Request) {
			helm(r)
			r.Refs["values"] = base().with("3333333333", "values/all.yaml", "x: 2")
		}},
		{name: "a ref changed where it is not read", before: helm, after: func(r *render.Request) {
			helm(r)
			r.Refs["values"] = base().with("3333333333", "web/a.yaml", "x: 2")
		}, hit: true},
		{name: "the revision is used and changed", before: revisionIn, after: func(r *render.Request) {
			revisionIn(r)
			r.Tree = base().with("2222222222")
		}},
		{name: "the revision is used and the same", before: revisionIn, after: revisionIn, hit: true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m, c := newMemo(Options{})
			first, second := request(base()), request(base().with("2222222222"))
			if tc.before != nil {
				tc.before(&first)
				second = first
			}
			if tc.after != nil {
				tc.after(&second)
			}
			want, hit, err := m.Render(t.Context(), first, "")
			if err != nil || hit {
				t.Fatalf("first rendering: hit %v, error %v", hit, err)
			}
			if same := m.Same(second, tc.scope); same != tc.hit {
				t.Errorf("Same is %v, want %v", same, tc.hit)
			}
			got, hit, err := m.Render(t.Context(), second, tc.scope)
			if err != nil {
				t.Fatal(err)
			}
			if hit != tc.hit || c.n.Load() != map[bool]int64{true: 1, false: 2}[tc.hit] {
				t.Errorf("hit %v after %d renderings, want hit %v", hit, c.n.Load(), tc.hit)
			}
			if d := cmp.Diff(want, got); hit && d != "" {
				t.Errorf("the kept result differs (-first +second):\n%s", d)
			}
		})
	}
}

func commit(changes ...string) func(*render.Request) {
	return func(r *render.Request) { r.Tree = base().with("2222222222", changes...) }
}

func revisionIn(r *render.Request) {
	r.Source.Directory = &v1alpha1.DirectorySource{}
	r.Source.Directory.Jsonnet.ExtVars = []v1alpha1.JsonnetVar{{Name: "rev", Value: "$ARGOCD_APP_REVISION_SHORT"}}
}

func TestFailureIsKeptWhereItLiesInTheInput(t *testing.T) {
	t.Parallel()
	bad := base().with("2", "web/a.yaml", "kind: [\napiVersion: x\nmetadata:")
	broken := base()
	broken.broken = errors.New("the repository is being fetched")
	missing := request(base())
	missing.Source.Path = "nowhere"
	for name, tc := range map[string]struct {
		req  render.Request
		kept bool
	}{
		"bad YAML":                   {request(bad), true},
		"a path that does not exist": {missing, true},
		"a tree that cannot be read": {request(broken), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _ := newMemo(Options{})
			_, _, first := m.Render(t.Context(), tc.req, "")
			_, hit, second := m.Render(t.Context(), tc.req, "")
			if first == nil || second == nil || first.Error() != second.Error() {
				t.Fatalf("errors %v and %v, want the same", first, second)
			}
			if hit != tc.kept {
				t.Errorf("hit %v, want %v", hit, tc.kept)
			}
		})
	}
	t.Run("a mended file renders", func(t *testing.T) {
		t.Parallel()
		m, _ := newMemo(Options{})
		if _, _, err := m.Render(t.Context(), request(bad), ""); err == nil {
			t.Fatal("bad YAML rendered")
		}
		if _, hit, err := m.Render(t.Context(), request(base()), ""); err != nil || hit {
			t.Fatalf("hit %v, error %v", hit, err)
		}
	})
}

func TestRollbackHitsAnEarlierResult(t *testing.T) {
	t.Parallel()
	m, c := newMemo(Options{})
	later := base().with("2", "web/a.yaml", configMap("a", "2"))
	for _, tr := range []*files{base(), later, base(), later} {
		if _, _, err := m.Render(t.Context(), request(tr), ""); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.n.Load(); n != 2 {
		t.Errorf("rendered %d times, want 2", n)
	}
}

func TestOldResultsGoWhenTheBudgetIsUsedUp(t *testing.T) {
	t.Parallel()
	m, _ := newMemo(Options{Bytes: 20_000})
	tr := base()
	for i := range 100 {
		req := request(tr)
		req.App.Name = fmt.Sprint("app-", i)
		if _, _, err := m.Render(t.Context(), req, ""); err != nil {
			t.Fatal(err)
		}
	}
	if n, _ := m.Stats(); m.bytes > 20_000 || n != len(m.entries) {
		t.Errorf("%d bytes in %d entries of %d keys", m.bytes, n, len(m.entries))
	}
	newest, oldest := request(tr), request(tr)
	newest.App.Name, oldest.App.Name = "app-99", "app-0"
	if !m.Same(newest, "") || m.Same(oldest, "") {
		t.Errorf("newest kept %v, oldest kept %v", m.Same(newest, ""), m.Same(oldest, ""))
	}
}

func TestOneSourceIsRenderedOnceForManyCallers(t *testing.T) {
	t.Parallel()
	m, c := newMemo(Options{})
	tr := base()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if res, _, err := m.Render(t.Context(), request(tr), ""); err != nil || len(res.Objects) != 2 {
				t.Errorf("%d objects, error %v", len(res.Objects), err)
			}
		})
	}
	wg.Wait()
	if n := c.n.Load(); n != 1 {
		t.Errorf("rendered %d times, want 1", n)
	}
}

// fleet is n applications of ten objects, one directory each.
func fleet(n int) (*files, []render.Request) {
	content := map[string]string{}
	for i := range n {
		for j := range 10 {
			content[fmt.Sprintf("apps/app-%04d/object-%d.yaml", i, j)] = deployment(i, j)
		}
	}
	tr := newFiles("1111111111", content)
	reqs := make([]render.Request, n)
	for i := range reqs {
		reqs[i] = request(tr)
		reqs[i].App.Name = fmt.Sprintf("app-%04d", i)
		reqs[i].Source.Path = fmt.Sprintf("apps/app-%04d", i)
	}
	return tr, reqs
}

func deployment(i, j int) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-%d
  namespace: app-%04d
  labels: {app.kubernetes.io/name: web, app.kubernetes.io/instance: app-%04d}
spec:
  replicas: 2
  selector:
    matchLabels: {app: web-%d}
  template:
    metadata:
      labels: {app: web-%d}
    spec:
      containers:
      - name: web
        image: registry.example.com/team/web:1.%d.%d
        ports: [{containerPort: 8080, name: http}]
        env:
        - {name: LOG_LEVEL, value: info}
        resources:
          requests: {cpu: 10m, memory: 32Mi}
`, j, i, i, j, j, i, j)
}

func BenchmarkCheckOf2000UnchangedApplications(b *testing.B) {
	tr, reqs := fleet(2000)
	m := New(plainOnly{}, Options{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for _, r := range reqs {
		if _, _, err := m.Render(b.Context(), r, "default"); err != nil {
			b.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	next := tr.with("2222222222", "apps/app-0007/object-3.yaml", configMap("x", "1"))
	b.ResetTimer()
	for b.Loop() {
		hits := 0
		for _, r := range reqs {
			r.Tree = next
			if m.Same(r, "default") {
				hits++
			}
		}
		if hits != 1999 {
			b.Fatalf("%d hits", hits)
		}
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB-kept")
	b.ReportMetric(float64(m.bytes)/(1<<20), "MiB-counted")
}

type plainOnly struct{}

func (plainOnly) Render(ctx context.Context, req render.Request) (render.Result, error) {
	return (&render.Pipeline{Plain: plain.Renderer{}}).Render(ctx, req)
}

func TestAProjectThatRendersMuchDrivesOutItsOwnResults(t *testing.T) {
	t.Parallel()
	m, c := newMemo(Options{Bytes: 20_000})
	tr := base()
	render := func(project string, i int) bool {
		req := request(tr)
		req.App.Project, req.App.Name = project, fmt.Sprint("app-", i)
		_, hit, err := m.Render(t.Context(), req, "")
		if err != nil {
			t.Fatal(err)
		}
		return hit
	}
	for i := range 5 {
		render("shop", i)
	}
	for i := range 500 {
		render("evil", i)
	}
	before := c.n.Load()
	for i := range 5 {
		if !render("shop", i) {
			t.Errorf("app-%d of another project is rendered again", i)
		}
	}
	// Many projects with one result each are held to the budget too.
	for i := range 100 {
		render(fmt.Sprint("project-", i), i)
	}
	if n, bytes := m.Stats(); c.n.Load() != before+100 || bytes > 20_000 || n < 6 {
		t.Errorf("%d results of %d bytes are kept", n, bytes)
	}
}
