package render_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
)

const revision = "0123456789abcdef0123456789abcdef01234567"

func tree(t *testing.T, files map[string]string) source.Tree {
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
	tr, err := dirtree.Open(root, revision)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	return tr
}

func request(t *testing.T, files map[string]string) render.Request {
	t.Helper()
	return render.Request{
		App:       render.App{Name: "web", Namespace: "argocd", Project: "team"},
		Namespace: "shop",
		Source:    v1alpha1.ApplicationSource{RepoURL: "https://example.com/r.git", Path: "./app/", TargetRevision: "main"},
		Tree:      tree(t, files),
		Cluster:   render.Capabilities{KubeVersion: "v1.36.3", APIVersions: []string{"apps/v1", "v1"}},
	}
}

func TestBuildEnvironmentIsFilledIn(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, want string
		deps             render.Deps
	}{
		{name: "the application", text: "$ARGOCD_APP_NAME/${ARGOCD_APP_NAMESPACE}/$ARGOCD_APP_PROJECT_NAME", want: "web/shop/team"},
		{name: "the source", text: "$ARGOCD_APP_SOURCE_REPO_URL $ARGOCD_APP_SOURCE_PATH $ARGOCD_APP_SOURCE_TARGET_REVISION", want: "https://example.com/r.git ./app/ main"},
		{name: "the revision", text: "$ARGOCD_APP_REVISION", want: revision, deps: render.Deps{Revision: true}},
		{name: "the short revisions", text: "$ARGOCD_APP_REVISION_SHORT $ARGOCD_APP_REVISION_SHORT_8", want: "0123456 01234567", deps: render.Deps{Revision: true}},
		{name: "the cluster", text: "$KUBE_VERSION $KUBE_API_VERSIONS", want: "1.36.3 apps/v1,v1", deps: render.Deps{Cluster: true}},
		{name: "an unknown name is empty", text: "a${HOME}b", want: "ab"},
		{name: "an escaped dollar sign", text: "$$ARGOCD_APP_NAME", want: "$ARGOCD_APP_NAME"},
		{name: "none", text: "plain", want: "plain"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			req := request(t, map[string]string{"app/a": ""})
			req.Source.Helm = &v1alpha1.HelmSource{Parameters: []v1alpha1.HelmParameter{{Name: "x", Value: tc.text}}}
			got, deps, err := render.Prepare(req)
			if err != nil {
				t.Fatal(err)
			}
			if v := got.Source.Helm.Parameters[0].Value; v != tc.want || deps != tc.deps {
				t.Errorf("%q with %+v, want %q with %+v", v, deps, tc.want, tc.deps)
			}
			if req.Source.Helm.Parameters[0].Value != tc.text {
				t.Error("the caller's source was changed")
			}
		})
	}
}

func TestBuildEnvironmentGoesWhereUpstreamPutsIt(t *testing.T) {
	t.Parallel()
	const name, v = "web", "$ARGOCD_APP_NAME"
	req := request(t, map[string]string{"app/a": ""})
	req.Refs = map[string]source.Tree{"values": req.Tree}
	req.Source.Helm = &v1alpha1.HelmSource{
		ValueFiles: []string{v + ".yaml", "$values/" + v + ".yaml", v + "/x.yaml"}, ReleaseName: v, Values: v, Namespace: v,
		FileParameters: []v1alpha1.HelmFileParameter{{Name: v, Path: "$values/" + v}},
	}
	req.Source.Kustomize = &v1alpha1.KustomizeSource{
		Images: []string{"a:" + v}, CommonLabels: map[string]string{"a": v}, CommonAnnotations: map[string]string{"a": v},
		NamePrefix: v, Replicas: []v1alpha1.KustomizeReplica{{Name: v, Count: intstr.FromString(v)}},
	}
	req.Source.Directory = &v1alpha1.DirectorySource{Include: v, Jsonnet: v1alpha1.JsonnetSource{
		ExtVars: []v1alpha1.JsonnetVar{{Name: v, Value: v}}, TLAs: []v1alpha1.JsonnetVar{{Name: v, Value: v}}, Libs: []string{v},
	}}
	got, _, err := render.Prepare(req)
	if err != nil {
		t.Fatal(err)
	}
	want := req.Source
	want.Path = "app"
	want.Helm = &v1alpha1.HelmSource{
		ValueFiles: []string{name + ".yaml", "$values/" + name + ".yaml", name + "/x.yaml"}, ReleaseName: v, Values: v, Namespace: v,
		FileParameters: []v1alpha1.HelmFileParameter{{Name: name, Path: "$values/" + name}},
	}
	want.Kustomize = &v1alpha1.KustomizeSource{
		Images: []string{"a:" + name}, CommonLabels: map[string]string{"a": name}, CommonAnnotations: map[string]string{"a": v},
		NamePrefix: v, Replicas: []v1alpha1.KustomizeReplica{{Name: v, Count: intstr.FromString(name)}},
	}
	want.Directory = &v1alpha1.DirectorySource{Include: v, Jsonnet: v1alpha1.JsonnetSource{
		ExtVars: []v1alpha1.JsonnetVar{{Name: v, Value: name}}, TLAs: []v1alpha1.JsonnetVar{{Name: v, Value: name}}, Libs: []string{v},
	}}
	if d := cmp.Diff(want, got.Source); d != "" {
		t.Errorf("source (-want +got):\n%s", d)
	}
}

