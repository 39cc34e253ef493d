package forecast_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/forecast"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func named(name string) object.Key {
	return object.Key{Kind: "ConfigMap", Namespace: "shop", Name: name}
}

func TestASumListsWhatASyncWouldDo(t *testing.T) {
	t.Parallel()
	changes := []diff.Change{
		{Key: named("new"), Verb: diff.Create, Why: "missing"},
		{Key: named("same"), Verb: diff.Keep},
		{Key: named("other"), Verb: diff.Update, Why: "unknown"},
		{Key: named("gone"), Verb: diff.Delete, Why: "not in Git"},
	}
	would := forecast.Would{Key: named("other"), Verb: diff.Update, Why: "differs", Fields: []forecast.Field{{Path: ".data.a"}}}
	owners := forecast.Ownership{Key: named("same"), From: []string{"kubectl"}}
	known := forecast.Known{named("other"): {Would: &would}, named("same"): {Owners: &owners}}
	keys := []object.Key{named("new"), named("same"), named("other")}
	for prunes, why := range map[bool]string{true: "not in Git", false: "not in Git; only a sync that prunes deletes it"} {
		want := forecast.Forecast{
			Changes: []forecast.Would{
				{Key: named("new"), Verb: diff.Create, Why: "missing"}, would, {Key: named("gone"), Verb: diff.Delete, Why: why},
			},
			Owners: []forecast.Ownership{owners},
		}
		if d := cmp.Diff(want, known.Sum(changes, keys, prunes)); d != "" {
			t.Errorf("prunes %v: %s", prunes, d)
		}
	}
}

func TestAChangeNamesTheFieldsThatDiffer(t *testing.T) {
	t.Parallel()
	data := func(value string) map[string]any {
		return map[string]any{"kind": "ConfigMap", "data": map[string]any{"color": value}}
	}
	c := forecast.Case{Key: named("web"), Now: data("red"), Then: data("green"), Live: data("red"), Why: "differs"}
	want := &forecast.Would{
		Key: named("web"), Verb: diff.Update, Why: "differs",
		Fields: []forecast.Field{{Path: ".data.color", Live: `"red"`, Wanted: `"green"`}},
	}
	if d := cmp.Diff(want, c.Change()); d != "" {
		t.Error(d)
	}
	if c.Then = data("red"); c.Change() != nil {
		t.Errorf("nothing differs: %+v", c.Change())
	}
}

func TestAChangeMasksSecretsAndCutsLongLists(t *testing.T) {
	t.Parallel()
	secret := func(value string, n int) map[string]any {
		data := map[string]any{}
		for i := range n {
			data[fmt.Sprintf("key%02d", i)] = value
		}
		return map[string]any{"kind": "Secret", "apiVersion": "v1", "data": data}
	}
	now, then := secret("cGxhbnRlZA==", 30), secret("cGxhbnRlZDI=", 30)
	got := forecast.Case{Key: object.Key{Kind: "Secret", Namespace: "shop", Name: "web"}, Now: now, Then: then, Live: now}.Change()
	if got == nil || len(got.Fields) != 20 || got.More != 10 {
		t.Fatalf("%+v", got)
	}
	for _, f := range got.Fields {
		if f.Live == `"cGxhbnRlZA=="` || f.Wanted == `"cGxhbnRlZDI="` || f.Live == f.Wanted {
			t.Errorf("%+v", f)
		}
	}
}
