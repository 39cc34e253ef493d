package link

import (
	"testing"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

func TestAPolicyAllowsWhatItSays(t *testing.T) {
	t.Parallel()
	none := map[string]string(nil)
	tests := []struct {
		name      string
		policy    map[string]string
		kind      agentapi.Kind
		namespace string
		allowed   bool
	}{
		{"no policy, a sync", none, agentapi.KindSync, "argocd", true},
		{"no policy, a terminal", none, agentapi.KindResourceTerminal, "argocd", false},
		{"terminals are allowed by an empty deny", map[string]string{"deny": ""}, agentapi.KindResourceTerminal, "", true},
		{"an allow that names it does not overrule the default", map[string]string{"allow": "resource.terminal"}, agentapi.KindResourceTerminal, "", false},
		{"not in allow", map[string]string{"allow": "application.*,\nresource.get"}, agentapi.KindObjectDelete, "", false},
		{"in allow by its beginning", map[string]string{"allow": "application.*,\nresource.get"}, agentapi.KindRollback, "", true},
		{"in allow by its name", map[string]string{"allow": "application.* resource.get"}, agentapi.KindResourceGet, "", true},
		{"denied and allowed", map[string]string{"allow": "*", "deny": "settings.*"}, agentapi.KindSettingsApply, "", false},
		{"another namespace", map[string]string{"namespaces": "team-*"}, agentapi.KindSync, "argocd", false},
		{"a namespace by its beginning", map[string]string{"namespaces": "team-*"}, agentapi.KindSync, "team-a", true},
		{"no namespace", map[string]string{"namespaces": "team-*"}, agentapi.KindSettingsApply, "", true},
		{"an unknown key", map[string]string{"alow": "*"}, agentapi.KindSync, "", false},
		{"a star in the middle", map[string]string{"deny": "a*b"}, agentapi.KindSync, "", false},
		{"nothing", map[string]string{"allow": ""}, agentapi.KindSync, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := agentapi.Command{Kind: tt.kind, Target: agentapi.Target{Namespace: tt.namespace}}
			got := allowed(tt.policy, cmd)
			if (got == nil) != tt.allowed {
				t.Errorf("got %v, want allowed %v", got, tt.allowed)
			}
			if got != nil && got.Code != agentapi.CodePolicy {
				t.Errorf("the code is %s", got.Code)
			}
		})
	}
}
