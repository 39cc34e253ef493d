package apply

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Target is the cluster that a plan runs on.
type Target struct {
	Client *Client
	Live   *live.Cluster
}

// Options of a step.
type Options struct {
	DryRun      bool
	Leave       guard.Leave                // covers what is deleted
	Propagation metav1.DeletionPropagation // of deletions; the one that suits the kind when empty
	// Manifest returns what to apply for a key of the plan.
	Manifest func(object.Key) (object.Manifest, bool)
	// How returns how an object is written; nil: all of them by server-side apply. Its DryRun is ignored.
	How func(object.Key) How
	// Namespaces are those that the same operation makes. A dry run cannot look into them.
	Namespaces []string
	// Progress is called with how many objects are done, never twice at a time; it may be nil.
	Progress func(done, total int)
}

// Outcome is what became of one object of a plan.
type Outcome struct {
	Change  diff.Change
	Err     error // nil when it was done
	Message string
	Skipped bool // nothing was done, and that is well
}

// counter reports how many objects are done. A report may take its time: what is done in that time does not wait.
type counter struct {
	total   int
	tell    func(done, total int)
	n       atomic.Int64
	telling sync.Mutex
}

func newCounter(total int, tell func(done, total int)) *counter {
	return &counter{total: total, tell: tell}
}

func (c *counter) done() {
	n := c.n.Add(1)
	if c.tell == nil || !c.telling.TryLock() {
		return
	}
	defer c.telling.Unlock()
	c.tell(int(n), c.total)
}

// step runs changes that do not need each other. The limiter bounds how many are really in flight.
func (t Target) step(ctx context.Context, step []diff.Change, o Options, count *counter) []Outcome {
	out := make([]Outcome, len(step))
	if len(step) == 1 {
		out[0] = t.one(ctx, step[0], o)
		count.done()
		return out
	}
	var g errgroup.Group
	g.SetLimit(maxInFlight)
	for i, c := range step {
		g.Go(func() error {
			out[i] = t.one(ctx, c, o)
			count.done()
			return nil
		})
	}
	_ = g.Wait() // outcomes hold the errors
	return out
}

func (t Target) one(ctx context.Context, c diff.Change, o Options) Outcome {
	if c.Verb == diff.Delete {
		return t.prune(ctx, c, o)
	}
	m, ok := o.Manifest(c.Key)
	if !ok {
		return Outcome{Change: c, Err: fmt.Errorf("no manifest for %s in the plan", c.Key)}
	}
	how := How{}
	if o.How != nil {
		how = o.How(c.Key)
	}
	how.DryRun = o.DryRun
	return t.Write(ctx, c, m, how)
}

func (t Target) prune(ctx context.Context, c diff.Change, o Options) Outcome {
	if o.DryRun {
		return Outcome{Change: c, Message: MessagePrunedDry}
	}
	return t.Remove(ctx, o.Leave, c, o.Propagation)
}

// Remove deletes one tracked object that leave covers. Without a propagation it is gone once what it owns is gone.
func (t Target) Remove(ctx context.Context, leave guard.Leave, c diff.Change, how metav1.DeletionPropagation) Outcome {
	rec, tracked, _ := t.Live.Get(c.Key)
	if !tracked {
		return Outcome{Change: c, Message: MessagePruned} // it was deleted since
	}
	res, err := t.Live.Find(ctx, c.Key.GroupKind(), "")
	if err != nil {
		return Outcome{Change: c, Err: err, Message: err.Error()}
	}
	if how == "" {
		how = propagationOf(c.Key.GroupKind())
	}
	if err := t.Client.Delete(ctx, leave, res, c.Key, rec.UID, how); err != nil {
		return Outcome{Change: c, Err: err, Message: Explain(c.Key, err)}
	}
	return Outcome{Change: c, Message: MessagePruned}
}
