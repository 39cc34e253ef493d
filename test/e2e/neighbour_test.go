package e2e

import (
	"fmt"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// neighbour is another Application of the same agent, by which a story shows that the agent goes on.
type neighbour struct {
	repo  *testenv.GitRepo
	count int
}

// cmdNeighbour commits to the repository of another Application of the same agent and waits until that Application is
// at the new commit: neighbour.
func cmdNeighbour(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 0, "neighbour")
	s := of(ts)
	name := s.app + "-neighbour"
	fresh := s.neighbour == nil
	if fresh {
		s.neighbour = &neighbour{repo: s.server("").NewRepo(s.app + "/neighbour")}
	}
	n := s.neighbour
	n.count++
	commit := n.repo.Commit(map[string]string{
		"app/config.yaml": fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: neighbour\ndata:\n  count: %q\n", fmt.Sprint(n.count)),
	}, "count on")
	if fresh {
		ts.Check(s.apply(&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": v1alpha1.GroupVersion().String(), "kind": v1alpha1.KindApplication,
			"metadata": map[string]any{"name": name},
			"spec": map[string]any{
				"project":     v1alpha1.DefaultProject,
				"source":      map[string]any{"repoURL": n.repo.URL(), "path": "app"},
				"destination": map[string]any{"name": v1alpha1.InClusterName, "namespace": s.namespace},
				"syncPolicy":  map[string]any{"automated": map[string]any{"prune": true, "selfHeal": true}},
			},
		}}))
	} else {
		ts.Check(s.agent.tell(n.repo.URL(), "refs/heads/main"))
	}
	ref, _ := refer(ts, []string{"app/" + name})
	ts.Check(s.await(ref, waitLimit, "synced to the commit just made", func(obj *unstructured.Unstructured) (bool, error) {
		if obj == nil {
			return false, nil
		}
		revision, err := find(obj, ".status.sync.revision")
		if err != nil || revision != commit {
			return false, err
		}
		state, err := find(obj, ".status.sync.status")
		return state == string(v1alpha1.SyncStatusSynced), err
	}))
	config, _ := refer(ts, []string{"configmap/neighbour"})
	ts.Check(s.await(config, waitLimit, "counted on", func(obj *unstructured.Unstructured) (bool, error) {
		if obj == nil {
			return false, nil
		}
		have, err := find(obj, ".data.count")
		return have == fmt.Sprint(n.count), err
	}))
}
