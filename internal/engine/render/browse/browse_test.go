package browse_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/engine/render/browse"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
)

// planted is a value of a values file: nothing may tell it.
const planted = "sesame-open-up"

func tree(t *testing.T, files map[string]string) source.Tree {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := dirtree.Open(root, "0123456789abcdef0123456789abcdef01234567")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func look(t *testing.T, files map[string]string, at string) api.RepositoryPaths {
	t.Helper()
	got, err := browse.Look(tree(t, files), at)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(fmt.Sprintf("%+v", got), planted) {
		t.Errorf("a value is told: %+v", got)
	}
	return got
}

func TestADirectoryIsListedWithWhatRendersIt(t *testing.T) {
	t.Parallel()
	got := look(t, map[string]string{
		"README.md": "", "Makefile": "",
		"chart/Chart.yaml": "name: c", "overlay/kustomization.yml": "", "overlay/Chart.yaml": "", "plain/a.yaml": "", "jsonnet/main.jsonnet": "",
		"jsonnet/a.yaml": "", "docs/index.md": "", "deep/below/a.yaml": "",
	}, "")
	want := []api.RepositoryPath{
		{Path: "chart", Type: "directory", Tool: "helm"},
		{Path: "deep", Type: "directory"},
		{Path: "docs", Type: "directory"},
		{Path: "jsonnet", Type: "directory", Tool: "jsonnet"},
		{Path: "overlay", Type: "directory", Tool: "kustomize"},
		{Path: "plain", Type: "directory", Tool: "directory"},
		{Path: "Makefile", Type: "file"},
		{Path: "README.md", Type: "file"},
	}
	if d := cmp.Diff(want, got.Items); d != "" {
		t.Errorf("items (-want +got):\n%s", d)
	}
	if got.Tool != "" || got.Details != nil || got.Path != "" || got.Truncated {
		t.Errorf("the root is %+v", got)
	}
	below := look(t, map[string]string{"apps/web/a.yaml": "", "apps/web/b.json": ""}, "./apps/web/")
	if below.Path != "apps/web" || below.Tool != "directory" || below.Items[0].Path != "apps/web/a.yaml" || below.Details.Manifests != 2 {
		t.Errorf("a directory below is %+v", below)
	}
}

func TestAChartTellsItsNamesAndNoValue(t *testing.T) {
	t.Parallel()
	got := look(t, map[string]string{
		"web/Chart.yaml":              "name: web\nversion: 1.2.3\nappVersion: 1.16\ndescription: a shop\n",
		"web/values.yaml":             "image: {repository: " + planted + ", tag: x}\nreplicas: 2\ndebug: false\nhosts: [" + planted + "]\nextra: {}\nnone:\na.b: c\n",
		"web/values-prod.yaml":        "password: " + planted,
		"web/env/stage.yaml":          "",
		"web/files/other.yaml":        "",
		"web/templates/values.yaml":   "",
		"web/charts/db/values.yaml":   "",
		"web/ci/deep/prod-values.yml": "",
	}, "web")
	if d := cmp.Diff([]string{"values-prod.yaml", "values.yaml", "env/stage.yaml", "ci/deep/prod-values.yml"}, got.ValueFiles); d != "" {
		t.Errorf("values files (-want +got):\n%s", d)
	}
	want := &api.ChartDetails{Name: "web", Version: "1.2.3", AppVersion: "1.16", Description: "a shop", Parameters: []api.ChartParameter{
		{Name: `a\.b`, Type: "string"},
		{Name: "debug", Type: "boolean"},
		{Name: "extra", Type: "map"},
		{Name: "hosts", Type: "list"},
		{Name: "image.repository", Type: "string"},
		{Name: "image.tag", Type: "string"},
		{Name: "none", Type: "null"},
		{Name: "replicas", Type: "number"},
	}}
	if d := cmp.Diff(want, got.Details.Helm); d != "" {
		t.Errorf("chart (-want +got):\n%s", d)
	}
}

func TestAKustomizationTellsItsImages(t *testing.T) {
	t.Parallel()
	got := look(t, map[string]string{
		"Kustomization": "namePrefix: x-\nnamespace: shop\nresources: [a.yaml]\nbases: [../b]\ncomponents: [c]\nimages: [{name: web, newTag: 2, newName: r.example/web}]\n" +
			"secretGenerator: [{name: s, literals: [password=" + planted + "]}]\n",
		"a.yaml": "",
	}, ".")
	want := &api.KustomizeDetails{
		NamePrefix: "x-", Namespace: "shop", Resources: []string{"a.yaml", "../b"}, Components: []string{"c"},
		Images: []api.KustomizeImage{{Name: "web", NewName: "r.example/web", NewTag: "2"}},
	}
	if d := cmp.Diff(want, got.Details.Kustomize); d != "" {
		t.Errorf("kustomization (-want +got):\n%s", d)
	}
}

func TestWhatCannotBeReadIsSaidWithoutQuotingIt(t *testing.T) {
	t.Parallel()
	for name, values := range map[string]string{
		"no YAML": "password: {" + planted, "no map": "- " + planted, "a tag": "password: !!int " + planted, "too large": "a: " + strings.Repeat("x", 2<<20),
		"an alias": "a: *" + planted,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := look(t, map[string]string{"Chart.yaml": "name: web\nversion: 1.0.0", "values.yaml": values}, "")
			if len(got.Warnings) == 0 || got.Details.Helm.Name != "web" || len(got.Details.Helm.Parameters) > 0 {
				t.Errorf("the answer is %+v", got)
			}
		})
	}
}

