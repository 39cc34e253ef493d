package verb

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

func TestAnObjectIsTheOneThatTheCommandNames(t *testing.T) {
	t.Parallel()
	d, _ := kindOf(agentapi.ItemApplication)
	target := agentapi.Target{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: "web"}
	for _, text := range []string{
		``, `[]`, `{}`, `{"apiVersion":"argoproj.io/v1alpha1","kind":"Application"}`,
		`{"apiVersion":"argoproj.io/v1alpha1","kind":"AppProject","metadata":{"name":"web"}}`,
		`{"apiVersion":"v1","kind":"Application","metadata":{"name":"web"}}`,
		`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"other"}}`,
		`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"web","namespace":"kube-system"}}`,
		`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":"web"}`,
	} {
		if got, err := readDeclared(json.RawMessage(text), d, target); err == nil {
			t.Errorf("%s is read as %v", text, got)
		}
	}
}

// What an editor takes out goes, what it puts in comes, and what it never saw stays.
func TestAMergeIsOfThreeSides(t *testing.T) {
	t.Parallel()
	fields := rapid.MapOf(rapid.SampledFrom([]string{"a", "b", "c", "d"}), rapid.SampledFrom([]any{"1", "2", "3"}))
	rapid.Check(t, func(t *rapid.T) {
		have, base, want := fields.Draw(t, "have"), fields.Draw(t, "base"), fields.Draw(t, "want")
		spec := func(m map[string]any) map[string]any { return map[string]any{"spec": m} }
		got, err := merged(spec(have), spec(want), spec(base))
		if err != nil {
			t.Fatal(err)
		}
		out, _ := got["spec"].(map[string]any)
		for _, key := range []string{"a", "b", "c", "d"} {
			expected := have[key]
			if want[key] != base[key] {
				expected = want[key]
			}
			if out[key] != expected {
				t.Errorf("%s is %v: have %v, base %v, want %v", key, out[key], have[key], base[key], want[key])
			}
		}
	})
}
