package gitsource

import (
	"sync"

	"github.com/slipway-gitops/slipway/internal/git"
)

// Bounds of a memo. What is beyond is dropped, which costs no more than reading it again.
const (
	maxMemo      = 100_000  // entries of each kind
	maxMemoBytes = 32 << 20 // of names and targets of links, and of configurations
)

// memo keeps what was worked out from objects, by object id: it holds for every commit of one mirror.
type memo struct {
	mu       sync.Mutex
	roots    map[git.ID]git.ID   // commit -> tree
	targets  map[git.ID]string   // blob of a link -> where it points to
	links    map[git.ID][]string // tree -> links anywhere below
	listings map[git.ID]string   // tree without links -> hash of its names and types
	configs  map[git.ID]config   // blob of .gitmodules or .lfsconfig -> what it says
	bytes    int                 // of targets, links and configs

	reading sync.Mutex // held while git reads a configuration, so that those who need the same one start it once
}

// config is a file in git's format.
type config struct {
	entries []git.ConfigEntry
	wrong   bool // git cannot read it, and never will
}

func newMemo() *memo {
	return &memo{
		roots: map[git.ID]git.ID{}, targets: map[git.ID]string{}, links: map[git.ID][]string{}, listings: map[git.ID]string{},
		configs: map[git.ID]config{},
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
func (m *memo) linked(id git.ID) ([]string, bool) { return recall(m, m.links, id) }
func (m *memo) listing(id git.ID) (string, bool)  { return recall(m, m.listings, id) }
func (m *memo) setListing(id git.ID, s string)    { keep(m, m.listings, id, s) }

func (m *memo) config(id git.ID) (config, bool) { return recall(m, m.configs, id) }

func (m *memo) setConfig(id git.ID, c config) {
	size := 0
	for _, e := range c.entries {
		size += len(e.Key) + len(e.Value) + 32
	}
	m.weigh(size)
	keep(m, m.configs, id, c)
}

func (m *memo) setTarget(id git.ID, s string) {
	m.weigh(len(s))
	keep(m, m.targets, id, s)
}

func (m *memo) setLinked(id git.ID, l []string) {
	size := 0
	for _, name := range l {
		size += len(name) + 16
	}
	m.weigh(size)
	keep(m, m.links, id, l)
}

// weigh makes room for size bytes.
func (m *memo) weigh(size int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bytes += size; m.bytes > maxMemoBytes {
		clear(m.targets)
		clear(m.links)
		clear(m.configs)
		m.bytes = size
	}
}
