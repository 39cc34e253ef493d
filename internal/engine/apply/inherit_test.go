package apply

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// managers returns the sorted managers of an object by name and operation.
func managers(obj map[string]any) string {
	found := map[string]any{}
	entries, _ := meta(obj)["managedFields"].([]any)
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		name, _ := entry["manager"].(string)
		op, _ := entry["operation"].(string)
		found[name+"/"+op] = true
	}
	return keys(map[string]any{"m": found}, "m")
}

func TestWhatOthersAppliedIsTakenOver(t *testing.T) {
	t.Parallel()
	var seen requests
	d := newDock(t, func(cfg *rest.Config) { cfg.Wrap(seen.wrap) })
	const old = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME, labels: {old: x}, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{}'}}\n" +
		"data: {kept: a, changed: a, dropped: a}\n"
	const wanted = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\ndata: {kept: a, changed: b}\n"
	tests := []struct {
		name, manager string
		serverSide    bool
		how           How
		data          string
		labels        string
		managers      string
	}{
		{"kubectl", "kubectl-client-side-apply", false, How{}, "changed foreign kept", "", "slipway/Apply somebody/Update"},
		{"argo-client", "argocd-controller", false, How{}, "changed foreign kept", "", "slipway/Apply somebody/Update"},
		{"argo-server", "argocd-controller", true, How{}, "changed foreign kept", "", "slipway/Apply somebody/Update"},
		{"argo-server-off", "argocd-controller", true, options("ClientSideApplyMigration=false"), "changed foreign kept", "", "slipway/Apply somebody/Update"},
		{"kubectl-off", "kubectl-client-side-apply", false, options("ClientSideApplyMigration=false"), "changed dropped foreign kept", "old", "kubectl-client-side-apply/Update slipway/Apply somebody/Update"},
		{"named", "deployer", false, How{Manager: "deployer"}, "changed foreign kept", "", "slipway/Apply somebody/Update"},
		{"not-named", "deployer", false, How{}, "changed dropped foreign kept", "old", "deployer/Update slipway/Apply somebody/Update"},
		{"server-side-kubectl", "kubectl", true, How{}, "changed dropped foreign kept", "old", "kubectl/Apply slipway/Apply somebody/Update"},
	}
	for _, tracked := range []string{"tracked", "untracked"} {
		var all []object.Manifest
		for _, test := range tests {
			m := d.manifest(strings.ReplaceAll(old, "NAME", test.name+"-"+tracked))
			all = append(all, m)
			d.as(test.manager, test.serverSide, m)
			d.merge("somebody", m, `{"data":{"foreign":"x"}}`)
			if tracked == "untracked" {
				d.merge("somebody", m, `{"metadata":{"annotations":{"argocd.argoproj.io/tracking-id":null}}}`)
			}
		}
		if tracked == "untracked" {
			d.target.Live = newDock(t, nil).target.Live
		}
		d.watch(all[0])
		for i, test := range tests {
			t.Run(test.name+" "+tracked, func(t *testing.T) {
				d := d.in(t)
				m := d.manifest(strings.ReplaceAll(wanted, "NAME", all[i].Key.Name))
				d.write(m, test.how)
				obj := d.look(m)
				if got := keys(obj, "data"); got != test.data {
					t.Errorf("data %q, want %q", got, test.data)
				}
				if got := keys(meta(obj), "labels"); got != test.labels {
					t.Errorf("labels %q, want %q", got, test.labels)
				}
				if got := managers(obj); got != test.managers {
					t.Errorf("managers %q, want %q", got, test.managers)
				}
				if !strings.Contains(keys(meta(obj), "annotations"), "last-applied-configuration") {
					t.Errorf("annotations %q", keys(meta(obj), "annotations"))
				}
				d.mustOwn(m)
				seen.take()
				d.write(m, test.how)
				if got := seen.take(); got != "PATCH" && test.how.Own.Migrate != object.No {
					t.Errorf("the next write took %q", got)
				}
			})
		}
	}
}

