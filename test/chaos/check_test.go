package chaos

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// bystander is an object that no Application knows of.
var bystander = ref{"ConfigMap", "bystander"}

// wrong says in what the cluster differs from the last commit; "" when it does not.
func (f *fleet) wrong(objects map[ref]object) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.apps {
		if problem := a.wrong(objects); problem != "" {
			return problem
		}
		if problem := f.wrongStatus(a, objects); problem != "" {
			return a.name + ": " + problem
		}
	}
	return ""
}

func (a *app) wrong(objects map[ref]object) string {
	for name, want := range a.maps {
		live := objects[ref{"ConfigMap", a.name + "-" + name}]
		if live == nil {
			return fmt.Sprintf("ConfigMap %s-%s is missing", a.name, name)
		}
		if have, _, _ := unstructured.NestedString(live, "data", "value"); have != want {
			return fmt.Sprintf("ConfigMap %s-%s has value %q, not %q", a.name, name, have, want)
		}
	}
	for r := range objects {
		name, ours := strings.CutPrefix(r.name, a.name+"-")
		if r.kind != "ConfigMap" || !ours {
			continue
		}
		_, wanted := a.maps[name]
		_, left := a.left[name]
		if !wanted && !left {
			return r.name + " is not in Git any more, but in the cluster"
		}
	}
	containers, _, _ := unstructured.NestedSlice(objects[ref{"Deployment", a.name}], "spec", "template", "spec", "containers")
	if len(containers) != 1 {
		return "Deployment " + a.name + " is missing"
	}
	image, _ := containers[0].(map[string]any)["image"].(string)
	if want := fmt.Sprintf("registry.example/main:%d", a.image); image != want {
		return fmt.Sprintf("Deployment %s has image %s, not %s", a.name, image, want)
	}
	if a.chart && objects[ref{"Service", a.name}] == nil {
		return "Service " + a.name + " is missing"
	}
	return ""
}

// shows reports whether a ConfigMap of a has a value that begins with mark.
func (a *app) shows(objects map[ref]object, mark string) bool {
	for name := range a.maps {
		value, _, _ := unstructured.NestedString(objects[ref{"ConfigMap", a.name + "-" + name}], "data", "value")
		if strings.HasPrefix(value, mark) {
			return true
		}
	}
	return false
}

// any reports whether is holds for an Application that the last commit changed.
func (f *fleet) any(objects map[ref]object, is func(*app, map[ref]object) bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.apps {
		if a.last == len(f.commits) && is(a, objects) {
			return true
		}
	}
	return false
}

// wrongStatus says what an Application does not tell as it is.
func (f *fleet) wrongStatus(a *app, objects map[ref]object) string {
	live := objects[ref{"Application", a.name}]
	get := func(path ...string) string {
		text, _, _ := unstructured.NestedString(live, path...)
		return text
	}
	want := "Synced"
	if a.leftIn(objects) > 0 {
		want = "OutOfSync" // what Git dropped is still there and marked
	}
	if have := get("status", "sync", "status"); have != want {
		return fmt.Sprintf("sync status is %q, not %q", have, want)
	}
	if phase := get("status", "operationState", "phase"); phase != "Succeeded" {
		return fmt.Sprintf("the last operation is %q: %s", phase, get("status", "operationState", "message"))
	}
	if conditions, _, _ := unstructured.NestedSlice(live, "status", "conditions"); len(conditions) > 0 {
		return fmt.Sprintf("conditions: %v", conditions)
	}
	if n := f.commits[get("status", "operationState", "syncResult", "revision")]; n < a.last {
		return fmt.Sprintf("the last operation was for commit %d; %d changed it last", n, a.last)
	}
	history, _, _ := unstructured.NestedSlice(live, "status", "history")
	if len(history) == 0 {
		return "no history"
	}
	last, _ := history[len(history)-1].(map[string]any)
	revision, _ := last["revision"].(string)
	if n := f.commits[revision]; n < a.last {
		return fmt.Sprintf("history ends at commit %d; %d changed it last", n, a.last)
	}
	return ""
}

