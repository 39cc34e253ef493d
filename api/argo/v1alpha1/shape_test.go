package v1alpha1_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// TestStatusShapesArePinned writes down, byte for byte, what other programs read.
func TestStatusShapesArePinned(t *testing.T) {
	t.Parallel()
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	source := v1alpha1.ApplicationSource{RepoURL: "https://git.example.com/shop.git", Path: "deploy", TargetRevision: "main"}
	tests := []struct {
		name  string
		value any
		want  string
	}{
		{"an empty status", v1alpha1.ApplicationStatus{}, `{}`},
		{"an application without status or operation", v1alpha1.Application{}, `{"metadata":{},"spec":{"destination":{},"project":""}}`},
		{"a sync status that is not known yet", v1alpha1.ApplicationStatus{Sync: v1alpha1.SyncStatus{Status: v1alpha1.SyncStatusUnknown}}, `{"sync":{"status":"Unknown"}}`},
		{
			"a synced application",
			v1alpha1.ApplicationStatus{
				Sync: v1alpha1.SyncStatus{
					Status:     v1alpha1.SyncStatusSynced,
					Revision:   "abc",
					ComparedTo: v1alpha1.ComparedTo{Source: source, Destination: v1alpha1.ApplicationDestination{Server: v1alpha1.InClusterServer}},
				},
				Health:       v1alpha1.HealthStatus{Status: v1alpha1.HealthHealthy, LastTransitionTime: &at},
				ReconciledAt: &at,
				SourceType:   v1alpha1.SourceTypeDirectory,
				Resources: []v1alpha1.ResourceStatus{
					{Version: "v1", Kind: "Namespace", Name: "shop", Status: v1alpha1.SyncStatusSynced},
				},
			},
			`{"resources":[{"version":"v1","kind":"Namespace","name":"shop","status":"Synced"}],` +
				`"sync":{"status":"Synced","comparedTo":{"source":{"repoURL":"https://git.example.com/shop.git","path":"deploy","targetRevision":"main"},"destination":{"server":"https://kubernetes.default.svc"}},"revision":"abc"},` +
				`"health":{"status":"Healthy","lastTransitionTime":"2026-01-02T03:04:05Z"},` +
				`"reconciledAt":"2026-01-02T03:04:05Z","sourceType":"Directory"}`,
		},
		{
			"the first history entry",
			v1alpha1.RevisionHistory{Revision: "abc", DeployedAt: at, DeployStartedAt: &at, Source: source, InitiatedBy: v1alpha1.OperationInitiator{Automated: true}},
			`{"revision":"abc","deployedAt":"2026-01-02T03:04:05Z","id":0,"source":{"repoURL":"https://git.example.com/shop.git","path":"deploy","targetRevision":"main"},"deployStartedAt":"2026-01-02T03:04:05Z","initiatedBy":{"automated":true}}`,
		},
		{
			"an operation under way",
			v1alpha1.OperationState{
				Operation:  v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Revision: "abc", AutoHealAttemptsCount: 2}},
				Phase:      v1alpha1.OperationRunning,
				StartedAt:  at,
				SyncResult: &v1alpha1.SyncOperationResult{},
			},
			`{"operation":{"sync":{"revision":"abc","autoHealAttemptsCount":2}},"phase":"Running","syncResult":{"revision":""},"startedAt":"2026-01-02T03:04:05Z"}`,
		},
		{"the result of a core, cluster-wide object", v1alpha1.ResourceResult{Version: "v1", Kind: "Namespace", Name: "shop"}, `{"group":"","version":"v1","kind":"Namespace","namespace":"","name":"shop"}`},
		{"a condition", v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionComparisonError, Message: "m"}, `{"type":"ComparisonError","message":"m"}`},
		{"an absent and an empty plugin parameter", []v1alpha1.PluginParameter{{Name: "a"}, {Name: "b", Map: map[string]string{}, Array: []string{}}}, `[{"name":"a"},{"name":"b","map":{},"array":[]}]`},
		{"raw JSON without a value", v1alpha1.RawJSON{}, `null`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(tc.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("JSON (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnstructuredConversionKeepsTheShape guards clients that carry these types as unstructured content.
func TestUnstructuredConversionKeepsTheShape(t *testing.T) {
	t.Parallel()
	app, _, err := v1alpha1.Decode(sample(t, "application.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(app)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plain(t, sample(t, "application.yaml")), plain(t, got)); diff != "" {
		t.Errorf("unstructured content (-typed +unstructured):\n%s", diff)
	}
	back := &v1alpha1.Application{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, back); err != nil {
		t.Fatal(err)
	}
	if back.Status.OperationState == nil || back.Spec.Source.Helm.ValuesObject == nil {
		t.Error("content got lost on the way back")
	}
}

func TestSchemeKnowsTheKinds(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{v1alpha1.KindApplication, v1alpha1.KindAppProject, v1alpha1.KindApplicationSet} {
		for _, name := range []string{kind, kind + "List"} {
			if !scheme.Recognizes(v1alpha1.GroupVersion().WithKind(name)) {
				t.Errorf("the scheme does not know %s", name)
			}
		}
	}
}
