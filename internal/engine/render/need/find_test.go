package need_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
)

// tree is a repository with these files.
func tree(t testing.TB, files map[string]string) source.Tree {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := dirtree.Open(root, "r1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	return out
}

func find(t testing.TB, files map[string]string, change func(*render.Request)) ([]need.Need, error) {
	t.Helper()
	req := render.Request{App: render.App{Name: "web"}, Source: v1alpha1.ApplicationSource{Path: "app"}, Tree: tree(t, files)}
	if change != nil {
		change(&req)
	}
	found, _, err := need.Find(req)
	return found, err
}

const chartYAML = "apiVersion: v2\nname: web\nversion: 1.0.0\n"

func TestChartsThatAreNotVendoredAreNeeded(t *testing.T) {
	t.Parallel()
	const deps = `dependencies:
- {name: here, version: 1.x, repository: "https://charts.example.org"}
- {name: redis, version: ">=1.2", repository: "https://charts.example.org/", condition: redis.enabled}
- {name: redis, version: ">=1.2", repository: "https://charts.example.org/", alias: second}
- {name: local, version: 1.0.0, repository: "file://../local"}
- {name: oci, version: "*", repository: "oci://registry.example.org/charts"}
- {name: named, version: 2.0.0, repository: "@stable"}
- {name: bundled, version: 2.0.0}
`
	got, err := find(t, map[string]string{
		"app/Chart.yaml":             chartYAML + deps,
		"app/charts/here/Chart.yaml": "apiVersion: v2\nname: here\nversion: 1.0.0\n",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []need.Need{
		{Kind: need.Chart, URL: "https://charts.example.org/", Name: "redis", Revision: ">=1.2"},
		{Kind: need.Chart, URL: "oci://registry.example.org/charts", Name: "oci", Revision: "*"},
		{Kind: need.Chart, URL: "@stable", Name: "named", Revision: "2.0.0"},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(need.Need{}, "By")); d != "" {
		t.Errorf("needs (-want +got):\n%s", d)
	}
	if name, ok := got[2].Alias(); !ok || name != "stable" {
		t.Errorf("the repository of %s is %q, %v", got[2], name, ok)
	}
}

func TestRequirementsOfOldChartsAreNeeded(t *testing.T) {
	t.Parallel()
	got, err := find(t, map[string]string{
		"app/Chart.yaml":        "name: web\nversion: 1.0.0\n",
		"app/requirements.yaml": "dependencies:\n- {name: redis, version: 1.2.3, repository: \"https://charts.example.org\"}\n",
	}, nil)
	if err != nil || len(got) != 1 || got[0].Name != "redis" || got[0].Revision != "1.2.3" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestLockGivesTheVersionsIfItFits(t *testing.T) {
	t.Parallel()
	// Both files are as "helm dependency update" left them.
	const deps = `dependencies:
- {name: mongodb, version: 7.8.10, repository: "https://charts.bitnami.com/bitnami", condition: mongodb.enabled}
- {name: eventstore, version: 0.2.5, repository: "https://eventstore.github.io/EventStore.Charts", condition: eventstore.enabled}
`
	const lock = `dependencies:
- {name: mongodb, version: 7.8.10, repository: "https://charts.bitnami.com/bitnami"}
- {name: eventstore, version: 0.2.5, repository: "https://eventstore.github.io/EventStore.Charts"}
digest: sha256:94b7537c078de2547173e28289cbae155893cd797aa9296f6c78ba922d6a1e8a
generated: "2022-05-19T11:55:59.559189-04:00"
`
	got, err := find(t, map[string]string{"app/Chart.yaml": chartYAML + deps, "app/Chart.lock": lock}, nil)
	if err != nil || len(got) != 2 || got[0].Revision != "7.8.10" || !strings.Contains(got[0].By, "Chart.lock") {
		t.Errorf("got %v, %v", got, err)
	}
	for name, files := range map[string][2]string{
		"a dependency changed": {strings.Replace(deps, "7.8.10", "7.8.11", 1), lock},
		"the lock changed":     {deps, strings.Replace(lock, "7.8.10", "7.8.11", 1)},
		"no digest":            {deps, strings.Replace(lock, "digest", "generated2", 1)},
	} {
		_, err := find(t, map[string]string{"app/Chart.yaml": chartYAML + files[0], "app/Chart.lock": files[1]}, nil)
		if err == nil || !strings.Contains(err.Error(), "out of sync") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestHostileDependenciesAreRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, repository, want string }{
		{"../evil", "https://charts.example.org", "named with letters"},
		{"a/b", "https://charts.example.org", "named with letters"},
		{"a..b", "https://charts.example.org", "named with letters"},
		{"-v", "https://charts.example.org", "named with letters"},
		{"redis", "s3://bucket", "s3:// is not supported"},
		{"redis", "charts.example.org", "is no address"},
		{"redis", "https://charts.example.org/a b", "is no address"},
		{"redis", "@", "names no repository"},
		{"redis", "ftp://user:secret@host/x", "not supported"},
	} {
		_, err := find(t, map[string]string{
			"app/Chart.yaml": chartYAML + fmt.Sprintf("dependencies:\n- {name: %q, version: 1.0.0, repository: %q}\n", tc.name, tc.repository),
		}, nil)
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s of %s: got %v, want an error with %q", tc.name, tc.repository, err, tc.want)
		}
	}
}

func TestManyNeedsAreRefused(t *testing.T) {
	t.Parallel()
	var chart, kustomization strings.Builder
	chart.WriteString(chartYAML + "dependencies:\n")
	kustomization.WriteString("resources:\n")
	for i := range 10_000 {
		fmt.Fprintf(&chart, "- {name: dep%d, version: 1.0.0, repository: \"https://charts.example.org\"}\n", i)
		fmt.Fprintf(&kustomization, "- https://git.example.org/org/repo%d//base\n", i)
	}
	for _, files := range []map[string]string{
		{"app/Chart.yaml": chart.String()}, {"app/kustomization.yaml": kustomization.String()},
	} {
		if _, err := find(t, files, nil); err == nil || !strings.Contains(err.Error(), "more than 100") {
			t.Errorf("got %v", err)
		}
	}
}

func TestValueFilesByURLAreNeeded(t *testing.T) {
	t.Parallel()
	files := map[string]string{"app/Chart.yaml": chartYAML}
	with := func(settings render.Settings, names ...string) []need.Need {
		got, err := find(t, files, func(r *render.Request) {
			r.Settings, r.Source.Helm = settings, &v1alpha1.HelmSource{ValueFiles: names}
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := with(render.Settings{}, "values.yaml", "https://values.example.org/$ARGOCD_APP_NAME.yaml#x", "http://values.example.org/b.yaml", "file:///etc/passwd")
	want := []need.Need{{Kind: need.File, URL: "https://values.example.org/web.yaml"}, {Kind: need.File, URL: "http://values.example.org/b.yaml"}}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(need.Need{}, "By")); d != "" {
		t.Errorf("needs (-want +got):\n%s", d)
	}
	only := render.ReadSettings(map[string]string{"helm.valuesFileSchemes": "https"})
	if got := with(only, "http://values.example.org/b.yaml"); len(got) > 0 {
		t.Errorf("a scheme that is not allowed gives %v", got)
	}
	none := render.ReadSettings(map[string]string{"helm.valuesFileSchemes": ""})
	if got := with(none, "https://values.example.org/b.yaml"); len(got) > 0 {
		t.Errorf("no scheme is allowed, and this is needed: %v", got)
	}
}

func TestRemoteBasesAreNeededAlsoWhereRemoteBasesNameThem(t *testing.T) {
	t.Parallel()
	req := render.Request{Source: v1alpha1.ApplicationSource{
		Path: "app", Kustomize: &v1alpha1.KustomizeSource{Components: []string{"https://git.example.org/team/parts//debug?ref=v2"}},
	}, Tree: tree(t, map[string]string{
		"app/kustomization.yaml": "resources: [../base, \"https://git.example.org/team/bases//web?ref=v1\"]\n",
		"base/kustomization.yaml": "components: [github.com/org/repo/comp]\nresources: [\"https://raw.example.org/x/y.yaml\"]\n" +
			"patches:\n- path: https://raw.example.org/patch.yaml\n",
		"other/kustomization.yaml": "resources: [https://git.example.org/team/not-read]\n",
	})}
	first := names(t, req)
	if d := cmp.Diff([]string{
		"https://git.example.org/team/parts at v2", "https://github.com/org/repo", "https://raw.example.org/x/y.yaml",
		"https://raw.example.org/patch.yaml", "https://git.example.org/team/bases at v1",
	}, first, cmpopts.SortSlices(strings.Compare)); d != "" {
		t.Fatalf("needs (-want +got):\n%s", d)
	}
	bases := need.Need{Kind: need.Git, URL: "https://git.example.org/team/bases", Revision: "v1"}
	req.Needs = map[string]source.Tree{bases.Key(): tree(t, map[string]string{
		"web/kustomization.yaml":    "resources: [../common, \"ssh://git@git.example.org/team/deep.git//a?version=main\"]\n",
		"common/kustomization.yaml": "resources: [\"https://git.example.org/team/bases//web?ref=v1\"]\n",
	})}
	second := names(t, req)
	if len(second) != len(first)+1 || second[len(second)-1] != "ssh://git@git.example.org/team/deep.git at main" {
		t.Errorf("with the first base fetched, needs are %v", second)
	}
}

func names(t *testing.T, req render.Request) []string {
	t.Helper()
	found, _, err := need.Find(req)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, n := range found {
		out = append(out, n.String())
	}
	return out
}

func TestRemoteBasesEndAtADepth(t *testing.T) {
	t.Parallel()
	base := func(i int) need.Need {
		return need.Need{Kind: need.Git, URL: fmt.Sprintf("https://git.example.org/team/b%d", i)}
	}
	req := render.Request{Source: v1alpha1.ApplicationSource{Path: "app"}, Tree: tree(t, map[string]string{
		"app/kustomization.yaml": "resources: [https://git.example.org/team/b0]\n",
	}), Needs: map[string]source.Tree{}}
	for i := range 20 {
		req.Needs[base(i).Key()] = tree(t, map[string]string{
			"kustomization.yaml": fmt.Sprintf("resources: [https://git.example.org/team/b%d]\n", i+1),
		})
	}
	if _, _, err := need.Find(req); err == nil || !strings.Contains(err.Error(), "nested deeper than 10") {
		t.Errorf("got %v", err)
	}
}

func TestChartsOfKustomizationsAreNeededWhereHelmIsEnabled(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"app/kustomization.yaml": `helmCharts:
- {name: here, repo: "https://charts.example.org", version: 1.0.0}
- {name: redis, repo: "https://charts.example.org/", version: 2.0.0}
- {name: own}
helmChartInflationGenerator:
- {chartName: old, chartRepoUrl: "https://old.example.org"}
`,
		"app/charts/here-1.0.0/here/Chart.yaml": "name: here\n",
	}
	if got, err := find(t, files, nil); err != nil || len(got) > 0 {
		t.Errorf("without --enable-helm: %v, %v", got, err)
	}
	got, err := find(t, files, func(r *render.Request) { r.Settings.BuildOptions = map[string]string{"": "--enable-helm"} })
	if err != nil {
		t.Fatal(err)
	}
	want := []need.Need{
		{Kind: need.Chart, URL: "https://charts.example.org", Name: "redis", Revision: "2.0.0"},
		{Kind: need.Chart, URL: "https://old.example.org", Name: "old"},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(need.Need{}, "By")); d != "" {
		t.Errorf("needs (-want +got):\n%s", d)
	}
	byVersion := func(r *render.Request) {
		r.Settings = render.ReadSettings(map[string]string{"kustomize.buildOptions.v5.4.0": "--enable-helm"})
		r.Source.Kustomize = &v1alpha1.KustomizeSource{Version: "v5.4.0"}
	}
	if got, err := find(t, files, byVersion); err != nil || len(got) != 2 {
		t.Errorf("with options for the version of the source: %v, %v", got, err)
	}
}

func TestDirectoryOfManifestsNeedsNothing(t *testing.T) {
	t.Parallel()
	got, err := find(t, map[string]string{"app/cm.yaml": "apiVersion: v1\nkind: ConfigMap\n"}, nil)
	if err != nil || len(got) > 0 {
		t.Errorf("got %v, %v", got, err)
	}
}
