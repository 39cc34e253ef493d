package chaos

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestTheSecondOfTwoAgentsTakesOverWhenTheFirstStops(t *testing.T) {
	t.Parallel()
	config, ns := testenv.Cluster(t), testenv.Namespace(t)
	repo := testenv.Git(t).NewRepo("two")
	commit := func(value int) {
		repo.Commit(map[string]string{"cm.yaml": fmt.Sprintf(
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: told}\ndata: {value: \"%d\"}\n", value)}, "commit")
	}
	commit(1)
	v := newView(t, config, ns)
	at := func(value int) func(map[ref]object) string {
		return func(objects map[ref]object) string {
			have, _, _ := unstructured.NestedString(objects[ref{"ConfigMap", "told"}], "data", "value")
			if want := fmt.Sprint(value); have != want {
				return fmt.Sprintf("the cluster is at %q, not %q", have, want)
			}
			return ""
		}
	}
	await := func(p *testenv.Process, value int) {
		t.Helper()
		if problem := v.await(t.Context(), converged, at(value)); problem != "" {
			t.Fatalf("%s\nthe end of the agent's log:\n%s", problem, p.Tail())
		}
	}

	first := newAgent(t, testenv.Kubeconfig(t), "--namespace", ns, "--installation-id", ns, "--poll", "1s")
	first.Start()
	v.awaitApplicationKind(t)
	createApplication(t, config, ns, "two", map[string]any{"repoURL": repo.URL(), "path": "."},
		map[string]any{"server": v1alpha1.InClusterServer, "namespace": ns}, true)
	await(first, 1)

	second := newAgent(t, testenv.Kubeconfig(t), "--namespace", ns, "--installation-id", ns, "--poll", "1s")
	second.Start()
	commit(2)
	await(first, 2)
	first.Kill()
	first.Start() // on the same data directory: it is the same agent, and leads on at once
	commit(3)
	await(first, 3)
	if second.Logged(`"msg":"synced"`) > 0 {
		t.Errorf("the second agent worked while the first led:\n%s", second.Tail())
	}

	first.Stop()
	commit(4)
	await(second, 4)
}
