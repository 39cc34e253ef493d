package apply

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// in is the same dock for a test within the test.
func (d *dock) in(t *testing.T) *dock {
	within := *d
	within.t = t
	return &within
}

// watch makes the kinds of manifests known to the target, as they are now.
func (d *dock) watch(manifests ...object.Manifest) {
	d.t.Helper()
	for _, m := range manifests {
		res, err := d.target.Live.Find(d.t.Context(), m.Key.GroupKind(), "")
		if err == nil {
			err = d.target.Live.Watch(d.t.Context(), res)
		}
		if err != nil {
			d.t.Fatal(err)
		}
	}
}

// as sends a manifest as somebody else: by server-side apply, or as a new object.
func (d *dock) as(manager string, serverSide bool, m object.Manifest) {
	d.t.Helper()
	res, err := d.target.Live.Find(d.t.Context(), m.Key.GroupKind(), m.Version)
	if err != nil {
		d.t.Fatal(err)
	}
	req := d.target.Client.rest.Post().AbsPath(res.Path(m.Version, m.Key.Namespace, ""))
	if serverSide {
		req = d.target.Client.rest.Patch(types.ApplyPatchType).AbsPath(res.Path(m.Version, m.Key.Namespace, m.Key.Name)).Param("force", "true")
	}
	if raw, err := req.Param("fieldManager", manager).Body(m.JSON).Do(d.t.Context()).Raw(); err != nil {
		d.t.Fatalf("%v: %s", err, raw)
	}
}

// merge changes an object as somebody else.
func (d *dock) merge(manager string, m object.Manifest, patch string) {
	d.t.Helper()
	res, err := d.target.Live.Find(d.t.Context(), m.Key.GroupKind(), m.Version)
	if err != nil {
		d.t.Fatal(err)
	}
	raw, err := d.target.Client.rest.Patch(types.MergePatchType).AbsPath(res.Path(m.Version, m.Key.Namespace, m.Key.Name)).
		Param("fieldManager", manager).Body([]byte(patch)).Do(d.t.Context()).Raw()
	if err != nil {
		d.t.Fatalf("%v: %s", err, raw)
	}
}

// write writes one object and fails the test where that does not go well.
func (d *dock) write(m object.Manifest, how How) Outcome {
	d.t.Helper()
	out := d.try(m, how)
	if out.Err != nil {
		d.t.Fatal(out.Message)
	}
	return out
}

func (d *dock) try(m object.Manifest, how How) Outcome {
	d.t.Helper()
	return d.target.Write(d.t.Context(), diff.Change{Key: m.Key, Version: m.Version, Verb: diff.Update}, m, how)
}

// look returns the object of a manifest as it is, and fails the test where there is none.
func (d *dock) look(m object.Manifest) map[string]any {
	d.t.Helper()
	obj, err := d.get(m)
	if err != nil {
		d.t.Fatal(err)
	}
	return obj
}

func meta(obj map[string]any) map[string]any {
	meta, _ := obj["metadata"].(map[string]any)
	return meta
}

