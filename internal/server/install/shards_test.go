package install_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

var deploy = filepath.Join("..", "..", "..", "deploy")

// agentChart renders the chart of the agent.
func agentChart(t *testing.T, namespace string, values map[string]any) (string, error) {
	t.Helper()
	chart, err := loader.Load(filepath.Join(deploy, "helm", "slipway-agent"))
	if err != nil {
		t.Fatal(err)
	}
	top, err := util.ToRenderValues(chart, values, common.ReleaseOptions{Name: "slipway-agent", Namespace: namespace}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Engine{}.RenderWithContext(t.Context(), chart, top)
	return files["slipway-agent/templates/agent.yaml"], err
}

// replicated checks that a Deployment has replicas that can share the Applications.
func replicated(t *testing.T, deployment *unstructured.Unstructured, replicas int64, want ...string) {
	t.Helper()
	if deployment == nil {
		t.Fatal("there is no Deployment")
	}
	if have, _, _ := unstructured.NestedInt64(deployment.Object, "spec", "replicas"); have != replicas {
		t.Errorf("there are %d replicas, not %d", have, replicas)
	}
	// Two numbers of shards must not be at work at a time.
	if how, _, _ := unstructured.NestedString(deployment.Object, "spec", "strategy", "type"); how != "Recreate" {
		t.Errorf("the strategy is %q", how)
	}
	containers, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	args, _, _ := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
	for _, arg := range want {
		if !slices.Contains(args, arg) {
			t.Errorf("%s is not among %v", arg, args)
		}
	}
}

func TestTheChartMakesReplicasThatShareTheApplications(t *testing.T) {
	t.Parallel()
	values := map[string]any{"server": "https://slipway.example.org", "replicas": 3, "shards": 12, "installationID": "east"}
	text, err := agentChart(t, testenv.Namespace(t), values)
	if err != nil {
		t.Fatal(err)
	}
	replicated(t, apply(t, []byte(text))["Deployment"], 3, "--shards=12", "--installation-id=east")

	beside := maps.Clone(values)
	beside["engine"] = "argocd"
	if _, err := agentChart(t, "argocd", beside); err == nil || !strings.Contains(err.Error(), "shards is for the agent's own engine") {
		t.Errorf("beside an Argo CD: %v", err)
	}
	if text, err := agentChart(t, "argocd", map[string]any{"server": "https://slipway.example.org"}); err != nil || strings.Contains(text, "--shards") {
		t.Errorf("where nobody asked for shards: %v", err)
	}
}

func TestTheComponentMakesReplicasThatShareTheApplications(t *testing.T) {
	t.Parallel()
	namespace := testenv.Namespace(t)
	for _, base := range []string{"base", "linked"} {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(deploy, "kustomize"))); err != nil {
				t.Fatal(err)
			}
			overlay := filepath.Join(dir, "overlay")
			if err := os.Mkdir(overlay, 0o700); err != nil {
				t.Fatal(err)
			}
			text := "namespace: " + namespace + "\nnamePrefix: " + base + "-\nresources: [../" + base + "]\ncomponents: [../shards]\n"
			if err := os.WriteFile(filepath.Join(overlay, "kustomization.yaml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), overlay)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range made.Resources() {
				if r.GetKind() != "Deployment" {
					continue
				}
				raw, err := r.AsYAML()
				if err != nil {
					t.Fatal(err)
				}
				replicated(t, apply(t, raw)["Deployment"], 3, "--shards=12")
				return
			}
			t.Error("there is no Deployment")
		})
	}
}
