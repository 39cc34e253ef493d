package command

import (
	"context"
	"errors"
	"testing"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

func TestACommandWithoutOptionsRefusesThem(t *testing.T) {
	t.Parallel()
	ran := 0
	run := Bodiless(func(context.Context, agentapi.Command) (any, error) {
		ran++
		return "done", nil
	})
	for body, code := range map[string]agentapi.Code{
		"": "", "null": "", "{}": "", `{"prune":true}`: agentapi.CodeUnsupported, `[]`: agentapi.CodeUnsupported, `{`: agentapi.CodeInvalid, `{}{}`: agentapi.CodeInvalid,
	} {
		before := ran
		_, err := run(t.Context(), agentapi.Command{Kind: agentapi.KindTree, Body: []byte(body)})
		var refused *agentapi.Error
		errors.As(err, &refused)
		if code == "" && (err != nil || ran != before+1) || code != "" && (refused == nil || refused.Code != code || ran != before) {
			t.Errorf("%q: %v", body, err)
		}
	}
}
