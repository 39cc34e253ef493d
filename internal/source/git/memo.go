package gitsource

import (
	"sync"

	"github.com/slipway-gitops/slipway/internal/git"
)

const maxMemo = 100_000 // entries of each kind; all are dropped beyond, which costs no more than reading them again

// memo keeps what was worked out from objects, by object id: it holds for every commit of one mirror.
type memo struct {
	mu       sync.Mutex
	roots    map[git.ID]git.ID   // commit -> tree
	targets  map[git.ID]string   // blob of a link -> where it points to
	links    map[git.ID][]string // tree -> links anywhere below
	listings map[git.ID]string   // tree without links -> hash of its names and types
}

func newMemo() *memo {
	return &memo{
		roots: map[git.ID]git.ID{}, targets: map[git.ID]string{}, links: map[git.ID][]string{}, listings: map[git.ID]string{},
	}
}

func recall[V any](m *memo, from map[git.ID]V, id git.ID) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := from[id]
	return v, ok
}

func keep[V any](m *memo, in map[git.ID]V, id git.ID, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(in) >= maxMemo {
		clear(in)
	}
	in[id] = v
}

func (m *memo) root(id git.ID) (git.ID, bool)     { return recall(m, m.roots, id) }
func (m *memo) setRoot(id, root git.ID)           { keep(m, m.roots, id, root) }
func (m *memo) target(id git.ID) (string, bool)   { return recall(m, m.targets, id) }
func (m *memo) setTarget(id git.ID, s string)     { keep(m, m.targets, id, s) }
func (m *memo) linked(id git.ID) ([]string, bool) { return recall(m, m.links, id) }
func (m *memo) setLinked(id git.ID, l []string)   { keep(m, m.links, id, l) }
func (m *memo) listing(id git.ID) (string, bool)  { return recall(m, m.listings, id) }
func (m *memo) setListing(id git.ID, s string)    { keep(m, m.listings, id, s) }
