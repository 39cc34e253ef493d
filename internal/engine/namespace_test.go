package engine

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestTheNamespaceGetsItsMetadata(t *testing.T) {
	t.Parallel()
	r := compared(func(r *comparison) {
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
	asks := decide.Decision{Operation: v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{SyncOptions: []string{"CreateNamespace=true"}}}}
	dry := asks
	dry.DryRun = true
	own := func(r *comparison) {
		r.app.Spec.Destination.Namespace = "shop"
		r.want.objects = append(r.want.objects, wantedObject{key: object.Key{Kind: "Namespace", Name: "shop"}})
	}
	for _, c := range []struct {
		name   string
		d      decide.Decision
		change func(*comparison)
	}{
		{"without a name", asks, nil},
		{"in a dry run", dry, own},
		{"without the option", decide.Decision{}, own},
		{"its own", asks, own},
	} {
		x := &execution{comparison: compared(c.change), d: c.d, u: fresh()}
		if slices.ContainsFunc(x.tasks(), func(t plan.Task) bool { return t.First }) {
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

func TestAnOperationSaysWhatItMadeOfTheNamespace(t *testing.T) {
	t.Parallel()
	managed := &v1alpha1.SyncPolicy{ManagedNamespaceMetadata: &v1alpha1.ManagedNamespaceMetadata{Labels: map[string]string{"team": "red"}}}
	for _, c := range []struct {
		name, suffix, want string
		policy             *v1alpha1.SyncPolicy
		writes             bool
	}{
		{"it exists", "", "unchanged", nil, false},
		{"it does not", "-made", "created", nil, true},
		{"it exists, and is to have a label", "", "serverside-applied", managed, true},
		{"it does not, and is to have a label", "-red", "created", managed, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := &writes{seen: make(chan string, 100)}
			b := newBed(t, func(cfg *rest.Config) {
				cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { w.next = next; return w })
			})
			b.app.Spec.Destination.Namespace += c.suffix
			b.app.Spec.SyncPolicy = c.policy
			if c.suffix != "" {
				b.dropsNamespace()
			}
			b.commit("r1", good)
			b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{SyncOptions: []string{"CreateNamespace=true"}}}
			res := b.turn()
			if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationSucceeded {
				t.Fatalf("%v, %+v", res, res.Operation)
			}
			name, said := b.app.Spec.Destination.Namespace, ""
			for _, out := range res.Operation.SyncResult.Resources {
				if out.Kind == "Namespace" {
					said = out.Message
				}
			}
			if want := "namespace/" + name + " " + c.want; said != want {
				t.Errorf("%q, want %q", said, want)
			}
			wrote := false
			for len(w.seen) > 0 {
				wrote = strings.HasSuffix(<-w.seen, "/api/v1/namespaces/"+name) || wrote
			}
			if wrote != c.writes {
				t.Errorf("it is written: %t", wrote)
			}
		})
	}
}

// dropsNamespace deletes the destination namespace at the end.
func (b *bed) dropsNamespace() {
	b.t.Helper()
	client, err := kubernetes.NewForConfig(testenv.Cluster(b.t))
	if err != nil {
		b.t.Fatal(err)
	}
	name := b.app.Spec.Destination.Namespace
	b.t.Cleanup(func() {
		_ = client.CoreV1().Namespaces().Delete(context.WithoutCancel(b.t.Context()), name, metav1.DeleteOptions{})
	})
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
		if got := diff.MetadataVerb(c.have, c.then); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// given are labels of a bed's namespace, as the API server has them.
func (b *bed) given() map[string]any {
	b.t.Helper()
	key := object.Key{Kind: "Namespace", Name: b.app.Spec.Destination.Namespace}
	res, err := b.target.Live.Find(b.t.Context(), key.GroupKind(), "v1")
	if err != nil {
		b.t.Fatal(err)
	}
	obj, err := b.target.Client.Get(b.t.Context(), res, key)
	if err != nil {
		b.t.Fatal(err)
	}
	labels, _ := obj["metadata"].(map[string]any)["labels"].(map[string]any)
	return labels
}

// label sets labels of a bed's namespace as another manager would.
func (b *bed) label(patch string) {
	b.t.Helper()
	client, err := kubernetes.NewForConfig(testenv.Cluster(b.t))
	if err != nil {
		b.t.Fatal(err)
	}
	_, err = client.CoreV1().Namespaces().Patch(b.t.Context(), b.app.Spec.Destination.Namespace, types.MergePatchType,
		[]byte(`{"metadata":{"labels":`+patch+`}}`), metav1.PatchOptions{FieldManager: "other"})
	if err != nil {
		b.t.Fatal(err)
	}
}

func TestTheMetadataOfAManagedNamespaceIsHealed(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.commit("r1", good)
	b.app.Spec.SyncPolicy = &v1alpha1.SyncPolicy{
		Automated: &v1alpha1.AutomatedSync{SelfHeal: yes()}, SyncOptions: []string{"CreateNamespace=true"},
		ManagedNamespaceMetadata: &v1alpha1.ManagedNamespaceMetadata{Labels: map[string]string{"team": "red"}},
	}
	res := b.turn()
	if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationSucceeded || b.given()["team"] != "red" ||
		!reflect.DeepEqual(res.Operation.SyncResult.ManagedNamespaceMetadata, b.app.Spec.SyncPolicy.ManagedNamespaceMetadata) {
		t.Fatalf("%v, %+v, %v", res, res.Operation, b.given())
	}
	if res := b.turn(); res.Operation != nil || res.Sync != v1alpha1.SyncStatusSynced {
		t.Errorf("nothing is to be done: %v, %+v", res, res.Operation)
	}

	// Another manager changes it, and takes it away: the agent hears of that, and puts it back.
	for _, patch := range []string{`{"team":"blue"}`, `{"team":null}`} {
		b.label(patch)
		healed := false
		b.await("it is healed", func() bool {
			if res := b.turn(); res.Operation != nil {
				healed = res.Operation.Phase == v1alpha1.OperationSucceeded
			}
			return healed
		})
		if b.given()["team"] != "red" {
			t.Errorf("after %s: %v", patch, b.given())
		}
	}

	// The Application says something else.
	b.app.Spec.SyncPolicy.ManagedNamespaceMetadata.Labels["team"] = "green"
	b.app.Spec.SyncPolicy.Automated = nil
	if res := b.turn(); res.Operation != nil || res.Sync != v1alpha1.SyncStatusOutOfSync {
		t.Errorf("it differs from what was given: %v, %+v", res, res.Operation)
	}
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}
	if res := b.turn(); res.Operation == nil || res.Operation.Phase != v1alpha1.OperationSucceeded || b.given()["team"] != "green" {
		t.Errorf("%v, %+v, %v", res, res.Operation, b.given())
	}
	if res := b.turn(); res.Operation != nil || res.Sync != v1alpha1.SyncStatusSynced {
		t.Errorf("%v, %+v", res, res.Operation)
	}
}
