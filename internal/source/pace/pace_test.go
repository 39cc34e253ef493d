package pace_test

import (
	"errors"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/source/pace"
)

var errDown = errors.New("down")

func TestOneThatFailsIsLeftAloneLongerAndLonger(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var tries pace.Tries
	var last time.Duration
	for i := range 8 {
		tries = tries.After(errDown, now)
		wait := tries.Retry.Sub(now)
		if i > 0 && i < 5 && wait < last*3/2 || wait > 6*time.Minute {
			t.Errorf("after failure %d it is left alone for %s, after %s", i+1, wait, last)
		}
		last = wait
	}
	if tries = tries.After(nil, now); tries.Held(now, false, 0) != nil || tries.Failed != 0 {
		t.Errorf("after a success: %+v", tries)
	}
}

func TestTheErrorOfOneAttemptIsForAllWhoAskedBefore(t *testing.T) {
	t.Parallel()
	end := time.Now()
	tries := pace.Tries{}.After(errDown, end)
	for name, c := range map[string]struct {
		asked time.Time
		fresh bool
		want  error
	}{
		"before it ended":        {end.Add(-time.Second), true, errDown},
		"while it is left alone": {end.Add(time.Second), false, errDown},
		"fresh, too soon":        {end.Add(time.Second), true, errDown},
		"fresh, later":           {end.Add(3 * time.Second), true, nil},
		"when it is due":         {end.Add(time.Minute), false, nil},
	} {
		if got := tries.Held(c.asked, c.fresh, 2*time.Second); !errors.Is(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