func TestHostileTreesCostLittleAndPathsStayInside(t *testing.T) {
	t.Parallel()
	files := map[string]string{"big/Chart.yaml": "name: big", "big/values.yaml": ""}
	for i := range 1500 {
		files[fmt.Sprintf("many/f%04d", i)] = ""
		files[fmt.Sprintf("big/env/%04d.yaml", i)] = ""
		files["big/values.yaml"] += fmt.Sprintf("v%d: 1\n", i)
	}
	files["big/values.yaml"] += "deep: " + strings.Repeat("{a: ", 200) + "1" + strings.Repeat("}", 200) + "\n"
	tr := tree(t, files)
	many, err := browse.Look(tr, "many")
	if err != nil || len(many.Items) != 1000 || !many.Truncated {
		t.Errorf("of a long listing, %d items are told, more: %t (%v)", len(many.Items), many.Truncated, err)
	}
	big, err := browse.Look(tr, "big")
	if err != nil || !big.Truncated || len(big.ValueFiles) != 100 || len(big.Details.Helm.Parameters) > 500 {
		t.Errorf("of a large chart, %d values files and %+v are told (%v)", len(big.ValueFiles), big.Warnings, err)
	}
	for _, at := range []string{"/etc", "..", "../other", "a/../../b", "none", "many/f0001", "x\x00y", "../../../../../../etc"} {
		if got, err := browse.Look(tr, at); err == nil {
			t.Errorf("%q gives %+v", at, got)
		}
	}
}

func TestALinkThatLeavesTheRepositoryIsNotFollowed(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, to := range map[string]string{"out": "/etc", "up": "../..", "Chart.yaml": "/etc/passwd"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := dirtree.Open(root, "0123456789abcdef0123456789abcdef01234567")
	if err != nil {
		t.Fatal(err)
	}
	got, err := browse.Look(tr, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range got.Items {
		if item.Type != "file" || item.Tool != "" {
			t.Errorf("a link out of the repository is %+v", item)
		}
	}
	if strings.Contains(fmt.Sprintf("%+v", got), "root:") {
		t.Errorf("the answer quotes a file of the machine: %+v", got)
	}
	if _, err := browse.Look(tr, "out"); err == nil {
		t.Error("a link out of the repository was listed")
	}
}
