package status

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/health"
)

func at(minute int) metav1.Time {
	return metav1.NewTime(time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC))
}

func sourceAt(path string) v1alpha1.ApplicationSource {
	return v1alpha1.ApplicationSource{RepoURL: "https://git.example/a.git", Path: path}
}

// settled is an Application at rest at revision r1, deployed at minute 0.
func settled() *v1alpha1.Application {
	src, then := sourceAt("web"), at(0)
	return &v1alpha1.Application{
		Spec: v1alpha1.ApplicationSpec{Source: &src},
		Status: v1alpha1.ApplicationStatus{
			Sync: v1alpha1.SyncStatus{
				Status: v1alpha1.SyncStatusSynced, Revision: "r1", ComparedTo: v1alpha1.ComparedTo{Source: src},
			},
			Health:              v1alpha1.HealthStatus{Status: v1alpha1.HealthStatusCode(health.Healthy), LastTransitionTime: &then},
			SourceType:          "Directory",
			History:             []v1alpha1.RevisionHistory{{ID: 4, Revision: "r1", Source: src, DeployedAt: then}},
			ControllerNamespace: "argocd",
			ReconciledAt:        &then,
		},
	}
}

func found(change func(*engine.Result)) engine.Result {
	res := engine.Result{
		Sources: []v1alpha1.ApplicationSource{sourceAt("web")}, Revisions: []string{"r1"}, Tools: []string{"Directory"},
		Sync: v1alpha1.SyncStatusSynced, Health: health.Result{Status: health.Healthy},
	}
	if change != nil {
		change(&res)
	}
	return res
}

func succeeded(revision string, minute int) *v1alpha1.OperationState {
	end := at(minute)
	return &v1alpha1.OperationState{
		Phase: v1alpha1.OperationSucceeded, Operation: v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}, StartedAt: end, FinishedAt: &end,
		SyncResult: &v1alpha1.SyncOperationResult{Revision: revision, Source: sourceAt("web")},
	}
}

func TestWhatDidNotChangeIsNotWritten(t *testing.T) {
	t.Parallel()
	app := settled()
	patch, err := Patch(app, Next(app, found(nil), at(9).Time, "argocd"), at(9).Time)
	if err != nil || patch != nil {
		t.Errorf("patch %s, error %v; want none", patch, err)
	}
}

