package decide

import (
	"iter"
	"maps"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

func yes() *bool { v := true; return &v }
func no() *bool  { v := false; return &v }

func key(name string) object.Key {
	return object.Key{Kind: "ConfigMap", Namespace: "shop", Name: name}
}

// applied says when each of some objects was changed last.
func applied(at map[object.Key]int64) iter.Seq2[object.Key, int64] { return maps.All(at) }

// compared is automated sync where one object differs, at revision r2 after r1 was deployed.
func compared(change func(*Case)) Case {
	src := v1alpha1.ApplicationSource{RepoURL: "https://git.example/a", Path: "web"}
	end := metav1.NewTime(time.Unix(1000, 0))
	c := Case{
		Now: end.Time,
		App: &v1alpha1.Application{
			Spec: v1alpha1.ApplicationSpec{
				Source: &src, SyncPolicy: &v1alpha1.SyncPolicy{Automated: &v1alpha1.AutomatedSync{Prune: yes(), SelfHeal: yes()}},
			},
			Status: v1alpha1.ApplicationStatus{
				Resources: []v1alpha1.ResourceStatus{{Kind: "ConfigMap", Namespace: "shop", Name: "a"}},
				OperationState: &v1alpha1.OperationState{
					Phase: v1alpha1.OperationSucceeded, FinishedAt: &end,
					SyncResult: &v1alpha1.SyncOperationResult{Revision: "r1", Source: src},
				},
			},
		},
		Inputs: Inputs{Sources: []v1alpha1.ApplicationSource{src}, Revisions: []string{"r2"}},
		Gates:  Gates{Budget: plan.DefaultBudget(), Whose: "agent"},
		Found: Found{
			Changes: []diff.Change{{Key: key("a"), Verb: diff.Update}}, Wanted: 1, Applied: applied(map[object.Key]int64{key("a"): 900}),
		},
	}
	if change != nil {
		change(&c)
	}
	return c
}

// quiet leaves nothing to do.
func quiet(c *Case) { c.Found.Changes = []diff.Change{{Key: key("a"), Verb: diff.Keep}} }

func last(c *Case) *v1alpha1.OperationState { return c.App.Status.OperationState }

func TestAutomatedSyncRunsWhenPolicyAndStateSayso(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*Case)
		want   bool
	}{
		{"a new revision", nil, true},
		{"the first of all", func(c *Case) { c.App.Status.OperationState = nil }, true},
		{"nothing differs", quiet, false},
		{"no policy", func(c *Case) { c.App.Spec.SyncPolicy = nil }, false},
		{"a policy that is off", func(c *Case) { c.App.Spec.SyncPolicy.Automated.Enabled = no() }, false},
		{"a deleted Application", func(c *Case) { now := metav1.Now(); c.App.DeletionTimestamp = &now }, false},
		{"drift, with self-heal", func(c *Case) { c.Inputs.Revisions = []string{"r1"} }, true},
		{"drift, without self-heal", func(c *Case) {
			c.Inputs.Revisions, c.App.Spec.SyncPolicy.Automated.SelfHeal = []string{"r1"}, nil
		}, false},
		{"only a deletion, with prune", func(c *Case) { c.Found.Changes[0].Verb = diff.Delete }, true},
		{"only a deletion, without prune", func(c *Case) {
			c.Found.Changes[0].Verb, c.App.Spec.SyncPolicy.Automated.Prune = diff.Delete, nil
		}, false},
		{"an empty source", func(c *Case) { c.Found.Wanted, c.Found.Changes[0].Verb = 0, diff.Delete }, false},
		{"an empty source that is meant", func(c *Case) {
			c.Found.Wanted, c.Found.Changes[0].Verb = 0, diff.Delete
			c.App.Spec.SyncPolicy.Automated.AllowEmpty = yes()
		}, true},
		{"the revision that failed", func(c *Case) { c.Inputs.Revisions, last(c).Phase = []string{"r1"}, v1alpha1.OperationFailed }, false},
		{"a revision after the one that failed", func(c *Case) { last(c).Phase = v1alpha1.OperationFailed }, true},
		{"an attempt that must wait", func(c *Case) {
			c.Inputs.Revisions, c.Attempts.Made, last(c).Phase = []string{"r1"}, 1, v1alpha1.OperationRunning
		}, false},
		{"an attempt that has waited", func(c *Case) {
			c.Inputs.Revisions, c.Attempts.Made, c.Attempts.Due, last(c).Phase = []string{"r1"}, 1, true, v1alpha1.OperationRunning
		}, true},
		{"a new revision while an attempt waits", func(c *Case) { c.Attempts.Made, last(c).Phase = 3, v1alpha1.OperationRunning }, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if d := Decide(compared(test.change)); d.Go != test.want {
				t.Errorf("runs: %t, want %t (%+v)", d.Go, test.want, d)
			}
		})
	}
}

