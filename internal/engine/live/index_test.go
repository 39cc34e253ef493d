package live

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// server is a simple API server with one kind: objects with one field, versions that count up, and a log of events.
type server struct {
	version uint64
	uids    int
	objects map[string]stored
	log     []logged
}

type stored struct {
	uid     string
	version uint64
	app     string // tracked by
	value   string // the field that we own once we applied
	ours    bool   // we applied it
}

type logged struct {
	name string
	gone bool
	at   stored
}

func kindMap() object.Kind { return object.Kind{Kind: "ConfigMap"} }

func keyMap(name string) object.Key {
	return object.Key{Kind: "ConfigMap", Namespace: "default", Name: name}
}

// put creates or changes an object. What does not change it makes no version.
func (s *server) put(name, app, value string, apply bool) stored {
	o, exists := s.objects[name]
	before := o
	if !exists {
		s.uids++
		o.uid = strconv.Itoa(s.uids)
	}
	o.app, o.value, o.ours = app, value, o.ours || apply
	if o == before {
		return o
	}
	s.version++
	o.version = s.version
	s.objects[name] = o
	s.log = append(s.log, logged{name: name, at: o})
	return o
}

func (s *server) delete(name string) {
	o, exists := s.objects[name]
	if !exists {
		return
	}
	delete(s.objects, name)
	s.version++
	o.version = s.version
	s.log = append(s.log, logged{name: name, gone: true, at: o})
}

func (o stored) tree(name string) map[string]any {
	meta := map[string]any{
		"name": name, "namespace": "default", "uid": o.uid, "resourceVersion": strconv.FormatUint(o.version, 10),
	}
	if o.app != "" {
		meta["annotations"] = map[string]any{object.TrackingAnnotation: object.TrackingID(o.app, keyMap(name), "default")}
	}
	if o.ours {
		meta["managedFields"] = []any{map[string]any{
			"manager": Manager, "operation": "Apply", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
			"fieldsV1": map[string]any{"f:data": map[string]any{"f:value": map[string]any{}}},
		}}
	}
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": map[string]any{"value": o.value}}
}

// harness is the index under test, a server, and what is on its way between them.
type harness struct {
	t       *rapid.T
	server  server
	index   *index
	read    int // events of the log that the watch has delivered
	answers []answer
	wanted  map[string]uint64 // hash of the manifest that was applied last
	applied map[string]stored // what the server made of it
	told    map[string]bool   // names of which application one heard since its last apply of them began
}

// answer is the reply to an apply, which takes as long as it takes.
type answer struct {
	name   string
	at     stored
	wanted uint64
}

func hashed(app, value string) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range []byte(app + "/" + value) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

func (h *harness) deliver() {
	e := h.server.log[h.read]
	h.read++
	if e.gone {
		h.index.remove(keyMap(e.name), e.at.uid, e.at.version)
		return
	}
	h.index.observe(h.index.digest(kindMap(), e.at.tree(e.name)))
}

func (h *harness) answer(i int) {
	a := h.answers[i]
	h.answers = slices.Delete(h.answers, i, i+1)
	obj := a.at.tree(a.name)
	fields, _ := diff.OwnedFields(obj, Manager)
	h.index.applied(kindMap(), obj, fields, a.wanted)
}

// relist replaces the watch: everything that it had not delivered is in the list.
func (h *harness) relist() {
	var list []observation
	for name, o := range h.server.objects {
		seen := h.index.digest(kindMap(), o.tree(name))
		seen.obj = nil
		list = append(list, seen)
	}
	h.index.replace(span{Kind: kindMap()}, list, h.server.version)
	h.read = len(h.server.log)
}

