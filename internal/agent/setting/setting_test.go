package setting

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

func TestWhatIsSealedReplacesNothingThatIsJudged(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"later": true, "Project": true, "PASSWORD": true}
	for _, kind := range agentapi.SettingTypes() {
		for _, field := range slices.Concat(kind.OpenFields(), kind.SecretFields()) {
			known[field] = true
		}
	}
	for _, kind := range agentapi.SettingTypes() {
		for field := range known {
			one := map[string]string{field: "sesame-open-up"}
			for what, c := range map[string]struct {
				open, sealed map[string]string
				takes        bool
			}{"open": {one, nil, kind.Open(field)}, "sealed": {nil, one, kind.Secret(field)}, "both": {one, one, false}} {
				got, err := joined(agentapi.SettingChange{Type: kind, Fields: c.open}, c.sealed)
				if (err == nil) != c.takes || err == nil && got.Fields[field] != "sesame-open-up" {
					t.Errorf("%s of a %s, %s: %v, %v", field, kind, what, got.Fields, err)
				}
				if err != nil && strings.Contains(err.Error(), "sesame-open-up") {
					t.Errorf("the refusal tells the value: %v", err)
				}
			}
		}
	}
}
