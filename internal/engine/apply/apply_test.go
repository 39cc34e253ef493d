package apply

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// dock is a namespace of a real API server and a target that applies to it.
type dock struct {
	t      *testing.T
	target Target
	ns     string
}

func newDock(t *testing.T, change func(*rest.Config)) *dock {
	t.Helper()
	d := &dock{t: t, ns: testenv.Namespace(t)}
	cfg := rest.CopyConfig(testenv.Cluster(t))
	if change != nil {
		change(cfg)
	}
	client, err := NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	state, err := live.Open(t.Context(), live.Config{
		Server: cfg.Host, REST: cfg, Log: slog.New(slog.DiscardHandler), Notify: func(live.Event) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(state.Close)
	d.target = Target{Client: client, Live: state}
	return d
}

// manifest makes an object of app in the namespace.
func (d *dock) manifest(text string) object.Manifest {
	d.t.Helper()
	var obj map[string]any
	if err := yaml.Unmarshal([]byte(text), &obj); err != nil {
		d.t.Fatal(err)
	}
	meta := obj["metadata"].(map[string]any)
	if meta["namespace"] == nil {
		meta["namespace"] = d.ns
	}
	m, err := object.NewManifest(obj)
	if err != nil {
		d.t.Fatal(err)
	}
	object.SetAnnotation(obj, object.TrackingAnnotation, object.TrackingID("app", m.Key, d.ns))
	if m, err = object.NewManifest(obj); err != nil {
		d.t.Fatal(err)
	}
	return m
}

// leaveFor has the guard permit the deletion of the objects of changes.
func leaveFor(changes []diff.Change) guard.Leave {
	var keys []object.Key
	for _, c := range changes {
		keys = append(keys, c.Key)
	}
	return guard.JudgeSync(guard.Sync{Deletions: keys, Budget: plan.Budget{Off: true}}).Leave
}

// run carries out changes to the objects of manifests.
func (d *dock) run(verb diff.Verb, o Options, manifests ...object.Manifest) []Outcome {
	d.t.Helper()
	byKey := map[object.Key]object.Manifest{}
	var changes []diff.Change
	for _, m := range manifests {
		byKey[m.Key] = m
		changes = append(changes, diff.Change{Key: m.Key, Version: m.Version, Verb: verb})
	}
	o.Manifest = func(k object.Key) (object.Manifest, bool) { m, ok := byKey[k]; return m, ok }
	o.Leave = leaveFor(changes)
	return d.target.Step(d.t.Context(), changes, o)
}

func (d *dock) get(m object.Manifest) (map[string]any, error) {
	d.t.Helper()
	res, err := d.target.Live.Find(d.t.Context(), m.Key.GroupKind(), "")
	if err != nil {
		d.t.Fatal(err)
	}
	return d.target.Client.Get(d.t.Context(), res, m.Key)
}

func TestWhatIsAppliedIsThereAndKnown(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	m := d.manifest("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n")
	for _, out := range d.run(diff.Create, Options{DryRun: true}, m) {
		if out.Err != nil {
			t.Fatal(out.Err)
		}
	}
	if _, err := d.get(m); !apierrors.IsNotFound(err) {
		t.Fatalf("a dry run made the object, or: %v", err)
	}
	var progress []int
	out := d.run(diff.Create, Options{Progress: func(done, total int) { progress = append(progress, done, total) }}, m)
	if len(out) != 1 || out[0].Err != nil || len(progress) != 2 || progress[0] != 1 || progress[1] != 1 {
		t.Fatalf("outcomes %+v, progress %v", out, progress)
	}
	obj, err := d.get(m)
	if err != nil || obj["data"].(map[string]any)["k"] != "v" {
		t.Fatalf("%v, %v", obj, err)
	}
	rec, tracked, _ := d.target.Live.Get(m.Key)
	if !tracked || !rec.InSync(m.Hash()) {
		t.Errorf("tracked %t, in sync %t", tracked, rec.InSync(m.Hash()))
	}
}

func TestOnlyTheObjectThatIsMeantIsDeleted(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	m := d.manifest("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	d.run(diff.Create, Options{}, m)
	res, err := d.target.Live.Find(t.Context(), m.Key.GroupKind(), "")
	if err != nil {
		t.Fatal(err)
	}
	err = d.target.Client.Delete(t.Context(), leaveFor([]diff.Change{{Key: m.Key}}), res, m.Key, "00000000-0000-0000-0000-000000000000", metav1.DeletePropagationBackground)
	if !apierrors.IsConflict(err) {
		t.Errorf("an object with another UID: %v, want a conflict", err)
	}
	if _, err := d.get(m); err != nil {
		t.Fatalf("the object is gone: %v", err)
	}
	out := d.run(diff.Delete, Options{Propagation: metav1.DeletePropagationBackground}, m)
	if len(out) != 1 || out[0].Err != nil || out[0].Message != "pruned" {
		t.Fatalf("outcomes %+v", out)
	}
	if _, err := d.get(m); !apierrors.IsNotFound(err) {
		t.Errorf("the object is there, or: %v", err)
	}
	if out := d.run(diff.Delete, Options{}, m); out[0].Err != nil {
		t.Errorf("an object that is gone: %v", out[0].Err)
	}
}

func TestNothingIsDeletedAfterAFailure(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	old := d.manifest("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: old}\n")
	bad := d.manifest("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Not_A_Name}\n")
	good := d.manifest("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good}\n")
	d.run(diff.Create, Options{}, old)
	byKey := map[object.Key]object.Manifest{bad.Key: bad, good.Key: good}
	changes := []diff.Change{
		{Key: bad.Key, Version: "v1", Verb: diff.Create}, {Key: good.Key, Version: "v1", Verb: diff.Create}, {Key: old.Key, Verb: diff.Delete},
	}
	out := d.target.Step(t.Context(), changes, Options{Manifest: func(k object.Key) (object.Manifest, bool) { m, ok := byKey[k]; return m, ok }})
	if len(out) != 2 || (out[0].Err == nil) == (out[1].Err == nil) {
		t.Errorf("outcomes %+v; want one good and one bad", out)
	}
	for _, m := range []object.Manifest{old, good} {
		if _, err := d.get(m); err != nil {
			t.Errorf("%s: %v", m, err)
		}
	}
}

func TestARefusalSaysWhatToDo(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: s}\nspec: {replicas: 0, selector: {matchLabels: {a: xx}}, " +
		"template: {metadata: {labels: {a: xx}}, spec: {containers: [{name: c, image: c}]}}}\n"
	const set = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s}\nspec: {replicas: 0, serviceName: xx, selector: {matchLabels: {a: a}}, " +
		"template: {metadata: {labels: {a: a}}, spec: {containers: [{name: c, image: c}]}}}\n"
	if out := d.run(diff.Create, Options{}, d.manifest(deployment), d.manifest(set)); out[0].Err != nil || out[1].Err != nil {
		t.Fatal(out)
	}
	tests := []struct {
		name, manifest string
		want           []string
		never          string
	}{
		{
			"a field that cannot be changed", strings.ReplaceAll(deployment, "xx", "yy"),
			[]string{"Deployment.apps " + d.ns + "/s", "selector", "Replace=true,Force=true"},
			"",
		},
		{"a field of a StatefulSet that cannot be changed", strings.ReplaceAll(set, "xx", "yy"), []string{"Replace=true,Force=true"}, ""},
		{
			"a value that is wrong", "apiVersion: v1\nkind: Service\nmetadata: {name: t}\nspec: {ports: [{port: 800000}]}\n",
			[]string{"correct the manifest", "port"},
			"",
		},
		{
			"a field of a wrong type", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: t}\ndata: {a: {b: c}}\n",
			[]string{"ConfigMap " + d.ns + "/t", "data.a"},
			"",
		},
		{
			"a namespace that is missing", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: t, namespace: nowhere-at-all}\n",
			[]string{"create the namespace, or add it to Git"},
			"",
		},
		{
			"a kind that is missing", "apiVersion: nowhere.example/v1\nkind: Ghost\nmetadata: {name: t}\n",
			[]string{"CustomResourceDefinition"},
			"",
		},
		{
			"a Secret with a wrong value", "apiVersion: v1\nkind: Secret\nmetadata: {name: t}\ndata: {a: \"hunter2 is not base64\"}\n",
			[]string{"Secret " + d.ns + "/t", "base64"},
			"hunter2",
		},
		{
			"a Secret with a wrong type", "apiVersion: v1\nkind: Secret\nmetadata: {name: t}\nstringData: {a: {hunter2: hunter2}}\n",
			[]string{"Secret " + d.ns + "/t"},
			"hunter2",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out := d.run(diff.Update, Options{}, d.manifest(test.manifest))
			if len(out) != 1 || out[0].Err == nil {
				t.Fatalf("outcomes %+v; want a refusal", out)
			}
			for _, want := range test.want {
				if !strings.Contains(out[0].Message, want) {
					t.Errorf("message %q lacks %q", out[0].Message, want)
				}
			}
			if test.never != "" && strings.Contains(out[0].Message, test.never) {
				t.Errorf("message %q quotes a Secret", out[0].Message)
			}
		})
	}
}