func TestATakeoverSurvivesOthersWhoWriteMeanwhile(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	m := d.manifest("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {kept: a, dropped: a}\n")
	d.as("kubectl-client-side-apply", false, m)
	res, err := d.target.Live.Find(t.Context(), m.Key.GroupKind(), m.Version)
	if err != nil {
		t.Fatal(err)
	}
	before := d.look(m)
	d.merge("somebody", m, `{"data":{"foreign":"x"}}`)
	wanted := d.manifest("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {kept: a}\n")
	w := writing{target: d.target, resource: res, manifest: wanted}
	w.change.Key = m.Key
	if err := w.inherit(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	d.write(wanted, How{})
	obj := d.look(m)
	if keys(obj, "data") != "foreign kept" || managers(obj) != "slipway/Apply somebody/Update" {
		t.Errorf("data %q, managers %q", keys(obj, "data"), managers(obj))
	}
}

// set reads a set of fields.
func set(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheStatusAndKubectlsNoteStayWithTheObject(t *testing.T) {
	t.Parallel()
	const note = `"f:kubectl.kubernetes.io/last-applied-configuration":{}`
	for _, test := range []struct{ name, in, want string }{
		{
			"all at once", `{"f:status":{"f:a":{}},"f:spec":{},"f:metadata":{"f:labels":{".":{},"f:a":{}},"f:annotations":{".":{},"f:a":{},` + note + `}}}`,
			`{"f:spec":{},"f:metadata":{"f:labels":{".":{},"f:a":{}},"f:annotations":{"f:a":{}}}}`,
		},
		{"the note alone", `{"f:data":{},"f:metadata":{"f:annotations":{".":{},` + note + `}}}`, `{"f:data":{}}`},
		{"neither", `{"f:data":{"f:a":{}}}`, `{"f:data":{"f:a":{}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			in := set(t, test.in)
			if d := cmp.Diff(set(t, test.want), passing(in)); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(set(t, test.in), in); d != "" {
				t.Errorf("the set itself was changed: %s", d)
			}
		})
	}
}

func TestOfClientSideApplyThatPassesWhichItsNoteNames(t *testing.T) {
	t.Parallel()
	fields := `{"f:metadata":{"f:annotations":{".":{},"f:note":{}}},"f:spec":{"f:replicas":{},"f:revisionHistoryLimit":{},` +
		`"f:ports":{".":{},"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{},"f:protocol":{}},"k:{\"port\":81,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}}`
	named := `{"f:spec":{"f:replicas":{},"f:ports":{".":{},"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}}`
	const note = `{"apiVersion":"v1","spec":{"replicas":3,"ports":[{"port":80}]}}`
	for _, test := range []struct{ name, manager, operation, note, want string }{
		{"client-side apply of kubectl", "kubectl-client-side-apply", "Update", note, named},
		{"client-side apply of Argo CD", "argocd-controller", "Update", note, named},
		{"server-side apply", "argocd-controller", "Apply", note, fields},
		{"what we replaced", live.Replacer, "Update", note, fields},
		{"no note", "argocd-controller", "Update", "", fields},
		{"a note that cannot be read", "argocd-controller", "Update", "{", fields},
		{"a note of another version", "argocd-controller", "Update", `{"apiVersion":"v2"}`, fields},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			meta := map[string]any{"managedFields": []any{map[string]any{
				"manager": test.manager, "operation": test.operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": set(t, fields),
			}}}
			if test.note != "" {
				meta["annotations"] = map[string]any{lastAppliedNote: test.note}
			}
			got, _ := inherited(map[string]any{"apiVersion": "v1", "metadata": meta}, true, "")
			if d := cmp.Diff(set(t, test.want), ourSet(got, "v1")); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestEntriesOfOtherVersionsLoseTheirOwner(t *testing.T) {
	t.Parallel()
	entry := func(manager, op, version, field string) any {
		return map[string]any{"manager": manager, "operation": op, "apiVersion": version, "time": "t", "fieldsV1": map[string]any{field: map[string]any{}}}
	}
	have := map[string]any{"metadata": map[string]any{"managedFields": []any{
		entry("argocd-controller", "Apply", "v2", "f:a"), entry("kubectl-client-side-apply", "Update", "v1", "f:b"),
		entry("kubectl-client-side-apply", "Update", "v2", "f:c"), entry("hpa", "Update", "v1", "f:d"),
	}}}
	got, changed := inherited(have, true, "")
	want := []any{entry("hpa", "Update", "v1", "f:d"), map[string]any{
		"manager": live.Manager, "operation": "Apply", "apiVersion": "v2", "time": "t", "fieldsType": "FieldsV1",
		"fieldsV1": map[string]any{"f:a": map[string]any{}, "f:c": map[string]any{}},
	}}
	if d := cmp.Diff(want, got); d != "" || !changed {
		t.Error(d)
	}
	if again, changed := inherited(map[string]any{"metadata": map[string]any{"managedFields": got}}, true, ""); changed || len(again) != 2 {
		t.Error("it does not come to an end")
	}
}

// genSet draws a set of fields in its usual form: "." is only where something else is too.
func genSet(depth int) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		out := map[string]any{}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"f:a", "f:b", "k:{}"}), 0, 3, rapid.ID).Draw(t, "names") {
			out[name] = map[string]any{}
			if depth > 0 {
				out[name] = genSet(depth-1).Draw(t, "sub")
			}
		}
		if len(out) > 0 && rapid.Bool().Draw(t, "self") {
			out["."] = map[string]any{}
		}
		return out
	})
}

// paths lists the fields of a set.
func paths(set map[string]any, at string, into map[string]bool) {
	for name, v := range set {
		sub := fieldSet(v)
		if name == "." {
			into[at] = true
			continue
		}
		if len(sub) == 0 {
			into[at+"/"+name] = true
		}
		paths(sub, at+"/"+name, into)
	}
}

func TestAUnionHasTheFieldsOfBothAndNoOthers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := genSet(3).Draw(t, "a"), genSet(3).Draw(t, "b")
		want, got := map[string]bool{}, map[string]bool{}
		paths(a, "", want)
		paths(b, "", want)
		paths(union(a, b), "", got)
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
}
