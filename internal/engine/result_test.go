package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestAnApplicationOfWhichNothingIsThereIsMissing(t *testing.T) {
	t.Parallel()
	gone, there := state{key: key("a"), missing: true}, state{key: key("b"), synced: true}
	for _, c := range []struct {
		name   string
		states []state
		want   health.Status
	}{
		{"nothing is wanted", nil, health.Healthy},
		{"its only object is gone", []state{gone}, health.Missing},
		{"one of two is gone", []state{gone, there}, health.Healthy},
		{"a hook does not count", []state{gone, {key: key("h"), hook: true}}, health.Missing},
		{"nor a hook alone", []state{{key: key("h"), hook: true}}, health.Healthy},
		{"what is left to prune is there", []state{gone, {key: key("old"), prune: true}}, health.Healthy},
		{"one that has a health is gone", []state{{key: key("w"), missing: true, assessed: true}, there}, health.Healthy},
		{"what is left to prune is degraded", []state{there, judged(key("old"), health.Degraded, func(s *state) { s.prune = true })}, health.Degraded},
		{"one whose health is to be ignored is degraded", []state{there, judged(key("a"), health.Degraded, func(s *state) { s.unjudged = true })}, health.Healthy},
		{"an Application of it is degraded", []state{there, judged(appKey("other"), health.Degraded, nil)}, health.Degraded},
		{"an Application of it deploys nothing", []state{there, judged(appKey("other"), health.Missing, nil)}, health.Healthy},
		{"an Application of it is not judged", []state{there, judged(appKey("other"), health.Unknown, nil)}, health.Healthy},
		{"it is an object of itself", []state{there, judged(appKey("web"), health.Degraded, nil)}, health.Healthy},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := compared(func(r *comparison) { r.states, r.app.Name, r.app.Namespace = c.states, "web", "argocd" }).result(decide.Decision{}).Health.Status; got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// judged is a live object with a health.
func judged(k object.Key, as health.Status, change func(*state)) state {
	s := state{key: k, synced: true, assessed: true, health: health.Result{Status: as}}
	if change != nil {
		change(&s)
	}
	return s
}

func appKey(name string) object.Key {
	return object.Key{Group: v1alpha1.Group, Kind: v1alpha1.KindApplication, Namespace: "argocd", Name: name}
}

func TestARevisionThatCannotBeDeployedIsNoErrorOfTheApplication(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.automate()
	b.commit("r1", good)
	b.turn()
	b.revisions["broken"] = "{"
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Revision: "broken"}, Retry: v1alpha1.RetryStrategy{Limit: 1}}
	for _, phase := range []v1alpha1.OperationPhase{v1alpha1.OperationRunning, v1alpha1.OperationError} {
		res := b.turn()
		if res.Operation == nil || res.Operation.Phase != phase || res.Err == nil {
			t.Fatalf("%v, %+v", res, res.Operation)
		}
		if res.Sync != v1alpha1.SyncStatusSynced || len(res.Conditions) != 0 || len(res.Sources) != 1 || res.Sources[0].TargetRevision != "" || len(res.Revisions) != 0 {
			t.Errorf("%v, %+v, %+v at %v", res, res.Conditions, res.Sources, res.Revisions)
		}
	}
	b.commit("r2", "{")
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}
	if res := b.turn(); res.Err == nil || res.Sync != v1alpha1.SyncStatusUnknown || condition(res, v1alpha1.ConditionComparisonError) == "" {
		t.Errorf("what Git says cannot be deployed: %v, %+v", res, res.Conditions)
	}
}

func TestAnOperationNamesTheFirstObjectThatWasRefused(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.automate()
	b.commit("r1", `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {argocd.argoproj.io/sync-wave: "-1"}}},
{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 800000}]}},
{apiVersion: v1, kind: Service, metadata: {name: t}, spec: {ports: [{port: 800001}]}}]`)
	res := b.turn()
	if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationRunning {
		t.Fatalf("%v, %+v", res, res.Operation)
	}
	told := res.Operation.Message
	if !strings.HasPrefix(told, "one or more objects failed to apply (dry run): Service ") || !strings.Contains(told, "800000") || strings.Contains(told, "800001") ||
		!strings.Contains(told, ". Retrying attempt #1 at") {
		t.Errorf("%q", told)
	}
	wrong := condition(res, v1alpha1.ConditionSyncError)
	if strings.Count(wrong, "Service \"s\"") != 1 || strings.Count(wrong, "Service \"t\"") != 1 {
		t.Errorf("%q", wrong)
	}
}

func TestEachSourceSaysWhatRenderedItAndOneThatIsReferredToNothing(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.commit("r1", "["+configMap("a", "")+"]")
	b.app.Spec.Sources = []v1alpha1.ApplicationSource{{RepoURL: "https://git.example/values", Ref: "values"}, *b.app.Spec.Source}
	b.app.Spec.Source = nil
	if got := b.turn().Tools; !slices.Equal(got, []string{"", "Directory"}) {
		t.Errorf("%q", got)
	}
}

func TestTheHealthOfAnApplicationThatCannotBeComparedIsThatOfItsLiveObjects(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.commit("r1", "{")
	if res := b.turn(); res.Err == nil || res.Sync != v1alpha1.SyncStatusUnknown || res.Health.Status != health.Healthy {
		t.Errorf("it never had an object: %v, %+v", res, res.Health)
	}
	b.automate()
	b.commit("r2", `[{apiVersion: apps/v1, kind: Deployment, metadata: {name: w}, spec: {replicas: 0, paused: true, selector: {matchLabels: {a: b}}, `+
		`template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}}}]`)
	b.turn()
	b.commit("r3", "{")
	if res := b.turn(); res.Err == nil || res.Health.Status != health.Suspended {
		t.Errorf("its Deployment is paused: %v, %+v", res, res.Health)
	}
	b.rules = permissive(t, func(p *v1alpha1.AppProject) { p.Spec.SourceRepos = nil })
	if res := b.turn(); res.Err == nil || res.Health.Status != health.Unknown {
		t.Errorf("its specification is refused: %v, %+v", res, res.Health)
	}
}
