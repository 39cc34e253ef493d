package agent

import (
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// name identifies an Application.
type name = types.NamespacedName

// nameOf is what identifies an Application.
func nameOf(app *v1alpha1.Application) name {
	return name{Namespace: app.Namespace, Name: app.Name}
}

// entry is an Application as last seen, and what the queue must remember of it between two turns.
type entry struct {
	app     *v1alpha1.Application
	unknown []string // fields that no type of ours has
	version uint64
	asked   ask
	due     time.Time     // before it, a failed operation is not tried again
	waits   bool          // time alone can change something: a window, a date, the next attempt, the end of an operation
	fails   int           // failures in a row
	untold  *untold       // an operation that is not in the status yet as it is
	told    time.Time     // when the status was last made what it should be
	pace    time.Duration // how far apart words about its progress are
}

// ask collects what the next turn of an Application must do beyond looking.
type ask struct {
	since time.Time // what repositories said before it does not count; zero: what is known will do
	due   bool      // the wait before the next attempt is over
	trace string    // the trace that asks for it; "" for none
}

// registry holds the Applications of the agent. It is fed by one watch per namespace and by the answers to our own
// writes, whichever comes first.
type registry struct {
	namespace string // of the agent
	enqueue   func(name)
	gone      func(*v1alpha1.Application)
	noted     func()                                 // told of every change, also of those that ask for no turn; nil for nobody
	moved     func(old, fresh *v1alpha1.Application) // likewise; nil for what was not there before or is gone

	mu        sync.Mutex
	entries   map[name]*entry
	instances map[string]name
}

func newRegistry(namespace string, enqueue func(name), gone func(*v1alpha1.Application)) *registry {
	return &registry{
		namespace: namespace, enqueue: enqueue, gone: gone, entries: map[name]*entry{}, instances: map[string]name{},
	}
}

// decodeApplication reads an Application without what only the API server needs.
func decodeApplication(raw []byte) (*v1alpha1.Application, []string, error) {
	app, unknown, err := v1alpha1.Decode(raw)
	if err != nil {
		return nil, nil, err
	}
	app.ManagedFields = nil
	return app, unknown, nil
}

// seen takes an Application in, as a watch or a list has it; it is queued when something changed that concerns us.
func (r *registry) seen(app *v1alpha1.Application, unknown []string) { r.takeIn(app, unknown, false) }

// answered takes in the answer to a write of ours. It may come after what the watch says since: an Application that is gone
// stays gone, and one that was made anew by its name stays.
func (r *registry) answered(app *v1alpha1.Application, unknown []string) {
	r.takeIn(app, unknown, true)
}

func (r *registry) takeIn(app *v1alpha1.Application, unknown []string, answer bool) {
	id := nameOf(app)
	version, _ := strconv.ParseUint(app.ResourceVersion, 10, 64)
	r.mu.Lock()
	old := r.entries[id]
	same := old != nil && old.app.UID == app.UID
	if same && old.version >= version || answer && !same {
		r.mu.Unlock()
		return
	}
	fresh := &entry{app: app, unknown: unknown, version: version}
	concerns := true
	var before *v1alpha1.Application
	if old != nil {
		before = old.app
	}
	if same {
		fresh.asked, fresh.due, fresh.waits, fresh.fails = old.asked, old.due, old.waits, old.fails
		fresh.untold, fresh.told, fresh.pace = old.untold, old.told, old.pace
		concerns = concernsUs(old.app, app)
		if concerns {
			fresh.due = time.Time{}
		}
	}
	if concerns && app.Annotations[v1alpha1.AnnotationRefresh] != "" {
		fresh.asked.since = time.Now()
	}
	r.entries[id] = fresh
	r.instances[object.InstanceName(app.Namespace, app.Name, r.namespace)] = id
	r.mu.Unlock()
	if r.noted != nil {
		r.noted()
	}
	if r.moved != nil {
		r.moved(before, app)
	}
	if concerns {
		r.enqueue(id)
	}
}

// concernsUs reports whether the step from old to app asks for a turn. Our own writes to the status do not.
func concernsUs(old, app *v1alpha1.Application) bool {
	switch {
	// A refresh is asked for again while another is answered, which may have looked at Git before: then only its time differs.
	case app.Annotations[v1alpha1.AnnotationRefresh] != "" && !sameWord(old, app, v1alpha1.AnnotationRefresh, v1alpha1.AnnotationRefreshTimestamp),
		app.Annotations[v1alpha1.AnnotationSkipReconcile] != old.Annotations[v1alpha1.AnnotationSkipReconcile],
		app.Operation != nil && !sameJSON(old.Operation, app.Operation),
		terminating(app) && !terminating(old),
		!sameWord(old, app, v1alpha1.AnnotationDeletionApproved, v1alpha1.AnnotationDeletionConfirmed, v1alpha1.AnnotationDeletionBudget,
			v1alpha1.AnnotationRollback, v1alpha1.AnnotationDriftAllowed),
		(old.DeletionTimestamp == nil) != (app.DeletionTimestamp == nil),
		!slices.Equal(linksOf(old, nil), linksOf(app, nil)),
		app.DeletionTimestamp != nil && len(old.Finalizers) != len(app.Finalizers):
		return true
	}
	return !sameJSON(old.Spec, app.Spec)
}

// terminating reports whether somebody asked for the end of an operation under way.
func terminating(app *v1alpha1.Application) bool {
	o := app.Status.OperationState
	return o != nil && o.Phase == v1alpha1.OperationTerminating
}

// sameWord reports whether two Applications have the same values of annotations.
func sameWord(a, b *v1alpha1.Application, names ...string) bool {
	for _, name := range names {
		if a.Annotations[name] != b.Annotations[name] {
			return false
		}
	}
	return true
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// removed takes an Application out that is gone.
func (r *registry) removed(id name) {
	r.mu.Lock()
	e := r.entries[id]
	delete(r.entries, id)
	delete(r.instances, object.InstanceName(id.Namespace, id.Name, r.namespace))
	r.mu.Unlock()
	if e != nil {
		r.gone(e.app)
		if r.moved != nil {
			r.moved(e.app, nil)
		}
	}
}

// keep removes every Application of a namespace that is not listed.
func (r *registry) keep(namespace string, listed map[name]bool) {
	r.mu.Lock()
	var gone []name
	for id := range r.entries {
		if (namespace == "" || id.Namespace == namespace) && !listed[id] {
			gone = append(gone, id)
		}
	}
	r.mu.Unlock()
	for _, id := range gone {
		r.removed(id)
	}
}

// take returns an Application for its turn, with what was asked of it; the next turn starts with nothing asked.
func (r *registry) take(id name) (entry, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[id]
	if e == nil {
		return entry{}, false
	}
	out := *e
	e.asked = ask{}
	return out, true
}

// get returns an Application as last seen.
func (r *registry) get(id name) (*v1alpha1.Application, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[id]
	if e == nil {
		return nil, false
	}
	return e.app, true
}

// ask notes a wish for the next turn of an Application, and queues it where now is set.
func (r *registry) ask(id name, wish ask, now bool) {
	r.mu.Lock()
	e := r.entries[id]
	if e != nil {
		if wish.since.After(e.asked.since) {
			e.asked.since = wish.since
		}
		e.asked.due = e.asked.due || wish.due
		if wish.trace != "" {
			e.asked.trace = wish.trace
		}
	}
	r.mu.Unlock()
	if e != nil && now {
		r.enqueue(id)
	}
}

// postpone notes until when a failed operation waits.
func (r *registry) postpone(id name, due time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[id]; e != nil {
		e.due = due
	}
}

// timed notes whether time alone can change something about an Application.
func (r *registry) timed(id name, waits bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[id]; e != nil {
		e.waits = waits
	}
}

// waiting returns the Applications about which time alone can change something.
func (r *registry) waiting() []name {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []name
	for id, e := range r.entries {
		if e.waits {
			out = append(out, id)
		}
	}
	return out
}

// failed counts a failure and returns how many there were in a row.
func (r *registry) failed(id name) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[id]
	if e == nil {
		return 0
	}
	e.fails++
	return e.fails
}

// recovered ends a row of failures.
func (r *registry) recovered(id name) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[id]; e != nil {
		e.fails = 0
	}
}

// reset forgets what was done and not told, and what was to be done: another replica works on the Application.
func (r *registry) reset(id name) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[id]; e != nil {
		*e = entry{app: e.app, unknown: e.unknown, version: e.version}
	}
}

// byInstance finds an Application by its name in tracking ids.
func (r *registry) byInstance(instance string) (name, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, ok := r.instances[instance]
	return id, ok
}

// each calls f for every Application, in no order.
func (r *registry) each(f func(name, *v1alpha1.Application)) {
	r.mu.Lock()
	list := make([]*entry, 0, len(r.entries))
	for _, e := range r.entries {
		list = append(list, e)
	}
	r.mu.Unlock()
	for _, e := range list {
		f(nameOf(e.app), e.app)
	}
}

// size returns the number of Applications.
func (r *registry) size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.entries)
}
