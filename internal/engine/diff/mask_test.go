package diff_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
)

const hiddenValue = "correct-horse-battery"

func TestMaskLeavesNoValueAnywhere(t *testing.T) {
	t.Parallel()
	encoded := base64.StdEncoding.EncodeToString([]byte(hiddenValue))
	for name, doc := range map[string]string{
		"in data":                       `{"data":{"a":"` + encoded + `"}}`,
		"in stringData":                 `{"stringData":{"a":"` + hiddenValue + `"}}`,
		"in a misspelt field":           `{"stringdata":{"a":"` + hiddenValue + `"}}`,
		"where data is text":            `{"data":"` + hiddenValue + `"}`,
		"in a list":                     `{"data":{"a":["` + hiddenValue + `"]}}`,
		"in the last-applied data":      `{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"a\":\"` + encoded + `\"}}"}}}`,
		"in the last-applied text":      `{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"stringData\":{\"a\":\"` + hiddenValue + `\"}}"}}}`,
		"in a broken last-applied":      `{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"[\"` + hiddenValue + `\"]"}}}`,
		"in a hidden annotation":        `{"metadata":{"annotations":{"token":"` + hiddenValue + `"}}}`,
		"in a hidden annotation's list": `{"metadata":{"annotations":{"token":["` + hiddenValue + `"]}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var obj map[string]any
			if err := json.Unmarshal([]byte(doc), &obj); err != nil {
				t.Fatal(err)
			}
			obj["apiVersion"], obj["kind"] = "v1", "Secret"
			for _, pair := range [][2]map[string]any{{obj, nil}, {nil, obj}, {obj, obj}} {
				a, b := diff.Mask(pair[0], pair[1], []string{"token"})
				text := clone(t, a) + clone(t, b)
				if strings.Contains(text, hiddenValue) || strings.Contains(text, encoded) {
					t.Error(text)
				}
				if !strings.Contains(text, "++++++++") {
					t.Errorf("nothing is masked: %s", text)
				}
			}
		})
	}
}

func TestMaskSpeaksOfEqualityAndNotOfLength(t *testing.T) {
	t.Parallel()
	desired := tree(t, `{apiVersion: v1, kind: Secret, stringData: {a: short, b: same}, data: {}}`)
	live := tree(t, `{apiVersion: v1, kind: Secret, data: {a: YS1tdWNoLWxvbmdlci1vbmU=, b: c2FtZQ==}}`)
	d, l := diff.Mask(desired, live, nil)
	want := `{"apiVersion":"v1","data":{"a":"++++++++","b":"++++++++"},"kind":"Secret"}` +
		`{"apiVersion":"v1","data":{"a":"++++++++++++","b":"++++++++"},"kind":"Secret"}`
	if got := clone(t, d) + clone(t, l); got != want {
		t.Errorf("got %s", got)
	}
}

func TestMaskLeavesOtherKindsAlone(t *testing.T) {
	t.Parallel()
	obj := tree(t, `{apiVersion: v1, kind: ConfigMap, data: {a: b}}`)
	d, l := diff.Mask(obj, obj, []string{"a"})
	if clone(t, d) != clone(t, obj) || clone(t, l) != clone(t, obj) {
		t.Errorf("changed: %v %v", d, l)
	}
}
