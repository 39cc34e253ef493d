package apply

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// step carries out changes to the objects of manifests; those in gone are deleted.
func (d *dock) step(o Options, gone []object.Manifest, manifests ...object.Manifest) []Outcome {
	d.t.Helper()
	byKey := map[object.Key]object.Manifest{}
	var changes []diff.Change
	for _, m := range gone {
		changes = append(changes, diff.Change{Key: m.Key, Verb: diff.Delete})
	}
	for _, m := range manifests {
		byKey[m.Key] = m
		changes = append(changes, diff.Change{Key: m.Key, Version: m.Version, Verb: diff.Create})
	}
	o.Manifest = func(k object.Key) (object.Manifest, bool) { m, ok := byKey[k]; return m, ok }
	o.Leave = leaveFor(changes)
	return d.target.Step(d.t.Context(), changes, o)
}

// told renders outcomes as one line each.
func told(outcomes []Outcome) []string {
	lines := make([]string, 0, len(outcomes))
	for _, out := range outcomes {
		line := string(out.Change.Verb) + " " + out.Change.Key.Kind + "/" + out.Change.Key.Name
		switch {
		case out.Err != nil:
			line += " failed"
		case out.Skipped:
			line += " skipped"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestAStepWritesByKindAndDeletesLast(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	const shell = "apiVersion: v1\nkind: KIND\nmetadata: {name: NAME}\n"
	thing := func(kind, name string) object.Manifest {
		return d.manifest(strings.NewReplacer("KIND", kind, "NAME", name).Replace(shell))
	}
	oldMap, oldAccount := thing("ConfigMap", "old"), thing("ServiceAccount", "old")
	d.step(Options{}, nil, oldMap, oldAccount)
	gone := []object.Manifest{oldAccount, oldMap}
	good := []object.Manifest{thing("ConfigMap", "b"), thing("ServiceAccount", "z"), thing("ConfigMap", "a")}
	bad := thing("ServiceAccount", "Not_A_Name")

	got := told(d.step(Options{}, gone, append(good, bad)...))
	want := []string{"create ServiceAccount/Not_A_Name failed", "create ServiceAccount/z", "create ConfigMap/a", "create ConfigMap/b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after a failure: %s", diff)
	}
	d.look(oldMap)

	out := d.step(Options{DryRun: true}, gone, good...)
	want = []string{"create ServiceAccount/z", "create ConfigMap/a", "create ConfigMap/b", "delete ConfigMap/old", "delete ServiceAccount/old"}
	if diff := cmp.Diff(want, told(out)); diff != "" || out[4].Message != MessagePrunedDry {
		t.Errorf("dry: %s, %q", diff, out[4].Message)
	}
	d.look(oldMap)

	var progress []int
	out = d.step(Options{
		Propagation: PropagationOf("background"),
		Progress:    func(done, total int) { progress = append(progress, total) },
		How:         func(k object.Key) How { return How{DryRun: true} }, // which does not count
	}, gone, good...)
	if diff := cmp.Diff(want, told(out)); diff != "" || out[4].Message != MessagePruned || len(progress) == 0 || progress[0] != 5 {
		t.Errorf("%s, %q, progress %v", diff, out[4].Message, progress)
	}
	if _, err := d.get(oldMap); err == nil {
		t.Error("nothing was deleted")
	}
}

func TestADryRunSkipsWhatComesWithTheSameSync(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	group := d.ns + ".example.com"
	crd := d.manifest("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ghosts." + group + ", namespace: \"\"}\n" +
		"spec: {group: " + group + ", scope: Namespaced, names: {kind: Ghost, plural: ghosts}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}\n")
	crd.Key.Namespace = ""
	ghost := d.manifest("apiVersion: " + group + "/v1\nkind: Ghost\nmetadata: {name: g}\n")
	other := d.manifest("apiVersion: " + group + "/v1\nkind: Other\nmetadata: {name: o}\n")
	space := d.manifest("apiVersion: v1\nkind: Namespace\nmetadata: {name: " + d.ns + "-made, namespace: \"\"}\n")
	space.Key.Namespace = ""
	inside := d.manifest("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: " + d.ns + "-made}\n")
	wrong := d.manifest("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Not_A_Name}\n")
	may := func(object.Key) How { return How{App: object.Options{SkipDryRun: object.Yes}} }
	tests := []struct {
		name      string
		options   Options
		manifests []object.Manifest
		want      []string
	}{
		{"a kind that nobody defines", Options{}, []object.Manifest{ghost}, []string{"create Ghost/g failed"}},
		{"a kind that comes", Options{}, []object.Manifest{ghost, other, crd}, []string{"create CustomResourceDefinition/" + crd.Key.Name, "create Ghost/g skipped", "create Other/o failed"}},
		{"a kind that may come", Options{How: may}, []object.Manifest{ghost}, []string{"create Ghost/g skipped"}},
		{"a namespace that nobody makes", Options{}, []object.Manifest{inside}, []string{"create ConfigMap/a failed"}},
		{"a namespace that comes", Options{}, []object.Manifest{inside, space}, []string{"create Namespace/" + space.Key.Name, "create ConfigMap/a skipped"}},
		{"a namespace that the operation makes", Options{Namespaces: []string{d.ns + "-made"}}, []object.Manifest{inside}, []string{"create ConfigMap/a skipped"}},
		{"another mistake", Options{Namespaces: []string{d.ns + "-made"}}, []object.Manifest{wrong}, []string{"create ConfigMap/Not_A_Name failed"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.options.DryRun = true
			if diff := cmp.Diff(test.want, told(d.in(t).step(test.options, nil, test.manifests...))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestThePropagationOfAnOption(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]metav1.DeletionPropagation{
		"": "", "foreground": metav1.DeletePropagationForeground, "background": metav1.DeletePropagationBackground, "orphan": metav1.DeletePropagationOrphan, "odd": "",
	} {
		if got := PropagationOf(policy); got != want {
			t.Errorf("%q: %q, want %q", policy, got, want)
		}
	}
}
