package podlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
)

// Pace of a reader that waits for pods.
const (
	// lookEvery is the shortest time between two looks at which pods are meant.
	lookEvery = time.Second
	// watchAgain is when a watch that was refused or cut off is tried again; a look is taken then as well.
	watchAgain = 5 * time.Second
	// maxNamespaces is in how many namespaces later pods are watched for.
	maxNamespaces = 20
)

// run is one start of a container: after a restart it has another log.
type run struct {
	pod       types.UID
	container string
	restarts  int32
}

// begun are the runs of a pod that have a log.
func begun(pod *corev1.Pod) []run {
	var out []run
	for _, list := range [][]corev1.ContainerStatus{
		pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses,
	} {
		for i := range list {
			if s := &list[i]; s.State.Running != nil || s.State.Terminated != nil {
				out = append(out, run{pod.UID, s.Name, s.RestartCount})
			}
		}
	}
	return out
}

// goOn follows pods that are there and those that come, until the context ends.
func (r *Reader) goOn(ctx context.Context, out *lines, req api.Logs) error {
	if len(r.Later) > maxNamespaces {
		return refusef(agentapi.CodeTooLarge, "%s has objects in %d namespaces, and pods are waited for in at most %d: name an object", r.Of,
			len(r.Later), maxNamespaces)
	}
	g, ctx := errgroup.WithContext(ctx)
	news := make(chan struct{}, 1)
	for _, namespace := range r.Later {
		g.Go(func() error {
			r.watch(ctx, namespace, news)
			return nil
		})
	}
	f := follower{Reader: r, req: req, out: out, known: map[run]bool{}, done: make(chan struct{}, MaxStreams), spawn: g.Go}
	g.Go(func() error { return f.follow(ctx, news) })
	return g.Wait()
}

// follower begins a stream for each run of a container that is meant.
type follower struct {
	*Reader
	req   api.Logs
	out   *lines
	known map[run]bool
	open  int
	done  chan struct{} // has an entry for each stream that has ended
	spawn func(func() error)
}

func (f *follower) follow(ctx context.Context, news <-chan struct{}) error {
	pods, err := f.Pods(ctx)
	if err != nil {
		return err
	}
	// What is wrong with the request is reported immediately, as long as a client looks.
	if _, err := choose(pods, f.req.Container, f.Of); err != nil && len(pods) > 0 {
		return err
	}
	for first := true; ; first = false {
		if err := f.begin(ctx, pods, first); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookEvery):
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-news:
		}
		next, err := f.Pods(ctx)
		var said *agentapi.Error
		switch {
		case errors.As(err, &said) && said.Code != agentapi.CodeNotFound, err != nil && ctx.Err() != nil:
			return err
		case err == nil:
			pods = next // else the cluster may answer at the next look
		}
	}
}

// begin starts the streams of runs that are new. Those that came after the first look are shown whole.
func (f *follower) begin(ctx context.Context, pods []corev1.Pod, first bool) error {
	for i := range pods {
		for _, at := range begun(&pods[i]) {
			if f.known[at] || f.req.Container != "" && f.req.Container != at.container {
				continue
			}
			f.known[at] = true
			s, req := source{pods[i].Namespace, pods[i].Name, at.container}, f.req
			if !first {
				req.Tail, req.Since, req.SinceTime, req.Previous = 0, 0, time.Time{}, false
			}
			if !f.room() {
				if err := f.out.write(fmt.Appendf(nil, "%s (not followed: %d logs are, which is the most)\n", s.name(), MaxStreams)); err != nil {
					return err
				}
				continue
			}
			f.open++
			f.spawn(func() error {
				defer func() { f.done <- struct{}{} }() // has room for all that are open
				err := f.copyOne(ctx, s, req, f.out, true)
				if err != nil && ctx.Err() == nil && !errors.Is(err, errWrite) {
					return f.out.write([]byte(s.name() + " (no log: " + err.Error() + ")\n"))
				}
				return err
			})
		}
	}
	return nil
}

// room counts the streams that have ended, and reports whether one more may begin.
func (f *follower) room() bool {
	for {
		select {
		case <-f.done:
			f.open--
		default:
			return f.open < MaxStreams
		}
	}
}

// watch reports when a container has begun in a namespace, until the context ends.
func (r *Reader) watch(ctx context.Context, namespace string, news chan<- struct{}) {
	tell := func() {
		select {
		case news <- struct{}{}:
		default: // a client will look
		}
	}
	for ctx.Err() == nil {
		if w, err := r.Core.Pods(namespace).Watch(ctx, metav1.ListOptions{}); err == nil {
			heed(w, tell)
		}
		select {
		case <-ctx.Done():
		case <-time.After(watchAgain):
		}
		tell()
	}
}

// heed calls tell for each container that has begun, until the watch is over.
func heed(w watch.Interface, tell func()) {
	defer w.Stop()
	known := map[types.UID]map[run]bool{}
	for e := range w.ResultChan() {
		pod, ok := e.Object.(*corev1.Pod)
		if !ok {
			return // an error of the watch
		}
		if e.Type == watch.Deleted {
			delete(known, pod.UID)
			continue
		}
		now := map[run]bool{}
		for _, at := range begun(pod) {
			if now[at] = true; !known[pod.UID][at] {
				tell()
			}
		}
		known[pod.UID] = now
	}
}
