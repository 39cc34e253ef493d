package verb

import (
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine/live"
)

func TestAChildApplicationHasTheHealthOfItsOwnStatus(t *testing.T) {
	t.Parallel()
	v := &core{Config{Known: func(id registry.Name) (*v1alpha1.Application, bool) {
		app := &v1alpha1.Application{}
		app.Status.Health = v1alpha1.HealthStatus{Status: v1alpha1.HealthDegraded, Message: "web has failed"}
		return app, id == registry.Name{Namespace: "argocd", Name: "web"}
	}}}
	at := func(server string) *site { return &site{cluster: &live.Cluster{Server: server}} }
	child := v1alpha1.ResourceStatus{Group: "argoproj.io", Kind: "Application", Namespace: "argocd", Name: "web"}
	if got := v.childHealth(at(v1alpha1.InClusterServer), &child); got == nil || got.Status != v1alpha1.HealthDegraded || got.Message != "web has failed" {
		t.Errorf("its health is %+v", got)
	}
	gone, alike := child, child
	gone.Name, alike.Group = "gone", "app.k8s.io"
	for what, got := range map[string]*v1alpha1.HealthStatus{
		"one that is not known":  v.childHealth(at(v1alpha1.InClusterServer), &gone),
		"one of another cluster": v.childHealth(at("https://edge.example.org:6443"), &child),
		"another kind":           v.childHealth(at(v1alpha1.InClusterServer), &alike),
	} {
		if got != nil {
			t.Errorf("the health of %s is %+v", what, got)
		}
	}
}