// keys returns the sorted keys of a map that is a field of an object.
func keys(obj map[string]any, field string) string {
	m, _ := obj[field].(map[string]any)
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func options(list string) How { return How{Own: object.ParseOptions(list)} }

// mustOwn fails unless our own apply owns exactly the fields that a plain apply of the manifest would own.
func (d *dock) mustOwn(m object.Manifest) {
	d.t.Helper()
	obj := d.look(m)
	res, err := d.target.Live.Find(d.t.Context(), m.Key.GroupKind(), m.Version)
	if err != nil {
		d.t.Fatal(err)
	}
	would, err := d.target.Client.Apply(d.t.Context(), res, m, true)
	if err != nil {
		d.t.Fatal(err)
	}
	have, _ := diff.OwnedFields(obj, live.Manager)
	want, _ := diff.OwnedFields(would, live.Manager)
	if have != want || have.Empty() || have.Print(obj) != want.Print(would) {
		d.t.Errorf("%s: what is owned is not what is applied", m)
	}
	if rec, tracked, _ := d.target.Live.Get(m.Key); !tracked || !rec.InSync(m.Hash()) {
		d.t.Errorf("%s: tracked %t, in sync %t", m, tracked, rec.InSync(m.Hash()))
	}
}

func TestAnObjectIsReplacedAsAWhole(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	first := d.manifest("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {ours: a, dropped: a}\n")
	if out := d.write(first, options("Replace=true")); out.Message != "ConfigMap/a created" {
		t.Errorf("message %q", out.Message)
	}
	d.mustOwn(first)
	d.merge("somebody", first, `{"metadata":{"finalizers":["example.com/hold"]},"data":{"foreign":"x"}}`)
	t.Cleanup(func() { d.release(first) })
	uid := meta(d.look(first))["uid"]
	second := d.manifest("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {ours: b}\n")
	if out := d.write(second, How{DryRun: true, Own: object.ParseOptions("Replace=true")}); out.Message != "replaced (dry run)" || keys(d.look(second), "data") != "dropped foreign ours" {
		t.Errorf("after a dry run %v, %q", keys(d.look(second), "data"), out.Message)
	}
	if out := d.write(second, options("Replace=true")); out.Message != "ConfigMap/a replaced" {
		t.Errorf("message %q", out.Message)
	}
	obj := d.look(second)
	if keys(obj, "data") != "ours" || meta(obj)["uid"] != uid {
		t.Errorf("data %q, another object %t", keys(obj, "data"), meta(obj)["uid"] != uid)
	}
	if held, _ := meta(obj)["finalizers"].([]any); len(held) != 1 {
		t.Errorf("finalizers %v: what others wait for was lost", held)
	}
	d.mustOwn(second)

	// Without the option, what was written as a whole is given up field by field.
	third := d.manifest("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {other: c}\n")
	d.write(third, How{})
	if got := keys(d.look(third), "data"); got != "other" {
		t.Errorf("data %q after an apply", got)
	}
	d.mustOwn(third)
}

func (d *dock) release(m object.Manifest) {
	res, err := d.target.Live.Find(d.t.Context(), m.Key.GroupKind(), m.Version)
	if err == nil {
		err = d.target.Client.rest.Patch(types.MergePatchType).AbsPath(res.Path(m.Version, m.Key.Namespace, m.Key.Name)).
			Body([]byte(`{"metadata":{"finalizers":null}}`)).Do(d.t.Context()).Error()
	}
	if err != nil {
		d.t.Log(err)
	}
}

func TestTheLiveObjectAndTheOperationCanAskForReplacement(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\ndata: {ours: a}\n"
	named := func(name string) object.Manifest { return d.manifest(strings.ReplaceAll(text, "NAME", name)) }
	tests := []struct {
		name, live string
		how        How
		want       string
	}{
		{"nobody", "", How{}, "foreign ours"},
		{"the live object", "Replace=true", How{}, "ours"},
		{"the operation", "", How{App: object.Options{Replace: object.Yes}}, "ours"},
		{"the operation, against the object", "", How{Own: object.Options{Replace: object.No}, App: object.Options{Replace: object.Yes}}, "foreign ours"},
		{"the live object, against Git", "Replace=true", How{Own: object.Options{Replace: object.No}}, "foreign ours"},
	}
	var all []object.Manifest
	for i, test := range tests {
		m := named("m" + string(rune('0'+i)))
		all = append(all, m)
		d.as("somebody", false, m)
		d.merge("somebody", m, `{"metadata":{"annotations":{"argocd.argoproj.io/sync-options":"`+test.live+`"}},"data":{"foreign":"x"}}`)
	}
	untracked := named("untracked")
	d.as("somebody", false, untracked)
	d.merge("somebody", untracked, `{"metadata":{"annotations":{"argocd.argoproj.io/sync-options":"Replace=true","argocd.argoproj.io/tracking-id":null}},"data":{"foreign":"x"}}`)
	d.watch(all[0])
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := d.in(t)
			d.write(all[i], test.how)
			if got := keys(d.look(all[i]), "data"); got != test.want {
				t.Errorf("data %q, want %q", got, test.want)
			}
		})
	}
	d.write(untracked, How{})
	if got := keys(d.look(untracked), "data"); got != "ours" {
		t.Errorf("data %q of an object that nobody tracked", got)
	}
}

