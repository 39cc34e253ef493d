package diff_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestMaskLooksIntoObjectsAndAnnotations(t *testing.T) {
	t.Parallel()
	const value = "kX9vQ2-tr0ub/4dor"
	encoded := base64.StdEncoding.EncodeToString([]byte(value))
	for name, doc := range map[string]string{
		"a Secret within an object":      `{apiVersion: kubernetes.crossplane.io/v1, kind: Object, spec: {manifest: {apiVersion: v1, kind: Secret, data: {a: ` + encoded + `}}}}`,
		"Secrets in a list":              `{apiVersion: x/v1, kind: Bundle, spec: {items: [{kind: ConfigMap}, {apiVersion: v1, kind: Secret, stringData: {a: ` + value + `}}]}}`,
		"a Secret's copy in a note":      `{apiVersion: v1, kind: Secret, metadata: {annotations: {copied: "is ` + value + `!"}}, data: {a: ` + encoded + `}}`,
		"a Secret's base64 in a note":    `{apiVersion: v1, kind: Secret, metadata: {annotations: {copied: '` + encoded + `'}}, data: {a: ` + encoded + `}}`,
		"what another tool applied last": `{apiVersion: v1, kind: Secret, metadata: {annotations: {kapp.k14s.io/original: '{"stringData":{"b":"` + value + `"}}'}}}`,
	} {
		obj := tree(t, doc)
		for _, pair := range [][2]map[string]any{{obj, nil}, {nil, obj}, {obj, obj}} {
			a, b := diff.Mask(pair[0], pair[1], nil)
			text := clone(t, a) + clone(t, b)
			if strings.Contains(text, value) || strings.Contains(text, encoded) || !strings.Contains(text, "++++++++") {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
	plain := tree(t, `{apiVersion: v1, kind: Secret, metadata: {annotations: {team: shop, note: "for prometheus"}}, data: {user: `+base64.StdEncoding.EncodeToString([]byte("prometheus"))+`}}`)
	if got, _ := diff.Mask(plain, nil, nil); !strings.Contains(clone(t, got), `"note":"for prometheus"`) {
		t.Errorf("a word takes an annotation away: %s", clone(t, got))
	}
}

// TestAnExpressionCannotAskForTheValueOfASecret takes expressions that ignore a label if a guess is right.
func TestAnExpressionCannotAskForTheValueOfASecret(t *testing.T) {
	t.Parallel()
	secret := func(value string) map[string]any {
		return tree(t, `{apiVersion: v1, kind: Secret, metadata: {name: db, labels: {a: b}}, data: {token: `+value+`}}`)
	}
	for _, expression := range []string{
		`if (.data.token | startswith("czNj")) then .metadata.labels.a else empty end`,
		`select(.data.token == "czNjcjN0") | .metadata.labels.a`,
		`select(.data.token > "c") | .metadata.labels.a`,
		`.metadata.labels | select($__loc__ == 1) // empty`,
	} {
		ignore, _ := diff.NewIgnore([]v1alpha1.IgnoreDifference{{Kind: "Secret", JQPathExpressions: []string{expression}}}, nil)
		rules := ignore.For(object.Key{Kind: "Secret", Namespace: "x", Name: "db"})
		labels := func(value string) bool {
			meta, _ := rules.Strip(secret(value))["metadata"].(map[string]any)
			left, _ := meta["labels"].(map[string]any)
			return left["a"] != nil
		}
		if labels("czNjcjN0") != labels("YWFhYWFh") {
			t.Errorf("%s tells one value from another", expression)
		}
	}
	ignore, wrong := diff.NewIgnore([]v1alpha1.IgnoreDifference{{Kind: "Secret", JQPathExpressions: []string{`.data.token`}}}, nil)
	rest := ignore.For(object.Key{Kind: "Secret"}).Strip(secret("czNjcjN0"))
	if data, _ := rest["data"].(map[string]any); len(wrong) > 0 || data["token"] != nil {
		t.Errorf("a field of a Secret is not ignored any more: %v, %v", rest, wrong)
	}
}