func TestWhateverComesInWhateverOrderTheIndexEndsAtWhatTheServerHolds(t *testing.T) {
	t.Parallel()
	names, apps, values := []string{"a", "b", "c"}, []string{"", "one", "two"}, []string{"x", "y", "z"}
	rapid.Check(t, func(t *rapid.T) {
		h := &harness{
			t: t, server: server{objects: map[string]stored{}}, wanted: map[string]uint64{}, applied: map[string]stored{}, told: map[string]bool{},
		}
		h.index = newIndex(func(e Event) { h.told[e.Key.Name] = h.told[e.Key.Name] || e.App == "one" })
		for _, name := range names {
			h.index.claim(keyMap(name), "one")
		}
		t.Repeat(map[string]func(*rapid.T){
			"somebody writes": func(t *rapid.T) {
				h.server.put(rapid.SampledFrom(names).Draw(t, "name"), rapid.SampledFrom(apps).Draw(t, "app"),
					rapid.SampledFrom(values).Draw(t, "value"), false)
			},
			"somebody deletes": func(t *rapid.T) { h.server.delete(rapid.SampledFrom(names).Draw(t, "name")) },
			"we apply": func(t *rapid.T) {
				name, value := rapid.SampledFrom(names).Draw(t, "name"), rapid.SampledFrom(values).Draw(t, "value")
				if slices.ContainsFunc(h.answers, func(a answer) bool { return a.name == name }) {
					return // an Application has one turn at a time
				}
				at := h.server.put(name, "one", value, true)
				h.answers = append(h.answers, answer{name: name, at: at, wanted: hashed("one", value)})
				h.told[name] = false
				h.wanted[name], h.applied[name] = hashed("one", value), at
			},
			"an answer comes": func(t *rapid.T) {
				if len(h.answers) > 0 {
					h.answer(rapid.IntRange(0, len(h.answers)-1).Draw(t, "answer"))
				}
			},
			"the watch delivers": func(*rapid.T) {
				if h.read < len(h.server.log) {
					h.deliver()
				}
			},
			"the watch is lost": func(*rapid.T) { h.relist() },
		})
		// The rest arrives, in any order of the two ways.
		for len(h.answers) > 0 || h.read < len(h.server.log) {
			if len(h.answers) > 0 && (h.read == len(h.server.log) || rapid.Bool().Draw(t, "answer first")) {
				h.answer(0)
			} else {
				h.deliver()
			}
		}
		h.check()
	})
}

