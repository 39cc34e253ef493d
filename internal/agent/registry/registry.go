// Package registry holds the Applications of an agent: as last seen, in line for their turns, and where they have them.
package registry

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/status"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Registry holds the Applications of the agent. It is fed by one watch per namespace and by the answers to our own
// writes, whichever comes first.
type Registry struct {
	namespace string // of the agent
	enqueue   func(Name)
	gone      func(*v1alpha1.Application)
	OnChange  func()                                 // called for every change, also of those that ask for no turn; nil for none
	OnMove    func(old, fresh *v1alpha1.Application) // the same; nil for what was not there before or is gone

	mu        sync.Mutex
	entries   map[Name]*Entry
	instances map[string]Name
}

// New makes a registry that queues what is to have a turn, and calls gone for what no longer exists.
func New(namespace string, enqueue func(Name), gone func(*v1alpha1.Application)) *Registry {
	return &Registry{
		namespace: namespace, enqueue: enqueue, gone: gone, entries: map[Name]*Entry{}, instances: map[string]Name{},
	}
}

// Decode reads an Application without what only the API server needs.
func Decode(raw []byte) (*v1alpha1.Application, []string, error) {
	app, unknown, err := v1alpha1.Decode(raw)
	if err != nil {
		return nil, nil, err
	}
	app.ManagedFields = nil
	return app, unknown, nil
}

// Seen takes an Application in, as a watch or a list has it; it is queued when something changed that concerns us.
func (r *Registry) Seen(app *v1alpha1.Application, unknown []string) { r.takeIn(app, unknown, false) }

// Answered takes in the answer to a write of ours. It may come after what the watch says since: an Application that is gone
// stays gone, and one that was made again by its name stays.
func (r *Registry) Answered(app *v1alpha1.Application, unknown []string) {
	r.takeIn(app, unknown, true)
}

func (r *Registry) takeIn(app *v1alpha1.Application, unknown []string, answer bool) {
	id := NameOf(app)
	version, _ := strconv.ParseUint(app.ResourceVersion, 10, 64)
	r.mu.Lock()
	old := r.entries[id]
	same := old != nil && old.App.UID == app.UID
	if same && old.version >= version || answer && !same {
		r.mu.Unlock()
		return
	}
	fresh := &Entry{App: app, Unknown: unknown, version: version}
	concerns := true
	var before *v1alpha1.Application
	if old != nil {
		before = old.App
	}
	if same {
		fresh.Asked, fresh.Due, fresh.waits, fresh.fails = old.Asked, old.Due, old.waits, old.fails
		fresh.Unreported, fresh.ReportedAt, fresh.pace = old.Unreported, old.ReportedAt, old.pace
		concerns = concernsUs(old.App, app)
		if concerns {
			fresh.Due = time.Time{}
		}
	}
	if concerns && app.Annotations[v1alpha1.AnnotationRefresh] != "" {
		fresh.Asked.Since = time.Now()
	}
	r.entries[id] = fresh
	r.instances[object.InstanceName(app.Namespace, app.Name, r.namespace)] = id
	r.mu.Unlock()
	if r.OnChange != nil {
		r.OnChange()
	}
	if r.OnMove != nil {
		r.OnMove(before, app)
	}
	if concerns {
		r.enqueue(id)
	}
}

