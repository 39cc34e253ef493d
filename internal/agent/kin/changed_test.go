package kin

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-gitops/slipway/api"
)

func TestATreeThatShowsAnApplicationIsLookedAtAgainWhenThatOneChanges(t *testing.T) {
	t.Parallel()
	w := New(Config{})
	defer w.Close()
	open := func(name string, nodes ...*api.FlatNode) *tree {
		tr := newTree(w, types.NamespacedName{Namespace: "argocd", Name: name})
		tr.look.Store(false)
		tr.tell(newSnapshot(nodes, nil, nil), nil)
		w.trees[tr.app] = tr
		return tr
	}
	child := func(group, name string) *api.FlatNode {
		node := api.TreeNode{Group: group, Kind: "Application", Namespace: "argocd", Name: name}
		return &api.FlatNode{ID: node.ID(), TreeNode: node}
	}
	root, other, alike := open("root", child("argoproj.io", "web")), open("other", child("argoproj.io", "shop")), open("alike", child("app.k8s.io", "web"))
	web := open("web")
	w.Changed(types.NamespacedName{Namespace: "argocd", Name: "web"})
	for tr, want := range map[*tree]bool{root: true, web: true, other: false, alike: false} {
		if got := tr.look.Load(); got != want || len(tr.wake) == 1 != want {
			t.Errorf("the tree of %s is looked at again: %v, woken %d", tr.app.Name, got, len(tr.wake))
		}
	}
}