// leftIn counts the objects in the cluster that Git dropped and that nobody prunes.
func (a *app) leftIn(objects map[ref]object) int {
	n := 0
	for name := range a.left {
		if objects[ref{"ConfigMap", a.name + "-" + name}] != nil {
			n++
		}
	}
	return n
}

// snapshot is what must hold still between two rounds.
type snapshot struct {
	commit      int
	objects     map[ref]object
	edits       map[ref]int // changes in Git so far, by object
	generations map[string]int64
}

func (s *scene) snapshot() snapshot {
	objects, _ := s.view.now()
	out := snapshot{objects: objects, edits: map[ref]int{}, generations: map[string]int64{}}
	s.fleet.mu.Lock()
	defer s.fleet.mu.Unlock()
	out.commit = len(s.fleet.commits)
	for _, a := range s.fleet.apps {
		for name, n := range a.edits {
			if name == "" {
				out.edits[ref{"Deployment", a.name}] = n
			} else {
				out.edits[ref{"ConfigMap", a.name + "-" + name}] = n
			}
		}
		out.generations[a.name], _, _ = unstructured.NestedInt64(objects[ref{"Deployment", a.name}], "metadata", "generation")
	}
	return out
}

func uid(o object) string {
	text, _, _ := unstructured.NestedString(o, "metadata", "uid")
	return text
}

// compare looks for what a round did that no commit asked for.
func (s *scene) compare(before, after snapshot) {
	s.t.Helper()
	for r, old := range before.objects {
		now := after.objects[r]
		switch {
		case r == bystander:
			if now == nil || uid(now) != uid(old) || fmt.Sprint(now) != fmt.Sprint(old) {
				s.t.Errorf("the object that belongs to nobody was touched: %v, before it was %v", now, old)
			}
		case r.kind == "Application" || r.kind == "CustomResourceDefinition" || !s.fleet.kept(r):
		case uid(now) != uid(old):
			s.t.Errorf("%s %s was deleted and made again, though every commit has it", r.kind, r.name)
		}
		// Each write makes a version. Those of controllers come on top, so only what none of them writes is counted.
		if r.kind == "ConfigMap" && r != bystander && s.fleet.kept(r) {
			if seen := s.view.seenVersions(uid(now)); seen > after.edits[r] {
				s.t.Errorf("%s %s was written %d times; commits changed it %d times", r.kind, r.name, seen, after.edits[r])
			}
		}
	}
	for name, generation := range after.generations {
		r := ref{"Deployment", name}
		moved, asked := generation-before.generations[name], int64(after.edits[r]-before.edits[r])
		if moved > asked || (asked > 0 && moved == 0) {
			s.t.Errorf("Deployment %s: generation moved by %d; commits changed it %d times", name, moved, asked)
		}
	}
	for _, a := range s.fleet.apps {
		s.checkHistory(a.name, after.objects[ref{"Application", a.name}])
	}
}

// kept reports whether every commit since an object was first wanted has it.
func (f *fleet) kept(r ref) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.apps {
		if r.kind != "ConfigMap" && r.name == a.name {
			return true
		}
		if name, ours := strings.CutPrefix(r.name, a.name+"-"); ours {
			_, wanted := a.maps[name]
			return wanted // names never come again, so it was wanted all the time
		}
	}
	return false
}

// checkHistory looks whether each deployment is told once, in order.
func (s *scene) checkHistory(name string, live object) {
	s.t.Helper()
	history, _, _ := unstructured.NestedSlice(live, "status", "history")
	lastCommit, lastID := 0, int64(-1)
	for _, h := range history {
		m, _ := h.(map[string]any)
		revision, _ := m["revision"].(string)
		id, _ := m["id"].(int64)
		if n := s.fleet.commits[revision]; n <= lastCommit || id <= lastID {
			s.t.Errorf("%s: history has commit %d (id %d) after commit %d (id %d)", name, n, id, lastCommit, lastID)
		} else {
			lastCommit, lastID = n, id
		}
	}
}
