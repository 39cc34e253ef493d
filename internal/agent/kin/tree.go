package kin

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/inspect"
)

// tree is what is watched of one Application.
type tree struct {
	of      *Watcher
	app     types.NamespacedName
	ctx     context.Context //nolint:containedctx // ends with the last reader
	cancel  context.CancelFunc
	readers int // under the lock of the Watcher

	look   atomic.Bool   // the Application may be another
	wake   chan struct{} // has room for one
	leaves atomic.Int64  // that are kept

	// Of run alone.
	view   View
	feeds  map[inspect.Place]*feed
	begun  time.Time
	looked time.Time

	mu      sync.Mutex
	now     *snapshot
	err     error         // why it ended
	changed chan struct{} // closed when one of these is another
}

func newTree(w *Watcher, app types.NamespacedName) *tree {
	t := &tree{
		of: w, app: app, wake: make(chan struct{}, 1), changed: make(chan struct{}), feeds: map[inspect.Place]*feed{}, begun: time.Now(),
	}
	t.ctx, t.cancel = context.WithCancel(w.ctx)
	t.look.Store(true)
	return t
}

// stir says that something changed. It does not block.
func (t *tree) stir() {
	select {
	case t.wake <- struct{}{}:
	default: // it is reported already
	}
}

func (t *tree) state() (*snapshot, <-chan struct{}, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now, t.changed, t.err
}

// shows reports whether a node is in the tree, as it was shown last.
func (t *tree) shows(id string) bool {
	now, _, _ := t.state()
	return now != nil && now.byID[id] != nil
}

func (t *tree) tell(now *snapshot, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now != nil {
		t.now = now
	}
	t.err = err
	close(t.changed)
	t.changed = make(chan struct{})
}

// run keeps the tree up until the last reader leaves, or until it cannot be shown.
func (t *tree) run() {
	defer t.halt()
	for {
		began := time.Now()
		shown, err := t.turn()
		if err != nil {
			t.of.mu.Lock()
			t.of.drop(t)
			t.of.mu.Unlock()
			t.tell(nil, err)
			return
		}
		// Where very much changes, or the tree is very large, it is reported more rarely.
		pause, next := max(t.of.cfg.Pause, share*time.Since(began)), again
		if !shown { // the lists are not there yet: show them as soon as they are
			pause, next = 0, max(0, grace-time.Since(t.begun))
		}
		if !t.sleep(next, true) || !t.sleep(pause, false) {
			t.tell(nil, &agentapi.Error{Code: agentapi.CodeInterrupted, Message: "the agent does not show this tree any more: ask again"})
			return
		}
	}
}

// sleep waits for so long, or where early is set for the next change, and reports whether the tree goes on.
func (t *tree) sleep(d time.Duration, early bool) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	wake := t.wake
	if !early {
		wake = nil
	}
	select {
	case <-t.ctx.Done():
		return false
	case <-timer.C:
	case <-wake:
	}
	return true
}

// turn looks at the Application where it may be another, and shows the tree, unless the first lists are awaited.
func (t *tree) turn() (shown bool, err error) {
	if t.look.Swap(false) || time.Since(t.looked) >= again {
		if err := t.see(); err != nil {
			return false, err
		}
	}
	if n := t.leaves.Load(); n > maxLeaves {
		return false, &agentapi.Error{
			Code:    agentapi.CodeTooLarge,
			Message: fmt.Sprintf("there are more than %d objects where this application has its own: too many for a tree", maxLeaves),
		}
	}
	whole := true
	var leaves []*inspect.Leaf
	var warnings []string
	listed := make(map[inspect.Spot]bool, len(t.feeds))
	for at, f := range t.feeds {
		lack, there, all := f.collect(&leaves)
		whole, listed[at.Spot()] = whole && there, all
		if lack != "" {
			warnings = append(warnings, lack)
		}
	}
	if !whole && t.now == nil && time.Since(t.begun) < grace {
		return false, nil
	}
	slices.Sort(warnings)
	nodes := inspect.Flat(inspect.Tree(t.view.Resources, leaves, listed, t.view.App))
	t.tell(newSnapshot(nodes, warnings, t.now), nil)
	return true, nil
}

// see looks at the Application, and watches what it has now.
func (t *tree) see() error {
	t.looked = time.Now()
	view, err := t.of.cfg.Look(t.ctx, t.app)
	if err != nil {
		return err
	}
	if t.view.ID != view.ID {
		t.halt()
	}
	t.view = view
	wanted := map[inspect.Place]bool{}
	for _, at := range inspect.Places(view.Resources, view.Knows) {
		wanted[at] = true
		if t.feeds[at] != nil {
			continue
		}
		res, there, err := view.find(t.ctx, at.Kind)
		if err != nil {
			return err
		}
		if there {
			t.feeds[at] = t.watch(res, at)
		}
	}
	for at, f := range t.feeds {
		if !wanted[at] {
			f.end()
			delete(t.feeds, at)
		}
	}
	return nil
}

// halt ends all watches.
func (t *tree) halt() {
	for at, f := range t.feeds {
		f.end()
		delete(t.feeds, at)
	}
}
