package kustomize_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/kustomize"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// elsewhere is what kustomizations name that is not in the repository: Git repositories with a tag v1, and files by URL. In texts
// GIT stands for the address of the one and WEB for that of the other.
type elsewhere struct {
	t     *testing.T
	git   *testenv.GitServer
	web   *httptest.Server
	repos map[string]map[string]string
	files map[string]string
	calls int
}

func newElsewhere(t *testing.T, repos map[string]map[string]string, files map[string]string) *elsewhere {
	t.Helper()
	e := &elsewhere{t: t, git: testenv.Git(t), repos: map[string]map[string]string{}, files: files}
	e.web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := e.files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(e.web.Close)
	for name, content := range repos {
		e.repos[name] = e.at(content)
		r := e.git.NewRepo(name)
		r.Tag("v1", r.Commit(e.repos[name], "first"))
	}
	return e
}

// at puts addresses into texts.
func (e *elsewhere) at(files map[string]string) map[string]string {
	out := maps.Clone(files)
	for name, text := range out {
		out[name] = strings.NewReplacer("GIT", e.git.Base(), "WEB", e.web.URL).Replace(text)
	}
	return out
}

// fetch gets the tree of a need, as an agent would.
func (e *elsewhere) fetch(n need.Need) source.Tree {
	e.calls++
	if n.Kind == need.File {
		text, ok := e.files[strings.TrimPrefix(n.URL, e.web.URL)]
		if !ok {
			e.t.Fatalf("%s is needed, which does not exist", n)
		}
		return tree(e.t, map[string]string{need.FileName: text})
	}
	name := strings.TrimSuffix(strings.TrimPrefix(n.URL, e.git.Base()+"/"), ".git")
	content, ok := e.repos[name]
	if !ok {
		e.t.Fatalf("%s is needed, which does not exist", n)
	}
	return tree(e.t, content)
}

// build fetches what the kustomization in app/ of files needs, and builds it.
func (e *elsewhere) build(files map[string]string, change func(*render.Request)) (render.Result, error) {
	e.t.Helper()
	req := render.Request{
		App: render.App{Name: "app"}, Tool: render.Kustomize, Tree: tree(e.t, e.at(files)), Needs: map[string]source.Tree{},
		Source:  v1alpha1.ApplicationSource{Path: "app", Kustomize: &v1alpha1.KustomizeSource{}},
		Cluster: render.Capabilities{KubeVersion: "v1.36.3"},
	}
	if change != nil {
		change(&req)
	}
	for range need.MaxRounds {
		needs, _, err := need.Find(req)
		if err != nil {
			return render.Result{}, err
		}
		missing := need.Missing(needs, req.Needs)
		if len(missing) == 0 {
			break
		}
		for _, n := range missing {
			req.Needs[n.Key()] = e.fetch(n)
		}
	}
	return kustomize.New().Render(context.Background(), req)
}

// command is what Kustomize gives that fetches for itself.
func (e *elsewhere) command(files map[string]string, change func(*krusty.Options)) ([]any, error) {
	e.t.Helper()
	root := e.t.TempDir()
	for name, text := range e.at(files) {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			e.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			e.t.Fatal(err)
		}
	}
	opts := krusty.MakeDefaultOptions()
	opts.Reorder = krusty.ReorderOptionUnspecified
	if change != nil {
		change(opts)
	}
	out, err := krusty.MakeKustomizer(opts).Run(filesys.MakeFsOnDisk(), filepath.Join(root, "app"))
	if err != nil {
		return nil, err
	}
	var objects []any
	for _, r := range out.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			e.t.Fatal(err)
		}
		var v any
		if err := yaml.Unmarshal(text, &v); err != nil {
			e.t.Fatal(err)
		}
		objects = append(objects, v)
	}
	return objects, nil
}

