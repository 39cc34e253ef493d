package helm_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/engine/render/helm"
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

// chartFiles is a chart in chart/ that shows its values and the release.
func chartFiles(extra map[string]string) map[string]string {
	out := map[string]string{
		"chart/Chart.yaml":  "apiVersion: v2\nname: demo\nversion: 1.0.0\n",
		"chart/values.yaml": "a: chart\nb: chart\n",
		"chart/templates/cm.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: shown, namespace: {{ .Release.Namespace }}}
data:
  release: {{ .Release.Name }}
  values: {{ omit .Values "global" | toJson | quote }}
`,
	}
	maps.Copy(out, extra)
	return out
}

func request(tr source.Tree, h v1alpha1.HelmSource) render.Request {
	return render.Request{
		App:       render.App{Name: "app"},
		Tool:      render.Helm,
		Source:    v1alpha1.ApplicationSource{Path: "chart", Helm: &h},
		Tree:      tr,
		Namespace: "dest",
		Cluster:   render.Capabilities{KubeVersion: "v1.36.3", APIVersions: []string{"example.com/v1"}},
	}
}

func mustRender(t *testing.T, req render.Request) render.Result {
	t.Helper()
	res, err := helm.Renderer{}.Render(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func names(res render.Result) []string {
	out := []string{}
	for _, o := range res.Objects {
		out = append(out, o.Key.Kind+"/"+o.Key.Name)
	}
	return out
}

// shown returns data.values of the ConfigMap of chartFiles.
func shown(t *testing.T, res render.Result) string {
	t.Helper()
	for _, o := range res.Objects {
		if o.Key.Name == "shown" {
			obj, err := o.Decode()
			if err != nil {
				t.Fatal(err)
			}
			return obj["data"].(map[string]any)["values"].(string)
		}
	}
	t.Fatal("no object named shown")
	return ""
}

func TestValuesAreMergedInHelmsOrder(t *testing.T) {
	t.Parallel()
	tr := tree(t, chartFiles(map[string]string{
		"chart/one.yaml":  "a: one\nm: {p: 1, q: 1}\n",
		"chart/two.yaml":  "a: two\nm: {q: 2}\n",
		"shared/all.yaml": "c: shared\n",
		"secret.txt":      "from file, with comma",
	}))
	ref := tree(t, map[string]string{"env/prod.yaml": "d: ref\n"})
	tests := []struct {
		name string
		helm v1alpha1.HelmSource
		want string
	}{
		{"chart values alone", v1alpha1.HelmSource{}, `{"a":"chart","b":"chart"}`},
		{"later value files win and maps merge", v1alpha1.HelmSource{ValueFiles: []string{"one.yaml", "two.yaml"}}, `{"a":"two","b":"chart","m":{"p":1,"q":2}}`},
		{"a path may leave the chart but not the repository", v1alpha1.HelmSource{ValueFiles: []string{"../shared/all.yaml"}}, `{"a":"chart","b":"chart","c":"shared"}`},
		{"an absolute path counts from the repository", v1alpha1.HelmSource{ValueFiles: []string{"/shared/all.yaml"}}, `{"a":"chart","b":"chart","c":"shared"}`},
		{"a ref reads another source", v1alpha1.HelmSource{ValueFiles: []string{"$other/env/prod.yaml"}}, `{"a":"chart","b":"chart","d":"ref"}`},
		{"values win over files", v1alpha1.HelmSource{ValueFiles: []string{"one.yaml"}, Values: "a: inline\nb: null\n"}, `{"a":"inline","m":{"p":1,"q":1}}`},
		{"valuesObject takes the place of values", v1alpha1.HelmSource{Values: "a: text\nc: text\n", ValuesObject: &v1alpha1.RawJSON{Raw: []byte(`{"a":"object"}`)}}, `{"a":"object","b":"chart"}`},
		{"parameters win over values", v1alpha1.HelmSource{Values: "a: inline\n", Parameters: []v1alpha1.HelmParameter{{Name: "a", Value: "param"}}}, `{"a":"param","b":"chart"}`},
		{"parameters have types unless forced", v1alpha1.HelmSource{Parameters: []v1alpha1.HelmParameter{{Name: "a", Value: "1"}, {Name: "b", Value: "1", ForceString: true}}}, `{"a":1,"b":"1"}`},
		{"a comma in a parameter is no separator", v1alpha1.HelmSource{Parameters: []v1alpha1.HelmParameter{{Name: "a", Value: "x,b=y"}}}, `{"a":"x,b=y","b":"chart"}`},
		{"a list parameter keeps its commas", v1alpha1.HelmSource{Parameters: []v1alpha1.HelmParameter{{Name: "a", Value: "{x,y}"}}}, `{"a":["x","y"],"b":"chart"}`},
		{"a file parameter is taken as it is", v1alpha1.HelmSource{FileParameters: []v1alpha1.HelmFileParameter{{Name: "a", Path: "../secret.txt"}}}, `{"a":"from file, with comma","b":"chart"}`},
		{"a missing value file can be ignored", v1alpha1.HelmSource{ValueFiles: []string{"no.yaml", "two.yaml"}, IgnoreMissingValueFiles: true}, `{"a":"two","b":"chart","m":{"q":2}}`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			req := request(tr, tc.helm)
			req.Refs = map[string]source.Tree{"other": ref}
			if got := shown(t, mustRender(t, req)); got != tc.want {
				t.Errorf("values are %s, want %s", got, tc.want)
			}
		})
	}
}

func TestReleaseIsWhatTheSpecSays(t *testing.T) {
	t.Parallel()
	tr := tree(t, chartFiles(nil))
	obj, _ := mustRender(t, request(tr, v1alpha1.HelmSource{ReleaseName: "rel", Namespace: "ns"})).Objects[0].Decode()
	if got := obj["data"].(map[string]any)["release"]; got != "rel" {
		t.Errorf("release is %v, want rel", got)
	}
	if got := obj["metadata"].(map[string]any)["namespace"]; got != "ns" {
		t.Errorf("namespace is %v, want ns", got)
	}
	res := mustRender(t, request(tr, v1alpha1.HelmSource{}))
	if res.Objects[0].Key.Namespace != "dest" || res.Tool != render.Helm {
		t.Errorf("got %v by %s, want namespace dest by Helm", res.Objects[0], res.Tool)
	}
}

func TestCRDsComeFirstThenInstallOrderThenHooks(t *testing.T) {
	t.Parallel()
	object := func(kind, name, annotations string) string {
		return "---\napiVersion: v1\nkind: " + kind + "\nmetadata: {name: " + name + ", annotations: {" + annotations + "}}\n"
	}
	files := map[string]string{
		"chart/Chart.yaml": "apiVersion: v2\nname: demo\nversion: 1.0.0\n",
		"chart/templates/all.yaml": object("Deployment", "web", "") + object("Zebra", "z", "") + object("ConfigMap", "cm", "") +
			object("Job", "pre", "helm.sh/hook: pre-install") + object("Secret", "hooked", `helm.sh/hook: "pre-install,post-upgrade"`) +
			object("Pod", "check", "helm.sh/hook: test") + object("Job", "old", "helm.sh/hook: crd-install") + object("Aardvark", "a", ""),
		"chart/templates/NOTES.txt":  "Thanks {{ .Release.Name }}",
		"chart/templates/empty.yaml": "{{ if false }}x{{ end }}",
		"chart/crds/crd.yaml":        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: foos.example.com}\n",
	}
	tr := tree(t, files)
	want := []string{"CustomResourceDefinition/foos.example.com", "ConfigMap/cm", "Deployment/web", "Aardvark/a", "Zebra/z", "Secret/hooked", "Pod/check", "Job/pre"}
	if diff := cmp.Diff(want, names(mustRender(t, request(tr, v1alpha1.HelmSource{})))); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	want = []string{"ConfigMap/cm", "Deployment/web", "Aardvark/a", "Zebra/z", "Secret/hooked", "Job/pre"}
	if diff := cmp.Diff(want, names(mustRender(t, request(tr, v1alpha1.HelmSource{SkipCRDs: true, SkipTests: true})))); diff != "" {
		t.Errorf("objects without CRDs and tests (-want +got):\n%s", diff)
	}
}

func TestClusterIsADependencyOnlyWhereTheChartAsks(t *testing.T) {
	t.Parallel()
	asks := chartFiles(map[string]string{"chart/templates/x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: caps}\ndata:\n  v: {{ .Capabilities.KubeVersion }}\n  has: \"{{ .Capabilities.APIVersions.Has \"example.com/v1\" }}\"\n"})
	constrained := chartFiles(map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: demo\nversion: 1.0.0\nkubeVersion: '>=1.30.0-0'\n"})
	tests := []struct {
		name  string
		files map[string]string
		helm  v1alpha1.HelmSource
		want  bool
	}{
		{"nothing asked", chartFiles(nil), v1alpha1.HelmSource{}, false},
		{"template asks", asks, v1alpha1.HelmSource{}, true},
		{"template asks but the spec answers", asks, v1alpha1.HelmSource{KubeVersion: "1.30", APIVersions: []string{"example.com/v1"}}, false},
		{"kubeVersion constraint", constrained, v1alpha1.HelmSource{}, true},
		{"values ask", chartFiles(nil), v1alpha1.HelmSource{Values: "x: '{{ .Capabilities.KubeVersion }}'"}, true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := mustRender(t, request(tree(t, tc.files), tc.helm)).Deps.Cluster; got != tc.want {
				t.Errorf("depends on cluster: %v, want %v", got, tc.want)
			}
		})
	}
	res := mustRender(t, request(tree(t, asks), v1alpha1.HelmSource{KubeVersion: "1.30.11+IKS"}))
	if got := string(res.Objects[1].JSON); !strings.Contains(got, `"v":"v1.30.11"`) || !strings.Contains(got, `"has":"true"`) {
		t.Errorf("capabilities are %s", got)
	}
}

func TestTemplatesSeeNothingOfTheHost(t *testing.T) {
	t.Setenv("SLIPWAY_TEST_SECRET", "leak")
	for _, fn := range []string{`{{ env "SLIPWAY_TEST_SECRET" }}`, `{{ expandenv "$SLIPWAY_TEST_SECRET" }}`} {
		tr := tree(t, chartFiles(map[string]string{"chart/templates/x.yaml": fn}))
		_, err := helm.Renderer{}.Render(context.Background(), request(tr, v1alpha1.HelmSource{}))
		if err == nil || strings.Contains(err.Error(), "leak") {
			t.Errorf("%s: error is %v, want one without the value", fn, err)
		}
	}
	tr := tree(t, chartFiles(map[string]string{"chart/templates/x.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: host}
data:
  dns: "{{ getHostByName "localhost" }}"
  lookup: "{{ len (lookup "v1" "Secret" "default" "x") }}"
`}))
	res := mustRender(t, request(tr, v1alpha1.HelmSource{}))
	if got := string(res.Objects[1].JSON); !strings.Contains(got, `{"dns":"","lookup":"0"}`) {
		t.Errorf("template saw %s", got)
	}
}

