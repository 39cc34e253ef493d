package why

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// commands are the words of the command line for what the API can be asked for.
func commands() map[string]string {
	return map[string]string{
		api.WhySync: "slipway app sync ", api.WhyRefresh: "slipway app refresh ", api.WhyConfirm: "slipway app confirm ", api.WhyUnpin: "slipway app unpin ",
		api.WhyRollback: "slipway app rollback ", api.WhyTerminate: "slipway app terminate-op ", api.WhyRevert: "slipway app drift revert ",
		api.WhyResourceAction: "slipway action list ",
	}
}

func TestWhatAProgramIsOfferedIsWhatPeopleAreTold(t *testing.T) {
	t.Parallel()
	for _, q := range questions() {
		facts := Facts{App: application(t, q.parts...), Now: now(), ProjectError: q.wrong}
		if q.windows != "" {
			facts.Project = rules(t, q.windows)
		}
		for _, r := range Explain(facts).API().Reasons {
			for _, a := range r.Actions {
				if command := commands()[a.Action]; a.Action != api.WhyAllow && (command == "" || !strings.Contains(r.Next, command)) {
					t.Errorf("%s: %s is offered, and people are told %q", q.name, a.Action, r.Next)
				}
			}
		}
	}
}

func TestAReasonNamesItsObjectsAndWhatToAskFor(t *testing.T) {
	t.Parallel()
	settings := api.ObjectName{Kind: "ConfigMap", Namespace: "shop", Name: "settings"}
	old := api.ObjectName{Kind: "ConfigMap", Namespace: "shop", Name: "old"}
	web := api.ObjectName{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	canary := api.ObjectName{Group: "argoproj.io", Kind: "Rollout", Namespace: "shop", Name: "canary"}
	migrate := api.ObjectName{Group: "batch", Kind: "Job", Namespace: "shop", Name: "migrate"}
	for name, want := range map[string]api.WhyReason{
		"done":                             {Code: "Done"},
		"automated off":                    {Code: "AutomatedOff", Objects: []api.ObjectName{settings}, Actions: []api.WhyAction{{Action: "sync"}}},
		"automated off and prune needed":   {Code: "AutomatedOff", Objects: []api.ObjectName{old}, Actions: []api.WhyAction{{Action: "sync", Prune: true}}},
		"self-heal off":                    {Code: "SelfHealOff", Objects: []api.ObjectName{settings}, Actions: []api.WhyAction{{Action: "revert"}, {Action: "allow"}}},
		"held by the guard":                {Code: "HeldByGuard", Objects: []api.ObjectName{old}, Actions: []api.WhyAction{{Action: "confirm", Plan: "1f2e3d4c5b6a7988"}}},
		"failed":                           {Code: "Failed", Objects: []api.ObjectName{web}, Actions: []api.WhyAction{{Action: "sync"}}},
		"waiting for a hook":               {Code: "WaitingForHook", Objects: []api.ObjectName{migrate}, Actions: []api.WhyAction{{Action: "terminate"}}},
		"drift allowed":                    {Code: "DriftAllowed", Objects: []api.ObjectName{settings}, Actions: []api.WhyAction{{Action: "revert", Objects: []api.ObjectName{settings}}}},
		"degraded and progressing":         {Code: "Suspended", Objects: []api.ObjectName{canary}, Actions: []api.WhyAction{{Action: "resource-action", Objects: []api.ObjectName{canary}}}},
		"unhealthy and no object says why": {Code: "Unjudged", Actions: []api.WhyAction{{Action: "refresh", Hard: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := slices.IndexFunc(questions(), func(q question) bool { return q.name == name })
			if i < 0 {
				t.Fatal("there is no such question")
			}
			answer := Explain(Facts{App: application(t, questions()[i].parts...), Now: now()}).API()
			at := slices.IndexFunc(answer.Reasons, func(r api.WhyReason) bool { return r.Code == want.Code })
			if at < 0 {
				t.Fatalf("no reason is %s: %+v", want.Code, answer)
			}
			got := answer.Reasons[at]
			same := func(a, b api.WhyAction) bool {
				return a.Action == b.Action && a.Prune == b.Prune && a.Hard == b.Hard && a.Plan == b.Plan && slices.Equal(a.Objects, b.Objects)
			}
			if !slices.Equal(got.Objects, want.Objects) || !slices.EqualFunc(got.Actions, want.Actions, same) {
				t.Errorf("the reason is about %+v and offers %+v, want %+v and %+v", got.Objects, got.Actions, want.Objects, want.Actions)
			}
		})
	}
}

func TestWhatProgramsGetHoldsNoControlCharactersAndEnds(t *testing.T) {
	t.Parallel()
	app := application(t, out, changed, condition("ComparisonError", "one\ntwo\x1b[31m\u202e<script>"+strings.Repeat("x", 100_000)), objects())
	for range 3 * api.WhyObjects {
		app.Status.Resources = append(app.Status.Resources, v1alpha1.ResourceStatus{Kind: "ConfigMap", Name: "one", Status: v1alpha1.SyncStatusOutOfSync})
	}
	for _, r := range Explain(Facts{App: app, Now: now()}).API().Reasons {
		if strings.ContainsAny(r.Why+r.What+r.Next, "\x1b\u202e") || len(r.Why) > maxTold || len(r.Objects) > api.WhyObjects {
			t.Errorf("the reason is %.200q with %d bytes and %d objects", r.Why, len(r.Why), len(r.Objects))
		}
	}
}
