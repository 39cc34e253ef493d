package agent

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

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

func TestInstancesCanBeLeftOut(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		out  bool
	}{{nil, false}, {[]string{"--instances=false"}, true}} {
		var flags linkFlags
		set := pflag.NewFlagSet("agent", pflag.ContinueOnError)
		flags.add(set)
		if err := set.Parse(append(test.args, "--server", "https://slipway.example.org")); err != nil {
			t.Fatal(err)
		}
		config, err := flags.config(false)
		if err != nil || config.NoInstances != test.out {
			t.Errorf("%v: %+v, %v", test.args, config, err)
		}
	}
}
