package action_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/engine/action"
	"github.com/slipway-gitops/slipway/internal/engine/script"
)

const own = `
discovery.lua: |
  local actions = {}
  actions["grow"] = {["disabled"] = obj.spec.replicas > 5, ["displayName"] = "Grow", ["params"] = {{["name"] = "by", ["default"] = "1"}}}
  actions["restart"] = {}
  return actions
definitions:
- name: grow
  action.lua: |
    obj.spec.replicas = obj.spec.replicas + tonumber(actionParams["by"])
    return obj
- name: note
  action.lua: |
    local os = require("os")
    local cm = {apiVersion = "v1", kind = "ConfigMap", metadata = {name = "note", namespace = obj.metadata.namespace}}
    cm.data = {at = os.date("!%H:%M")}
    obj.metadata.labels["noted"] = "yes"
    return {{operation = "create", resource = cm}, {operation = "patch", resource = obj}}
`

func TestAUsersActionsTakeThePlaceOfTheBuiltInOnes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		settings map[string]string
		want     string
	}{
		{"alone", map[string]string{"resource.customizations.actions.apps_Deployment": own}, "grow(by)\nrestart"},
		{"with the built-in ones", map[string]string{"resource.customizations.actions.apps_Deployment": "mergeBuiltinActions: true" + own}, "grow(by)\npause\nrestart\nresume, disabled\nscale(replicas)"},
		{"of another kind", map[string]string{"resource.customizations.actions.apps_StatefulSet": own}, "pause\nrestart\nresume, disabled\nscale(replicas)"},
		{"in the older form", map[string]string{"resource.customizations": "apps/Deployment:\n  actions: |" + strings.ReplaceAll(own, "\n", "\n    ")}, "grow(by)\nrestart"},
		{"an older form that is no map", map[string]string{"resource.customizations": "[1]"}, "pause\nrestart\nresume, disabled\nscale(replicas)"},
		{"none", map[string]string{"resource.customizations.actions.apps_Deployment": "discovery.lua: return {}"}, ""},
		{"no script", map[string]string{"resource.customizations.actions.apps_Deployment": "{}"}, "error: list actions of Deployment.apps: expect table output from Lua script, not nil"},
		{"a list", map[string]string{"resource.customizations.actions.apps_Deployment": "discovery.lua: return {1}"}, "error: list actions of Deployment.apps: discovery.lua returned a list"},
		{"an action that is none", map[string]string{"resource.customizations.actions.apps_Deployment": `discovery.lua: return {x = "y"}`}, "error: list actions of Deployment.apps: discovery.lua offers x, which is no table"},
		{"no Lua", map[string]string{"resource.customizations.actions.apps_Deployment": "discovery.lua: return return"}, "error: read discovery.lua of resource.customizations.actions.apps_Deployment"},
		{"no YAML", map[string]string{"resource.customizations.actions.apps_Deployment": "{"}, "error: read resource.customizations.actions.apps_Deployment"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			actions := action.New(c.settings)
			got := list(t, actions, deployment)
			if got != c.want && !(strings.HasPrefix(c.want, "error: ") && strings.HasPrefix(got, c.want)) {
				t.Errorf("offered are\n%s\nwant\n%s", got, c.want)
			}
			if broken := strings.HasPrefix(c.want, "error: read"); broken != (len(actions.Problems()) > 0) {
				t.Errorf("the problems are %v", actions.Problems())
			}
		})
	}
}

func TestAUsersActionPatchesAndCreates(t *testing.T) {
	t.Parallel()
	actions := action.New(map[string]string{"resource.customizations.actions.apps_Deployment": own})
	got, err := actions.Run(parse(t, deployment), "note", nil, env)
	if err != nil {
		t.Fatal(err)
	}
	patched := parse(t, deployment) // empty maps are still maps, wherever they are
	patched["metadata"].(map[string]any)["labels"] = map[string]any{"noted": "yes"}
	patched["spec"].(map[string]any)["replicas"] = int64(3)
	want := []action.Impact{
		{Operation: action.Create, Object: parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: note, namespace: shop}, data: {at: "12:30"}}`)},
		{Operation: action.Patch, Object: patched},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got, err = actions.Run(parse(t, deployment), "grow", map[string]string{"by": "2"}, env)
	if err != nil {
		t.Fatal(err)
	}
	if n := got[0].Object["spec"].(map[string]any)["replicas"]; n != int64(5) {
		t.Errorf("there are %v replicas", n)
	}
	if _, err := actions.Run(parse(t, deployment), "pause", nil, env); err != nil {
		t.Errorf("a built-in action cannot be run by its name: %v", err)
	}
}

func TestAUsersActionThatGoesWrongIsAnError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, source, want string }{
		{"its own error", `error("not today", 0)`, "not today"},
		{"nothing", ``, "expect table output from Lua script, not nil"},
		{"no kind", `return {metadata = {name = "x"}}`, "the action returned an object without kind"},
		{"an unknown operation", `return {{operation = "delete", resource = obj}}`, `unsupported operation: "delete"`},
		{"no objects", `return {1}`, `unsupported operation: ""`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			actions := action.New(map[string]string{"resource.customizations.actions.apps_Deployment": "definitions:\n- name: x\n  action.lua: |\n    " + c.source})
			if _, err := actions.Run(parse(t, deployment), "x", nil, env); err == nil || err.Error() != c.want {
				t.Errorf("the error is %v, want %s", err, c.want)
			}
		})
	}
	endless := action.New(map[string]string{"resource.customizations.actions.apps_Deployment": "discovery.lua: while true do end"})
	if _, err := endless.List(parse(t, deployment), env); !errors.Is(err, script.ErrBudget) {
		t.Errorf("the error is %v", err)
	}
}

func FuzzSettings(f *testing.F) {
	f.Add(own, "grow")
	f.Add("mergeBuiltinActions: true\ndiscovery.lua: return {a = {params = {{name = 'x'}}, disabled = 1}}", "a")
	f.Add("definitions: [{name: a, action.lua: 'return {{operation = \"patch\", resource = obj}}'}]", "a")
	f.Add("definitions: &x [*x]", "a")
	// A kind without built-in actions: reading those again and again would take all the time.
	obj := map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "spec": map[string]any{"replicas": int64(3)}, "metadata": map[string]any{"labels": map[string]any{}}}
	f.Fuzz(func(t *testing.T, text, name string) {
		actions := action.New(map[string]string{"resource.customizations.actions.example.com_Widget": text, "resource.customizations": text})
		if all, err := actions.List(obj, env); err == nil {
			for _, a := range all {
				_ = a.String()
			}
		}
		if impacts, err := actions.Run(obj, name, map[string]string{"by": "1"}, env); err == nil {
			for _, i := range impacts {
				if i.Object["kind"] == "" || i.Operation != action.Patch && i.Operation != action.Create {
					t.Errorf("it wants to %s", i)
				}
			}
		}
	})
}
