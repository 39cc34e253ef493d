package report

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestAnEntryOfArgoCDSaysWhatTheStatusTellsAndWhatIsMissing(t *testing.T) {
	t.Parallel()
	at := func(second int) metav1.Time { return metav1.NewTime(time.Date(2030, 1, 1, 0, 0, second, 0, time.UTC)) }
	end, earlier := at(9), at(1)
	app := &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "argocd", Name: "web", UID: "u"}}
	app.Spec.Source = &v1alpha1.ApplicationSource{RepoURL: "https://git.example.org/web.git", Path: "app"}
	start := at(5)
	app.Status.History = []v1alpha1.RevisionHistory{
		{ID: 0, Revision: "aaaa", DeployedAt: earlier, DeployStartedAt: &earlier}, {ID: 1, Revision: "bbbb", DeployedAt: end, DeployStartedAt: &start},
	}
	app.Status.OperationState = &v1alpha1.OperationState{
		Phase: v1alpha1.OperationSucceeded, StartedAt: start, FinishedAt: &end,
		Operation: v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Revision: "bbbb"}, InitiatedBy: v1alpha1.OperationInitiator{Username: "ada"}},
		SyncResult: &v1alpha1.SyncOperationResult{Revision: "bbbb", Source: *app.Spec.Source, Resources: []v1alpha1.ResourceResult{
			{Kind: "ConfigMap", Namespace: "shop", Name: "web", Status: v1alpha1.ResultSynced}, {Kind: "ConfigMap", Namespace: "shop", Name: "old", Status: v1alpha1.ResultPruned},
		}},
	}
	d := besideOf(app, false)
	if d.Engine != "argocd" || d.Actor != "ada" || d.Revision != "bbbb" || d.Sources[0].Before != "aaaa" || d.Recovered || len(d.Notes) != len(notesBeside()) {
		t.Errorf("%+v", d.LedgerEntry)
	}
	if d.Counts.Changed != 1 || d.Counts.Deleted != 1 || len(d.Changes) != 2 {
		t.Errorf("%+v %+v", d.Counts, d.Changes)
	}
	app.Status.Health.Status = v1alpha1.HealthHealthy
	if _, ok := healthySince(app); ok {
		t.Error("it was not looked at since")
	}
	reconciled, since := at(20), at(15)
	app.Status.ReconciledAt, app.Status.Health.LastTransitionTime = &reconciled, &since
	if when, ok := healthySince(app); !ok || !when.Equal(since.Time) {
		t.Errorf("healthy since %s, %t", when, ok)
	}
}