func TestOverrideFilesAreMergedIntoTheSource(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		want  *v1alpha1.HelmSource
		err   string
	}{
		{name: "none", files: map[string]string{"app/x": ""}, want: &v1alpha1.HelmSource{ReleaseName: "r", ValueFiles: []string{"a"}}},
		{name: "for all, then for this one", files: map[string]string{
			"app/.argocd-source.yaml": "helm: {valueFiles: [b], namespace: all}", "app/.argocd-source-web.yaml": "helm: {namespace: $ARGOCD_APP_NAME-one, parameters: [{name: a, value: $ARGOCD_APP_NAME}]}",
			"app/.argocd-source-other.yaml": "helm: {releaseName: other}",
		}, want: &v1alpha1.HelmSource{ReleaseName: "r", ValueFiles: []string{"b"}, Namespace: "$ARGOCD_APP_NAME-one", Parameters: []v1alpha1.HelmParameter{{Name: "a", Value: "web"}}}},
		{name: "null removes", files: map[string]string{"app/.argocd-source.yaml": "helm: {valueFiles: null}"}, want: &v1alpha1.HelmSource{ReleaseName: "r"}},
		{name: "repository, path and chart stay", files: map[string]string{"app/.argocd-source.yaml": "repoURL: https://evil.example\npath: /etc\nchart: x\nref: other\ntargetRevision: z\nhelm: {releaseName: s}"}, want: &v1alpha1.HelmSource{ReleaseName: "s", ValueFiles: []string{"a"}}},
		{name: "no YAML", files: map[string]string{"app/.argocd-source.yaml": "aloi\nhelm:\n"}, err: "app/.argocd-source.yaml:"},
		{name: "another shape", files: map[string]string{"app/.argocd-source.yaml": "helm: {valueFiles: 1}"}, err: "app/.argocd-source.yaml: the file does not fit an application source"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			req := request(t, tc.files)
			req.Source.Helm = &v1alpha1.HelmSource{ReleaseName: "r", ValueFiles: []string{"a"}}
			got, _, err := render.Prepare(req)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("got %v, want %q", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := req.Source
			want.Path, want.Helm = "app", tc.want
			if d := cmp.Diff(want, got.Source); d != "" {
				t.Errorf("source (-want +got):\n%s", d)
			}
		})
	}
}

func TestToolIsFound(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		files    []string
		set      func(*v1alpha1.ApplicationSource)
		disabled []render.Tool
		want     render.Tool
	}{
		{name: "a chart", files: []string{"Chart.yaml"}, want: render.Helm},
		{name: "a kustomization", files: []string{"Kustomization"}, want: render.Kustomize},
		{name: "a kustomization beside a chart", files: []string{"Chart.yaml", "kustomization.yml"}, want: render.Kustomize},
		{name: "a chart where kustomize is off", files: []string{"Chart.yaml", "kustomization.yml"}, disabled: []render.Tool{render.Kustomize}, want: render.Helm},
		{name: "other files", files: []string{"chart.yaml", "Chart.yaml/x"}, want: render.Directory},
		{name: "what is asked for", files: []string{"Chart.yaml"}, set: func(s *v1alpha1.ApplicationSource) { s.Directory = &v1alpha1.DirectorySource{} }, want: render.Directory},
		{name: "a plugin", files: []string{"Chart.yaml"}, set: func(s *v1alpha1.ApplicationSource) { s.Plugin = &v1alpha1.PluginSource{} }, want: render.Plugin},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			for _, f := range tc.files {
				files["app/"+f] = ""
			}
			req := request(t, files)
			if tc.set != nil {
				tc.set(&req.Source)
			}
			got, _, err := render.Prepare(req, tc.disabled...)
			if err != nil || got.Tool != tc.want {
				t.Errorf("tool %s, error %v, want %s", got.Tool, err, tc.want)
			}
		})
	}
}

