package render_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
)

// asked keeps the Helm that a source asked for.
type asked struct{ version string }

func (a *asked) Render(_ context.Context, req render.Request) (render.Result, error) {
	a.version = "none"
	if req.Source.Helm != nil {
		a.version = req.Source.Helm.Version
	}
	return render.Result{}, nil
}

func TestSourceThatNamesNoHelmGetsTheStandardOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Chart.yaml"), []byte("name: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tree, err := dirtree.Open(dir, "abc")
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	v4 := func() string { return render.HelmV4 }
	for _, tc := range []struct {
		name     string
		helm     *v1alpha1.HelmSource
		standard func() string
		want     string
	}{
		{"no helm block", nil, v4, "v4"},
		{"a block without a version", &v1alpha1.HelmSource{ReleaseName: "x"}, v4, "v4"},
		{"a version counts first", &v1alpha1.HelmSource{Version: "v3"}, v4, "v3"},
		{"no standard", &v1alpha1.HelmSource{ReleaseName: "x"}, nil, ""},
	} {
		before := tc.helm.DeepCopy()
		var got asked
		p := render.Pipeline{Helm: &got, HelmVersion: tc.standard}
		if _, err := p.Render(t.Context(), render.Request{Source: v1alpha1.ApplicationSource{Path: ".", Helm: tc.helm}, Tree: tree}); err != nil {
			t.Fatal(err)
		}
		if got.version != tc.want {
			t.Errorf("%s: the renderer got %q, want %q", tc.name, got.version, tc.want)
		}
		if before != nil && before.Version != tc.helm.Version {
			t.Errorf("%s: the source of the caller was changed", tc.name)
		}
	}
}
