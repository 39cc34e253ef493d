package render_test

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
)

func TestPluginThatIsMissingSaysWhatToDo(t *testing.T) {
	t.Parallel()
	tree, err := dirtree.Open(t.TempDir(), "abc")
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for name, want := range map[string]string{
		"ksops": "labelled Secret", "argocd-vault-plugin-helm": "External Secrets", "helmfile": "commit what it renders", "mine": "commit what the plugin prints", "": "commit what the plugin prints",
	} {
		_, err := (&render.Pipeline{}).Render(t.Context(), render.Request{
			Source: v1alpha1.ApplicationSource{Path: ".", Plugin: &v1alpha1.PluginSource{Name: name}}, Tree: tree,
		})
		if err == nil || !strings.Contains(err.Error(), "no such config management plugin is beside the agent") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}
