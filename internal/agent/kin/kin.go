// Package kin reads and watches what an Application's objects are and own, for trees that people look at. Nothing is watched
// without a reader; those who look at the same Application share what is watched for it.
package kin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/live/stream"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
)

// Cluster is how objects are read.
type Cluster struct {
	// ID is another one when the cluster is reached in another way than before.
	ID     any
	Client *stream.Client
	Find   func(ctx context.Context, kind object.Kind, version string) (live.Resource, error)
	Eye    inspect.Eye
	// Knows reports whether objects of a kind have a health; nil: only the health in the status is reported.
	Knows func(object.Kind) bool
}

// find returns how a kind is reached, or that there is none that can be watched.
func (c *Cluster) find(ctx context.Context, kind object.Kind) (live.Resource, bool, error) {
	res, err := c.Find(ctx, kind, "")
	var unknown *live.UnknownKindError
	if errors.As(err, &unknown) {
		return res, false, nil
	}
	return res, err == nil && res.Watchable, err
}

// View is an Application as it is now.
type View struct {
	Cluster
	App       string // its name in the marks of its objects
	Resources []v1alpha1.ResourceStatus
}

// Config is what a Watcher is made of.
type Config struct {
	// Look says how an Application is now.
	Look func(ctx context.Context, app types.NamespacedName) (View, error)
	// Pause is how long changes are gathered before they are reported; 0: a tenth of a second.
	Pause time.Duration
	Log   *slog.Logger
}

// Bounds of what is watched.
const (
	// maxTrees is how many Applications can be looked at at a time.
	maxTrees = 128
	// maxLeaves is how many objects are kept for one of them.
	maxLeaves = 200_000
	// grace is how long the first look waits for lists before it shows what there is.
	grace = 500 * time.Millisecond
	// again is when an Application is looked at again of which nothing was heard: what its project permits may be another.
	again = 30 * time.Second
	// share of the time is what computing trees may take of one Application at most: one part in so many.
	share = 10
)

// Watcher shows trees as they are. Make it with New and Close it; it is safe for concurrent use.
type Watcher struct {
	cfg    Config
	ctx    context.Context //nolint:containedctx // watches live as long as it
	cancel context.CancelFunc
	wait   sync.WaitGroup

	mu    sync.Mutex
	trees map[types.NamespacedName]*tree
}

// New makes a Watcher that watches nothing yet.
func New(cfg Config) *Watcher {
	if cfg.Pause == 0 {
		cfg.Pause = 100 * time.Millisecond
	}
	w := &Watcher{cfg: cfg, trees: map[types.NamespacedName]*tree{}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// Close ends all watches and waits for them.
func (w *Watcher) Close() {
	if w == nil {
		return
	}
	w.cancel()
	w.wait.Wait()
}

// Changed says that an Application, or the health of one of its objects, may be another: its own tree is looked at again, and
// those that show it as an object. It does not block. A nil Watcher needs to hear of nothing.
func (w *Watcher) Changed(app types.NamespacedName) {
	if w == nil { // there is no server whose users could look
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.trees) == 0 {
		return
	}
	child := (&api.TreeNode{Group: v1alpha1.Group, Kind: v1alpha1.KindApplication, Namespace: app.Namespace, Name: app.Name}).ID()
	for id, t := range w.trees {
		if id == app || t.shows(child) {
			t.look.Store(true)
			t.stir()
		}
	}
}

// Watched returns how many Applications are watched.
func (w *Watcher) Watched() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.trees)
}

// Open begins to look at an Application. The caller that gets a Reader closes it.
func (w *Watcher) Open(app types.NamespacedName) (*Reader, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.trees[app]
	if t == nil {
		if len(w.trees) >= maxTrees {
			return nil, &agentapi.Error{
				Code: agentapi.CodeBusy, Message: fmt.Sprintf("%d applications are looked at already: close some, or try again later", maxTrees),
			}
		}
		if w.ctx.Err() != nil {
			return nil, &agentapi.Error{Code: agentapi.CodeInterrupted, Message: "the agent stops"}
		}
		t = newTree(w, app)
		w.trees[app] = t
		w.wait.Go(t.run)
	}
	t.readers++
	return &Reader{tree: t}, nil
}

// leave ends a tree without readers.
func (w *Watcher) leave(t *tree) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.readers--; t.readers == 0 {
		t.cancel()
		w.drop(t)
	}
}

// drop lets the next reader start over. Callers hold the lock.
func (w *Watcher) drop(t *tree) {
	if w.trees[t.app] == t {
		delete(w.trees, t.app)
	}
}

// Reader is a client that looks at a tree. It is used by one goroutine.
type Reader struct {
	tree   *tree
	last   *snapshot // what was reported
	closed bool
}

// Event is a whole tree, or what is another in it.
type Event struct {
	Tree  *api.TreeState
	Patch *api.TreePatch
}

// Next waits for what comes next: first a whole tree, then what is another since the event before, however long ago that was.
// It fails when the tree cannot be shown any more, and when ctx ends.
func (r *Reader) Next(ctx context.Context) (Event, error) {
	for {
		now, changed, err := r.tree.state()
		if now != nil && now != r.last {
			was := r.last
			if r.last = now; was == nil || was.stale(now) {
				return Event{Tree: &api.TreeState{Nodes: now.nodes, Warnings: now.warnings}}, nil
			}
			if patch := was.patch(now); patch != nil {
				return Event{Patch: patch}, nil
			}
			continue
		}
		if err != nil {
			return Event{}, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Event{}, ctx.Err()
		}
	}
}

// Close ends it.
func (r *Reader) Close() {
	if !r.closed {
		r.closed = true
		r.tree.of.leave(r.tree)
	}
}