func TestAMissingPermissionSaysWhatToDo(t *testing.T) {
	t.Parallel()
	d := newDock(t, func(cfg *rest.Config) { cfg.Impersonate.UserName = "nobody-in-particular" })
	out := d.run(diff.Create, Options{}, d.manifest("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"))
	if out[0].Err == nil || !strings.Contains(out[0].Message, "grant the agent's service account") {
		t.Errorf("message %q", out[0].Message)
	}
}

func TestAFullQuotaIsToldFromAMissingPermission(t *testing.T) {
	t.Parallel()
	key := object.Key{Kind: "Pod", Namespace: "shop", Name: "web"}
	resource := schema.GroupResource{Resource: "pods"}
	for words, want := range map[string]string{
		"exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1":           "raise the ResourceQuota",
		"unable to create new content in namespace shop because it is being terminated": "the namespace is being deleted",
		"violates PodSecurity \"restricted:latest\": allowPrivilegeEscalation != false": "an admission policy",
	} {
		if got := Explain(key, apierrors.NewForbidden(resource, "web", errors.New(words))); !strings.Contains(got, words) || !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

func TestRetriableErrorsAreThoseThatPass(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		err  error
		want bool
	}{
		{"no error", nil, false},
		{"a broken connection", errors.New("connection refused"), true},
		{"an overloaded server", apierrors.NewTooManyRequests("slow down", 1), true},
		{"a server that is away", apierrors.NewServiceUnavailable("starting"), true},
		{"a bad manifest", apierrors.NewBadRequest("no"), false},
		{"no permission", apierrors.NewUnauthorized("no"), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := Retriable(test.err); got != test.want {
				t.Errorf("%t, want %t", got, test.want)
			}
		})
	}
}