func (h *harness) check() {
	var want, have []string
	for _, app := range []string{"one", "two"} {
		for _, rec := range h.index.owned(app) {
			have = append(have, fmt.Sprintf("%s is %s's, uid %s", rec.Key.Name, app, rec.UID))
		}
	}
	for name, o := range h.server.objects {
		rec, tracked, foreign := h.index.get(keyMap(name))
		if tracked != (o.app != "") || foreign != (o.app == "") {
			h.t.Fatalf("%s is tracked by %q; the index says tracked %t, foreign %t", name, o.app, tracked, foreign)
		}
		if o.app == "" {
			continue
		}
		want = append(want, fmt.Sprintf("%s is %s's, uid %s", name, o.app, o.uid))
		// In sync must never be said of what is not. The other way costs a comparison, no more.
		last := h.applied[name]
		if rec.InSync(h.wanted[name]) && (last.uid != o.uid || last.value != o.value) {
			h.t.Fatalf("%s holds %q (uid %s); the index takes it for what we applied: %q (uid %s)", name, o.value, o.uid, last.value, last.uid)
		}
	}
	for name, hash := range h.wanted {
		if rec, _, _ := h.index.get(keyMap(name)); !rec.InSync(hash) && !h.told[name] {
			h.t.Fatalf("%s is not as applied, and nobody was told", name)
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		if _, exists := h.server.objects[name]; !exists {
			if _, tracked, foreign := h.index.get(keyMap(name)); tracked || foreign {
				h.t.Fatalf("%s does not exist; the index says tracked %t, foreign %t", name, tracked, foreign)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(have)
	if d := cmp.Diff(want, have); d != "" {
		h.t.Fatalf("objects by application (-server +index):\n%s", d)
	}
}

func TestAnAppliedObjectIsInSyncUntilAFieldOfOursChanges(t *testing.T) {
	t.Parallel()
	var events []Event
	x := newIndex(func(e Event) { events = append(events, e) })
	o := stored{uid: "1", version: 5, app: "one", value: "x", ours: true}
	fields, _ := diff.OwnedFields(o.tree("a"), Manager)
	if rec := x.applied(kindMap(), o.tree("a"), fields, 7); !rec.InSync(7) || rec.InSync(8) {
		t.Fatalf("after the apply: %+v", rec)
	}
	x.observe(x.digest(kindMap(), o.tree("a"))) // the echo of it
	other := o.tree("a")
	other["metadata"].(map[string]any)["resourceVersion"] = "6"
	other["data"].(map[string]any)["theirs"] = "1"
	x.observe(x.digest(kindMap(), other))
	if rec, _, _ := x.get(keyMap("a")); !rec.InSync(7) || len(events) != 0 {
		t.Fatalf("a field of somebody else counts as drift: %+v, events %v", rec, events)
	}
	o.version, o.value = 7, "y"
	x.observe(x.digest(kindMap(), o.tree("a")))
	want := []Event{{App: "one", Key: keyMap("a"), Why: Drift}}
	if rec, _, _ := x.get(keyMap("a")); rec.InSync(7) {
		t.Errorf("a changed field of ours counts as in sync: %+v", rec)
	}
	if d := cmp.Diff(want, events); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
}

func TestWhoWaitsForAnObjectHearsWhenItIsFree(t *testing.T) {
	t.Parallel()
	var events []Event
	x := newIndex(func(e Event) { events = append(events, e) })
	if other := x.claim(keyMap("a"), "one"); other != "" {
		t.Fatalf("a free object belongs to %q", other)
	}
	if other := x.claim(keyMap("a"), "two"); other != "one" {
		t.Fatalf("the object that one claimed belongs to %q", other)
	}
	x.rival(keyMap("a"), "two")
	x.rival(keyMap("a"), "two")
	x.release(keyMap("a"), "two") // not its own: changes nothing
	if len(events) != 0 {
		t.Fatalf("events before the claim is dropped: %v", events)
	}
	x.release(keyMap("a"), "one")
	if d := cmp.Diff([]Event{{App: "two", Key: keyMap("a"), Why: Gone}}, events); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	if other := x.claim(keyMap("a"), "two"); other != "" {
		t.Errorf("the free object belongs to %q", other)
	}
}

func TestAnObjectThatChangedBeforeOurAnswerWasReadIsComparedAnew(t *testing.T) {
	t.Parallel()
	var events []Event
	x := newIndex(func(e Event) { events = append(events, e) })
	o := stored{uid: "1", version: 4, app: "one", value: "x", ours: true}
	fields, _ := diff.OwnedFields(o.tree("a"), Manager)
	x.applied(kindMap(), o.tree("a"), fields, 6)
	answer := o
	answer.version, answer.value = 5, "y"
	theirs := answer.tree("a") // what the server made of our apply, and a field of somebody else on top
	theirs["metadata"].(map[string]any)["resourceVersion"] = "6"
	theirs["data"].(map[string]any)["theirs"] = "1"
	x.observe(x.digest(kindMap(), theirs))
	events = nil

	// The answer is older than what the watch has told, and nothing more happens to the object.
	got := x.applied(kindMap(), answer.tree("a"), fields, 7)
	kept, _, _ := x.get(keyMap("a"))
	for name, rec := range map[string]Record{"what the writer gets": got, "what is kept": kept} {
		if rec.Version != 6 || rec.Wanted != 0 || rec.InSync(6) || rec.InSync(7) || rec.Body() != nil {
			t.Errorf("%s has a fingerprint, or is not the newest that is known: %+v", name, rec)
		}
	}
	if d := cmp.Diff([]Event{{App: "one", Key: keyMap("a"), Why: Drift}}, events); d != "" {
		t.Fatalf("events (-want +got):\n%s", d)
	}

	// The comparison reads the object, finds that what is ours is as wanted, and from then on the prints tell.
	events = nil
	x.settle(keyMap("a"), x.look(kindMap(), theirs).Version, 7)
	theirs["metadata"].(map[string]any)["resourceVersion"] = "7"
	theirs["data"].(map[string]any)["theirs"] = "2"
	x.observe(x.digest(kindMap(), theirs))
	if rec, _, _ := x.get(keyMap("a")); !rec.InSync(7) || len(events) != 0 {
		t.Errorf("after the comparison: %+v, events %v", rec, events)
	}
}
