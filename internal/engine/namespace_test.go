package engine

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestTheNamespaceGetsItsMetadata(t *testing.T) {
	t.Parallel()
	r := compared(func(r *run) {
		r.app.Spec.Destination.Namespace = "shop"
		r.app.Spec.SyncPolicy.ManagedNamespaceMetadata = &v1alpha1.ManagedNamespaceMetadata{
			Labels: map[string]string{"team": "a"}, Annotations: map[string]string{"note": "b"},
		}
	})
	m, err := r.namespaceManifest()
	if err != nil {
		t.Fatal(err)
	}
	obj, err := m.Decode()
	if err != nil {
		t.Fatal(err)
	}
	meta := obj["metadata"].(map[string]any)
	if labels := meta["labels"].(map[string]any); labels["team"] != "a" || object.Annotation(obj, "note") != "b" || object.Annotation(obj, object.TrackingAnnotation) != "" {
		t.Errorf("%s", m.JSON)
	}
}

func TestNoNamespaceIsMadeThatNobodyAsksFor(t *testing.T) {
	t.Parallel()
	asks := Decision{Operation: v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{SyncOptions: []string{"CreateNamespace=true"}}}}
	dry := asks
	dry.DryRun = true
	own := func(r *run) {
		r.app.Spec.Destination.Namespace = "shop"
		r.memory.wanted = append(r.memory.wanted, wanted{key: object.Key{Kind: "Namespace", Name: "shop"}})
	}
	for _, c := range []struct {
		name   string
		d      Decision
		change func(*run)
	}{
		{"without a name", asks, nil},
		{"in a dry run", dry, own},
		{"without the option", Decision{}, own},
		{"its own", asks, own},
	} {
		if compared(c.change).makesNamespace(c.d) {
			t.Errorf("%s: it is made", c.name)
		}
	}
}

func TestANamespaceThatTheProjectDoesNotPermitIsUsedAsItIs(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.rules = permissive(t, func(p *v1alpha1.AppProject) { p.Spec.ClusterResourceWhitelist = nil })
	b.commit("r1", good)
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{SyncOptions: []string{"CreateNamespace=true"}}}
	if res := b.turn(); res.Operation == nil || res.Operation.Phase != v1alpha1.OperationSucceeded {
		t.Fatalf("%v, %+v", res, res.Operation)
	}
	b.app.Spec.Destination.Namespace += "-more"
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{SyncOptions: []string{"CreateNamespace=true"}}}
	res := b.turn()
	if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationFailed || !strings.HasPrefix(res.Operation.Message, "the namespace failed to apply") {
		t.Errorf("%v, %+v", res, res.Operation)
	}
}

func TestLabelsOfPodSecurityTakeThePermissionForNamespaces(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.rules = permissive(t, func(p *v1alpha1.AppProject) { p.Spec.ClusterResourceWhitelist = nil })
	b.commit("r1", good)
	b.app.Spec.SyncPolicy = &v1alpha1.SyncPolicy{ManagedNamespaceMetadata: &v1alpha1.ManagedNamespaceMetadata{
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "privileged"},
	}}
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{SyncOptions: []string{"CreateNamespace=true"}}}
	res := b.turn()
	if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationFailed || !strings.HasPrefix(res.Operation.Message, "the namespace failed to apply") {
		t.Errorf("%v, %+v", res, res.Operation)
	}
}

func TestTheResultsNameTheNamespaceUntilTheEnd(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.commit("r1", suspended)
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{SyncOptions: []string{"CreateNamespace=true"}}}
	for range 2 {
		res := b.turn()
		if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationRunning {
			t.Fatalf("%v, %+v", res, res.Operation)
		}
		named := false
		for _, out := range res.Operation.SyncResult.Resources {
			named = named || out.Kind == "Namespace"
		}
		if !named {
			t.Errorf("%+v", res.Operation.SyncResult.Resources)
		}
	}
}

func TestADryRunLeavesOutWhatLivesInANamespaceThatComesWithTheSync(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.app.Spec.Destination.Namespace += "-soon"
	b.commit("r1", suspended)
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{DryRun: true, SyncOptions: []string{"CreateNamespace=true"}}}
	res := b.turn()
	if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationSucceeded || len(res.Operation.SyncResult.Resources) == 0 {
		t.Fatalf("%v, %+v", res, res.Operation)
	}
	for _, out := range res.Operation.SyncResult.Resources {
		if !strings.Contains(out.Message, "the namespace comes with this sync") {
			t.Errorf("%+v", out)
		}
	}
}

func TestANamespaceIsChangedWhereItsLabelsOrAnnotationsAre(t *testing.T) {
	t.Parallel()
	namespace := func(version string, labels, annotations map[string]any) map[string]any {
		meta := map[string]any{"name": "shop", "resourceVersion": version, "managedFields": []any{version}}
		if labels != nil {
			meta["labels"] = labels
		}
		if annotations != nil {
			meta["annotations"] = annotations
		}
		return map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": meta}
	}
	named := map[string]any{"kubernetes.io/metadata.name": "shop"}
	for _, c := range []struct {
		name       string
		have, then map[string]any
		want       diff.Verb
	}{
		{"as it is", namespace("1", named, nil), namespace("2", named, nil), diff.Keep},
		{"none and empty", namespace("1", nil, nil), namespace("2", map[string]any{}, map[string]any{}), diff.Keep},
		{"a label more", namespace("1", named, nil), namespace("2", map[string]any{"kubernetes.io/metadata.name": "shop", "team": "a"}, nil), diff.Update},
		{"another value", namespace("1", map[string]any{"team": "a"}, nil), namespace("1", map[string]any{"team": "b"}, nil), diff.Update},
		{"an annotation less", namespace("1", named, map[string]any{"note": "b"}), namespace("2", named, nil), diff.Update},
	} {
		if got := namespaceVerb(c.have, c.then); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
