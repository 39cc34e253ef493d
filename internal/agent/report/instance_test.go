package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestPodsAreLookedForWhereSomethingMayHaveThem(t *testing.T) {
	t.Parallel()
	app := &v1alpha1.Application{}
	app.Status.Resources = []v1alpha1.ResourceStatus{
		{Group: "apps", Kind: "Deployment", Namespace: "web", Name: "web"},
		{Group: "batch", Kind: "CronJob", Namespace: "web", Name: "nightly"},
		{Group: "postgresql.example.org", Kind: "Cluster", Namespace: "data", Name: "db"},
		{Group: v1alpha1.Group, Kind: "Rollout", Namespace: "rollout", Name: "web"},
		{Kind: "Pod", Namespace: "bare", Name: "one"},
		{Kind: "ConfigMap", Namespace: "config", Name: "a"},
		{Group: v1alpha1.Group, Kind: "Application", Namespace: "argocd", Name: "child"},
		{Group: "networking.k8s.io", Kind: "Ingress", Namespace: "config", Name: "a"},
		{Group: "policy", Kind: "PodDisruptionBudget", Namespace: "config", Name: "a"},
		{Group: "example.org", Kind: "Tenant", Name: "cluster-wide"},
	}
	if diff := cmp.Diff([]string{"web", "data", "rollout", "bare"}, workloads(app)); diff != "" {
		t.Errorf("namespaces (-want +got):\n%s", diff)
	}
}
