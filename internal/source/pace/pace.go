// Package pace decides when a remote is asked again: after how long it is looked at, how long one that fails is left alone, and
// which of several callers get the answer of one attempt; and it has the loop that looks at remotes then.
package pace

import (
	"math/rand/v2"
	"time"
)

const (
	firstBackoff = 5 * time.Second
	maxBackoff   = 5 * time.Minute
)

// Tries is how the attempts to reach a remote went. The zero value has none behind it.
type Tries struct {
	Err    error     // of the last one; nil after a good one
	Failed int       // in a row
	Ended  time.Time // when the last one ended
	Retry  time.Time // none before, but on request
}

// Held returns the kept error while a failing remote is left alone: another attempt ended since the caller asked, or the next one
// is not due. A fresh call waits only until the last attempt ended least ago.
func (t Tries) Held(asked time.Time, fresh bool, least time.Duration) error {
	switch {
	case t.Ended.After(asked): // another caller tried since
		return t.Err
	case fresh && asked.Sub(t.Ended) >= least:
		return nil
	case asked.Before(t.Retry):
		return t.Err
	}
	return nil
}

// After returns t with one more attempt, which ended now with err.
func (t Tries) After(err error, now time.Time) Tries {
	if err == nil {
		return Tries{Ended: now}
	}
	failed := t.Failed + 1
	return Tries{Err: err, Failed: failed, Ended: now, Retry: now.Add(Backoff(failed))}
}

// Jitter spreads d by ±10 %, so that remotes are not all asked simultaneously.
func Jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*rand.Float64()))
}

// Backoff is how long to leave a remote alone after its nth failure in a row.
func Backoff(n int) time.Duration {
	d := firstBackoff
	for range min(n-1, 10) {
		d = min(2*d, maxBackoff)
	}
	return Jitter(d)
}
