package setting

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
)

func TestTheStepsOfATestAreLinesWithMarks(t *testing.T) {
	t.Parallel()
	got := strings.Join(stepLines([]api.SettingStep{
		{Layer: "name", Status: api.StepOK, Detail: "git.example.org has 2 addresses", Millis: 12},
		{Layer: "TLS", Status: api.StepFailed, Detail: "certificate not trusted", Next: "add the authority"},
		{Layer: "authentication", Status: api.StepSkipped},
	}), "\n")
	const want = `✓ name            git.example.org has 2 addresses  (12 ms)
✗ TLS             certificate not trusted
                  add the authority
- authentication  not tested`
	if got != want {
		t.Errorf("%s", got)
	}
}