func TestWhatCannotBeAppliedCanBeReplaced(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	m := d.manifest("apiVersion: v1\nkind: ReplicationController\nmetadata: {name: a}\nspec: {replicas: 0, selector: {a: a}, template: {metadata: {labels: {a: a}}, " +
		"spec: {containers: [{name: c, image: c, env: [{name: A, value: b}, {name: A, value: c}]}]}}}\n")
	if out := d.try(m, How{}); out.Err == nil || Retriable(out.Err) || !strings.Contains(out.Message, "set the sync option Replace=true") {
		t.Errorf("%v, %q", out.Err, out.Message)
	}
	for range 2 {
		if out := d.write(m, options("Replace=true")); !strings.Contains(out.Message, "are not noticed") {
			t.Errorf("message %q", out.Message)
		}
	}
	if rec, _, _ := d.target.Live.Get(m.Key); !rec.InSync(m.Hash()) {
		t.Error("it would be written for ever")
	}
}

func TestFieldsThatAKindDoesNotHaveAreRefusedOrLeftOut(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	const text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: NAME}\nspec: {odd: {a: [1]}, replicas: 0, selector: {matchLabels: {a: xx}}, " +
		"template: {metadata: {labels: {a: xx}}, spec: {containers: [{name: c, image: c, odd.x: 1, ports: [{containerPort: 80, odd: 1}]}, {name: d, image: d, odder: true}]}}}\n"
	for _, replace := range []string{"", ",Replace=true"} {
		m := d.manifest(strings.ReplaceAll(text, "NAME", "d"+strings.ToLower(strings.Trim(replace, ",=true"))))
		if out := d.try(m, options("Prune=true"+replace)); out.Err == nil || Retriable(out.Err) || !strings.Contains(out.Message, "odd") {
			t.Errorf("%v, %q; want a refusal that names the field", out.Err, out.Message)
		}
		if _, err := d.get(m); !apierrors.IsNotFound(err) {
			t.Errorf("after a refusal: %v", err)
		}
		for range 2 {
			d.write(m, options("Validate=false"+replace))
		}
		if rec, _, _ := d.target.Live.Get(m.Key); !rec.InSync(m.Hash()) || rec.Fields.Empty() {
			t.Errorf("in sync %t", rec.InSync(m.Hash()))
		}
	}
	m := d.manifest("apiVersion: v1\nkind: Service\nmetadata: {name: t}\nspec: {ports: [{port: 800000}]}\n")
	if out := d.try(m, options("Validate=false")); out.Err == nil {
		t.Error("a wrong value was taken")
	}
}

// counter notes the requests for objects that pass through it.
type requests struct {
	mu   sync.Mutex
	list []string
}

func (r *requests) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		if strings.Contains(req.URL.Path, "/namespaces/") {
			r.mu.Lock()
			r.list = append(r.list, req.Method)
			r.mu.Unlock()
		}
		return next.RoundTrip(req)
	})
}

func (r *requests) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := strings.Join(r.list, " ")
	r.list = nil
	return list
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestAnObjectThatIsOursTakesOneRequest(t *testing.T) {
	t.Parallel()
	var seen requests
	d := newDock(t, func(cfg *rest.Config) { cfg.Wrap(seen.wrap) })
	m := d.manifest("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n")
	d.watch(m)
	for _, test := range []struct{ name, data, want string }{{"a new one", "v", "PATCH"}, {"a changed one", "w", "PATCH"}} {
		m := d.manifest("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: " + test.data + "}\n")
		d.write(m, How{})
		if got := seen.take(); got != test.want {
			t.Errorf("%s took %q, want %q", test.name, got, test.want)
		}
	}
}
