package memo

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/slipway-gitops/slipway/internal/engine/render"
)

// Identify returns a number that is equal for equal inputs, if a result for them is kept: a caller that kept what
// it made of that result need not request it again. It decodes nothing.
func (m *Memo) Identify(req render.Request, scope string) (uint64, bool) {
	e := m.find(m.keyOf(req, scope), req)
	if e == nil || e.err != nil {
		return 0, false
	}
	h := xxhash.New()
	_, _ = h.Write(e.key[:])
	_, _ = h.Write(e.main.sum[:])
	_, _ = h.Write(e.cluster[:])
	_, _ = h.WriteString(e.revision)
	var sum [8]byte
	var beside uint64 // in any order
	for _, r := range e.beside {
		beside += xxhash.Sum64(r.sum[:]) ^ xxhash.Sum64String(r.tree)
	}
	binary.LittleEndian.PutUint64(sum[:], beside)
	_, _ = h.Write(sum[:])
	return h.Sum64(), true
}

// Stats returns how many results are kept and how much memory they take, in bytes.
func (m *Memo) Stats() (results int, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range m.shares {
		results += one.order.Len()
	}
	return results, m.bytes
}

// Forget drops what is kept for a source, so that it is rendered again.
func (m *Memo) Forget(req render.Request, scope string) {
	k := m.keyOf(req, scope)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.entries[k] {
		m.drop(e)
	}
}
