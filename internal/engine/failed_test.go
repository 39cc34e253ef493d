package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestUnsupportedFieldIsNamedAlthoughTheComparisonFailed(t *testing.T) {
	t.Parallel()
	for _, stage := range []Stage{StagePermit, StageFetch, StageRender, StageLive, StageCompare} {
		for _, early := range []bool{false, true} {
			r := deleting(t, func(r *comparison) { r.req.Unknown = []string{"spec.nonsense"} })
			if early { // before rules and memory are known
				r.grant, r.want = grant{}, nil
			}
			r.conditions = notes{{Type: v1alpha1.ConditionSharedResourceWarning, Message: "of an earlier stage"}}
			res := r.failure(at(stage, errors.New("no")))
			if len(res.Conditions) != 2 || res.Conditions[0].Type != v1alpha1.ConditionComparisonError || !strings.HasSuffix(res.Conditions[0].Message, "no") {
				t.Fatalf("%s: %+v", stage, res.Conditions)
			}
			if c := res.Conditions[1]; c.Type != v1alpha1.ConditionUnsupported || !strings.Contains(c.Message, "spec.nonsense") {
				t.Errorf("%s: %+v", stage, c)
			}
		}
	}
}

func TestMessageOfTheDestinationClusterIsMarked(t *testing.T) {
	t.Parallel()
	refused := errors.New("connection refused")
	unknown := fmt.Errorf("Widget a: %w", &object.UnknownKindError{Kind: object.Kind{Group: "example.com", Kind: "Widget"}})
	for _, c := range []struct {
		stage Stage
		err   error
		want  string
	}{
		{StageLive, refused, "destination cluster: connection refused"},
		{StageCompare, refused, "destination cluster: connection refused"},
		{StageFetch, aboutCluster(refused), "destination cluster: connection refused"},
		{StageLive, aboutCluster(refused), "destination cluster: connection refused"},
		{StageFetch, refused, "connection refused"},
		{StageRender, refused, "connection refused"},
		{StageRender, unknown, unknown.Error()},
		{StageLive, unknown, unknown.Error()},
	} {
		res := deleting(t, nil).failure(at(c.stage, c.err))
		if got := res.Conditions[0].Message; got != c.want || res.Err.Error() != c.want || !errors.Is(res.Err, c.err) {
			t.Errorf("%s: %q, want %q", c.stage, got, c.want)
		}
	}
	if !strings.Contains(unknown.Error(), v1alpha1.MessageUnknownKind) {
		t.Errorf("%v does not have the words that an advice depends on", unknown)
	}
	served := &object.UnknownKindError{Version: "v2", Served: []string{"v1"}}
	if !strings.HasPrefix(served.Error(), v1alpha1.MessageUnservedVersion) {
		t.Errorf("%v does not have the words that an advice depends on", served)
	}
}
