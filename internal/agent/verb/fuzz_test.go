package verb

import (
	"encoding/json"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// What is written is the object that the command is about, without what only its cluster or another command may say.
func FuzzDeclaredObject(f *testing.F) {
	const head = `{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"web"`
	f.Add([]byte(head + `},"spec":{}}`))
	f.Add([]byte(head + `,"Name":"other","namespace":"argocd","uid":"1"},"operation":{"sync":{}},"Operation":{},"status":{}}`))
	f.Add([]byte(head + `},"metadata":{"name":"other"}}`))
	f.Add([]byte(`{"metadata":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		obj, err := readDeclared(raw, declared{kind: "Application"}, agentapi.Target{Namespace: "argocd", Name: "web"})
		if err != nil {
			return
		}
		meta, _ := obj["metadata"].(map[string]any)
		if obj["kind"] != "Application" || meta["name"] != "web" || meta["namespace"] != "argocd" {
			t.Errorf("%s is written as %v", raw, obj)
		}
		for _, name := range []string{"operation", "status"} {
			if _, has := obj[name]; has {
				t.Errorf("%s is written with %s", raw, name)
			}
		}
	})
}

// A patch that is taken changes neither the operation nor the status, as whoever applies it reads it.
func FuzzPatchOfAnApplication(f *testing.F) {
	f.Add(false, []byte(`{"spec":{"project":"x"}}`))
	f.Add(false, []byte(`{"Operation":null,"operation":{"sync":{}}}`))
	f.Add(true, []byte(`[{"op":"replace","path":"/spec","value":{}}]`))
	f.Add(true, []byte(`[{"op":"add","path":"/operation","PATH":"/spec/x","value":{}}]`))
	f.Add(true, []byte(`[{"op":"move","from":"/status","From":"/spec","path":"/spec/x"}]`))
	f.Add(true, []byte(`[{"op":"add","path":"/spec/x","path":"/status/x","value":1}]`))
	f.Add(true, []byte(`[{"op":"add","path":"operation","value":1}]`))
	f.Add(true, []byte(`[{"op":"add","path":"x/operation","value":1}]`))
	f.Add(true, []byte(`[{"op":"remove","path":"/stat\u0075s"}]`))
	const whole = `{"metadata":{"name":"web"},"operation":{"sync":{"revision":"a"}},"spec":{"project":"p"},"status":{"sync":"x"}}`
	f.Fuzz(func(t *testing.T, steps bool, raw []byte) {
		kind := types.MergePatchType
		if steps {
			kind = types.JSONPatchType
		}
		if checkPatch(kind, raw) != nil {
			return
		}
		var out []byte
		var err error
		if steps {
			var p jsonpatch.Patch
			if p, err = jsonpatch.DecodePatch(raw); err == nil {
				out, err = p.Apply([]byte(whole))
			}
		} else {
			out, err = jsonpatch.MergePatch([]byte(whole), raw)
		}
		if err != nil {
			return
		}
		var was, is map[string]json.RawMessage
		if err := json.Unmarshal([]byte(whole), &was); err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(out, &is) != nil {
			return
		}
		for _, field := range []string{"operation", "status"} {
			if !jsonpatch.Equal(was[field], orNull(is[field])) {
				t.Errorf("%s makes %s of %s", raw, is[field], field)
			}
		}
	})
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}
