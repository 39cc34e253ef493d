package object

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScriptsSeeNoValueOfASecret(t *testing.T) {
	t.Parallel()
	const value = "c2VjcmV0"
	for name, text := range map[string]string{
		"data":                      `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"type":"Opaque","data":{"a":"c2VjcmV0"}}`,
		"stringData":                `{"apiVersion":"v1","kind":"Secret","stringData":{"a":{"b":["c2VjcmV0"]}}}`,
		"a misspelt field":          `{"apiVersion":"v1","kind":"Secret","Data":"c2VjcmV0"}`,
		"what was applied last":     `{"apiVersion":"v1","kind":"Secret","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"c2VjcmV0"}}}`,
		"a Secret within an object": `{"apiVersion":"x/v1","kind":"Object","spec":{"manifest":{"apiVersion":"v1","kind":"Secret","data":{"a":"c2VjcmV0"}}}}`,
		"Secrets in a list":         `{"apiVersion":"v1","kind":"List","items":[{"kind":"ConfigMap"},{"apiVersion":"v1","kind":"Secret","data":{"a":"c2VjcmV0"}}]}`,
		"an annotation":             `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{"hide.me":"c2VjcmV0"}}}`,
	} {
		var obj map[string]any
		if err := json.Unmarshal([]byte(text), &obj); err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(Blind(obj, "(hidden) ", "hide.me"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), value) || !strings.Contains(string(raw), "(hidden) 1") {
			t.Errorf("%s: %s", name, raw)
		}
		if name != "an annotation" {
			raw, err = json.Marshal(WithoutSecrets(obj))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(raw), value) {
				t.Errorf("%s: %s", name, raw)
			}
			if !HoldsSecret(obj) || !MayHoldSecret([]byte(text)) {
				t.Errorf("%s: nobody knows that it holds one", name)
			}
		}
		if left, err := json.Marshal(obj); err != nil || !strings.Contains(string(left), value) {
			t.Errorf("%s: the object itself became %s, %v", name, left, err)
		}
	}
	plain := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"a": "b"}}
	if diff := cmp.Diff(plain, WithoutSecrets(plain)); diff != "" || HoldsSecret(plain) {
		t.Error(diff)
	}
	other := map[string]any{"apiVersion": "example.org/v1", "kind": "Secret", "data": map[string]any{"a": "b"}}
	if HoldsSecret(other) {
		t.Error("a kind of another group is no Secret of Kubernetes")
	}
}
