package kustomize_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/kustomize"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
)

// tree writes files into a directory and opens it. A content that begins with "->" makes a symbolic link.
func tree(t *testing.T, files map[string]string) source.Tree {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(content, "->"); ok {
			err = os.Symlink(target, full)
		} else {
			err = os.WriteFile(full, []byte(content), 0o644)
		}
		if err != nil {
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

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "nginx:1.0"}]}
`

// overlay is a kustomization in app/ over a base.
func overlay(kustomization string, extra map[string]string) map[string]string {
	out := map[string]string{
		"base/kustomization.yaml": "resources: [web.yaml]\n",
		"base/web.yaml":           deployment,
		"app/kustomization.yaml":  "resources: [../base]\n" + kustomization,
	}
	maps.Copy(out, extra)
	return out
}

func build(t *testing.T, files map[string]string, k *v1alpha1.KustomizeSource) (render.Result, error) {
	t.Helper()
	return kustomize.New().Render(context.Background(), render.Request{
		App:    render.App{Name: "app"},
		Tool:   render.Kustomize,
		Source: v1alpha1.ApplicationSource{Path: "app", Kustomize: k},
		Tree:   tree(t, files),
	})
}

// at returns what is at path (map keys and slice indices) of the first object.
func at(t *testing.T, res render.Result, path ...any) any {
	t.Helper()
	if len(res.Objects) == 0 {
		t.Fatal("no objects")
	}
	obj, err := res.Objects[0].Decode()
	if err != nil {
		t.Fatal(err)
	}
	var v any = obj
	for _, p := range path {
		switch k := p.(type) {
		case string:
			v = v.(map[string]any)[k]
		case int:
			v = v.([]any)[k]
		}
	}
	return v
}

func TestOptionsEditTheKustomization(t *testing.T) {
	t.Parallel()
	image := []any{"spec", "template", "spec", "containers", 0, "image"}
	labels := []any{"metadata", "labels"}
	annotations := []any{"metadata", "annotations"}
	component := "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnameSuffix: -c\n"
	tests := []struct {
		name  string
		kust  string
		extra map[string]string
		opts  v1alpha1.KustomizeSource
		at    []any
		want  any
	}{
		{"nothing", "", nil, v1alpha1.KustomizeSource{}, []any{"metadata", "name"}, "web"},
		{"prefix and suffix", "namePrefix: old-\n", nil, v1alpha1.KustomizeSource{NamePrefix: "a-", NameSuffix: "-z"}, []any{"metadata", "name"}, "a-web-z"},
		{"namespace", "namespace: old\n", nil, v1alpha1.KustomizeSource{Namespace: "new"}, []any{"metadata", "namespace"}, "new"},
		{"image tag", "", nil, v1alpha1.KustomizeSource{Images: []string{"nginx:2.0"}}, image, "nginx:2.0"},
		{"image name and tag", "", nil, v1alpha1.KustomizeSource{Images: []string{"nginx=r.example.com:5000/web:3"}}, image, "r.example.com:5000/web:3"},
		{"image name alone", "", nil, v1alpha1.KustomizeSource{Images: []string{"nginx=web"}}, image, "web:1.0"},
		{"image digest", "", nil, v1alpha1.KustomizeSource{Images: []string{"nginx@sha256:abc"}}, image, "nginx@sha256:abc"},
		{"image part kept", "images: [{name: nginx, newName: web}]\n", nil, v1alpha1.KustomizeSource{Images: []string{"nginx=*:9"}}, image, "web:9"},
		{"replicas", "", nil, v1alpha1.KustomizeSource{Replicas: []v1alpha1.KustomizeReplica{{Name: "web", Count: intstr.FromString("4")}}}, []any{"spec", "replicas"}, int64(4)},
		{"labels", "", nil, v1alpha1.KustomizeSource{CommonLabels: map[string]string{"x": "y"}}, []any{"spec", "selector", "matchLabels"}, map[string]any{"app": "web", "x": "y"}},
		{"forced label", "commonLabels: {x: old}\n", nil, v1alpha1.KustomizeSource{CommonLabels: map[string]string{"x": "y"}, ForceCommonLabels: true}, labels, map[string]any{"app": "web", "x": "y"}},
		{"label without selector", "", nil, v1alpha1.KustomizeSource{CommonLabels: map[string]string{"x": "y"}, LabelWithoutSelector: true}, []any{"spec", "template", "metadata", "labels"}, map[string]any{"app": "web"}},
		{"label in templates", "", nil, v1alpha1.KustomizeSource{CommonLabels: map[string]string{"x": "y"}, LabelWithoutSelector: true, LabelIncludeTemplates: true}, []any{"spec", "template", "metadata", "labels"}, map[string]any{"app": "web", "x": "y"}},
		{"annotations", "commonAnnotations: {a: b}\n", nil, v1alpha1.KustomizeSource{CommonAnnotations: map[string]string{"x": "$y"}}, annotations, map[string]any{"a": "b", "x": "$y"}},
		{"forced annotation", "commonAnnotations: {a: b}\n", nil, v1alpha1.KustomizeSource{CommonAnnotations: map[string]string{"a": "c"}, ForceCommonAnnotations: true}, annotations, map[string]any{"a": "c"}},
		{"inline patch with a target", "", nil, v1alpha1.KustomizeSource{Patches: []v1alpha1.KustomizePatch{{Target: &v1alpha1.KustomizeSelector{Kind: "Deployment", Name: "w.*"}, Patch: `[{"op":"replace","path":"/spec/replicas","value":7}]`}}}, []any{"spec", "replicas"}, int64(7)},
		{"patch that names its object", "", nil, v1alpha1.KustomizeSource{Patches: []v1alpha1.KustomizePatch{{Patch: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 8}\n"}}}, []any{"spec", "replicas"}, int64(8)},
		{"patch from a file", "", map[string]string{"app/p.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 9}\n"}, v1alpha1.KustomizeSource{Patches: []v1alpha1.KustomizePatch{{Path: "p.yaml"}}}, []any{"spec", "replicas"}, int64(9)},
		{"patch that renames", "", nil, v1alpha1.KustomizeSource{Patches: []v1alpha1.KustomizePatch{{Target: &v1alpha1.KustomizeSelector{LabelSelector: "app=web"}, Patch: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: other}\n", Options: map[string]bool{"allowNameChange": true}}}}, []any{"metadata", "name"}, "other"},
		{"component", "", map[string]string{"comp/kustomization.yaml": component}, v1alpha1.KustomizeSource{Components: []string{"../comp"}}, []any{"metadata", "name"}, "web-c"},
		{"component by pattern", "", map[string]string{"comp/kustomization.yaml": component}, v1alpha1.KustomizeSource{Components: []string{"../c*p"}}, []any{"metadata", "name"}, "web-c"},
		{"missing component ignored", "", nil, v1alpha1.KustomizeSource{Components: []string{"../no"}, IgnoreMissingComponents: true}, []any{"metadata", "name"}, "web"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			res, err := build(t, overlay(tc.kust, tc.extra), &tc.opts)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, at(t, res, tc.at...)); diff != "" {
				t.Errorf("at %v (-want +got):\n%s", tc.at, diff)
			}
		})
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "x.yaml")
	if err := os.WriteFile(outside, []byte("stolen: content-of-the-host"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		kust  string
		extra map[string]string
		opts  v1alpha1.KustomizeSource
		want  string
	}{
		{"remote base", "bases: ['github.com/example/repo//base?ref=v1']\n", nil, v1alpha1.KustomizeSource{}, "was not fetched"},
		{"remote resource", "components: ['https://example.com/x.yaml']\n", nil, v1alpha1.KustomizeSource{}, "was not fetched"},
		{"remote by ssh", "components: ['git@example.com:a/b.git']\n", nil, v1alpha1.KustomizeSource{}, "was not fetched"},
		{"remote in the base", "", map[string]string{"base/kustomization.yaml": "resources: ['https://user:pw@example.com/x']\n"}, v1alpha1.KustomizeSource{}, "https://example.com/x under resources"},
		{"remote config file", "configMapGenerator: [{name: x, files: ['k=http://example.com/x']}]\n", nil, v1alpha1.KustomizeSource{}, "under configMapGenerator"},
		{"remote component option", "", nil, v1alpha1.KustomizeSource{Components: []string{"https://example.com/c"}}, "was not fetched"},
		{"charts", "helmCharts: [{name: x}]\n", nil, v1alpha1.KustomizeSource{}, "source of its own"},
		{"file above the kustomization", "configMapGenerator: [{name: x, files: [../base/web.yaml]}]\n", nil, v1alpha1.KustomizeSource{}, "is not in or below"},
		{"file above the root", "configMapGenerator: [{name: x, files: [../../../etc/passwd]}]\n", nil, v1alpha1.KustomizeSource{}, "etc/passwd"},
		{"component above the root", "", nil, v1alpha1.KustomizeSource{Components: []string{"../../x"}}, "outside repository root"},
		{"link out", "configMapGenerator: [{name: x, files: [l.yaml]}]\n", map[string]string{"app/l.yaml": "->" + outside}, v1alpha1.KustomizeSource{}, source.ErrEscape.Error()},
		{"label in the way", "commonLabels: {x: old}\n", nil, v1alpha1.KustomizeSource{CommonLabels: map[string]string{"x": "y"}}, "already in kustomization file"},
		{"annotation in the way", "commonAnnotations: {x: old}\n", nil, v1alpha1.KustomizeSource{CommonAnnotations: map[string]string{"x": "y"}}, "already in kustomization file"},
		{"replicas that are no number", "", nil, v1alpha1.KustomizeSource{Replicas: []v1alpha1.KustomizeReplica{{Name: "web", Count: intstr.FromString("garbage")}}}, "expected integer value for count. Received: garbage"},
		{"image without a tag", "", nil, v1alpha1.KustomizeSource{Images: []string{"nginx"}}, "malformed"},
		{"missing component", "", nil, v1alpha1.KustomizeSource{Components: []string{"../no"}}, "ignoreMissingComponents"},
		{"unknown version", "", nil, v1alpha1.KustomizeSource{Version: "v1.2.3"}, "kustomize version v1.2.3 is not registered"},
		{"unknown field", "nonsense: 1\n", nil, v1alpha1.KustomizeSource{}, "nonsense"},
		{"exec plugin", "generators: [g.yaml]\n", map[string]string{"app/g.yaml": "apiVersion: v1\nkind: Gen\nmetadata:\n  name: g\n  annotations:\n    config.kubernetes.io/function: |\n      exec: {path: /bin/true}\n"}, v1alpha1.KustomizeSource{}, "plugin"},
		{"ksops", "generators: [g.yaml]\n", map[string]string{"app/g.yaml": "apiVersion: viaduct.ai/v1\nkind: ksops\nmetadata:\n  name: g\n  annotations:\n    config.kubernetes.io/function: |\n      exec: {path: ksops}\nfiles: [secret.enc.yaml]\n"}, v1alpha1.KustomizeSource{}, "labelled Secret"},
		{"ksops of the old kind", "generators: [g.yaml]\n", map[string]string{"app/g.yaml": "apiVersion: viaduct.ai/v1\nkind: ksops\nmetadata: {name: g}\nfiles: [secret.enc.yaml]\n"}, v1alpha1.KustomizeSource{}, "labelled Secret"},
		{"base that contains itself", "", map[string]string{"base/kustomization.yaml": "resources: [../app]\n"}, v1alpha1.KustomizeSource{}, "cycle"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := build(t, overlay(tc.kust, tc.extra), &tc.opts)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error is %v, want one with %q", err, tc.want)
			}
			for _, leak := range []string{"stolen", "pw@", "content-of-the-host"} {
				if strings.Contains(err.Error(), leak) {
					t.Errorf("the error leaks %q: %v", leak, err)
				}
			}
		})
	}
	_, err := build(t, map[string]string{"app/x.yaml": deployment}, nil)
	if err == nil || !strings.Contains(err.Error(), "kustomization file not found in the path") {
		t.Errorf("error without a kustomization is %v", err)
	}
}

func TestRegisteredVersionsAreAccepted(t *testing.T) {
	t.Parallel()
	req := render.Request{
		Source: v1alpha1.ApplicationSource{Path: "app", Kustomize: &v1alpha1.KustomizeSource{Version: "v4.5"}},
		Tree:   tree(t, overlay("", nil)),
	}
	if _, err := kustomize.New("v4.5").Render(context.Background(), req); err != nil {
		t.Error(err)
	}
}

func TestGeneratedNamesAndOrderAreThoseOfTheCommand(t *testing.T) {
	t.Parallel()
	res, err := build(t, overlay("configMapGenerator: [{name: cfg, literals: [a=b]}]\nnamespace: ns\n", map[string]string{
		"base/kustomization.yaml": "resources: [web.yaml, ns.yaml]\n",
		"base/ns.yaml":            "apiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n",
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range res.Objects {
		got = append(got, o.String())
	}
	want := []string{"Namespace ns", "ConfigMap ns/cfg-7d87c77c5f", "Deployment.apps ns/web"}
	if diff := cmp.Diff(want[:1], got[:1]); diff != "" || len(got) != 3 || !strings.HasPrefix(got[1], "ConfigMap ns/cfg-") || got[2] != want[2] {
		t.Errorf("objects are %v, want about %v", got, want)
	}
}

// It runs alone: other Renderers in the process would share the schema.
func TestSchemaOfOneKustomizationDoesNotReachTheNext(t *testing.T) {
	r := kustomize.New()
	patch := "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\nspec: {list: [{name: b, v: 2}]}\n"
	files := map[string]string{
		"app/thing.yaml":  "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\nspec: {list: [{name: a, v: 1}]}\n",
		"app/patch.yaml":  patch,
		"app/schema.json": `{"definitions":{"Thing":{"type":"object","properties":{"spec":{"type":"object","properties":{"list":{"type":"array","items":{"type":"object"},"x-kubernetes-patch-merge-key":"name","x-kubernetes-patch-strategy":"merge"}}}},"x-kubernetes-group-version-kind":[{"group":"example.com","version":"v1","kind":"Thing"}]}}}`,
	}
	count := func(kust string) int {
		t.Helper()
		all := maps.Clone(files)
		all["app/kustomization.yaml"] = kust
		res, err := r.Render(context.Background(), render.Request{Source: v1alpha1.ApplicationSource{Path: "app"}, Tree: tree(t, all)})
		if err != nil {
			t.Fatal(err)
		}
		return len(at(t, res, "spec", "list").([]any))
	}
	plain := "resources: [thing.yaml]\npatches: [{path: patch.yaml}]\n"
	if got := count(plain); got != 1 {
		t.Fatalf("without schema the list has %d items, want the patch's 1", got)
	}
	if got := count(plain + "openapi: {path: schema.json}\n"); got != 2 {
		t.Errorf("with schema the list has %d items, want 2 merged", got)
	}
	if got := count(plain); got != 1 {
		t.Errorf("after a kustomization with a schema the list has %d items, want 1", got)
	}
}

func TestWaitingForATurnEndsWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := kustomize.New().Render(ctx, render.Request{Source: v1alpha1.ApplicationSource{Path: "app"}, Tree: tree(t, overlay("", nil))})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}
