package inspect

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestOnlyKindsThatCanAppearAreListed(t *testing.T) {
	t.Parallel()
	pod, replicaSet := object.Kind{Kind: "Pod"}, object.Kind{Group: "apps", Kind: "ReplicaSet"}
	for _, c := range []struct {
		name  string
		roots []object.Kind
		want  []object.Kind
	}{
		{"nothing owns anything", []object.Kind{{Kind: "ConfigMap"}, {Kind: "Secret"}}, nil},
		{"through several owners", []object.Kind{{Group: "apps", Kind: "Deployment"}}, []object.Kind{replicaSet, pod}},
		{
			"each kind once",
			[]object.Kind{{Group: "apps", Kind: "Deployment"}, {Group: "apps", Kind: "Deployment"}, {Group: "batch", Kind: "Job"}},
			[]object.Kind{replicaSet, pod},
		},
		{"kinds of Kubernetes that own nothing", []object.Kind{{Group: "networking.k8s.io", Kind: "Ingress"}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := KindsBelow(c.roots)
			slices.SortFunc(got, order)
			slices.SortFunc(c.want, order)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
		})
	}
	custom := KindsBelow([]object.Kind{{Group: "example.com", Kind: "Rollout"}})
	for _, kind := range []object.Kind{pod, replicaSet, {Kind: "Service"}} {
		if !slices.Contains(custom, kind) {
			t.Errorf("below a custom kind, %s is not looked for", kind)
		}
	}
}

func order(a, b object.Kind) int {
	return object.Key{Group: a.Group, Kind: a.Kind}.Compare(object.Key{Group: b.Group, Kind: b.Kind})
}

func TestObjectsStandBelowTheirOwnersAndLoopsEnd(t *testing.T) {
	t.Parallel()
	listed := leaves(
		owns("ReplicaSet", "web-1", "rs", "Deployment", "web", "d"),
		owns("Pod", "web-1-b", "p2", "ReplicaSet", "web-1", "rs"),
		owns("Pod", "web-1-a", "p1", "ReplicaSet", "web-1", "rs"),
		owns("Pod", "stray", "p3", "ReplicaSet", "web-1", "an earlier one of that name"),
		owns("Loop", "loop", "l", "Loop", "loop", "l"),
	)
	roots := Tree([]v1alpha1.ResourceStatus{{Group: "apps", Kind: "Deployment", Namespace: "web", Name: "web", Status: "Synced"}}, listed, nil, "")
	var names []string
	Walk(roots, func(depth int, _, n *api.TreeNode) { names = append(names, n.Name+"@"+string(rune('0'+depth))) })
	if diff := cmp.Diff([]string{"web@0", "web-1@1", "web-1-a@2", "web-1-b@2"}, names); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	key := object.Key{Group: "apps", Kind: "ReplicaSet", Namespace: "web", Name: "web-1"}
	if !Has(roots, key) || Has(roots, object.Key{Group: "apps", Kind: "Pod", Namespace: "web", Name: "stray"}) {
		t.Error("the tree has not what it shows")
	}
	pods := Below(roots, key, object.Kind{Group: "apps", Kind: "Pod"})
	if len(pods) != 2 || pods[0].Name != "web-1-a" {
		t.Errorf("below the ReplicaSet are %v", pods)
	}
	depth := 0
	loop := Tree([]v1alpha1.ResourceStatus{{Group: "apps", Kind: "Loop", Namespace: "web", Name: "loop"}}, listed, nil, "")
	Walk(loop, func(d int, _, _ *api.TreeNode) { depth = max(depth, d) })
	if depth > maxLevels {
		t.Errorf("an object that owns itself is shown %d levels deep", depth)
	}
}

func leaves(objects ...map[string]any) []*Leaf {
	var out []*Leaf
	for _, obj := range objects {
		out = append(out, Eye{}.Leaf(obj, false))
	}
	return out
}

func owns(kind, name, uid, ownerKind, ownerName, ownerUID string) map[string]any {
	return map[string]any{
		"apiVersion": "apps/v1", "kind": kind,
		"metadata": map[string]any{
			"name": name, "namespace": "web", "uid": uid,
			"ownerReferences": []any{map[string]any{"apiVersion": "apps/v1", "kind": ownerKind, "name": ownerName, "uid": ownerUID}},
		},
	}
}

// Whatever owns whatever, a tree ends, and has no more nodes than its bound.
func TestATreeOfAnyObjectsEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "b", "c"})
		var listed []map[string]any
		for range rapid.IntRange(0, 6).Draw(t, "objects") {
			n := name.Draw(t, "name")
			o := name.Draw(t, "owner")
			listed = append(listed, owns("K", n, n, "K", o, o))
		}
		nodes := 0
		Walk(Tree([]v1alpha1.ResourceStatus{{Group: "apps", Kind: "K", Namespace: "web", Name: "a"}}, leaves(listed...), nil, ""),
			func(int, *api.TreeNode, *api.TreeNode) { nodes++ })
		if nodes > maxNodes+1 {
			t.Errorf("%d nodes", nodes)
		}
	})
}
