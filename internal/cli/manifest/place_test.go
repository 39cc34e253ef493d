package manifest_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/internal/cli/manifest"
)

func TestPlace(t *testing.T) {
	for _, c := range []struct{ name, own, place, want, err string }{
		{name: "what says none goes into the one given", place: "argocd", want: "argocd"},
		{name: "what says the same stays", own: "argocd", place: "argocd", want: "argocd"},
		{name: "where none is given it keeps its own", own: "team", want: "team"},
		{name: "and may say none"},
		{name: "of another one it is refused", own: "team", place: "argocd", want: "team", err: "call again with -n team"},
	} {
		t.Run(c.name, func(t *testing.T) {
			obj := &unstructured.Unstructured{Object: map[string]any{"kind": "Application"}}
			obj.SetName("web")
			if c.own != "" {
				obj.SetNamespace(c.own)
			}
			err := manifest.Place([]*unstructured.Unstructured{obj}, c.place)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if got := obj.GetNamespace(); got != c.want {
				t.Errorf("it is in namespace %q, want %q", got, c.want)
			}
		})
	}
}
