// Package clue reads from a cluster what findings are made of: objects below the unhealthy ones of an Application, Events about
// these, and the last lines of logs if the caller may read them. It lists what it needs when it is asked, and watches nothing.
package clue

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cause"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Query says which objects of a kind are listed.
type Query struct {
	schema.GroupVersionResource
	Namespace string
	Labels    string // a selector; "" for all
	Fields    string // a selector; "" for all
	Limit     int64
}

// Cluster is what a Reader asks. Dynamic makes one of clients.
type Cluster interface {
	// Get returns an object; nil where it does not exist.
	Get(ctx context.Context, what schema.GroupVersionResource, namespace, name string) (map[string]any, error)
	List(ctx context.Context, q Query) ([]map[string]any, error)
	// Log returns the end of the log of a container.
	Log(ctx context.Context, namespace, pod, container string, previous bool) ([]byte, error)
}

// Root is an object of the Application that is looked at.
type Root struct {
	Key    object.Key
	Object map[string]any
}

// Ask says what is wanted, and what may be read.
type Ask struct {
	App   string // name of the Application, for commands
	Now   time.Time
	Logs  bool   // with the last lines of containers that fail
	Deny  string // why logs may not be read, whatever Logs says; "" where they may
	Blind string // why Events may not be read; "" where they may
}

// Bounds of one look.
const (
	atOnce     = 6   // objects that are looked at
	maxPods    = 300 // of a workload
	maxShown   = 3   // pods of a workload that are looked into
	maxJobs    = 500 // in a namespace
	maxClaims  = 4   // of a pod
	maxEvents  = 200 // about an object
	maxHeirs   = 500 // of a kind in a namespace, below custom resources
	maxLevel   = 3   // of custom resources
	maxService = 10  // backends of an Ingress
	maxLogs    = 3   // logs of one look
)

// Look reads what is below roots and finds what fails there. What may not be read is left out and named in warnings.
func Look(ctx context.Context, c Cluster, roots []Root, ask Ask) api.FindingsAnswer {
	r := &reader{cluster: c, ask: ask, lists: map[Query][]map[string]any{}, lacks: map[string]bool{}}
	if ask.Blind != "" {
		r.lack("Events are not looked at: " + ask.Blind)
	}
	branches := make([]*cause.Branch, len(roots))
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i, root := range roots {
		g.Go(func() error {
			branches[i] = r.grow(ctx, root.Key, root.Object, 0)
			return nil
		})
	}
	_ = g.Wait() // no function returns an error
	out := api.FindingsAnswer{Items: cause.Find(ask.App, branches, ask.Now)}
	r.logs(ctx, out.Items)
	for lack := range r.lacks {
		out.Warnings = append(out.Warnings, cause.Say(lack, maxWarning))
	}
	slices.Sort(out.Warnings)
	return out
}

// maxWarning bounds a warning, in bytes.
const maxWarning = 400

// reader is one look.
type reader struct {
	cluster Cluster
	ask     Ask

	mu    sync.Mutex
	lists map[Query][]map[string]any // what was read, for those who ask the same
	lacks map[string]bool
}

func (r *reader) lack(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lacks[text] = true
}

