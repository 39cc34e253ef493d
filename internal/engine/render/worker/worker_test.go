package worker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/helm"
	"github.com/slipway-gitops/slipway/internal/engine/render/worker"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
)

// probe is a tool that only the children of this test have: it does what the path of the source says.
const probe render.Tool = "Probe"

func TestMain(m *testing.M) {
	if worker.IsChild(os.Args) {
		err := worker.Serve(os.Args, os.Stdin, os.Stdout, func(versions []string) map[render.Tool]render.Renderer {
			set := worker.Renderers(versions)
			set[probe] = prober{}
			return set
		})
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

type prober struct{}

// Render tries what a renderer that was taken over would try, and reports what worked.
func (prober) Render(_ context.Context, req render.Request) (render.Result, error) {
	var err error
	name := "worked"
	switch req.Source.Path {
	case "pid":
		name = strconv.Itoa(os.Getpid())
	case "panic":
		panic("boom with a secret")
	case "exit":
		os.Exit(7)
	case "open":
		_, err = os.ReadFile("/etc/passwd")
	case "create":
		err = os.WriteFile("/tmp/slipway-worker-was-here", nil, 0o600)
	case "socket":
		_, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	case "exec":
		err = exec.Command("/bin/true").Run()
	case "signal":
		err = syscall.Kill(os.Getppid(), 0)
	case "environment":
		err = fmt.Errorf("%d variables", len(os.Environ()))
	case "burn":
		d, _ := time.ParseDuration(req.Source.RepoURL)
		var began, now unix.Timespec
		err = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &began)
		for now = began; err == nil && time.Duration(now.Nano()-began.Nano()) < d; {
			err = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &now)
		}
	case "garbage":
		fmt.Println("this is no frame, whatever it is, and long enough for a head")
		select {}
	}
	if err != nil {
		return render.Result{}, err
	}
	m, err := object.NewManifest(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}})
	return render.Result{Tool: probe, Objects: []object.Manifest{m}}, err
}

func tree(t testing.TB, files map[string]string) source.Tree {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := dirtree.Open(dir, "abc123")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

func chart(t testing.TB, template string) render.Request {
	return render.Request{
		App:    render.App{Name: "app"},
		Tool:   render.Helm,
		Source: v1alpha1.ApplicationSource{Path: "."},
		Tree: tree(t, map[string]string{
			"Chart.yaml":       "apiVersion: v2\nname: demo\nversion: 1.0.0\n",
			"values.yaml":      "replicas: 3\n",
			"templates/x.yaml": template,
		}),
	}
}

const good = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Release.Name }}\"}\ndata: {n: \"{{ .Values.replicas }}\"}\n"