func TestAPatchHoldsWhatChangedAndNoMore(t *testing.T) {
	t.Parallel()
	condition := v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionComparisonError, Message: "away"}
	tests := []struct {
		name   string
		app    func(*v1alpha1.Application)
		result func(*engine.Result)
		want   string
	}{
		{
			"the sync status", nil, func(r *engine.Result) { r.Sync = v1alpha1.SyncStatusOutOfSync },
			`{"status":{"sync":{"status":"OutOfSync"},"reconciledAt":"2026-01-01T00:09:00Z"}}`,
		},
		{
			"the health and since when", nil, func(r *engine.Result) { r.Health.Status = health.Degraded },
			`{"status":{"health":{"status":"Degraded","lastTransitionTime":"2026-01-01T00:09:00Z"},"reconciledAt":"2026-01-01T00:09:00Z"}}`,
		},
		{
			"the message of a health that is the same", nil, func(r *engine.Result) { r.Health.Message = "so" },
			`{"status":{"health":{"message":"so"},"reconciledAt":"2026-01-01T00:09:00Z"}}`,
		},
		{
			"a condition and since when", nil, func(r *engine.Result) { r.Conditions = []v1alpha1.ApplicationCondition{condition} },
			`{"status":{"conditions":[{"type":"ComparisonError","message":"away","lastTransitionTime":"2026-01-01T00:09:00Z"}],"reconciledAt":"2026-01-01T00:09:00Z"}}`,
		},
		{
			"a condition that is over", func(a *v1alpha1.Application) { a.Status.Conditions = []v1alpha1.ApplicationCondition{condition} }, nil,
			`{"status":{"conditions":null,"reconciledAt":"2026-01-01T00:09:00Z"}}`,
		},
		{"a refresh that was asked for", func(a *v1alpha1.Application) {
			a.Annotations = map[string]string{v1alpha1.AnnotationRefresh: "normal", "other": "stays"}
		}, nil, `{"metadata":{"annotations":{"argocd.argoproj.io/refresh":null}},"status":{"reconciledAt":"2026-01-01T00:09:00Z"}}`},
		{"one of several by that name, one after the other", func(a *v1alpha1.Application) {
			a.UID, a.Annotations = "1", map[string]string{v1alpha1.AnnotationRefresh: "normal"}
		}, nil, `{"metadata":{"uid":"1","annotations":{"argocd.argoproj.io/refresh":null}},"status":{"reconciledAt":"2026-01-01T00:09:00Z"}}`},
		{"an operation that ended", func(a *v1alpha1.Application) {
			a.Operation = &v1alpha1.Operation{}
			a.Status.OperationState = succeeded("r1", 9)
		}, func(r *engine.Result) { r.Operation = succeeded("r1", 9) }, `{"operation":null,"status":{"reconciledAt":"2026-01-01T00:09:00Z"}}`},
		{"revisions that could not be resolved leave the old one", nil, func(r *engine.Result) {
			r.Revisions, r.Sync = nil, v1alpha1.SyncStatusUnknown
		}, `{"status":{"sync":{"status":"Unknown"},"reconciledAt":"2026-01-01T00:09:00Z"}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			app := settled()
			if test.app != nil {
				test.app(app)
			}
			patch, err := Patch(app, Next(app, found(test.result), at(9).Time, "argocd"), at(9).Time)
			if err != nil {
				t.Fatal(err)
			}
			var want, have any
			if json.Unmarshal([]byte(test.want), &want) != nil || json.Unmarshal(patch, &have) != nil {
				t.Fatalf("not JSON: %s", patch)
			}
			if d := cmp.Diff(want, have); d != "" {
				t.Errorf("patch (-want +got):\n%s", d)
			}
		})
	}
}

// Of two operations within one second the later one begins and ends ahead of the clock. Who waits for its end looks at reconciledAt,
// to see that the objects were compared after it.
func TestAStatusIsNoOlderThanTheEndOfItsOperation(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ahead time.Duration
		want  time.Time
	}{
		"ended now":                             {0, at(9).Time},
		"ended a moment ahead of the clock":     {300 * time.Millisecond, at(9).Time},
		"ended some seconds ahead":              {engine.LongestAhead, at(9).Time},
		"ended before the clock was set back":   {time.Hour, at(9).Add(-time.Hour)},
		"ended before, and is compared again":   {-time.Minute, at(10).Time},
		"ended, and the second is not over yet": {-300 * time.Millisecond, at(9).Time},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app, now := settled(), at(9).Add(-test.ahead)
			res := found(func(r *engine.Result) { r.Operation = succeeded("r2", 9) })
			patch, err := Patch(app, Next(app, res, now, "argocd"), now)
			if err != nil {
				t.Fatal(err)
			}
			var have struct {
				Status struct {
					ReconciledAt time.Time `json:"reconciledAt"`
				} `json:"status"`
			}
			if err := json.Unmarshal(patch, &have); err != nil {
				t.Fatal(err)
			}
			if !have.Status.ReconciledAt.Equal(test.want) {
				t.Errorf("an operation that ended at %s was compared at %s, not %s", at(9), have.Status.ReconciledAt, test.want)
			}
		})
	}
}

func TestAnOperationBesideItLeavesASyncHeld(t *testing.T) {
	t.Parallel()
	then := at(1)
	held := v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionHeld, Message: "11 objects", LastTransitionTime: &then}
	fresh := v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionHeld, Message: "12 objects"}
	dry := func(o *v1alpha1.OperationState) { o.Operation.Sync.DryRun = true }
	for name, test := range map[string]struct {
		automated, held bool
		sync            v1alpha1.SyncStatusCode
		change          func(*v1alpha1.OperationState)
		found           []v1alpha1.ApplicationCondition
		waits           bool
		want            string
	}{
		"a dry run":                     {automated: true, held: true, sync: "OutOfSync", change: dry, waits: true, want: "11 objects"},
		"a sync that deletes nothing":   {automated: true, held: true, sync: "OutOfSync", waits: true, want: "11 objects"},
		"one that is held itself":       {automated: true, held: true, sync: "OutOfSync", found: []v1alpha1.ApplicationCondition{fresh}, waits: true, want: "12 objects"},
		"one that leaves no difference": {automated: true, held: true, sync: "Synced"},
		"one that goes on":              {automated: true, held: true, sync: "OutOfSync", change: func(o *v1alpha1.OperationState) { o.Phase = v1alpha1.OperationRunning }},
		"without a policy":              {held: true, sync: "OutOfSync"},
		"a dry run where none was held": {automated: true, sync: "OutOfSync", change: dry},
		"a sync where none was held":    {automated: true, sync: "OutOfSync", waits: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := settled()
			app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}
			if test.automated {
				app.Spec.SyncPolicy = &v1alpha1.SyncPolicy{Automated: &v1alpha1.AutomatedSync{}}
			}
			if test.held {
				app.Status.Conditions = []v1alpha1.ApplicationCondition{held}
			}
			res := found(func(r *engine.Result) {
				r.Sync, r.Operation, r.Conditions = test.sync, succeeded("r1", 9), test.found
				if test.change != nil {
					test.change(r.Operation)
				}
			})
			if got := PolicyWaits(app, res); got != test.waits {
				t.Errorf("the policy waits for a turn: %v, not %v", got, test.waits)
			}
			var got string
			for _, c := range Next(app, res, at(9).Time, "argocd").Conditions {
				got += c.Message
			}
			if got != test.want {
				t.Errorf("held by %q, not by %q", got, test.want)
			}
		})
	}
}

func TestAConditionKeepsItsTimeWhileItStands(t *testing.T) {
	t.Parallel()
	first, now := at(1), at(9)
	old := []v1alpha1.ApplicationCondition{{Type: "A", Message: "same", LastTransitionTime: &first}, {Type: "B", Message: "was", LastTransitionTime: &first}}
	got := Conditions(old, []v1alpha1.ApplicationCondition{{Type: "A", Message: "same"}, {Type: "B", Message: "is"}}, now)
	want := []v1alpha1.ApplicationCondition{{Type: "A", Message: "same", LastTransitionTime: &first}, {Type: "B", Message: "is", LastTransitionTime: &now}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("conditions (-want +got):\n%s", d)
	}
}

func TestHistoryTellsEachDeploymentOnce(t *testing.T) {
	t.Parallel()
	zero, two := int64(0), int64(2)
	tests := []struct {
		name  string
		app   func(*v1alpha1.Application)
		op    func(*v1alpha1.OperationState)
		wants []string // revisions
		last  int64    // id
	}{
		{"a new revision", nil, func(o *v1alpha1.OperationState) { o.SyncResult.Revision = "r2" }, []string{"r1", "r2"}, 5},
		{"drift that was put back", nil, nil, []string{"r1"}, 4},
		{"the same revision of another source", nil, func(o *v1alpha1.OperationState) { o.SyncResult.Source = sourceAt("api") }, []string{"r1", "r1"}, 5},
		{"a dry run", nil, func(o *v1alpha1.OperationState) { o.SyncResult.Revision, o.Operation.Sync.DryRun = "r2", true }, []string{"r1"}, 4},
		{"a part of the objects", nil, func(o *v1alpha1.OperationState) {
			o.SyncResult.Revision, o.Operation.Sync.Resources = "r2", []v1alpha1.SyncOperationResource{{Kind: "ConfigMap", Name: "a"}}
		}, []string{"r1"}, 4},
		{"a failure", nil, func(o *v1alpha1.OperationState) { o.SyncResult.Revision, o.Phase = "r2", v1alpha1.OperationFailed }, []string{"r1"}, 4},
		{"the first deployment", func(a *v1alpha1.Application) { a.Status.History = nil }, nil, []string{"r1"}, 0},
		{"more than the limit", func(a *v1alpha1.Application) {
			a.Spec.RevisionHistoryLimit = &two
			a.Status.History = []v1alpha1.RevisionHistory{{ID: 3, Revision: "r0"}, {ID: 4, Revision: "r1"}}
		}, func(o *v1alpha1.OperationState) { o.SyncResult.Revision = "r2" }, []string{"r1", "r2"}, 5},
		{
			"a limit of none", func(a *v1alpha1.Application) { a.Spec.RevisionHistoryLimit = &zero },
			func(o *v1alpha1.OperationState) { o.SyncResult.Revision = "r2" }, nil, -1,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			app, op := settled(), succeeded("r1", 9)
			if test.app != nil {
				test.app(app)
			}
			if test.op != nil {
				test.op(op)
			}
			status := Next(app, found(func(r *engine.Result) { r.Operation = op }), at(9).Time, "argocd")
			var got []string
			last := int64(-1)
			for _, h := range status.History {
				got, last = append(got, h.Revision), h.ID
			}
			if d := cmp.Diff(test.wants, got); d != "" || last != test.last {
				t.Errorf("history ends with id %d, want %d; revisions (-want +got):\n%s", last, test.last, d)
			}
		})
	}
}

func TestALocalSyncIsNoDeployment(t *testing.T) {
	t.Parallel()
	app, op := settled(), succeeded("r2", 5)
	op.Operation.Sync.Manifests = []string{"kind: ConfigMap"}
	if got := History(app, op); !cmp.Equal(got, app.Status.History) {
		t.Errorf("local manifests became a deployment that one could roll back to: %+v", got)
	}
}

func TestSeveralSourcesHaveSeveralRevisions(t *testing.T) {
	t.Parallel()
	app := settled()
	app.Spec.Source, app.Spec.Sources = nil, []v1alpha1.ApplicationSource{sourceAt("a"), sourceAt("b")}
	status := Next(app, found(func(r *engine.Result) {
		r.Sources, r.Revisions, r.Tools = app.Spec.Sources, []string{"r1", "r2"}, []string{"Helm", "Kustomize"}
	}), at(9).Time, "argocd")
	if status.Sync.Revision != "" || status.SourceType != "" {
		t.Errorf("single values stay: revision %q, type %q", status.Sync.Revision, status.SourceType)
	}
	if d := cmp.Diff([]string{"r1", "r2"}, status.Sync.Revisions); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]v1alpha1.SourceType{"Helm", "Kustomize"}, status.SourceTypes); d != "" {
		t.Error(d)
	}
}

func TestWhatSomebodyDeployedIsNotTakenForWhatGitSays(t *testing.T) {
	t.Parallel()
	then := at(0)
	running := func(sync v1alpha1.SyncOperation) *v1alpha1.OperationState {
		return &v1alpha1.OperationState{
			Phase: v1alpha1.OperationSucceeded, Operation: v1alpha1.Operation{Sync: &sync}, StartedAt: then, FinishedAt: &then,
			SyncResult: &v1alpha1.SyncOperationResult{Revision: "r0", Source: sourceAt("web")},
		}
	}
	const synced, outOfSync = v1alpha1.SyncStatusSynced, v1alpha1.SyncStatusOutOfSync
	cases := map[string]struct {
		sync   v1alpha1.SyncOperation
		pin    string
		known  string
		status v1alpha1.SyncStatusCode
		want   string
	}{
		"an older revision":                 {sync: v1alpha1.SyncOperation{Revision: "r0"}, known: "r1", status: outOfSync, want: "r1"},
		"a dry run of an older revision":    {sync: v1alpha1.SyncOperation{Revision: "r0", DryRun: true}, known: "r1", status: synced, want: "r1"},
		"the revision of a rollback":        {sync: v1alpha1.SyncOperation{Revision: "r0"}, pin: `{"revisions":["r0"]}`, known: "r1", status: synced, want: "r0"},
		"what Git says":                     {known: "r1", status: synced, want: "r0"},
		"the revision that is known anyway": {sync: v1alpha1.SyncOperation{Revision: "r0"}, known: "r0", status: synced, want: "r0"},
		"a revision before any was known":   {sync: v1alpha1.SyncOperation{Revision: "r0"}, status: synced, want: "r0"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := settled()
			app.Status.Sync.Revision = c.known
			if c.pin != "" {
				app.Annotations = map[string]string{v1alpha1.AnnotationRollback: c.pin}
			}
			got := Next(app, found(func(r *engine.Result) {
				r.Revisions, r.Operation = []string{"r0"}, running(c.sync)
			}), at(9).Time, "argocd").Sync
			if got.Status != c.status || got.Revision != c.want {
				t.Errorf("the status says %s at %s, want %s at %s", got.Status, got.Revision, c.status, c.want)
			}
		})
	}
}

func TestTheSummaryHasTheAddressesOfTheObjectsAndOfTheApplication(t *testing.T) {
	t.Parallel()
	app := settled()
	app.Annotations = map[string]string{
		"link.argocd.argoproj.io/docs": "Docs|https://docs.example", "link.argocd.argoproj.io/web": "http://b.example",
		"link.argocd.argoproj.io/bad": "javascript:alert(1)", "other": "http://other.example",
	}
	got := Next(app, found(func(r *engine.Result) { r.Links = []string{"http://a.example", "http://b.example"} }), at(9).Time, "argocd")
	if d := cmp.Diff([]string{"Docs|https://docs.example", "http://a.example", "http://b.example"}, got.Summary.ExternalURLs); d != "" {
		t.Error(d)
	}
}

func TestProgressIsWrittenWithoutTheRestOfTheStatus(t *testing.T) {
	t.Parallel()
	waits := func() *v1alpha1.OperationState {
		return &v1alpha1.OperationState{Phase: v1alpha1.OperationRunning, StartedAt: at(0), SyncResult: &v1alpha1.SyncOperationResult{}}
	}
	app := &v1alpha1.Application{}
	app.Status.Resources = []v1alpha1.ResourceStatus{{Kind: "ConfigMap", Name: "a"}}
	first, err := Progress(app, waits())
	if err != nil || len(first) == 0 {
		t.Fatalf("Progress() = %s, %v", first, err)
	}
	app.Status.OperationState = waits()
	same, err := Progress(app, waits())
	if err != nil || same != nil {
		t.Errorf("nothing changed, and the patch is %s, %v", same, err)
	}
	next := waits()
	next.Message = "1 of 2 objects done"
	patch, err := Progress(app, next)
	if err != nil || string(patch) != `{"status":{"operationState":{"message":"1 of 2 objects done"}}}` {
		t.Errorf("the patch is %s, %v", patch, err)
	}
}
