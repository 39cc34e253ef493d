package chaos

import (
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// check waits for the end of the second sync and looks at all that was written for it, and at what is there.
func (st *stage) check() {
	st.t.Helper()
	st.await("the end", st.over)
	st.refresh()
	st.checkWrites()
	st.checkObjects()
	st.checkStatus()
	if st.t.Failed() {
		st.t.Logf("written:\n%s", st.told())
		for _, a := range st.agents {
			st.t.Logf("the end of the log of %s:\n%s", a.Name, a.Tail())
		}
	}
}

// checkWrites looks at the order of writes, and at how often each object was written.
func (st *stage) checkWrites() {
	st.t.Helper()
	highest, highestName := 0, ""
	made, written := map[string]int{}, map[string]int{}
	lost, deleted := map[string]bool{}, map[string]bool{} // hooks, since the answer to what makes or changes them was lost
	for n, w := range st.gate.record() {
		name := st.known(w.Kind + "/" + w.Name)
		if w.Kind == "applications" {
			continue
		}
		p, known := st.part(name)
		if !known && name != "configmaps/pruned" {
			st.t.Errorf("write %d is of an object that is none of ours: %s", n, w)
		}
		if w.Code/100 == 2 && w.Verb == "" && !lost[name] && !st.gate.repeats(w.Kind+"/"+w.Name) {
			st.t.Errorf("write %d changed nothing: %s", n, w)
		}
		lost[name] = lost[name] || w.Lost && w.Method != http.MethodDelete
		deleted[name] = lost[name] && (deleted[name] || w.Verb == "delete")
		if w.Verb == "" || w.Verb == "delete" || !known {
			continue
		}
		if !p.runs {
			st.t.Errorf("write %d is of an object whose turn does not come: %s", n, w)
		}
		if p.hook != "" && w.Verb == "create" {
			if made[name]++; made[name] > 1 {
				st.t.Errorf("write %d runs a hook again: %s", n, w)
			}
			if deleted[name] {
				st.t.Errorf("write %d runs a hook again that may have run: %s", n, w)
			}
		}
		if p.hook == "" {
			if written[name]++; written[name] > 1 {
				st.t.Errorf("write %d is the second one of an object that one commit changed: %s", n, w)
			}
		}
		if p.hook == "" || w.Verb == "create" {
			if p.rank < highest {
				st.t.Errorf("write %d comes after %s, whose turn is later: %s", n, highestName, w)
			}
			highest, highestName = max(highest, p.rank), name
		}
	}
	for _, p := range st.story.parts {
		if p.runs && p.hook != "" && made[p.name] == 0 && !lost[p.name] {
			st.t.Errorf("hook %s did not run", p.name)
		}
	}
}

// known is the name of an object in the story: that of a hook whose name the agent has made is without what it added, where
// it is of the second sync.
func (st *stage) known(name string) string {
	for _, p := range st.story.parts {
		if strings.HasSuffix(p.name, "-") && strings.HasPrefix(name, p.name) && st.commit != "" && strings.Contains(name, st.commit[:7]) {
			return p.name
		}
	}
	return name
}

func (st *stage) part(name string) (part, bool) {
	for _, p := range st.story.parts {
		if p.name == name {
			return p, true
		}
	}
	return part{}, false
}

// checkObjects looks at what is there in the end.
func (st *stage) checkObjects() {
	st.t.Helper()
	there := map[string]*unstructured.Unstructured{}
	for _, gvr := range []schema.GroupVersionResource{{Version: "v1", Resource: "configmaps"}, {Version: "v1", Resource: "pods"}, {Group: "batch", Version: "v1", Resource: "jobs"}} {
		list, err := st.client.Resource(gvr).Namespace(st.ns).List(st.t.Context(), metav1.ListOptions{})
		if err != nil {
			st.t.Fatal(err)
		}
		for i := range list.Items {
			if owned := len(list.Items[i].GetOwnerReferences()) > 0; !owned {
				there[st.known(gvr.Resource+"/"+list.Items[i].GetName())] = &list.Items[i]
			}
		}
	}
	if there["configmaps/pruned"] != nil {
		st.t.Error("what Git has no more is still there")
	}
	for _, p := range st.story.parts {
		o := there[p.name]
		if !p.runs {
			continue // it may be there from the first sync
		}
		switch {
		case p.stays && o == nil:
			st.t.Errorf("%s is not there", p.name)
		case !p.stays && o != nil && o.GetDeletionTimestamp() == nil:
			st.t.Errorf("%s is left over: its policy is %q", p.name, p.delete)
		case o != nil && strings.HasPrefix(p.name, "configmaps/") && st.story.operation == nil:
			if have, _, _ := unstructured.NestedString(o.Object, "data", "commit"); have != "2" {
				st.t.Errorf("%s is that of commit %s", p.name, have)
			}
		}
		if o != nil && len(o.GetFinalizers()) > 0 && strings.Contains(fmt.Sprint(o.GetFinalizers()), "hook-finalizer") {
			st.t.Errorf("%s has still the finalizer of a hook", p.name)
		}
	}
}

// checkStatus looks whether status and history tell what happened.
func (st *stage) checkStatus() {
	st.t.Helper()
	app, err := st.apps().Get(st.t.Context(), "app", metav1.GetOptions{})
	if err != nil {
		st.t.Fatal(err)
	}
	history, _, _ := unstructured.NestedSlice(app.Object, "status", "history")
	count := 0
	for _, h := range history {
		if m, ok := h.(map[string]any); ok && m["revision"] == st.commit {
			count++
		}
	}
	want := 0
	if st.story.deploys {
		want = 1
	}
	if count != want {
		st.t.Errorf("the history has the commit %d times, want %d: %v", count, want, history)
	}
	results, _, _ := unstructured.NestedSlice(app.Object, "status", "operationState", "syncResult", "resources")
	phases := map[string]string{}
	for _, result := range results {
		if r, ok := result.(map[string]any); ok {
			kind := map[string]string{"ConfigMap": "configmaps", "Pod": "pods", "Job": "jobs"}[fmt.Sprint(r["kind"])]
			phases[st.known(kind+"/"+fmt.Sprint(r["name"]))] = fmt.Sprint(r["hookPhase"])
		}
	}
	for _, p := range st.story.parts {
		have, told := phases[p.name]
		want := "Succeeded"
		if p.fails {
			want = "Failed"
		}
		switch {
		case p.hook != "" && p.runs && have != want:
			st.t.Errorf("the status says of %s %q, want %q", p.name, have, want)
		case p.hook != "" && !p.runs && told && st.story.name != "dry run":
			st.t.Errorf("the status tells of %s, which did not run: %q", p.name, have)
		}
	}
}
