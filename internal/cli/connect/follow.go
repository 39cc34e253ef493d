package connect

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/slipway-gitops/slipway/internal/clock"
)

// Seen is called with the present state of an Application, nil when it does not exist, and says whether that is what
// was waited for.
type Seen func(name string, app *Application) (done bool, err error)

// watchFor is how long a watch lasts: an event that was lost on the way is found by the list that follows. It is up to a
// fifth more or less. overdue is how much later the client ends a watch itself, which the API server does not end.
const (
	watchFor = time.Minute
	overdue  = 10 * time.Second
)

// Follow calls seen for each of names, first with its state now and then after each change, until seen has returned
// done for all of them. It watches, and lists again when a watch is over, about every minute. It ends early with the error of
// seen, of ctx, or of an API server that refuses.
func (a *Applications) Follow(ctx context.Context, names []string, seen Seen) error {
	f := follower{apps: a, seen: seen, open: map[string]bool{}, watchFor: watchFor}
	for _, name := range names {
		f.open[name] = true
	}
	const shortest = 100 * time.Millisecond
	wait := shortest
	for {
		began := time.Now()
		err := f.once(ctx)
		switch {
		case len(f.open) == 0 && err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && !errors.Is(err, errAgain):
			return err
		}
		if time.Since(began) > overdue { // a watch that ended in its time
			wait = shortest
		}
		timer := time.NewTimer(wait/2 + rand.N(wait/2))
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
		wait = min(2*wait, 5*time.Second)
	}
}

var errAgain = errors.New("watch ended")

type follower struct {
	apps *Applications
	seen Seen
	open map[string]bool // those that are not done yet

	watchFor time.Duration // up to a fifth more or less
}

// once lists and then watches until everything is done or the watch ends.
func (f *follower) once(ctx context.Context) error {
	opts := metav1.ListOptions{}
	if len(f.open) == 1 {
		for name := range f.open {
			opts.FieldSelector = "metadata.name=" + name
		}
	}
	list, err := f.apps.client.List(ctx, opts)
	if err != nil {
		return f.again(err)
	}
	for _, name := range f.names() {
		i := slices.IndexFunc(list.Items, func(o unstructured.Unstructured) bool { return o.GetName() == name })
		if i < 0 {
			err = f.see(name, nil)
		} else {
			err = f.see(name, &list.Items[i])
		}
		if err != nil {
			return err
		}
	}
	if len(f.open) == 0 {
		return nil
	}
	opts.ResourceVersion = list.GetResourceVersion()
	lasts := clock.About(f.watchFor)
	opts.TimeoutSeconds = new(max(int64(lasts/time.Second), 1))
	ctx, cancel := context.WithTimeoutCause(ctx, lasts+overdue, errAgain)
	defer cancel()
	w, err := f.apps.client.Watch(ctx, opts)
	if err != nil {
		return f.again(err)
	}
	defer w.Stop()
	return f.watch(ctx, w)
}

func (f *follower) watch(ctx context.Context, w watch.Interface) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case event, ok := <-w.ResultChan():
			if !ok {
				return errAgain
			}
			obj, isApp := event.Object.(*unstructured.Unstructured)
			if event.Type == watch.Error || !isApp {
				return errAgain
			}
			name := obj.GetName()
			if !f.open[name] {
				continue
			}
			if event.Type == watch.Deleted {
				obj = nil
			}
			if err := f.see(name, obj); err != nil {
				return err
			}
			if len(f.open) == 0 {
				return nil
			}
		}
	}
}

func (f *follower) see(name string, obj *unstructured.Unstructured) error {
	var app *Application
	if obj != nil {
		decoded, err := decode(obj)
		if err != nil {
			return err
		}
		app = &decoded
	}
	done, err := f.seen(name, app)
	if done {
		delete(f.open, name)
	}
	return err
}

func (f *follower) names() []string {
	out := make([]string, 0, len(f.open))
	for name := range f.open {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// again distinguishes an API server that is away for a moment from one that refuses.
func (f *follower) again(err error) error {
	if apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return f.apps.explain("watch", "", err)
	}
	return fmt.Errorf("%w: %w", errAgain, err)
}
