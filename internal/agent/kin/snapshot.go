package kin

import (
	"reflect"
	"slices"

	"github.com/slipway-gitops/slipway/api"
)

// snapshot is a tree at some time. One is never changed; a node that is the same in two of them is one node.
type snapshot struct {
	nodes    []*api.FlatNode
	byID     map[string]*api.FlatNode
	warnings []string
}

func newSnapshot(nodes []*api.FlatNode, warnings []string, before *snapshot) *snapshot {
	s := &snapshot{nodes: nodes, byID: make(map[string]*api.FlatNode, len(nodes)), warnings: warnings}
	for i, node := range nodes {
		if before != nil {
			if old := before.byID[node.ID]; old != nil && reflect.DeepEqual(old, node) {
				nodes[i] = old
			}
		}
		s.byID[node.ID] = nodes[i]
	}
	return s
}

// stale reports whether a reader that knows s should get all of now.
func (s *snapshot) stale(now *snapshot) bool { return !slices.Equal(s.warnings, now.warnings) }

// patch is what leads from s to now; nil for nothing.
func (s *snapshot) patch(now *snapshot) *api.TreePatch {
	var out api.TreePatch
	for _, node := range now.nodes {
		if s.byID[node.ID] != node {
			out.Set = append(out.Set, node)
		}
	}
	for _, node := range s.nodes {
		if now.byID[node.ID] == nil {
			out.Remove = append(out.Remove, node.ID)
		}
	}
	if len(out.Set)+len(out.Remove) == 0 {
		return nil
	}
	return &out
}
