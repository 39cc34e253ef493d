package decide

import (
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// wait returns how long the operation waits for its next attempt, 0 for not at all.
func (m *decision) wait(retry v1alpha1.RetryStrategy) time.Duration {
	a := m.Attempts
	a.Made = m.attempts
	return a.Wait(retry, m.App.Status.OperationState, m.Now)
}

// Wait returns how long an operation that failed waits for its next attempt, 0 for not at all.
func (a Attempts) Wait(retry v1alpha1.RetryStrategy, last *v1alpha1.OperationState, now time.Time) time.Duration {
	if a.Made == 0 || a.Due {
		return 0
	}
	delay := RetryDelay(retry, a.Made)
	if last != nil && last.FinishedAt != nil {
		// The wait began when the attempt failed: turns for other reasons must not begin it again.
		delay -= max(0, now.Sub(last.FinishedAt.Time))
	}
	if a.Rest > 0 { // after the clock was set back, the attempt failed in a time that is still to come
		delay = min(delay, a.Rest)
	}
	return max(0, delay)
}

// RetryDelay returns the wait before attempt number n (1 is the first repetition): duration * factor^(n-1), at most
// maxDuration; 5 s, 2 and 3 m by default.
func RetryDelay(retry v1alpha1.RetryStrategy, n int64) time.Duration {
	delay, longest, factor := 5*time.Second, 3*time.Minute, int64(2)
	if b := retry.Backoff; b != nil {
		if d, err := parseDuration(b.Duration); err == nil && d > 0 {
			delay = d
		}
		if d, err := parseDuration(b.MaxDuration); err == nil && d > 0 {
			longest = d
		}
		if b.Factor != nil && *b.Factor > 0 {
			factor = *b.Factor
		}
	}
	for ; n > 1 && factor > 1 && delay < longest; n-- {
		if delay > longest/time.Duration(factor) {
			return longest // and the product may be more than a Duration holds
		}
		delay *= time.Duration(factor)
	}
	return min(delay, longest)
}

// parseDuration reads "5s", "3m", or a bare number of seconds.
func parseDuration(text string) (time.Duration, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	return time.ParseDuration(text + "s")
}