func renderer(t testing.TB, cfg worker.Config) *worker.Renderer {
	t.Helper()
	r, err := worker.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestAChildGivesWhatTheRendererGives(t *testing.T) {
	t.Parallel()
	r := renderer(t, worker.Config{Workers: 1})
	kust := render.Request{
		Tool:   render.Kustomize,
		Source: v1alpha1.ApplicationSource{Path: "app", Kustomize: &v1alpha1.KustomizeSource{NamePrefix: "p-"}},
		Tree: tree(t, map[string]string{
			"app/kustomization.yaml": "resources: [cm.yaml]\n",
			"app/cm.yaml":            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n",
		}),
	}
	for range 3 {
		req := chart(t, good)
		req.Source.Helm = &v1alpha1.HelmSource{ValueFiles: []string{"$r/v.yaml"}}
		req.Refs = map[string]source.Tree{"r": tree(t, map[string]string{"v.yaml": "replicas: 7\n"})}
		got, err := r.Render(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		want, err := helm.Renderer{}.Render(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("result (-in process +child):\n%s", diff)
		}
		res, err := r.Render(context.Background(), kust)
		if err != nil || len(res.Objects) != 1 || res.Objects[0].Key.Name != "p-x" {
			t.Fatalf("kustomization gave %v, %v", res.Objects, err)
		}
	}
	if n := r.Children(); n != 1 {
		t.Errorf("%d children wait, want the one that did all jobs", n)
	}
}

func TestHostileSourcesHarmOnlyTheirChild(t *testing.T) {
	t.Parallel()
	r := renderer(t, worker.Config{Workers: 1, Memory: 256 << 20})
	probing := func(what string) render.Request {
		return render.Request{Tool: probe, Source: v1alpha1.ApplicationSource{Path: what}, Tree: tree(t, nil)}
	}
	endless := chart(t, `{{ range $i := 1000000000000 }}{{ end }}`)
	endless.Limits.Seconds = 1
	huge := chart(t, `{{ range $i := 200000 }}{{ repeat 32 "x" }}{{ end }}`)
	huge.Limits.Bytes = 1 << 20
	keys := chart(t, `{{ range $i := 1000000000 }}{{ genPrivateKey "rsa" }}{{ end }}`)
	keys.Limits.Seconds = 1
	hashes := chart(t, `{{ range $i := 1000000000 }}{{ bcrypt "x" }}{{ derivePassword 1 "long" "x" "y" "z" }}{{ end }}`)
	hashes.Limits.Seconds = 1
	expression := chart(t, `{{ range $i := 1000000000 }}{{ regexMatch (repeat 500 "(x?){1,2}") (repeat 100000 "x") }}{{ end }}`)
	expression.Limits.Seconds = 1
	program := func(file, content string) render.Request {
		req := render.Request{Tool: render.Directory, Source: v1alpha1.ApplicationSource{Path: "."}, Tree: tree(t, map[string]string{file: content})}
		req.Limits.Seconds = 1
		return req
	}
	copies := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [x.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n"
	for i := range 40 {
		copies += fmt.Sprintf("    - {op: copy, from: /data, path: /data/a%d}\n", i)
	}
	doubling := render.Request{Tool: render.Kustomize, Source: v1alpha1.ApplicationSource{Path: "."}, Tree: tree(t, map[string]string{
		"kustomization.yaml": copies, "x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: b}\n",
	})}
	tests := []struct {
		name string
		req  render.Request
		is   error
		text string
	}{
		{"keys without end", keys, render.ErrTimeout, "stopped after 1s"},
		{"hashes without end", hashes, render.ErrTimeout, "stopped after 1s"},
		{"regular expressions without end", expression, render.ErrTimeout, "stopped after 1s"},
		{"Jsonnet without end", program("a.jsonnet", "local f(n) = if n == 0 then 0 else f(n - 1) tailstrict; f(1e12)"), nil, ""},
		{"Jsonnet that makes a huge list", program("a.jsonnet", "std.foldl(function(a, b) a + b, std.range(1, 1000000000), 0)"), nil, ""},
		{"a JSON patch that doubles", doubling, worker.ErrMemory, ""},
		{"a template that never ends", endless, render.ErrTimeout, "stopped after 1s"},
		{"a template that eats memory", chart(t, `{{ $x := repeat 1000000 "0123456789" }}{{ range $i := 100000 }}{{ $x = print $x $x }}{{ end }}`), worker.ErrMemory, "more than 256 MiB"},
		{"a range that makes a huge list", chart(t, `{{ range until 2000000000 }}{{ . }}{{ end }}`), worker.ErrMemory, ""},
		{"a huge output", huge, nil, "limit exceeded"},
		{"a template that nests without end", chart(t, `{{ $t := "{{ tpl .t . }}" }}{{ tpl $t (dict "t" $t "Template" .Template) }}`), nil, ""},
		{"a template that includes itself", chart(t, `{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}`), nil, ""},
		{"a renderer that panics", probing("panic"), render.ErrCrash, "crashed"},
		{"a renderer that exits", probing("exit"), render.ErrCrash, "exit status 7"},
		{"a renderer that breaks the protocol", probing("garbage"), render.ErrCrash, "unexpected"},
	}
	for _, tc := range tests {
		// One after another, to see that the next job is served by the same Renderer.
		t.Run(tc.name, func(t *testing.T) {
			begin := time.Now()
			_, err := r.Render(context.Background(), tc.req)
			if err == nil || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("error is %v, want %v with %q", err, tc.is, tc.text)
			}
			if err != nil && strings.Contains(err.Error(), "boom") {
				t.Errorf("the error shows the value of a panic: %v", err)
			}
			t.Logf("%s: %v", time.Since(begin).Round(time.Millisecond), err)
			if res, err := r.Render(context.Background(), chart(t, good)); err != nil || len(res.Objects) != 1 {
				t.Errorf("the next job gave %v, %v", res.Objects, err)
			}
		})
	}
}

func TestAChildReachesNothing(t *testing.T) {
	t.Parallel()
	r := renderer(t, worker.Config{Workers: 1})
	for _, what := range []string{"open", "create", "socket", "exec", "signal", "environment"} {
		res, err := r.Render(context.Background(), render.Request{Tool: probe, Source: v1alpha1.ApplicationSource{Path: what}, Tree: tree(t, nil)})
		if what == "environment" {
			if err == nil || !strings.HasPrefix(err.Error(), "0 variables") {
				t.Errorf("the child has an environment: %v", err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s worked: %v", what, res.Objects)
		} else if !strings.Contains(err.Error(), "not permitted") && !strings.Contains(err.Error(), "too many open files") {
			t.Errorf("%s failed with %v, want what the filter gives", what, err)
		}
	}
}

func TestJobsRunUpToTheLimitAndEndWithTheirContext(t *testing.T) {
	t.Parallel()
	r := renderer(t, worker.Config{Workers: 1})
	ctx, cancel := context.WithCancel(context.Background())
	started := make(chan struct{})
	done := make(chan error, 1)
	req := chart(t, `{{ range $i := 1000000000000 }}{{ end }}`)
	req.Tree = signalTree{req.Tree, started}
	go func() {
		_, err := r.Render(ctx, req)
		done <- err
	}()
	<-started
	short, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	if _, err := r.Render(short, chart(t, good)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a job beyond the limit gave %v, want that it waits until its deadline", err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a job whose context ended gave %v, want context.Canceled", err)
	}
}

// signalTree closes started at the first read.
type signalTree struct {
	source.Tree
	started chan struct{}
}

func (s signalTree) Stat(name string) (source.Entry, error) {
	select {
	case <-s.started:
	default:
		close(s.started)
	}
	return s.Tree.Stat(name)
}

func TestAChildThatDiedIdleCostsNoJob(t *testing.T) {
	t.Parallel()
	r := renderer(t, worker.Config{Workers: 1})
	res, err := r.Render(context.Background(), render.Request{Tool: probe, Source: v1alpha1.ApplicationSource{Path: "pid"}, Tree: tree(t, nil)})
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(res.Objects[0].Key.Name)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Render(context.Background(), chart(t, good)); err != nil {
		t.Errorf("the next job failed: %v", err)
	}
}

func TestManyJobsShareTheChildren(t *testing.T) {
	t.Parallel()
	r := renderer(t, worker.Config{Workers: 2, MaxJobs: 5})
	req := chart(t, good)
	var g errgroup.Group
	for range 40 {
		g.Go(func() error {
			res, err := r.Render(context.Background(), req)
			if err == nil && len(res.Objects) != 1 {
				err = fmt.Errorf("%d objects", len(res.Objects))
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	if n := r.Children(); n > 2 {
		t.Errorf("%d children wait, want 2 at most", n)
	}
}

func TestIdleAndWornOutChildrenAreStopped(t *testing.T) {
	t.Parallel()
	worn := renderer(t, worker.Config{Workers: 1, MaxJobs: 1})
	if _, err := worn.Render(context.Background(), chart(t, good)); err != nil {
		t.Fatal(err)
	}
	if n := worn.Children(); n != 0 {
		t.Errorf("%d children wait after their last job, want 0", n)
	}
	idle := renderer(t, worker.Config{Workers: 1, Idle: time.Millisecond})
	if _, err := idle.Render(context.Background(), chart(t, good)); err != nil {
		t.Fatal(err)
	}
	deadline, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for idle.Children() > 0 {
		select {
		case <-deadline.Done():
			t.Fatal("the idle child is still there")
		case <-tick.C:
		}
	}
	if err := idle.Close(); err != nil {
		t.Error(err)
	}
	if _, err := idle.Render(context.Background(), chart(t, good)); !errors.Is(err, worker.ErrClosed) {
		t.Errorf("after Close a job gave %v, want ErrClosed", err)
	}
}

func TestErrorsKeepTheirKind(t *testing.T) {
	t.Parallel()
	r := renderer(t, worker.Config{Workers: 1})
	req := chart(t, "x: {{ .Values.a.b }}\n")
	_, err := r.Render(context.Background(), req)
	if err == nil || !strings.Contains(err.Error(), "demo/templates/x.yaml:1") {
		t.Errorf("error is %v, want the file and line of the template", err)
	}
	if n := r.Children(); n != 1 {
		t.Errorf("%d children wait after an ordinary error, want 1", n)
	}
}

func BenchmarkChart(b *testing.B) {
	req := chart(b, good)
	b.Run("in process", func(b *testing.B) {
		for b.Loop() {
			if _, err := (helm.Renderer{}).Render(context.Background(), req); err != nil {
				b.Fatal(err)
			}
		}
	})
	r := renderer(b, worker.Config{Workers: 1})
	b.Run("in a child", func(b *testing.B) {
		for b.Loop() {
			if _, err := r.Render(context.Background(), req); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("in a new child", func(b *testing.B) {
		fresh := renderer(b, worker.Config{Workers: 1, MaxJobs: 1})
		for b.Loop() {
			if _, err := fresh.Render(context.Background(), req); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// burner is a request that spends processor time.
func burner(t testing.TB, project, app string, d time.Duration) render.Request {
	t.Helper()
	req := render.Request{Tool: probe, Source: v1alpha1.ApplicationSource{Path: "burn", RepoURL: d.String()}, Tree: tree(t, nil)}
	req.App = render.App{Name: app, Project: project}
	return req
}

func TestAProjectThatBurnsDoesNotHoldUpAnother(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r := renderer(t, worker.Config{Slice: 200 * time.Millisecond})
	var burning errgroup.Group
	t.Cleanup(func() { cancel(); _ = burning.Wait() })
	for i := range 10 {
		req := chart(t, `{{ range $i := 1000000000000 }}{{ end }}`)
		req.App = render.App{Name: fmt.Sprint("burns", i), Project: "evil"}
		burning.Go(func() error { _, err := r.Render(ctx, req); return err })
	}
	for r.Waiting() != 8 {
		runtime.Gosched()
	}
	// Not known, and then known to be quick: neither waits until a burner has reached its limit of a minute.
	limited, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	for range 3 {
		req := chart(t, good)
		req.App = render.App{Name: "web", Project: "shop"}
		if _, err := r.Render(limited, req); err != nil {
			t.Fatalf("it waits for another project: %v", err)
		}
	}
}

func TestALongJobStandsStillForOthersAndGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var reports []worker.Report
	r := renderer(t, worker.Config{Slice: 20 * time.Millisecond, Done: func(one worker.Report) {
		mu.Lock()
		defer mu.Unlock()
		reports = append(reports, one)
	}})
	// From here on both are known to be long.
	for _, req := range []render.Request{burner(t, "shop", "web", 40*time.Millisecond), burner(t, "evil", "long", time.Second)} {
		if _, err := r.Render(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	long := make(chan error, 1)
	go func() {
		_, err := r.Render(t.Context(), burner(t, "evil", "long", time.Second))
		long <- err
	}()
	for over := false; !over; {
		if _, err := r.Render(t.Context(), burner(t, "shop", "web", 40*time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-long:
			if err != nil {
				t.Fatal(err)
			}
			over = true
		default:
		}
	}
	mu.Lock()
	defer mu.Unlock()
	last := reports[slices.IndexFunc(reports[2:], func(one worker.Report) bool { return one.CPU > 500*time.Millisecond })+2]
	if last.Outcome != worker.Rendered || last.Yielded == 0 || last.Waited <= 0 {
		t.Errorf("it is reported as %+v", last)
	}
	if last.CPU < 900*time.Millisecond || last.CPU > 1800*time.Millisecond {
		t.Errorf("the long one took %s of processor time, want one second: what it had done is not lost", last.CPU)
	}
}