func TestARefusalKeepsTheWordsBehindALongValue(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	const job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: one}]}}}\n"
	if out := d.run(diff.Create, Options{}, d.manifest(job)); out[0].Err != nil {
		t.Fatal(out)
	}
	out := d.run(diff.Update, Options{}, d.manifest(strings.Replace(job, "name: c,", "name: renamed,", 1)))
	for _, want := range []string{"spec.template.spec: Invalid value", "field is immutable", "Replace=true,Force=true", "--force"} {
		if out[0].Err == nil || !strings.Contains(out[0].Message, want) {
			t.Errorf("message lacks %q: %q", want, out[0].Message)
		}
	}
	if len(out[0].Message) > 700 {
		t.Errorf("%d bytes: %q", len(out[0].Message), out[0].Message)
	}
	long := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web", errors.New("the policy says "+strings.Repeat("so ", 10<<10)+"and is final"))
	if got := Explain(object.Key{Kind: "Pod", Name: "web"}, long); len(got) > 2000 || !strings.Contains(got, "and is final: grant") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func TestAnEntryOfSomebodyElseInAListIsTold(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	m := d.manifest("apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {selector: {a: a}, ports: [{port: 80}]}\n")
	d.write(m, How{})
	d.merge("kubectl-edit", m, `{"spec":{"ports":[{"port":81}]}}`)
	for _, how := range []How{{}, {DryRun: true}} {
		out := d.try(m, how)
		if out.Err == nil || strings.Contains(out.Message, "correct the manifest") || !strings.Contains(out.Message, "another client") ||
			!strings.Contains(out.Message, "Replace=true") {
			t.Errorf("%v, %q", out.Err, out.Message)
		}
	}
	d.write(m, options("Replace=true")) // as it says
	wrong := d.manifest("apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {selector: {a: a}, ports: [{port: 80}, {port: 81}]}\n")
	if out := d.try(wrong, How{}); out.Err == nil || !strings.Contains(out.Message, "correct the manifest") {
		t.Errorf("a manifest that is wrong itself: %v, %q", out.Err, out.Message)
	}
}