func decoded(t *testing.T, res render.Result) []any {
	t.Helper()
	var out []any
	for _, o := range res.Objects {
		var v any
		if err := json.Unmarshal(o.JSON, &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func cm(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {a: b}\n"
}

// remoteBases is a kustomization that uses other repositories in most of the ways in which that is possible.
func remoteBases() (files map[string]string, repos map[string]map[string]string, web map[string]string) {
	files = map[string]string{
		"app/kustomization.yaml": `resources:
- own.yaml
- GIT/bases.git//web/overlay?ref=v1
- GIT/bases.git/plain?ref=v1&timeout=20s
- WEB/manifests/more.yaml
components:
- GIT/parts.git//label?version=v1
namePrefix: pre-
namespace: shop
buildMetadata: [originAnnotations, transformerAnnotations]
patches:
- path: WEB/patch.yaml
  target: {kind: ConfigMap, name: plain}
configMapGenerator:
- name: made
  files: [WEB/data/settings.txt, other.txt=WEB/data/settings.txt, local.txt]
`,
		"app/own.yaml": cm("own"), "app/local.txt": "local\n",
	}
	repos = map[string]map[string]string{
		"bases": {
			"web/overlay/kustomization.yaml": "resources: [../base, ../../shared]\nnameSuffix: -x\n",
			"web/base/kustomization.yaml":    "resources:\n- web.yaml\n- GIT/bases.git//plain2?ref=v1\n",
			"web/base/web.yaml":              deployment,
			"shared/kustomization.yaml":      "resources: [cm.yaml]\nconfigurations: [conf.yaml]\n",
			"shared/conf.yaml":               "commonLabels: []\n",
			"shared/cm.yaml":                 cm("shared"),
			"plain/kustomization.yaml":       "resources: [cm.yaml]\ncommonLabels: {big: base}\n",
			"plain/cm.yaml":                  cm("plain"),
			"plain2/kustomization.yaml":      "resources: [GIT/deep.git]\n",
		},
		"deep": {"kustomization.yaml": "resources: [cm.yaml]\n", "cm.yaml": cm("deep")},
		"parts": {
			"label/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {part: label}\nresources: [cm.yaml]\n",
			"label/cm.yaml":            cm("part"),
		},
	}
	for _, r := range repos {
		for name, text := range r {
			r[name] = strings.ReplaceAll(text, "[GIT/deep.git]", "\n- GIT/deep.git")
		}
	}
	web = map[string]string{
		"/manifests/more.yaml": cm("more") + "---\n" + cm("more2"), "/patch.yaml": "- op: replace\n  path: /data/a\n  value: c\n",
		"/data/settings.txt": "x=y\n",
	}
	return files, repos, web
}

func TestRemoteBasesGiveWhatTheCommandGives(t *testing.T) {
	t.Parallel()
	files, repos, web := remoteBases()
	e := newElsewhere(t, repos, web)
	want, err := e.command(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.build(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, decoded(t, res)); d != "" {
		t.Errorf("(-command +ours):\n%s", d)
	}
	if len(res.Objects) < 8 {
		t.Errorf("only %d objects", len(res.Objects))
	}
	if e.calls != 8 {
		t.Logf("%d trees were fetched", e.calls)
	}
}

func TestComponentsOfTheSourceMayBeRemote(t *testing.T) {
	t.Parallel()
	files, repos, web := remoteBases()
	files["app/kustomization.yaml"] = "resources: [own.yaml]\n"
	e := newElsewhere(t, repos, web)
	res, err := e.build(files, func(r *render.Request) {
		r.Source.Kustomize.Components = []string{e.git.Base() + "/parts.git//label?ref=v1"}
	})
	if err != nil || len(res.Objects) != 2 || !strings.Contains(string(res.Objects[0].JSON), `"part":"label"`) {
		t.Errorf("got %v, %v", res.Objects, err)
	}
}

func TestCyclesOfRemoteBasesAreRefused(t *testing.T) {
	t.Parallel()
	e := newElsewhere(t, map[string]map[string]string{
		"a": {"kustomization.yaml": "resources:\n- GIT/b.git?ref=v1\n"},
		"b": {"kustomization.yaml": "resources:\n- GIT/a.git?ref=v1\n"},
	}, nil)
	_, err := e.build(map[string]string{"app/kustomization.yaml": "resources:\n- GIT/a.git?ref=v1\n"}, nil)
	if err == nil || !strings.Contains(err.Error(), "cycle detected") || e.calls != 2 {
		t.Errorf("%d trees were fetched, and building gives %v", e.calls, err)
	}
}

func TestRemoteBaseStaysInItsRepository(t *testing.T) {
	t.Parallel()
	own := map[string]string{"secret.yaml": cm("secret"), "secret/kustomization.yaml": "resources: [cm.yaml]\n", "secret/cm.yaml": cm("secret")}
	for name, kustomization := range map[string]string{
		"directory above": "resources: [../../secret]\n",
		"file above":      "resources: [../../secret.yaml]\n",
		"absolute":        "resources: [/secret]\n",
		"patch":           "resources: [cm.yaml]\npatches: [{path: ../../../secret.yaml}]\n",
		"component":       "components: [../../secret]\n",
	} {
		e := newElsewhere(t, map[string]map[string]string{"bases": {"x/kustomization.yaml": kustomization, "x/cm.yaml": cm("x")}}, nil)
		files := maps.Clone(own)
		files["app/kustomization.yaml"] = "resources:\n- GIT/bases.git//x?ref=v1\n"
		for _, options := range []string{"", "--load-restrictor LoadRestrictionsNone"} {
			_, err := e.build(files, func(r *render.Request) { r.Settings.BuildOptions = map[string]string{"": options} })
			if err == nil || !strings.Contains(err.Error(), "outside the repository") {
				t.Errorf("%s with %q: got %v", name, options, err)
			}
		}
	}
}

func TestLoadRestrictionsNoneStaysInTheRepositoryAndOutOfRemoteBases(t *testing.T) {
	t.Parallel()
	none := func(r *render.Request) {
		r.Settings.BuildOptions = map[string]string{"": "--load-restrictor LoadRestrictionsNone"}
	}
	files := map[string]string{"app/kustomization.yaml": "resources: [../shared/cm.yaml]\n", "shared/cm.yaml": cm("shared")}
	e := newElsewhere(t, map[string]map[string]string{
		"bases": {"x/kustomization.yaml": "resources: [../y/cm.yaml]\n", "y/cm.yaml": cm("y")},
	}, nil)
	if _, err := e.build(files, nil); err == nil || !strings.Contains(err.Error(), "is not in or below") {
		t.Errorf("a file outside the directory: got %v", err)
	}
	want, err := e.command(files, func(o *krusty.Options) { o.LoadRestrictions = types.LoadRestrictionsNone })
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.build(files, none)
	if d := cmp.Diff(want, decoded(t, res)); err != nil || d != "" {
		t.Errorf("%v (-command +ours):\n%s", err, d)
	}
	files["app/kustomization.yaml"] = "resources: [../../etc/passwd.yaml]\n"
	if _, err := e.build(files, none); err == nil || !strings.Contains(err.Error(), "outside the repository") {
		t.Errorf("a file outside the repository: got %v", err)
	}
	files["app/kustomization.yaml"] = "resources:\n- GIT/bases.git//x?ref=v1\n"
	if _, err := e.build(files, none); err == nil || !strings.Contains(err.Error(), "a remote base may not do so") {
		t.Errorf("a file outside the directory of a remote base: got %v", err)
	}
}

func TestErrorsNameWhatPeopleWrote(t *testing.T) {
	t.Parallel()
	e := newElsewhere(t, map[string]map[string]string{"bases": {"x/kustomization.yaml": "resources: [absent.yaml]\n"}}, nil)
	_, err := e.build(map[string]string{"app/kustomization.yaml": "resources:\n- GIT/bases.git//x?ref=v1\n"}, nil)
	if err == nil || !strings.Contains(err.Error(), e.git.Base()+"/bases.git/x") {
		t.Errorf("got %v", err)
	}
	_, err = e.build(map[string]string{"app/kustomization.yaml": "resources:\n- GIT/bases.git//nowhere?ref=v1\n"}, nil)
	if err == nil || !strings.Contains(err.Error(), e.git.Base()+"/bases.git/nowhere") {
		t.Errorf("got %v", err)
	}
}