// tgz makes an archive of the named files.
func tgz(t *testing.T, files map[string]string) string {
	t.Helper()
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	tw := tar.NewWriter(zw)
	for name, content := range files {
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg}
		if target, ok := strings.CutPrefix(content, "->"); ok {
			h.Typeflag, h.Linkname, h.Size, content = tar.TypeSymlink, target, 0, ""
		}
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func TestDependenciesAreTakenFromTheTree(t *testing.T) {
	t.Parallel()
	sub := map[string]string{
		"Chart.yaml":          "apiVersion: v2\nname: sub\nversion: 1.2.0\n",
		"values.yaml":         "color: red\n",
		"templates/sub.yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Chart.Name }}-{{ .Values.color }}\"}\n",
		"templates/_skip.tpl": "",
	}
	under := func(dir string) map[string]string {
		out := map[string]string{}
		for n, c := range sub {
			out[dir+n] = c
		}
		return out
	}
	parent := func(deps string, more map[string]string) map[string]string {
		out := map[string]string{
			"chart/Chart.yaml": "apiVersion: v2\nname: demo\nversion: 1.0.0\ndependencies:\n" + deps,
		}
		maps.Copy(out, more)
		return out
	}
	remote := "- {name: sub, version: 1.x, repository: https://charts.example.com%s}\n"
	dep := func(extra string) string { return strings.Replace(remote, "%s", extra, 1) }
	tests := []struct {
		name   string
		files  map[string]string
		values string
		want   []string
	}{
		{"a directory in charts", parent(dep(""), under("chart/charts/sub/")), "", []string{"ConfigMap/sub-red"}},
		{"an archive in charts", parent(dep(""), map[string]string{"chart/charts/sub-1.2.0.tgz": tgz(t, under("sub/"))}), "", []string{"ConfigMap/sub-red"}},
		{"a directory elsewhere in the repository", parent("- {name: sub, version: 1.x, repository: 'file://../sub'}\n", under("sub/")), "", []string{"ConfigMap/sub-red"}},
		{"values of the parent reach it", parent(dep(""), under("chart/charts/sub/")), "sub: {color: blue}", []string{"ConfigMap/sub-blue"}},
		{"a condition leaves it out", parent(dep(", condition: sub.enabled"), under("chart/charts/sub/")), "sub: {enabled: false}", []string{}},
		{"tags leave it out", parent(dep(", tags: [extra]"), under("chart/charts/sub/")), "tags: {extra: false}", []string{}},
		{"an alias makes a second one", parent(dep("")+dep(", alias: two"), under("chart/charts/sub/")), "two: {color: green}", []string{"ConfigMap/sub-red", "ConfigMap/two-green"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := names(mustRender(t, request(tree(t, tc.files), v1alpha1.HelmSource{Values: tc.values})))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHelmignoreLeavesFilesOut(t *testing.T) {
	t.Parallel()
	tr := tree(t, chartFiles(map[string]string{
		"chart/.helmignore":          "*.bak.yaml\nold/\n",
		"chart/templates/x.bak.yaml": "{{ fail \"read\" }}",
		"chart/templates/old/y.yaml": "{{ fail \"read\" }}",
	}))
	if got := names(mustRender(t, request(tr, v1alpha1.HelmSource{}))); len(got) != 1 {
		t.Errorf("objects are %v, want one", got)
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "x.yaml"), []byte("stolen: content-of-the-host"), 0o644); err != nil {
		t.Fatal(err)
	}
	bomb := tgz(t, map[string]string{"sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n", "sub/big": strings.Repeat("0", 6<<20)})
	tests := []struct {
		name  string
		files map[string]string
		helm  v1alpha1.HelmSource
		want  string
	}{
		{"missing value file", nil, v1alpha1.HelmSource{ValueFiles: []string{"no.yaml"}}, "no.yaml: no such file or directory"},
		{"value file above the root", nil, v1alpha1.HelmSource{ValueFiles: []string{"../../x.yaml"}}, "outside repository root"},
		{"absolute value file above the root", nil, v1alpha1.HelmSource{ValueFiles: []string{"/../x.yaml"}}, "outside repository root"},
		{"value file through a link out", map[string]string{"chart/link.yaml": "->" + filepath.Join(outside, "x.yaml")}, v1alpha1.HelmSource{ValueFiles: []string{"link.yaml"}}, "outside repository root"},
		{"value file by URL", nil, v1alpha1.HelmSource{ValueFiles: []string{"https://example.com/v.yaml"}}, "was not fetched"},
		{"pattern without a match", nil, v1alpha1.HelmSource{ValueFiles: []string{"env/*.yaml"}}, "no file matches"},
		{"malformed pattern", nil, v1alpha1.HelmSource{ValueFiles: []string{"env/[.yaml"}}, "malformed"},
		{"unknown version", nil, v1alpha1.HelmSource{Version: "v2"}, "not supported"},
		{"bad release name", nil, v1alpha1.HelmSource{ReleaseName: "No_Good"}, "releaseName"},
		{"dependency to fetch", map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: demo\nversion: 1.0.0\ndependencies:\n- {name: db, version: 1.x, repository: 'https://c.example.com'}\n"}, v1alpha1.HelmSource{}, "helm dependency update"},
		{"local dependency above the root", map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: demo\nversion: 1.0.0\ndependencies:\n- {name: db, version: 1.x, repository: 'file://../../db'}\n"}, v1alpha1.HelmSource{}, "outside repository root"},
		{"library chart", map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: demo\nversion: 1.0.0\ntype: library\n"}, v1alpha1.HelmSource{}, "cannot be deployed on its own"},
		{"incompatible cluster", map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: demo\nversion: 1.0.0\nkubeVersion: '<1.20'\n"}, v1alpha1.HelmSource{}, "requires Kubernetes <1.20, the cluster has v1.36.3"},
		{"template error with its line", map[string]string{"chart/templates/bad.yaml": "x: 1\ny: {{ .Values.a.b.c }}\n"}, v1alpha1.HelmSource{}, "demo/templates/bad.yaml:2"},
		{"output that is no YAML", map[string]string{"chart/templates/bad.yaml": "kind: [\n"}, v1alpha1.HelmSource{}, "demo/templates/bad.yaml"},
		{"values that are no map", nil, v1alpha1.HelmSource{Values: "- a\n"}, "spec.source.helm.values"},
		{"malformed parameter", nil, v1alpha1.HelmSource{Parameters: []v1alpha1.HelmParameter{{Name: "a[999999999]", Value: "x"}}}, "set parameter a[999999999]"},
		{"no chart", map[string]string{"chart/Chart.yaml": "->gone"}, v1alpha1.HelmSource{}, "Chart.yaml"},
		{"archive that climbs out", map[string]string{"chart/charts/x.tgz": tgz(t, map[string]string{"x/../../evil": "1"})}, v1alpha1.HelmSource{}, "leaves the directory"},
		{"archive with an absolute name", map[string]string{"chart/charts/x.tgz": tgz(t, map[string]string{"/etc/evil": "1"})}, v1alpha1.HelmSource{}, "not inside the directory"},
		{"archive with a link", map[string]string{"chart/charts/x.tgz": tgz(t, map[string]string{"x/l": "->/etc/passwd"})}, v1alpha1.HelmSource{}, "is a link"},
		{"archive that inflates", map[string]string{"chart/charts/x.tgz": bomb}, v1alpha1.HelmSource{}, "limit exceeded"},
		{"no archive", map[string]string{"chart/charts/x.tgz": "plain"}, v1alpha1.HelmSource{}, "not a gzip archive"},
		{"schema violated", map[string]string{"chart/values.schema.json": `{"properties":{"a":{"type":"integer"}}}`}, v1alpha1.HelmSource{}, "values don't meet the specifications of the schema(s)"},
		{"schema of another host", map[string]string{"chart/values.schema.json": `{"$ref":"https://example.com/s.json"}`}, v1alpha1.HelmSource{}, "is outside the schema"},
		{"schema of the host", map[string]string{"chart/values.schema.json": `{"$ref":"file://` + filepath.Join(outside, "x.yaml") + `"}`}, v1alpha1.HelmSource{}, "is outside the schema"},
		{"chart with a link out", map[string]string{"chart/templates/l.yaml": "->" + filepath.Join(outside, "x.yaml")}, v1alpha1.HelmSource{}, "outside repository root"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := helm.Renderer{}.Render(context.Background(), request(tree(t, chartFiles(tc.files)), tc.helm))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error is %v, want one with %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "stolen") || strings.Contains(err.Error(), "content-of-the-host") {
				t.Errorf("the error leaks content: %v", err)
			}
		})
	}
}

func TestErrorsHideValues(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, template, values string }{
		{"a secret in fail", `{{ fail (printf "bad %s" .Values.db.password) }}`, "db: {password: hunter2hunter2}"},
		{"a long value in tpl", `{{ tpl .Values.text . }}`, "text: '{{ nope }} hunter2hunter2 " + strings.Repeat("x", 100) + "'"},
		{"a multi-line value in fail", `{{ fail .Values.file }}`, "file: |\n  hunter2hunter2\n  more\n"},
		{"a value that breaks YAML", "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\nstringData:\n  p: \"{{ .Values.password }}\n", "password: hunter2hunter2"},
		{"a secret in a map of secrets", `{{ fail (toString .Values.auth) }}`, "auth: {admin: hunter2hunter2}"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tr := tree(t, chartFiles(map[string]string{"chart/templates/x.yaml": tc.template}))
			_, err := helm.Renderer{}.Render(context.Background(), request(tr, v1alpha1.HelmSource{Values: tc.values}))
			if err == nil || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error is %v, want one without the value", err)
			}
		})
	}
}

func TestSchemaCanBeSkipped(t *testing.T) {
	t.Parallel()
	tr := tree(t, chartFiles(map[string]string{"chart/values.schema.json": `{"properties":{"a":{"type":"integer"}}}`}))
	mustRender(t, request(tr, v1alpha1.HelmSource{SkipSchemaValidation: true}))
}

// doubled is a tree as links make it: each directory below chart/l has two, down to a depth that is permitted.
type doubled struct{ source.Tree }

func (d doubled) ReadDir(name string) ([]source.Entry, error) {
	switch {
	case !strings.HasPrefix(name, "chart/l"):
		return d.Tree.ReadDir(name)
	case strings.Count(name, "/") > 30:
		return nil, nil
	}
	return []source.Entry{{Name: "a", Mode: fs.ModeDir}, {Name: "b", Mode: fs.ModeDir}}, nil
}

func TestLinksThatMultiplyDirectoriesMakeNoEndlessChart(t *testing.T) {
	t.Parallel()
	files := doubled{tree(t, chartFiles(map[string]string{"chart/l/file": ""}))}
	if _, err := (helm.Renderer{}).Render(t.Context(), request(files, v1alpha1.HelmSource{})); !errors.Is(err, document.ErrLimit) ||
		!strings.Contains(err.Error(), "links followed") {
		t.Error(err)
	}
}