// list lists objects; none where they cannot be listed.
func (r *reader) list(ctx context.Context, q Query) []map[string]any {
	r.mu.Lock()
	kept, known := r.lists[q]
	r.mu.Unlock()
	if known {
		return kept
	}
	got, err := r.cluster.List(ctx, q)
	switch {
	case apierrors.IsNotFound(err): // the cluster does not have the kind
	case apierrors.IsForbidden(err):
		r.lack(fmt.Sprintf("may not list %s in namespace %s", q.Resource, q.Namespace))
	case err != nil:
		r.lack(fmt.Sprintf("could not list %s in namespace %s: %v", q.Resource, q.Namespace, err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lists[q] = got
	return got
}

// get reads an object; known is false where it cannot be read.
func (r *reader) get(ctx context.Context, what schema.GroupVersionResource, namespace, name string) (obj map[string]any, known bool) {
	obj, err := r.cluster.Get(ctx, what, namespace, name)
	switch {
	case apierrors.IsForbidden(err):
		r.lack(fmt.Sprintf("may not read %s in namespace %s", what.Resource, namespace))
	case err != nil:
		r.lack(fmt.Sprintf("could not read %s %s/%s: %v", what.Resource, namespace, name, err))
	}
	return obj, err == nil
}

func core(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: resource}
}

func grouped(group, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}
}

// grow reads what is below an object of the Application.
func (r *reader) grow(ctx context.Context, key object.Key, obj map[string]any, level int) *cause.Branch {
	b := &cause.Branch{Key: key, Object: obj}
	if obj == nil || ctx.Err() != nil {
		return b
	}
	if !plain(key.GroupKind(), obj) {
		b.Events = r.events(ctx, key, obj)
	}
	switch key.GroupKind() {
	case object.Kind{Kind: "Pod"}:
		b.Below = r.claims(ctx, obj)
	case object.Kind{Group: "apps", Kind: "Deployment"}, object.Kind{Group: "argoproj.io", Kind: "Rollout"}:
		r.replicaSets(ctx, b)
	case object.Kind{Group: "apps", Kind: "ReplicaSet"}, object.Kind{
		Group: "apps", Kind: "StatefulSet",
	}, object.Kind{Group: "apps", Kind: "DaemonSet"},
		object.Kind{Group: "batch", Kind: "Job"}, object.Kind{Kind: "ReplicationController"}:
		r.pods(ctx, b)
	case object.Kind{Group: "batch", Kind: "CronJob"}:
		r.jobs(ctx, b)
	case object.Kind{Kind: "Service"}:
		b.Backends = r.endpoints(ctx, key, obj)
	case object.Kind{Group: "networking.k8s.io", Kind: "Ingress"}:
		b.Backends = r.backends(ctx, obj)
	case object.Kind{Group: cause.ExternalSecrets, Kind: "ExternalSecret"}:
		b.Below = r.store(ctx, key, obj)
	default:
		if strings.Contains(key.Group, ".") && !strings.HasSuffix(key.Group, ".k8s.io") && level < maxLevel {
			r.heirs(ctx, b, level)
		}
	}
	return b
}

// plain reports whether Events about an object add nothing: it has, or needs, no load balancer.
func plain(kind object.Kind, obj map[string]any) bool {
	addressed := len(object.List(object.Dict(object.Dict(obj, "status"), "loadBalancer"), "ingress")) > 0
	switch kind {
	case object.Kind{Kind: "Service"}:
		return addressed || object.Text(object.Dict(obj, "spec"), "type") != "LoadBalancer"
	case object.Kind{Group: "networking.k8s.io", Kind: "Ingress"}:
		return addressed
	}
	return false
}

// events lists the Events about an object, the oldest first.
func (r *reader) events(ctx context.Context, key object.Key, obj map[string]any) []cause.Event {
	if r.ask.Blind != "" {
		return nil
	}
	namespace := key.Namespace
	if namespace == "" { // Events about what has no namespace are in this one
		namespace = "default"
	}
	uid := object.Text(object.Dict(obj, "metadata"), "uid")
	var out []cause.Event
	for _, e := range r.list(ctx, Query{
		GroupVersionResource: core("events"), Namespace: namespace, Fields: "involvedObject.uid=" + uid, Limit: maxEvents,
	}) {
		out = append(out, cause.EventOf(e))
	}
	slices.SortStableFunc(out, func(a, b cause.Event) int { return a.Last.Compare(b.Last) })
	return out
}

// logs adds the last lines of containers to findings, or why there are none.
func (r *reader) logs(ctx context.Context, found []api.Finding) {
	left := maxLogs
	for i := range found {
		f := &found[i]
		switch {
		case f.Log == nil:
		case r.ask.Deny != "":
			f.Log.Note = cause.Say("the container has a log, and you may not read it: "+r.ask.Deny, maxWarning)
		case !r.ask.Logs:
		case left == 0:
			f.Log.Note = fmt.Sprintf("%d logs are read at a time", maxLogs)
		default:
			left--
			raw, err := r.cluster.Log(ctx, f.Object.Namespace, f.Object.Name, f.Container, f.Log.Previous)
			switch f.Log.Lines = cause.LogLines(raw); {
			case apierrors.IsForbidden(err):
				f.Log.Lines, f.Log.Note = nil, "the container has a log, and it may not be read: "+cause.Say(err.Error(), maxWarning)
			case err != nil:
				f.Log.Lines, f.Log.Note = nil, "the log could not be read: "+cause.Say(err.Error(), maxWarning)
			case len(f.Log.Lines) == 0:
				f.Log.Note = "the container wrote nothing"
			default:
				f.Log.Note = ""
			}
		}
	}
}
