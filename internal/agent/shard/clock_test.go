package shard

import (
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/clock"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// machine has clocks that a test moves.
type machine struct{ set, ran time.Duration }

func (m *machine) now() clock.Instant {
	now := clock.Now()
	return clock.Instant{Wall: now.Wall.Add(m.set + m.ran), Ran: now.Ran + m.ran}
}

func TestAClockThatIsSetNeverGivesAShardToTwo(t *testing.T) {
	t.Parallel()
	const lease, year = time.Hour, 365 * 24 * time.Hour
	for _, c := range []struct {
		name         string
		holder, next time.Duration
	}{
		{"no clock is set", 0, 0},
		{"the clock of the holder is set back", -year, 0},
		{"the clock of the holder is set ahead", year, 0},
		{"the clock of the other one is set back", 0, -year},
		{"the clock of the other one is set ahead", 0, year},
		{"both, apart", -year, year},
		{"both, towards each other", year, -year},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ns := testenv.Namespace(t)
			a, b := replica(t, ns, "a", 2, lease), replica(t, ns, "b", 2, lease)
			of, at := &machine{}, &machine{}
			a.now, b.now = of.now, at.now
			mustStep(t, a)
			mustStep(t, b)
			if a.count() != 2 || b.count() != 0 {
				t.Fatalf("a holds %d and b %d, want all 2 of a", a.count(), b.count())
			}
			of.set, at.set = c.holder, c.next
			// From here on nobody hears of a, which goes on with what it has.
			var stopped, taken time.Duration
			for passed := time.Duration(0); passed <= 2*lease && taken == 0; passed += lease / 12 {
				of.ran, at.ran = passed, passed
				mustStep(t, b)
				if _, leave, ok := a.Enter(t.Context(), ofShard(0, 2)); ok {
					leave()
				} else if stopped == 0 {
					stopped = max(passed, time.Nanosecond)
				}
				if b.count() == 0 {
					continue
				}
				if taken = passed; stopped == 0 {
					t.Fatalf("after %s both work on a shard", passed)
				}
			}
			if b.count() != 2 || taken > lease+lease/6 {
				t.Errorf("b holds %d shards after %s, want 2 after about %s", b.count(), taken, lease)
			}
			if c.holder <= 0 && stopped < a.Times.deadline() {
				t.Errorf("a stopped after %s, before its lease was over: %s", stopped, a.Times.deadline())
			}
		})
	}
}
