package report

import (
	"testing"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

func TestARepositoryThatCannotBeReachedIsNotAFaultOfTheAgent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		all, broken int
		want        agentapi.ComponentStatus
		told        bool
	}{
		{"none is followed", 0, 0, agentapi.ComponentHealthy, false},
		{"all are read", 3, 0, agentapi.ComponentHealthy, false},
		{"the only one has a wrong address", 1, 1, agentapi.ComponentHealthy, true},
		{"one of several", 3, 1, agentapi.ComponentHealthy, true},
		{"none of several is read", 3, 3, agentapi.ComponentDegraded, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := gitComponent(c.all, c.broken); got.Status != c.want || got.Message != "" != c.told {
				t.Errorf("%+v", got)
			}
		})
	}
}
