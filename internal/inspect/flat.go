package inspect

import "github.com/slipway-gitops/slipway/api"

// Flat lists the nodes of a tree, parents first. What has several owners is there once: an object of the Application as
// such, another below the first of its owners.
func Flat(roots []*api.TreeNode) []*api.FlatNode {
	seen := make(map[string]bool, 2*len(roots))
	for _, root := range roots {
		seen[root.ID()] = true
	}
	var out []*api.FlatNode
	Walk(roots, func(depth int, parent, node *api.TreeNode) {
		flat := &api.FlatNode{ID: node.ID(), TreeNode: *node}
		flat.Children = nil
		if depth > 0 {
			if flat.Parent = parent.ID(); seen[flat.ID] {
				return
			}
			seen[flat.ID] = true
		}
		out = append(out, flat)
	})
	return out
}
