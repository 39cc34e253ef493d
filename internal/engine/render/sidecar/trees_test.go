package sidecar_test

import (
	"archive/tar"
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/memo"
	"github.com/slipway-gitops/slipway/internal/engine/render/sidecar"
	"github.com/slipway-gitops/slipway/internal/sops"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/archive"
	"github.com/slipway-gitops/slipway/internal/source/sealed"
)

// unpacked is the tree of an archive, as those of charts and artifacts are.
func unpacked(t *testing.T, files map[string]string) source.Tree {
	t.Helper()
	store, err := archive.Open(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for name, content := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	tree, _, err := store.Unpack("one", &packed, "", archive.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return tree.At("1.0.0")
}

// charted asks for the chart of a repository of charts.
func charted(tree source.Tree, plugin *v1alpha1.PluginSource) (req render.Request) {
	req.App.Name, req.App.Namespace, req.Tree = "shop", "argocd", tree
	req.Source = v1alpha1.ApplicationSource{RepoURL: "https://charts.example.org", Chart: "shop", TargetRevision: "1.0.0", Plugin: plugin}
	return req
}

func TestAPluginGetsAChartAsItIsPublished(t *testing.T) {
	t.Parallel()
	encrypted, err := os.ReadFile("../../../sops/testdata/encrypted/secret.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := sockets(t)
	var got []received
	p := &plugin{make: func(r received) ([]string, error) { got = append(got, r); return echo(r) }}
	p.serve(t, dir, "mine")
	m := memo.New(pipeline(&sidecar.Renderer{Dir: dir}), memo.Options{})
	deploy := func(secret string) bool {
		t.Helper()
		tree := unpacked(t, map[string]string{"Chart.yaml": "name: shop\n", "app/input.txt": "hello", "values/secret.yaml": secret})
		opened := sealed.New(tree, sealed.Keys{Ring: &sops.Ring{}, Holder: "project shop"})
		res, hit, err := m.Render(t.Context(), charted(opened, &v1alpha1.PluginSource{Name: "mine"}), "scope")
		if err != nil || len(res.Objects) != 1 || !strings.Contains(string(res.Objects[0].JSON), `"file":"hello"`) {
			t.Fatalf("%+v, %v", res, err)
		}
		return hit
	}
	if deploy(string(encrypted)) || !deploy(string(encrypted)) || deploy("kind: other\n") {
		t.Error("a chart that did not change is rendered again, or one that did is not")
	}
	if len(got) != 2 || got[0].path != "." || got[0].files["Chart.yaml"] == "" || got[0].files["values/secret.yaml"] != string(encrypted) {
		t.Errorf("the plugin got %+v", got)
	}
}

func TestNothingIsFetchedForASourceThatAPluginRenders(t *testing.T) {
	t.Parallel()
	dir := sockets(t)
	p := &plugin{discovers: true, knows: "app/input.txt", make: echo}
	p.serve(t, dir, "mine")
	m := memo.New(pipeline(&sidecar.Renderer{Dir: dir}), memo.Options{})
	chart := "apiVersion: v2\nname: shop\nversion: 1.0.0\ndependencies: [{name: base, version: 1.0.0, repository: \"https://charts.example.org\"}]\n"
	for _, tt := range []struct {
		files map[string]string
		needs int
	}{
		{map[string]string{"app/Chart.yaml": chart, "app/input.txt": "x"}, 0},
		{map[string]string{"app/Chart.yaml": chart}, 1},
	} {
		req := request(t, tt.files, nil)
		for range 2 {
			if needs, err := m.Needs(t.Context(), req, "scope"); err != nil || len(needs) != tt.needs {
				t.Errorf("with %d files it needs %v, %v", len(tt.files), needs, err)
			}
		}
	}
	if len(p.calls) != 4 { // what was found is remembered
		t.Errorf("calls: %v", p.calls)
	}
}
