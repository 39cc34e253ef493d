package family

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
			got := heirs(c.roots)
			slices.SortFunc(got, order)
			slices.SortFunc(c.want, order)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
		})
	}
	custom := heirs([]object.Kind{{Group: "example.com", Kind: "Rollout"}})
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
	owned := byOwner([]*unstructured.Unstructured{
		owns("ReplicaSet", "web-1", "rs", "Deployment", "web", "d"),
		owns("Pod", "web-1-b", "p2", "ReplicaSet", "web-1", "rs"),
		owns("Pod", "web-1-a", "p1", "ReplicaSet", "web-1", "rs"),
		owns("Pod", "stray", "p3", "ReplicaSet", "web-1", "an earlier one of that name"),
		owns("Loop", "loop", "l", "Loop", "loop", "l"),
	})
	got := children(owned, owner{kind: object.Kind{Group: "apps", Kind: "Deployment"}, namespace: "web", name: "web"}, 0)
	var names []string
	Walk(got, func(depth int, _, n *Node) { names = append(names, n.Name+"@"+string(rune('0'+depth))) })
	if diff := cmp.Diff([]string{"web-1@0", "web-1-a@1", "web-1-b@1"}, names); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	depth := 0
	Walk(children(owned, owner{kind: object.Kind{Group: "apps", Kind: "Loop"}, namespace: "web", name: "loop"}, 0),
		func(d int, _, _ *Node) { depth = max(depth, d) })
	if depth >= maxDepth {
		t.Errorf("an object that owns itself is shown %d levels deep", depth)
	}
}

func owns(kind, name, uid, ownerKind, ownerName, ownerUID string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": kind,
		"metadata": map[string]any{
			"name": name, "namespace": "web", "uid": uid,
			"ownerReferences": []any{map[string]any{"apiVersion": "apps/v1", "kind": ownerKind, "name": ownerName, "uid": ownerUID}},
		},
	}}
}
