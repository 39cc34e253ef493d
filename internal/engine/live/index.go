package live

import (
	"slices"
	"sync"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// Manager is the field manager under which the engine applies.
const Manager = "slipway"

// Event reports to an Application that one of its objects has changed.
type Event struct {
	App string // instance name
	Key object.Key
	Why Why
}

// Why says what happened to an object.
type Why string

// What can happen to a live object.
const (
	Drift    Why = "drift"    // a field that we own was changed by another manager
	Gone     Why = "gone"     // it was deleted
	Appeared Why = "appeared" // it exists or is tracked by the Application now, and was not before
	Health   Why = "health"   // its health changed, or what it shows: images and addresses
	Stray    Why = "stray"    // it belongs to no Application, or does not any more; for those who ask for orphans
)

// index holds the records of one cluster. Lookups by key and by application; never a scan.
type index struct {
	mu      sync.Mutex
	records map[object.Key]*Record                 // tracked objects
	apps    map[string]map[object.Key]*Record      // the same, by application
	foreign map[object.Kind]map[object.Key]foreign // untracked objects of watched kinds
	strays  map[string]*strays                     // by namespace: reported to readers of orphans
	claims  map[object.Key]string                  // which application wants an object, live or not
	rules   map[object.Key]*diff.Rules             // by which an object is compared, where there are some
	rivals  map[object.Key][]string                // which others want it too, and must hear when it is free
	heeds   map[object.Key]map[string]*heed        // what Applications want of objects that they do not track
	seen    map[span]uint64                        // the newest version that a watch has reported
	notify  func(Event)
	scripts *health.Assessor // nil: no user has a word on health

	tracking object.Tracking
	apart    bool // each namespace has its own watch of a kind
	shadow   bool // we write nothing, so that what counts of an object cannot be determined by what we own
}

// span is what one watch covers: a kind, and its namespace where each has its own.
type span struct {
	object.Kind
	namespace string
}

func (x *index) span(key object.Key) span {
	if x.apart {
		return span{key.GroupKind(), key.Namespace}
	}
	return span{Kind: key.GroupKind()}
}

// covers reports whether the watch of a span has an object.
func (x *index) covers(s span, key object.Key) bool { return x.span(key) == s }

// describe reads the facts of an object, its health as the user's scripts see it.
func (x *index) describe(kind object.Kind, obj map[string]any) Record {
	rec := describe(kind, obj, x.tracking)
	if x.scripts != nil && rec.App != "" {
		rec.Health, rec.Assessed = x.scripts.Assess(obj)
	}
	rec.Health.Message = legible.Cut(rec.Health.Message, maxWords)
	return rec
}

// maxWords bounds what is kept of the message of an object's health, in bytes. The author of an object can make it as
// long as an object, and all of them have to fit into the status of one Application.
const maxWords = 2 << 10

func newIndex(notify func(Event)) *index {
	return &index{
		records: map[object.Key]*Record{},
		apps:    map[string]map[object.Key]*Record{},
		foreign: map[object.Kind]map[object.Key]foreign{},
		strays:  map[string]*strays{},
		claims:  map[object.Key]string{},
		rules:   map[object.Key]*diff.Rules{},
		rivals:  map[object.Key][]string{},
		heeds:   map[object.Key]map[string]*heed{},
		seen:    map[span]uint64{},
		notify:  notify,
	}
}

// basis is by what a changed object is to be printed.
type basis struct {
	settled bool        // it has a fingerprint,
	fields  diff.Fields // of these fields,
	taken   *diff.Rules // by these rules
	rules   *diff.Rules // those that are in force now
	heeded  bool        // a caller needs something of its metadata
}

func (x *index) basis(key object.Key) basis {
	x.mu.Lock()
	defer x.mu.Unlock()
	b := basis{rules: x.rules[key], heeded: len(x.heeds[key]) > 0}
	if rec := x.records[key]; rec != nil && rec.Wanted != 0 {
		b.settled, b.fields, b.taken = true, rec.Fields, rec.Rules
	}
	return b
}

// knows reports whether a tracked object is known at this or a newer version.
func (x *index) knows(key object.Key, version uint64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	rec := x.records[key]
	return rec != nil && rec.Version >= version
}

// observation is one object as a watch delivered it, digested outside the lock.
type observation struct {
	rec Record
	obj map[string]any // nil when it came from a list
}

func (x *index) digest(kind object.Kind, obj map[string]any) observation {
	rec := x.describe(kind, obj)
	b := x.basis(rec.Key)
	if b.heeded {
		x.send(x.heeded(rec.Key, obj))
	}
	rec.Rules = b.rules.Of(obj)
	if b.settled && rec.Rules.Same(b.taken) {
		rec.Fields = b.fields
	} else if rec.App != "" {
		rec.Fields, _ = diff.OwnedFields(obj, Manager)
		if x.shadow {
			rec.Fields = diff.Whole()
		} else if !rec.Hook { // a hook is never compared
			rec.first = &unsettled{body: content(obj), holders: diff.Holders(obj)}
		}
	}
	rec.Print = rec.Rules.Print(obj, rec.Fields)
	return observation{rec: rec, obj: obj}
}

// observe takes an object that a watch delivered into the index.
func (x *index) observe(o observation) {
	x.mu.Lock()
	x.reached(x.span(o.rec.Key), o.rec.Version)
	events := x.put(o)
	x.mu.Unlock()
	x.send(events)
}

// reached notes how far a watch is. Callers hold the lock.
func (x *index) reached(s span, version uint64) { x.seen[s] = max(x.seen[s], version) }

func (x *index) send(events []Event) {
	for _, e := range events {
		x.notify(e)
	}
}

func (x *index) put(o observation) []Event {
	rec, old := o.rec, x.records[o.rec.Key]
	if old != nil && old.Version >= rec.Version {
		return nil // our own apply reported it already
	}
	if old != nil && old.Wanted != 0 && old.UID == rec.UID && old.Rules.Same(rec.Rules) {
		rec.Wanted, rec.Applied, rec.first = old.Wanted, old.Applied, nil
		if rec.Fields != old.Fields { // applied between digest and here
			rec.Fields = old.Fields
			rec.Print = ^old.Applied // unknown: counts as drift unless the object is at hand
			if o.obj != nil {
				rec.Print = old.Rules.Print(o.obj, old.Fields)
			}
		}
	}
	events := x.compare(old, &rec)
	return append(events, x.store(old, &rec)...)
}

// compare lists the events of the step from old to rec.
func (x *index) compare(old, rec *Record) []Event {
	var events []Event
	tell := func(app string, why Why) {
		if app != "" {
			events = append(events, Event{App: app, Key: rec.Key, Why: why})
		}
	}
	switch {
	case old == nil:
		tell(rec.App, Appeared)
		_, known := x.foreign[rec.Key.GroupKind()][rec.Key]
		if claim := x.claims[rec.Key]; claim != rec.App && !known {
			tell(claim, Appeared)
		}
	case old.App != rec.App:
		tell(old.App, Drift)
		tell(rec.App, Appeared)
	case old.UID != rec.UID, old.Print != rec.Print, old.Deleting != rec.Deleting:
		tell(rec.App, Drift)
	case old.Health != rec.Health, old.Behind != rec.Behind, !old.Shown.same(rec.Shown):
		tell(rec.App, Health)
	}
	return events
}

// store replaces old by rec in all maps, and reports that an object strays or does not any more. Callers hold
// the lock.
func (x *index) store(old, rec *Record) []Event {
	kind := rec.Key.GroupKind()
	if old != nil && old.App != rec.App {
		x.unlink(old)
	}
	if rec.App == "" {
		delete(x.records, rec.Key)
		if x.foreign[kind] == nil {
			x.foreign[kind] = map[object.Key]foreign{}
		}
		x.foreign[kind][rec.Key] = foreign{owned: rec.Owned, version: rec.Version}
		return x.stray(rec.Key, !rec.Owned, "")
	}
	delete(x.foreign[kind], rec.Key)
	x.records[rec.Key] = rec
	if x.apps[rec.App] == nil {
		x.apps[rec.App] = map[object.Key]*Record{}
	}
	x.apps[rec.App][rec.Key] = rec
	return x.stray(rec.Key, false, rec.App)
}

func (x *index) unlink(rec *Record) {
	if of := x.apps[rec.App]; of != nil {
		delete(of, rec.Key)
		if len(of) == 0 {
			delete(x.apps, rec.App)
		}
	}
}

// remove takes an object out that is gone; version is that of the deletion.
func (x *index) remove(key object.Key, uid string, version uint64) {
	x.mu.Lock()
	x.reached(x.span(key), version)
	events := x.drop(key, uid, version)
	x.mu.Unlock()
	x.send(events)
}

func (x *index) drop(key object.Key, uid string, version uint64) []Event {
	var events []Event
	rec := x.records[key]
	if rec != nil {
		if rec.Version > version || (uid != "" && rec.UID != uid) {
			return nil // deleted and made again since
		}
		delete(x.records, key)
		x.unlink(rec)
		events = append(events, Event{App: rec.App, Key: key, Why: Gone})
	}
	if _, here := x.foreign[key.GroupKind()][key]; here {
		delete(x.foreign[key.GroupKind()], key)
		events = append(events, x.stray(key, false, "")...)
		if claim := x.claims[key]; claim != "" {
			events = append(events, Event{App: claim, Key: key, Why: Gone})
		}
	}
	return append(events, x.tellRivals(key)...)
}

// tellRivals wakes those that wait for an object of another application.
func (x *index) tellRivals(key object.Key) []Event {
	var events []Event
	for _, app := range x.rivals[key] {
		events = append(events, Event{App: app, Key: key, Why: Gone})
	}
	delete(x.rivals, key)
	return events
}

// rival notes that app waits for an object that belongs to another application.
func (x *index) rival(key object.Key, app string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !slices.Contains(x.rivals[key], app) {
		x.rivals[key] = append(x.rivals[key], app)
	}
}

// replace makes the objects of a span exactly those of a list taken at version.
func (x *index) replace(of span, list []observation, version uint64) {
	x.mu.Lock()
	x.reached(of, version)
	var events []Event
	listed := make(map[object.Key]bool, len(list))
	for _, o := range list {
		listed[o.rec.Key] = true
		events = append(events, x.put(observation{rec: o.rec})...)
	}
	var gone []object.Key
	for key, rec := range x.records {
		if x.covers(of, key) && !listed[key] && rec.Version <= version {
			gone = append(gone, key)
		}
	}
	for key := range x.foreign[of.Kind] {
		if !listed[key] && x.covers(of, key) {
			gone = append(gone, key)
		}
	}
	for _, key := range gone {
		events = append(events, x.drop(key, "", version)...)
	}
	x.mu.Unlock()
	x.send(events)
}

// get returns a copy of the record, and whether an untracked object of that name exists, of which the record has the version.
func (x *index) get(key object.Key) (rec Record, tracked, foreign bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.records[key]; r != nil {
		return *r, true, false
	}
	f, foreign := x.foreign[key.GroupKind()][key]
	return Record{Version: f.version}, false, foreign
}

// owned returns copies of the records that an application tracks, in stable order.
func (x *index) owned(app string) []Record {
	x.mu.Lock()
	out := make([]Record, 0, len(x.apps[app]))
	for _, r := range x.apps[app] {
		out = append(out, *r)
	}
	x.mu.Unlock()
	slices.SortFunc(out, func(a, b Record) int { return a.Key.Compare(b.Key) })
	return out
}

// applied records what the API server made of a manifest with hash wanted.
func (x *index) applied(kind object.Kind, obj map[string]any, fields diff.Fields, wanted uint64) Record {
	rec := x.describe(kind, obj)
	rec.Fields, rec.Wanted, rec.Rules = fields, wanted, x.basis(rec.Key).rules.Of(obj)
	rec.Applied = rec.Rules.Print(obj, fields)
	rec.Print = rec.Applied
	x.mu.Lock()
	rec, events := x.take(rec)
	x.mu.Unlock()
	x.send(events)
	return rec
}

// take puts the record of an apply into the maps, unless the watch knows better. Callers hold the lock.
func (x *index) take(rec Record) (Record, []Event) {
	old := x.records[rec.Key]
	switch {
	case old == nil && rec.Version <= x.seen[x.span(rec.Key)]:
		// The watch has reported this version and later ones: the object was deleted, or taken from us.
		return rec, []Event{{App: rec.App, Key: rec.Key, Why: Gone}}
	case old != nil && old.UID != rec.UID && old.Version > rec.Version:
		// Deleted and made again since: that is another object, which no Application here has applied.
		return *old, []Event{{App: rec.App, Key: rec.Key, Why: Gone}}
	case old != nil && old.Version > rec.Version:
		// It was changed again before our answer was read, and no event need come after that. Keep the newer facts,
		// without a fingerprint: the next comparison finds out whether what was changed is ours.
		kept := *old
		kept.Fingerprint = Fingerprint{Fields: rec.Fields, Print: ^rec.Applied, Rules: rec.Rules}
		kept.first = nil
		events := append(x.store(old, &kept), Event{App: rec.App, Key: rec.Key, Why: Drift})
		return kept, events
	}
	events := x.store(old, &rec)
	return rec, events
}

// settle gives a record the fingerprint that a comparison found to hold, and drops the content kept for it.
func (x *index) settle(key object.Key, version, wanted uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if rec := x.records[key]; rec != nil && rec.Version == version {
		fresh := *rec
		fresh.Wanted, fresh.Applied, fresh.first = wanted, rec.Print, nil
		x.store(rec, &fresh)
	}
}

// unsettle takes the fingerprints of an Application's objects away.
func (x *index) unsettle(app string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, rec := range x.apps[app] {
		fresh := *rec
		fresh.Wanted, fresh.Applied, fresh.first = 0, 0, nil
		x.store(rec, &fresh)
	}
}

// claim notes that app wants the object. It reports the application that claimed it first, if another one did.
func (x *index) claim(key object.Key, app string) (other string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if have := x.claims[key]; have != "" && have != app {
		return have
	}
	x.claims[key] = app
	return ""
}

// release drops a claim of app.
func (x *index) release(key object.Key, app string) {
	var events []Event
	x.mu.Lock()
	if x.claims[key] == app {
		delete(x.claims, key)
		delete(x.rules, key)
		events = x.tellRivals(key)
	}
	x.mu.Unlock()
	x.send(events)
}
