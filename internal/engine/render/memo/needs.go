package memo

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
)

// maxFound bounds for how many sources it is remembered what they need.
const maxFound = 50_000

// found remembers what sources need, for as long as everything that was read to find it out is unchanged.
type found struct {
	mu      sync.Mutex
	entries map[key][]*entry // newest first, never changed in place
}

// claimer is a Renderer that knows whether a plugin renders a source, as Pipeline does.
type claimer interface {
	Claimed(ctx context.Context, req render.Request) (bool, error)
}

// Needs lists what req needs, as need.Find does: nothing where a plugin renders it. For a source whose files did not change it
// costs one look-up.
func (m *Memo) Needs(ctx context.Context, req render.Request, scope string) ([]need.Need, error) {
	if req.Tree == nil || req.Source.IsRef() {
		return nil, nil
	}
	k := m.keyOf(req, scope)
	m.found.mu.Lock()
	kept := m.found.entries[k]
	m.found.mu.Unlock()
	for _, e := range kept {
		if m.holds(e, req) {
			return e.needs, e.err
		}
	}
	req, w := watch(req)
	needs, deps, err := need.Find(req, m.opts.Disabled...)
	if plugins, ok := m.renderer.(claimer); ok && (len(needs) > 0 || err != nil) {
		switch claimed, failed := plugins.Claimed(ctx, req); {
		case failed != nil:
			return nil, failed
		case claimed:
			needs, err = nil, nil
		}
	}
	if failed := w.failed(); failed != nil {
		return nil, fmt.Errorf("find out what the source needs: %w", failed)
	}
	e := m.pack(req, w, render.Result{Deps: deps}, errors.New("it has no objects"))
	e.needs, e.err = needs, err
	m.found.keep(k, e)
	return needs, err
}

func (f *found) keep(k key, e *entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.entries == nil || len(f.entries) >= maxFound {
		f.entries = map[key][]*entry{}
	}
	old := f.entries[k]
	f.entries[k] = append([]*entry{e}, old[:min(len(old), perKey-1)]...)
}
