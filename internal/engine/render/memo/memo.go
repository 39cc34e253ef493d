// Package memo keeps the results of renderings and gives them out again for as long as everything they were made from
// is unchanged. What a rendering read is compared, not the revision: a commit that touches other files hits.
package memo

import (
	"container/list"
	"context"
	"sync"

	"github.com/slipway-gitops/slipway/internal/engine/render"
)

// Options configures a Memo.
type Options struct {
	// Bytes bounds what is kept, compressed; default 64 MiB.
	Bytes int64
	// Tools names the versions of the renderers; a result made by others is not used.
	Tools string
	// Disabled are the tools that the Renderer does not use.
	Disabled []render.Tool
	// Waits is called before a Render waits for another one of the same source, and what it returns after; nil: nothing is.
	Waits func(context.Context) func()
}

// perKey is how many results are kept of one source: the current one and what a flapping branch or a rollback needs.
const perKey = 3

// overhead is what an entry takes besides its text, in bytes.
const overhead = 400

// Memo renders through a Renderer and remembers. It is safe for concurrent use.
type Memo struct {
	renderer render.Renderer
	opts     Options
	clusters clusters
	found    found

	mu      sync.Mutex
	entries map[key][]*entry   // newest first
	shares  map[string]*shared // by project
	bytes   int64
	flights map[key]chan struct{} // closed when the rendering of the key is over
}

// shared is what is kept for the Applications of one project.
type shared struct {
	order *list.List // of *entry, last used first
	bytes int64
}

// New returns an empty Memo in front of r, which must return Deps with every Result, failed ones included.
func New(r render.Renderer, opts Options) *Memo {
	if opts.Bytes <= 0 {
		opts.Bytes = 64 << 20
	}
	return &Memo{
		renderer: r,
		opts:     opts,
		entries:  map[key][]*entry{},
		shares:   map[string]*shared{},
		flights:  map[key]chan struct{}{},
	}
}

// Render returns what the Renderer returned for an equal Request whose inputs still hold, or renders. hit says which.
// A result is given to requests with the same scope only: the scope names who may see the source, for example project
// and credential. Failures that lie in the input are kept too. One source is rendered once at a time.
func (m *Memo) Render(ctx context.Context, req render.Request, scope string) (res render.Result, hit bool, err error) {
	if req.Tree == nil {
		res, err = m.renderer.Render(ctx, req) // only a ref, which reads nothing
		return res, false, err
	}
	k := m.keyOf(req, scope)
	for {
		if e := m.find(k, req); e != nil {
			res, err := e.result()
			return res, true, err
		}
		done, mine := m.takeOff(k)
		if mine {
			break
		}
		if err := m.await(ctx, done); err != nil {
			return render.Result{}, false, err
		}
	}
	defer m.land(k)
	req, w := watch(req)
	res, err = m.renderer.Render(ctx, req)
	if err == nil || w.failed() == nil && !render.IsTransient(err) {
		m.keep(k, m.pack(req, w, res, err))
	}
	return res, false, err
}

func (m *Memo) await(ctx context.Context, done <-chan struct{}) error {
	if m.opts.Waits != nil {
		defer m.opts.Waits(ctx)()
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Same reports whether Render would hit. It decodes nothing.
func (m *Memo) Same(req render.Request, scope string) bool {
	return req.Tree != nil && m.find(m.keyOf(req, scope), req) != nil
}

// find returns an entry that holds for req.
func (m *Memo) find(k key, req render.Request) *entry {
	m.mu.Lock()
	kept := m.entries[k] // never changed in place
	m.mu.Unlock()
	for _, e := range kept {
		// The trees are asked outside the lock: they may have to read.
		if !m.holds(e, req) {
			continue
		}
		m.mu.Lock()
		if e.place != nil {
			m.shares[e.project].order.MoveToFront(e.place)
		}
		m.mu.Unlock()
		return e
	}
	return nil
}

// takeOff makes the caller the one that renders k, or returns a channel that is closed when another one has.
func (m *Memo) takeOff(k key) (<-chan struct{}, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if done, ok := m.flights[k]; ok {
		return done, false
	}
	m.flights[k] = make(chan struct{})
	return nil, true
}

func (m *Memo) land(k key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.flights[k])
	delete(m.flights, k)
}

// keep adds an entry, and lets go of others over the budget: of the project that has most, the least recently used one.
func (m *Memo) keep(k key, e *entry) {
	if e.size() > m.opts.Bytes/4 {
		return // one giant would drive out everything else
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e.key = k
	own := m.shares[e.project]
	if own == nil {
		own = &shared{order: list.New()}
		m.shares[e.project] = own
	}
	e.place = own.order.PushFront(e)
	own.bytes += e.size()
	m.bytes += e.size()
	old := m.entries[k]
	m.entries[k] = append([]*entry{e}, old...)
	if len(old) >= perKey {
		m.drop(old[len(old)-1])
	}
	for m.bytes > m.opts.Bytes {
		last := m.dearest(e)
		if last == nil {
			return
		}
		m.drop(last)
	}
}

// dearest returns the least recently used entry of the project that has most, but never the one that is spared.
func (m *Memo) dearest(spared *entry) (last *entry) {
	var most int64
	for _, one := range m.shares {
		if e, ok := one.order.Back().Value.(*entry); ok && e != spared && one.bytes > most {
			last, most = e, one.bytes
		}
	}
	return last
}

// drop forgets an entry. The slice of its key is replaced, since find may be walking the old one.
func (m *Memo) drop(e *entry) {
	own := m.shares[e.project]
	own.order.Remove(e.place)
	e.place = nil
	own.bytes -= e.size()
	m.bytes -= e.size()
	if own.order.Len() == 0 {
		delete(m.shares, e.project)
	}
	var left []*entry
	for _, o := range m.entries[e.key] {
		if o != e {
			left = append(left, o)
		}
	}
	if len(left) == 0 {
		delete(m.entries, e.key)
		return
	}
	m.entries[e.key] = left
}
