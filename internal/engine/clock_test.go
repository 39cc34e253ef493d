package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

const year = 365 * 24 * time.Hour

// clocks are those of a machine, which a test moves: set sets the one on the wall ahead, and both go on by ran.
type clocks struct{ set, ran time.Duration }

func (c *clocks) use(e *Engine) {
	began := time.Now().Round(0)
	e.Now = func() time.Time { return began.Add(c.set + c.ran) }
	e.Ran = func() time.Duration { return c.ran }
}

func TestAClockThatIsSetNeitherEndsAnOperationNorKeepsIt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		set     time.Duration
		restart bool
	}{{"ahead", year, false}, {"back", -year, false}, {"back, with a restart", -year, true}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b, c := newBed(t, nil), &clocks{}
			c.use(b.engine)
			b.commit("r1", suspended)
			b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}
			b.engine.TimeLimit = func() time.Duration { return time.Hour }
			b.turn()
			c.set = test.set
			if test.restart {
				b.engine.memory.Clear()
			}
			for ; c.ran < time.Hour; c.ran += 20 * time.Minute {
				if res := b.turn(); res.Operation == nil || res.Operation.Phase != v1alpha1.OperationRunning || res.Wake > time.Hour-c.ran {
					t.Fatalf("after %s: %+v, looked at again after %s", c.ran, res.Operation, res.Wake)
				}
			}
			if res := b.turn(); res.Operation == nil || res.Operation.Phase != v1alpha1.OperationFailed || !strings.Contains(res.Operation.Message, "longer than the limit") {
				t.Errorf("after %s: %+v", c.ran, res.Operation)
			}
		})
	}
}

func TestAnApprovalOfATimeThatIsStillToComeConfirmsNothing(t *testing.T) {
	t.Parallel()
	now := time.Unix(2_000_000_000, 0)
	for _, c := range []struct {
		name             string
		at               time.Duration // from now
		approved, faulty bool
	}{
		{"before it was asked", -2 * time.Minute, false, false},
		{"since it was asked", -time.Second, true, false},
		{"by a clock that is a little ahead", clockAhead, true, false},
		{"by a clock that was a year ahead", year, false, true},
	} {
		r := compared(func(r *comparison) {
			r.engine.Now = func() time.Time { return now }
			r.app.Annotations = map[string]string{v1alpha1.AnnotationDeletionApproved: now.Add(c.at).UTC().Format(time.RFC3339)}
		})
		got, fault := r.approved(now.Add(-time.Minute))
		if faulty := strings.Contains(strings.Join(fault, ""), "confirm again"); got != c.approved || faulty != c.faulty {
			t.Errorf("%s: %v, %q", c.name, got, fault)
		}
	}
}
