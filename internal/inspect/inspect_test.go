package inspect

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func noon() time.Time { return time.Date(2030, 5, 6, 12, 0, 0, 0, time.UTC) }

func configMap(name, value string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "shop"}, "data": map[string]any{"size": value},
	}
}

func key(name string) object.Key { return object.Key{Kind: "ConfigMap", Namespace: "shop", Name: name} }

func edited(obj map[string]any) map[string]any {
	obj["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{
		"manager": "kubectl-edit", "operation": "Update", "time": "2030-05-06T10:59:30Z", "apiVersion": "v1", "fieldsType": "FieldsV1",
		"fieldsV1": map[string]any{"f:data": map[string]any{"f:size": map[string]any{}}},
	}}
	return obj
}

func rulesOf(t *testing.T, app *v1alpha1.Application) Rules {
	t.Helper()
	rules, wrong := NewRules(app, nil, "slipway")
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	return rules
}

func TestADifferenceNamesTheFieldAndWhoSetIt(t *testing.T) {
	t.Parallel()
	rules := rulesOf(t, &v1alpha1.Application{})
	c := rules.Compare(key("settings"), edited(configMap("settings", "7")), edited(configMap("settings", "1")))
	if c == nil {
		t.Fatal("nothing differs")
	}
	list, err := Describe([]Change{*c, *rules.Created(key("new"), configMap("new", "1")), *rules.Deleted(key("old"), configMap("old", "1"))}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range list {
		got = append(got, d.Verb+" "+d.Name)
	}
	if d := cmp.Diff([]string{"create new", "delete old", "update settings"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	want := []api.FieldDiff{{Path: ".data.size", Live: "7", Wanted: "1", Manager: "kubectl-edit", Operation: "Update", Since: "2030-05-06T10:59:30Z"}}
	if d := cmp.Diff(want, list[2].Fields); d != "" {
		t.Errorf("fields (-want +got):\n%s", d)
	}
	if !strings.Contains(list[2].Diff, "-  size: \"7\"\n+  size: \"1\"\n") {
		t.Errorf("diff:\n%s", list[2].Diff)
	}
	if c := rules.Compare(key("settings"), configMap("settings", "1"), configMap("settings", "1")); c != nil {
		t.Errorf("equal objects differ: %+v", c)
	}
}

func TestAnObjectThatIsRefusedDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	list, err := Describe([]Change{{Key: key("bad"), Refused: "spec.x is immutable"}, *rulesOf(t, &v1alpha1.Application{}).Created(key("new"), configMap("new", "1"))}, Options{})
	if err != nil || len(list) != 2 || list[0].Error != "spec.x is immutable" || list[0].Verb != "update" || list[1].Verb != "create" {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestWhatDoesNotCountIsShownOnRequestOnly(t *testing.T) {
	t.Parallel()
	app := &v1alpha1.Application{}
	app.Spec.IgnoreDifferences = []v1alpha1.IgnoreDifference{{Kind: "ConfigMap", JSONPointers: []string{"/data/size"}}}
	rules := rulesOf(t, app)
	live, answer := edited(configMap("settings", "7")), edited(configMap("settings", "1"))
	if c := rules.Compare(key("settings"), live, answer); c != nil {
		t.Errorf("what is ignored differs: %+v", c)
	}
	rules.All = true
	c := rules.Compare(key("settings"), live, answer)
	if c == nil {
		t.Fatal("nothing is shown")
	}
	list, err := Describe([]Change{*c}, Options{})
	if err != nil || list[0].Verb != "keep" || len(list[0].Fields) != 1 || !list[0].Fields[0].Ignored {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestDriftIsWhatSomebodyChangedAndWhetherItMayStay(t *testing.T) {
	t.Parallel()
	rules := rulesOf(t, &v1alpha1.Application{})
	c := rules.Compare(key("settings"), edited(configMap("settings", "7")), edited(configMap("settings", "1")))
	allowed := func(hours int) v1alpha1.Allowance {
		return v1alpha1.Allowance{Kind: "ConfigMap", Namespace: "shop", Name: "settings", Until: noon().Add(time.Duration(hours) * time.Hour)}
	}
	list, err := Drifted([]Change{*c, *rules.Created(key("gone"), configMap("gone", "1")), *rules.Deleted(key("extra"), configMap("extra", "1"))},
		[]v1alpha1.Allowance{allowed(-1), allowed(1), allowed(2), allowed(1)}, Options{}, noon())
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Verb != "create" || list[0].Allowed != nil || list[1].Allowed == nil || !list[1].Allowed.Until.Equal(noon().Add(2*time.Hour)) {
		t.Errorf("drift is %+v", list)
	}
}

func TestASecretIsShownWithoutItsValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := "planted-" + rapid.StringMatching(`[a-zA-Z0-9]{8,40}`).Draw(t, "value")
		encoded := base64.StdEncoding.EncodeToString([]byte(value))
		make := func(data string) map[string]any {
			last, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{"a": value}, "data": map[string]any{"b": encoded}})
			if err != nil {
				t.Fatal(err)
			}
			return map[string]any{
				"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
				"metadata": map[string]any{"name": "s", "namespace": "shop", "annotations": map[string]any{
					"kubectl.kubernetes.io/last-applied-configuration": string(last), "token": value,
				}},
				"data": map[string]any{"b": data}, "stringData": map[string]any{"a": value},
			}
		}
		obj, other := make(encoded), make(base64.StdEncoding.EncodeToString([]byte("x"+value)))
		desired, live := ShownPair(obj, other, []string{"token"})
		rules, _ := NewRules(&v1alpha1.Application{}, nil, "slipway")
		k := object.Key{Kind: "Secret", Namespace: "shop", Name: "s"}
		var all []any
		for _, c := range []*Change{rules.Compare(k, obj, other), rules.Created(k, obj), rules.Deleted(k, obj)} {
			if c != nil {
				list, err := Describe([]Change{*c}, Options{Mask: []string{"token"}})
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, list)
			}
		}
		raw, err := json.Marshal([]any{Shown(obj, []string{"token"}), desired, live, all})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), value) || strings.Contains(string(raw), encoded) {
			t.Errorf("the value is shown: %s", raw)
		}
		if obj["data"].(map[string]any)["b"] != encoded {
			t.Error("the object itself was changed")
		}
	})
}

