package peers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// results are what an engine made of the Applications, as snap.py takes it, and what was recorded until then.
type results struct {
	Apps       map[string]map[string]any `json:"apps"`       // statuses, by name
	Live       map[string]map[string]any `json:"live"`       // objects, by KIND/NAMESPACE/NAME
	Operations map[string][]operation    `json:"operations"` // those that finished, by name of the Application, the first one first
}

// difference is a field that has another value with the other engine.
type difference struct{ app, field, argo, slipway string }

// Marks on fields that only one of the engines has.
const (
	onlyArgo    = " <Argo CD only>"
	onlySlipway = " <Slipway only>"
)

// fieldAgain is the field of an operation of Argo CD that synced again what had just been synced.
const fieldAgain = "again"

func (d difference) String() string {
	return fmt.Sprintf("%s: %s\n\tArgo CD: %s\n\tSlipway: %s", d.app, d.field, d.argo, d.slipway)
}

// differ lists the fields in which two results differ, sorted.
func differ(t *testing.T, argo, slipway string) (out []difference, apps, objects int) {
	t.Helper()
	var a, b results
	for _, one := range []struct {
		raw  string
		into *results
	}{{argo, &a}, {slipway, &b}} {
		if err := json.Unmarshal([]byte(mounted.ReplaceAllString(one.raw, "kube-api-access")), one.into); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range both(a.Apps, b.Apps) {
		w := walk{app: name}
		app, repeated := worked(t, name, a.Apps[name], a.Operations[name])
		for _, op := range repeated {
			w.note(fieldAgain, value(op, "syncResult", "resources"), nil)
		}
		w.compare("", status(app), status(b.Apps[name]))
		out = append(out, w.found...)
		apps++
	}
	for _, name := range both(a.Live, b.Live) {
		parts := strings.SplitN(name, "/", 3) // KIND/NAMESPACE/NAME
		w := walk{app: strings.TrimPrefix(cmp.Or(parts[1], parts[2]), "p-")}
		w.compare("live "+name, content(a.Live[name]), content(b.Live[name]))
		out = append(out, w.found...)
		objects++
	}
	return out, apps, objects
}

// both are the keys of two maps, sorted.
func both[V any](a, b map[string]V) []string {
	all := map[string]bool{}
	for _, of := range []map[string]V{a, b} {
		for key := range of {
			all[key] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// walk goes through two values side by side.
type walk struct {
	app   string
	found []difference
}

func (w *walk) compare(path string, a, b any) {
	x, isX := a.(map[string]any)
	y, isY := b.(map[string]any)
	switch {
	case reflect.DeepEqual(a, b):
	case isX && isY && x != nil && y != nil:
		for _, key := range both(x, y) {
			w.compare(below(path, key), x[key], y[key])
		}
	case absent(b):
		w.note(path+onlyArgo, a, nil)
	case absent(a):
		w.note(path+onlySlipway, nil, b)
	default:
		w.note(path, a, b)
	}
}

// absent reports whether a value is none; an empty one is none as well.
func absent(v any) bool {
	value := reflect.ValueOf(v)
	return v == nil || (value.Kind() == reflect.Map || value.Kind() == reflect.Slice || value.Kind() == reflect.String) && value.Len() == 0
}

func (w *walk) note(path string, a, b any) {
	if absent(a) && absent(b) {
		return
	}
	w.found = append(w.found, difference{app: w.app, field: path, argo: printed(a), slipway: printed(b)})
}

func below(path, key string) string {
	switch {
	case strings.ContainsAny(key, "/."):
		return path + "[" + key + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

func printed(v any) string {
	const most = 600
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw[:min(len(raw), most)])
}

// mounted is the volume of a service account in a pod, whose name ends by chance.
var mounted = regexp.MustCompile(`kube-api-access-[a-z0-9]{5}`)

// named is the part of a hook's name that each operation makes another one.
var named = regexp.MustCompile(`-[0-9a-f]{7}-(presync|sync|postsync|syncfail|predelete|postdelete)-\d+$`)

// status is what is compared of an Application. The revisions are those of two repositories, and each engine has its own words.
func status(app map[string]any) map[string]any {
	out := maps.Clone(app)
	for _, field := range []string{"rev", "revs", "op", "history"} {
		delete(out, field)
	}
	for _, field := range []string{"synckeys", "healthkeys", "opkeys", "srkeys", "statuskeys", "annotations", "finalizers"} {
		set := map[string]any{}
		list, _ := out[field].([]any)
		for _, key := range list {
			set[fmt.Sprint(key)] = true
		}
		out[field] = set
	}
	conditions := map[string]any{}
	list, _ := out["conditions"].([]any)
	for _, c := range list {
		if pair, ok := c.([]any); ok && len(pair) == 2 {
			conditions[fmt.Sprint(pair[0])] = true
		}
	}
	out["conditions"] = conditions
	for field, words := range map[string]string{"resources": "hmsg", "opres": "message"} {
		of := map[string]any{}
		objects, _ := out[field].(map[string]any)
		for key, value := range objects {
			one, _ := value.(map[string]any)
			one = maps.Clone(one)
			delete(one, words)
			of[named.ReplaceAllString(key, "-GEN")] = one
		}
		out[field] = of
	}
	return out
}

// content is what is compared of a live object: no owners, no versions, no note of client-side apply, and no node, which the scheduler
// picks at random.
func content(obj map[string]any) map[string]any {
	out := maps.Clone(obj)
	for _, field := range []string{"_managers", "_rv", "generation"} {
		delete(out, field)
	}
	meta, _ := out["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
	if out["kind"] == "Pod" {
		spec, _ := out["spec"].(map[string]any)
		delete(spec, "nodeName")
	}
	return out
}
