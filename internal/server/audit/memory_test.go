package audit

import (
	"context"
	"slices"
	"sync"

	"github.com/slipway-gitops/slipway/internal/chain"
)

// memory is a storage as the contract has it. The store's own is tested in its package, with a database.
type memory struct {
	mu      sync.Mutex
	entries []Entry
	keys    map[string]bool
	anchor  Head
	onRead  func() // called before each batch is read
}

func (m *memory) AppendAudit(_ context.Context, key string, e Entry) (Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if key != "" && m.keys[key] {
		return Entry{}, nil
	}
	if m.keys == nil {
		m.keys = map[string]bool{}
	}
	m.keys[key] = true
	e = chain.Link(m.head(), e)
	m.entries = append(m.entries, e)
	return e, nil
}

func (m *memory) head() Head {
	if len(m.entries) == 0 {
		return m.anchor
	}
	return chain.HeadOf(m.entries[len(m.entries)-1])
}

func (m *memory) AuditEntries(_ context.Context, after int64, limit int) ([]Entry, error) {
	if m.onRead != nil {
		m.onRead()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Entry
	for _, e := range m.entries {
		if e.ID > after && len(out) < limit {
			out = append(out, e)
		}
	}
	return out, nil
}

func (m *memory) AuditHead(context.Context) (Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.head(), nil
}

func (m *memory) AuditAnchor(context.Context) (Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.anchor, nil
}

func (m *memory) PruneAudit(_ context.Context, through Head) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries = slices.DeleteFunc(m.entries, func(e Entry) bool { return e.ID <= through.ID })
	m.anchor = through
	return nil
}