func TestResourcesOfOursAreShownWithoutCredentials(t *testing.T) {
	t.Parallel()
	app := map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": map[string]any{"name": "web", "managedFields": []any{map[string]any{}}},
		"spec": map[string]any{
			"source":  map[string]any{"repoURL": "https://bot:planted@git.example.com/a.git", "later": map[string]any{"field": "kept"}},
			"sources": []any{map[string]any{"repoURL": "ssh://git@git.example.com/a.git"}, map[string]any{"repoURL": "https://planted@git.example.com/b.git"}},
			"odd":     "https://bot:planted@%zz/a", "mail": "a@b",
		},
		"operation": map[string]any{"sync": map[string]any{"manifests": []any{"planted"}, "revision": "v1"}},
		"status":    map[string]any{"operationState": map[string]any{"operation": map[string]any{"sync": map[string]any{"manifests": []any{"planted"}}}}},
	}
	raw, err := ShownJSON(app, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := string(raw)
	for _, want := range []string{`"https://git.example.com/a.git"`, `"ssh://git@git.example.com/a.git"`, `"https://git.example.com/b.git"`, `"field":"kept"`, `"mail":"a@b"`, `"revision":"v1"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	if strings.Contains(got, "planted") || strings.Contains(got, "managedFields") {
		t.Errorf("it is shown: %s", got)
	}
	if raw, err := ShownJSON(nil, nil); err != nil || string(raw) != "null" {
		t.Errorf("nothing is %s, %v", raw, err)
	}
}

func FuzzShown(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","spec":{"source":{"repoURL":"https://a:b@c"}}}`))
	f.Add([]byte(`{"apiVersion":"v1","kind":"Secret","data":[1],"metadata":{"annotations":{"a":1}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var obj map[string]any
		if json.Unmarshal(raw, &obj) != nil {
			return
		}
		if _, err := ShownJSON(obj, []string{"a"}); err != nil {
			t.Error(err)
		}
	})
}
