package operate

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestWhatIsPutBackIsWhatWasDeployed(t *testing.T) {
	t.Parallel()
	key := object.Key{Kind: "ConfigMap", Namespace: "shop", Name: "settings"}
	app := deployedApp("one", "two")
	got, err := Revert(app, api.RevertRequest{Reason: "the sale is over"}, []object.Key{key}, anna(), noon())
	if err != nil {
		t.Fatal(err)
	}
	if op := got.Operation; op.Sync.Revision != "two" || len(op.Sync.Resources) != 1 || op.Sync.Prune {
		t.Errorf("on request, the operation is %+v", op.Sync)
	}
	got, err = Revert(automated(app), api.RevertRequest{}, []object.Key{key}, anna(), noon())
	if err != nil || got.Operation.Sync.Revision != "" || got.Operation.Sync.Source != nil {
		t.Errorf("with automated sync, the operation is %+v, %v", got.Operation, err)
	}
	got, err = Revert(app, api.RevertRequest{}, nil, anna(), noon())
	if err != nil || got.Patch != nil {
		t.Errorf("nothing drifted, and the patch is %v, %v", got.Patch, err)
	}
}

func TestDriftThatIsPutBackIsNotAllowedAnyMore(t *testing.T) {
	t.Parallel()
	app := deployedApp("one")
	app.Status.Resources = []v1alpha1.ResourceStatus{{Kind: "ConfigMap", Namespace: "a", Name: "one"}, {Kind: "ConfigMap", Namespace: "a", Name: "two"}}
	for _, name := range []string{"one", "two"} {
		got, err := Allow(app, api.AllowRequest{Object: api.ObjectName{Kind: "ConfigMap", Name: name}, Until: noon().Add(time.Hour)}, anna(), noon())
		if err != nil {
			t.Fatal(err)
		}
		text := got.Patch["metadata"].(map[string]any)["annotations"].(map[string]any)[v1alpha1.AnnotationDriftAllowed].(string)
		app.Annotations = map[string]string{v1alpha1.AnnotationDriftAllowed: text}
	}
	got, err := Revert(app, api.RevertRequest{Objects: []api.ObjectName{{Kind: "ConfigMap", Name: "one"}}}, nil, anna(), noon())
	if err != nil {
		t.Fatal(err)
	}
	text, _ := got.Patch["metadata"].(map[string]any)["annotations"].(map[string]any)[v1alpha1.AnnotationDriftAllowed].(string)
	var left []v1alpha1.Allowance
	if err := json.Unmarshal([]byte(text), &left); err != nil || len(left) != 1 || left[0].Name != "two" {
		t.Errorf("what is left is %s (%v), want the one of two", text, err)
	}
	for _, until := range []time.Time{{}, noon(), noon().Add(-time.Hour), noon().AddDate(1, 0, 2)} {
		if _, err := Allow(app, api.AllowRequest{Object: api.ObjectName{Kind: "ConfigMap", Name: "one"}, Until: until}, anna(), noon()); err == nil {
			t.Errorf("drift is allowed until %s", until)
		}
	}
}

func TestPuttingAllBackEndsEveryAllowance(t *testing.T) {
	t.Parallel()
	app := deployedApp("one")
	app.Annotations = map[string]string{v1alpha1.AnnotationDriftAllowed: "what nobody can read"}
	got, err := Revert(app, api.RevertRequest{}, nil, anna(), noon())
	if err != nil || got.Operation != nil || !got.Answer.Changed {
		t.Fatalf("got %+v, %v", got, err)
	}
	if value, has := got.Patch["metadata"].(map[string]any)["annotations"].(map[string]any)[v1alpha1.AnnotationDriftAllowed]; !has || value != nil {
		t.Errorf("the patch is %v", got.Patch)
	}
}

func TestAnObjectThatIsNotKnownIsWarnedOf(t *testing.T) {
	t.Parallel()
	app := deployedApp("one")
	app.Status.Resources = []v1alpha1.ResourceStatus{{Kind: "ConfigMap", Namespace: "a", Name: "one"}}
	for name, want := range map[string]int{"one": 0, "other": 1} {
		got, err := Sync(app, api.SyncRequest{Objects: []api.ObjectName{{Kind: "ConfigMap", Name: name}}}, anna(), noon())
		if err != nil || len(got.Answer.Warnings) != want {
			t.Errorf("a sync of %s warns %v, %v", name, got.Answer.Warnings, err)
		}
	}
}
