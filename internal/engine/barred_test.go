package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

const (
	widget = `{apiVersion: never.example.com/v1, kind: Widget, metadata: {name: w}}`
	secret = `{apiVersion: v1, kind: Secret, metadata: {name: s}}`
)

// noSecrets is a project that forbids Secrets.
func noSecrets(p *v1alpha1.AppProject) {
	p.Spec.NamespaceResourceBlacklist = []v1alpha1.GroupKind{{Kind: "Secret"}}
}

// listed says how the objects of a result are listed: "name status health" of each.
func listed(res Result) []string {
	var out []string
	for _, r := range res.Resources {
		line := r.Name + " " + string(r.Status)
		if r.Health != nil {
			line += " " + string(r.Health.Status)
		}
		out = append(out, line)
	}
	return out
}

func TestAnObjectThatMayNotBeAppliedHidesNoOther(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.automate()
	b.commit("r1", "["+configMap("a", "")+"]")
	b.turn()
	b.rules = permissive(t, noSecrets)
	b.commit("r2", "["+configMap("a", "v: two")+","+configMap("b", "")+","+secret+","+widget+"]")
	for turn := range 2 { // remembered, too
		res := b.turn()
		if res.Err != nil || res.Operation != nil || res.Sync != v1alpha1.SyncStatusOutOfSync {
			t.Fatalf("turn %d: %v, %+v", turn, res, res.Operation)
		}
		if got := listed(res); !slices.Equal(got, []string{"a OutOfSync", "b OutOfSync Missing", "s Unknown Missing", "w OutOfSync Missing"}) {
			t.Errorf("turn %d: %q", turn, got)
		}
		if told := condition(res, v1alpha1.ConditionInvalidSpecError); !strings.Contains(told, `does not permit Secret "s"`) || strings.Contains(told, "Widget") {
			t.Errorf("turn %d: the project says %q", turn, told)
		}
		if told := condition(res, v1alpha1.ConditionComparisonError); !strings.Contains(told, "Widget") || strings.Contains(told, "Secret") {
			t.Errorf("turn %d: the cluster says %q", turn, told)
		}
	}
	if b.has("b") {
		t.Error("an automated sync applied a part of the commit")
	}

	// A sync of the whole is refused and lists them; one of the others is not.
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}
	res := b.turn()
	if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationFailed || !strings.HasPrefix(res.Operation.Message, "one or more synchronization tasks are not valid: ") ||
		len(res.Operation.SyncResult.Resources) != 2 || res.Operation.SyncResult.Resources[0].Status != v1alpha1.ResultSyncFailed || b.has("b") {
		t.Errorf("%+v, %+v", res.Operation, res.Operation.SyncResult)
	}
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Resources: []v1alpha1.SyncOperationResource{{Kind: "ConfigMap", Name: "b"}}}}
	if res := b.turn(); res.Operation == nil || res.Operation.Phase != v1alpha1.OperationSucceeded || !b.has("b") {
		t.Errorf("%+v", res.Operation)
	}
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Resources: []v1alpha1.SyncOperationResource{{Kind: "Secret", Name: "s"}}}}
	if res := b.turn(); res.Operation == nil || res.Operation.Phase != v1alpha1.OperationFailed || strings.Contains(res.Operation.Message, "Widget") {
		t.Errorf("%+v", res.Operation)
	}

	// What is permitted goes on by itself.
	b.rules = permissive(t, nil)
	b.commit("r3", "["+configMap("a", "")+","+configMap("c", "")+","+secret+"]")
	if res := b.turn(); res.Operation == nil || res.Operation.Phase != v1alpha1.OperationSucceeded || len(res.Conditions) != 0 || !b.has("c") {
		t.Errorf("%+v, %+v", res.Operation, res.Conditions)
	}
}

func TestAHookThatMayNotRunLetsNoSyncBegin(t *testing.T) {
	t.Parallel()
	for name, hook := range map[string]string{
		"forbidden": `{apiVersion: v1, kind: Secret, metadata: {name: s, annotations: {argocd.argoproj.io/hook: PreSync}}}`,
		"unknown":   `{apiVersion: never.example.com/v1, kind: Widget, metadata: {name: w, annotations: {argocd.argoproj.io/hook: PostSync}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, nil)
			b.automate()
			b.rules = permissive(t, noSecrets)
			b.commit("r1", "["+configMap("a", "")+","+hook+"]")
			res := b.turn()
			if res.Err != nil || len(res.Conditions) != 1 || !slices.Equal(listed(res), []string{"a OutOfSync Missing"}) || b.has("a") {
				t.Errorf("%v, %q, %+v", res, listed(res), res.Conditions)
			}
			b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}, Retry: v1alpha1.RetryStrategy{Limit: 1}}
			for _, phase := range []v1alpha1.OperationPhase{v1alpha1.OperationRunning, v1alpha1.OperationFailed} { // it is retried as it asks
				if res := b.turn(); res.Operation == nil || res.Operation.Phase != phase || b.has("a") {
					t.Errorf("%+v", res.Operation)
				}
			}
		})
	}
}