func TestUnknownRefIsAMistakeAmongSeveralSources(t *testing.T) {
	t.Parallel()
	req := request(t, map[string]string{"app/Chart.yaml": ""})
	req.Source.Helm = &v1alpha1.HelmSource{ValueFiles: []string{"$vales/x.yaml"}}
	if _, _, err := render.Prepare(req); err != nil {
		t.Errorf("one source: %v", err)
	}
	req.Refs = map[string]source.Tree{"values": req.Tree}
	if _, _, err := render.Prepare(req); err == nil || !strings.Contains(err.Error(), `"vales"`) {
		t.Errorf("several sources: got %v, want an error that names the ref", err)
	}
}

type rendererFunc func(context.Context, render.Request) (render.Result, error)

func (f rendererFunc) Render(ctx context.Context, req render.Request) (render.Result, error) {
	return f(ctx, req)
}

func TestRendererThatMisbehavesIsContained(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		do   rendererFunc
		set  func(*render.Request)
		is   error
		text string
	}{
		{name: "a panic", do: func(context.Context, render.Request) (render.Result, error) { panic("secret value") }, is: render.ErrCrash},
		{name: "too many objects", do: objects(3, 10), set: func(r *render.Request) { r.Limits.Objects = 2 }, is: document.ErrLimit},
		{name: "too many bytes", do: objects(3, 10), set: func(r *render.Request) { r.Limits.Bytes = 29 }, is: document.ErrLimit},
		{name: "a plugin", set: func(r *render.Request) { r.Source.Plugin = &v1alpha1.PluginSource{Name: "cdk"} }, text: `plugin "cdk": no such config management plugin is beside the agent`},
		{name: "no renderer", set: func(r *render.Request) { r.Source.Helm = &v1alpha1.HelmSource{} }, text: "no renderer for Helm"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			req := request(t, map[string]string{"app/x": ""})
			if tc.set != nil {
				tc.set(&req)
			}
			_, err := (&render.Pipeline{Plain: tc.do}).Render(t.Context(), req)
			if err == nil || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.text) {
				t.Fatalf("got %v, want %v %s", err, tc.is, tc.text)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows what the renderer held: %v", err)
			}
		})
	}
}

func objects(n, size int) rendererFunc {
	return func(context.Context, render.Request) (render.Result, error) {
		res := render.Result{}
		for range n {
			res.Objects = append(res.Objects, object.Manifest{JSON: make([]byte, size)})
		}
		return res, nil
	}
}

func TestRenderingEndsAtItsTimeLimit(t *testing.T) {
	t.Parallel()
	files := map[string]string{"app/x": ""}
	hang := rendererFunc(func(ctx context.Context, _ render.Request) (render.Result, error) {
		<-ctx.Done()
		return render.Result{}, ctx.Err()
	})
	req := request(t, files)
	req.Limits.Seconds = 7
	synctest.Test(t, func(t *testing.T) {
		_, err := (&render.Pipeline{Plain: hang}).Render(t.Context(), req)
		if !errors.Is(err, render.ErrTimeout) || !render.IsTransient(err) || !strings.Contains(err.Error(), "7s") {
			t.Errorf("got %v", err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&render.Pipeline{Plain: hang}).Render(ctx, req); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the cause of the end", err)
	}
}

func TestTimedHoldsAnyRendererToTheLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := rendererFunc(func(ctx context.Context, _ render.Request) (render.Result, error) {
			<-ctx.Done()
			return render.Result{}, ctx.Err()
		})
		if _, err := render.Timed(hang).Render(t.Context(), render.Request{}); !errors.Is(err, render.ErrTimeout) || !strings.Contains(err.Error(), "1m0s") {
			t.Errorf("got %v", err)
		}
	})
}

func TestFailureOfTheMachineIsTransient(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		&os.PathError{Op: "fork/exec", Path: "x", Err: syscall.EAGAIN}: true,
		&os.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}:      false,
		render.ErrUnavailable:           true,
		context.Canceled:                true,
		document.ErrLimit:               false,
		errors.New("line 3 is no YAML"): false,
	} {
		if got := render.IsTransient(err); got != want {
			t.Errorf("%v: transient %v, want %v", err, got, want)
		}
	}
}