func TestAnOperationThatNobodyWasToldOfIsToldLater(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*Case)
		want   bool
	}{
		{"a revision that changed nothing", nil, false},
		{"an object was applied after the last operation", func(c *Case) { c.Found.Applied = applied(map[object.Key]int64{key("a"): 1001}) }, true},
		{"drift was put back", func(c *Case) {
			c.Found.Applied, c.Inputs.Revisions = applied(map[object.Key]int64{key("a"): 1001}), []string{"r1"}
		}, false},
		{"an object that was told of is gone", func(c *Case) {
			c.App.Status.Resources = append(c.App.Status.Resources, v1alpha1.ResourceStatus{Kind: "ConfigMap", Namespace: "shop", Name: "b"})
		}, true},
		{"an attempt waits, and nothing is left to do", func(c *Case) { last(c).Phase, c.Attempts.Made = v1alpha1.OperationRunning, 2 }, true},
		{"the first operation was cut off", func(c *Case) { c.App.Status.OperationState = nil }, true},
		{"nobody syncs by itself", func(c *Case) {
			c.Found.Applied, c.App.Spec.SyncPolicy = applied(map[object.Key]int64{key("a"): 1001}), nil
		}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := compared(quiet)
			if test.change != nil {
				test.change(&c)
			}
			if d := Decide(c); d.Go != test.want {
				t.Errorf("runs: %t, want %t", d.Go, test.want)
			}
		})
	}
}

func TestAttemptsCountForTheirOwnOperation(t *testing.T) {
	t.Parallel()
	c := compared(func(c *Case) { c.Attempts.Made, last(c).Phase = 5, v1alpha1.OperationRunning })
	if d := Decide(c); d.Attempts != 0 {
		t.Errorf("a new revision begins with %d attempts behind it", d.Attempts)
	}
	asked := v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Prune: true}}
	c = compared(func(c *Case) { c.App.Operation, c.Attempts.Made, last(c).Phase = &asked, 5, v1alpha1.OperationRunning })
	if d := Decide(c); !d.Go || !d.Prune || d.Attempts != 0 {
		t.Errorf("what somebody asks for waits behind the attempts of another operation: %+v", d)
	}
	c = compared(func(c *Case) {
		c.App.Operation, c.Attempts.Made, last(c).Phase, last(c).Operation = &asked, 2, v1alpha1.OperationRunning, asked
	})
	if d := Decide(c); d.Go || d.Retry != 10*time.Second {
		t.Errorf("the third attempt does not wait 10 s: %+v", d)
	}
}

func TestARefusedSyncSaysWhatToDo(t *testing.T) {
	t.Parallel()
	d := Decide(compared(func(c *Case) { c.Found.Wanted, c.Found.Changes[0].Verb = 0, diff.Delete }))
	if d.Condition == nil || !strings.Contains(d.Condition.Message, "allowEmpty: true") {
		t.Errorf("condition %+v", d.Condition)
	}
	d = Decide(compared(func(c *Case) {
		c.Inputs.Revisions, last(c).Phase, last(c).Message = []string{"r1"}, v1alpha1.OperationFailed, "no such field"
	}))
	if d.Condition == nil || !strings.Contains(d.Condition.Message, "no such field") {
		t.Errorf("condition %+v", d.Condition)
	}
}

