package fit

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestSizesOfWhatAStatusListsAreHardlyEverTooSmall(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-z]{0,40}`)
	rapid.Check(t, func(t *rapid.T) {
		s := v1alpha1.ResourceStatus{
			Group: word.Draw(t, "group"), Version: word.Draw(t, "version"), Kind: word.Draw(t, "kind"), Namespace: word.Draw(t, "namespace"),
			Name: word.Draw(t, "name"), Status: v1alpha1.SyncStatusCode(word.Draw(t, "status")), SyncWave: rapid.Int64Range(-9, 99).Draw(t, "wave"),
			RequiresPruning: rapid.Bool().Draw(t, "prune"),
		}
		if rapid.Bool().Draw(t, "judged") {
			s.Health = &v1alpha1.HealthStatus{Status: v1alpha1.HealthStatusCode(word.Draw(t, "health")), Message: word.Draw(t, "message")}
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if size := resourceSize(&s); size < len(text) {
			t.Fatalf("%s has %d bytes, not %d", text, len(text), size)
		}
		r := v1alpha1.ResourceResult{
			Group: s.Group, Version: s.Version, Kind: s.Kind, Namespace: s.Namespace, Name: s.Name, Status: v1alpha1.ResultCode(s.Status),
			Message: word.Draw(t, "text"), HookPhase: v1alpha1.OperationPhase(word.Draw(t, "phase")), SyncPhase: v1alpha1.SyncPhase(word.Draw(t, "sync")),
		}
		if text, err = json.Marshal(r); err != nil {
			t.Fatal(err)
		}
		if size := resultSize(&r); size < len(text) {
			t.Fatalf("%s has %d bytes, not %d", text, len(text), size)
		}
	})
}

func TestALongMessageKeepsItsLastWords(t *testing.T) {
	t.Parallel()
	text := "Job web: spec.template: Invalid value: {" + strings.Repeat("x", 8<<10) + "}: field is immutable: set Replace=true"
	all := shorten([]v1alpha1.ResourceResult{{Message: text}}, Most)
	for name, got := range map[string]string{"of an object": Message(text), "where not all have room": all[0].Message} {
		if !strings.HasPrefix(got, "Job web: spec.template") || !strings.HasSuffix(got, "field is immutable: set Replace=true") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
