package agentapi

import (
	"encoding/json"
	"testing"
)

func TestATrialIsACommandThatChangesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind Kind
		body string
		want bool
	}{
		{KindRollback, `{"dryRun":true}`, true},
		{KindRollback, `{"id":3,"reason":"later","dryRun":true}`, true},
		{KindAppDelete, `{"cascade":true,"dryRun":true}`, true},
		{KindRollback, `{"dryRun":false}`, false},
		{KindRollback, `{}`, false},
		{KindRollback, ``, false},
		{KindRollback, `{"dryRun":"true"}`, false},
		{KindRollback, `{"dryrun":true}`, false},                // no agent reads it as a dry run
		{KindRollback, `{"dryRun":true,"dryRun":false}`, false}, // nor this
		{KindSync, `{"dryRun":true}`, false},                    // an operation of the Application
		{Kind("application.unknown"), `{"dryRun":true}`, false},
	} {
		if got := Trial(c.kind, json.RawMessage(c.body)); got != c.want {
			t.Errorf("%s %s: %t", c.kind, c.body, got)
		}
	}
}