func TestRetryDelayGrowsUpToItsLimit(t *testing.T) {
	t.Parallel()
	three := int64(3)
	tests := []struct {
		name  string
		retry v1alpha1.RetryStrategy
		n     int64
		want  time.Duration
	}{
		{"the first by default", v1alpha1.RetryStrategy{}, 1, 5 * time.Second},
		{"the second by default", v1alpha1.RetryStrategy{}, 2, 10 * time.Second},
		{"the limit by default", v1alpha1.RetryStrategy{}, 100, 3 * time.Minute},
		{"own values", v1alpha1.RetryStrategy{Backoff: &v1alpha1.Backoff{Duration: "2s", Factor: &three, MaxDuration: "1m"}}, 3, 18 * time.Second},
		{"own limit", v1alpha1.RetryStrategy{Backoff: &v1alpha1.Backoff{Duration: "2s", Factor: &three, MaxDuration: "10s"}}, 9, 10 * time.Second},
		{"seconds without a unit", v1alpha1.RetryStrategy{Backoff: &v1alpha1.Backoff{Duration: "7"}}, 1, 7 * time.Second},
		{"what cannot be read", v1alpha1.RetryStrategy{Backoff: &v1alpha1.Backoff{Duration: "soon", MaxDuration: "-1s"}}, 1, 5 * time.Second},
		{"a huge number of attempts", v1alpha1.RetryStrategy{Backoff: &v1alpha1.Backoff{Duration: "1s", MaxDuration: "2562047h"}}, 1 << 40, 2562047 * time.Hour},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := RetryDelay(test.retry, test.n); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestTurnsBetweenAttemptsDoNotPutThemOffAlsoAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	failed := metav1.NewTime(time.Unix(2_000_000_000, 0))
	c := compared(func(c *Case) {
		c.Inputs.Revisions, c.Attempts.Made, last(c).Phase, last(c).FinishedAt = []string{"r1"}, 4, v1alpha1.OperationRunning, &failed
		c.Now = failed.AddDate(-1, 0, 0)
	})
	for _, rest := range []time.Duration{40 * time.Second, 30 * time.Second, time.Second} {
		c.Attempts.Rest = rest
		if d := Decide(c); d.Retry != rest || d.Go {
			t.Errorf("%s before the attempt: %+v", rest, d)
		}
	}
	c.Attempts.Rest, c.Attempts.Due = 0, true
	if d := Decide(c); !d.Go {
		t.Errorf("when it is due: %+v", d)
	}
}

// under has an automated operation under way at revision r1.
func under(c *Case) {
	c.Inputs.Revisions = []string{"r1"}
	last(c).Phase, last(c).FinishedAt, last(c).Operation = v1alpha1.OperationRunning, nil, automatic()
}

func TestAnOperationGoesOnUntilSomethingElseIsWanted(t *testing.T) {
	t.Parallel()
	ask, other := asked(), asked()
	other.Sync = &v1alpha1.SyncOperation{Prune: true}
	for _, c := range []struct {
		name   string
		change func(*Case)
		want   bool
	}{
		{"an automated one", nil, true},
		{"another revision", func(c *Case) { c.Inputs.Revisions = []string{"r2"} }, false},
		{"it waits for its next attempt", func(c *Case) { end := metav1.NewTime(time.Unix(950, 0)); last(c).FinishedAt = &end }, false},
		{"one that was asked for", func(c *Case) { last(c).Operation, c.App.Operation = ask, &ask }, true},
		{"another one is asked for", func(c *Case) { last(c).Operation, c.App.Operation = ask, &other }, false},
		{"what was asked for was taken back", func(c *Case) { last(c).Operation = ask }, false},
		{"one is asked for while an automated one runs", func(c *Case) { c.App.Operation = &ask }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := Decide(compared(func(in *Case) {
				under(in)
				if c.change != nil {
					c.change(in)
				}
			}))
			if d.Going != c.want {
				t.Errorf("goes on: %t (%+v)", d.Going, d)
			}
		})
	}
	d := Decide(compared(func(c *Case) {
		under(c)
		last(c).Operation.Sync = &v1alpha1.SyncOperation{Prune: true, DryRun: true, AutoHealAttemptsCount: 1}
	}))
	if !d.Prune || !d.DryRun || !d.Heal {
		t.Errorf("it forgets what it is: %+v", d)
	}
}