// concernsUs reports whether the step from old to app asks for a turn. Our own writes to the status do not.
func concernsUs(old, app *v1alpha1.Application) bool {
	switch {
	// A refresh is asked for again while another is answered, which may have looked at Git before: then only its time differs.
	case app.Annotations[v1alpha1.AnnotationRefresh] != "" &&
		!sameWord(old, app, v1alpha1.AnnotationRefresh, v1alpha1.AnnotationRefreshTimestamp),
		app.Annotations[v1alpha1.AnnotationSkipReconcile] != old.Annotations[v1alpha1.AnnotationSkipReconcile],
		app.Operation != nil && !status.SameJSON(old.Operation, app.Operation),
		status.Terminating(app) && !status.Terminating(old),
		!sameWord(old, app, v1alpha1.AnnotationDeletionApproved, v1alpha1.AnnotationDeletionConfirmed, v1alpha1.AnnotationDeletionBudget,
			v1alpha1.AnnotationRollback, v1alpha1.AnnotationDriftAllowed),
		(old.DeletionTimestamp == nil) != (app.DeletionTimestamp == nil),
		!slices.Equal(status.Links(old, nil), status.Links(app, nil)),
		app.DeletionTimestamp != nil && len(old.Finalizers) != len(app.Finalizers):
		return true
	}
	return !status.SameJSON(old.Spec, app.Spec)
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

// Removed takes an Application out that is gone.
func (r *Registry) Removed(id Name) {
	r.mu.Lock()
	e := r.entries[id]
	delete(r.entries, id)
	delete(r.instances, object.InstanceName(id.Namespace, id.Name, r.namespace))
	r.mu.Unlock()
	if e != nil {
		r.gone(e.App)
		if r.OnMove != nil {
			r.OnMove(e.App, nil)
		}
	}
}

// keep removes every Application of a namespace that is not listed.
func (r *Registry) keep(namespace string, listed map[Name]bool) {
	r.mu.Lock()
	var gone []Name
	for id := range r.entries {
		if (namespace == "" || id.Namespace == namespace) && !listed[id] {
			gone = append(gone, id)
		}
	}
	r.mu.Unlock()
	for _, id := range gone {
		r.Removed(id)
	}
}

// Take returns an Application for its turn, with what was asked of it; the next turn starts with nothing asked.
func (r *Registry) Take(id Name) (Entry, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[id]
	if e == nil {
		return Entry{}, false
	}
	out := *e
	e.Asked = Ask{}
	return out, true
}

// Get returns an Application as last seen.
func (r *Registry) Get(id Name) (*v1alpha1.Application, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[id]
	if e == nil {
		return nil, false
	}
	return e.App, true
}

// Ask notes a wish for the next turn of an Application, and queues it where now is set.
func (r *Registry) Ask(id Name, wish Ask, now bool) {
	r.mu.Lock()
	e := r.entries[id]
	if e != nil {
		if wish.Since.After(e.Asked.Since) {
			e.Asked.Since = wish.Since
		}
		if wish.Trace != "" {
			e.Asked.Trace = wish.Trace
		}
	}
	r.mu.Unlock()
	if e != nil && now {
		r.enqueue(id)
	}
}

// Postpone notes until when a failed operation waits.
func (r *Registry) Postpone(id Name, due time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[id]; e != nil {
		e.Due = due
	}
}

// Timed notes whether time alone can change something about an Application.
func (r *Registry) Timed(id Name, waits bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[id]; e != nil {
		e.waits = waits
	}
}

// Waiting returns the Applications about which time alone can change something.
func (r *Registry) Waiting() []Name {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Name
	for id, e := range r.entries {
		if e.waits {
			out = append(out, id)
		}
	}
	return out
}

// Failed counts a failure and returns how many there were in a row.
func (r *Registry) Failed(id Name) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[id]
	if e == nil {
		return 0
	}
	e.fails++
	return e.fails
}

// Recovered ends a row of failures.
func (r *Registry) Recovered(id Name) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[id]; e != nil {
		e.fails = 0
	}
}

// Reset forgets what was done and not reported, and what was to be done: another replica works on the Application.
func (r *Registry) Reset(id Name) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[id]; e != nil {
		*e = Entry{App: e.App, Unknown: e.Unknown, version: e.version}
	}
}

// ByInstance finds an Application by its name in tracking ids.
func (r *Registry) ByInstance(instance string) (Name, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, ok := r.instances[instance]
	return id, ok
}

// Each calls f for every Application, in no order.
func (r *Registry) Each(f func(Name, *v1alpha1.Application)) {
	r.mu.Lock()
	list := make([]*Entry, 0, len(r.entries))
	for _, e := range r.entries {
		list = append(list, e)
	}
	r.mu.Unlock()
	for _, e := range list {
		f(NameOf(e.App), e.App)
	}
}

// Size returns the number of Applications.
func (r *Registry) Size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.entries)
}

// ProjectOf is the project of an Application that is known, "" otherwise.
func (r *Registry) ProjectOf(id Name) string {
	if app, ok := r.Get(id); ok {
		return app.Spec.ProjectName()
	}
	return ""
}

// Hold keeps an operation that is not reported.
func (r *Registry) Hold(id Name, u *Unreported) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[id]; e != nil {
		e.Unreported = u
	}
}

// Reported notes that everything is reported.
func (r *Registry) Reported(id Name, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[id]; e != nil {
		e.Unreported, e.ReportedAt = nil, now
	}
}

// Wrote notes that an Application was written just now, and how long that took.
func (r *Registry) Wrote(id Name, now time.Time, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[id]; e != nil {
		e.ReportedAt, e.pace = now, paceOf(took)
	}
}

// Rhythm returns when the status of an Application was last made what it should be, and how far apart words about it are.
func (r *Registry) Rhythm(id Name) (reported time.Time, pace time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[id]; e != nil {
		return e.ReportedAt, e.Rhythm()
	}
	return time.Time{}, SettleWindow
}
