package testenv

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"
)

// recordShown is how many bytes of a Record a failed wait shows.
const recordShown = 8000

// Record keeps what is written to it, a log say, for readers that look or wait for something in it.
type Record struct {
	mu   sync.Mutex
	text strings.Builder
	came chan struct{} // closed by the next write
}

// NewRecord makes an empty one.
func NewRecord() *Record { return &Record{came: make(chan struct{})} }

// Write adds to it, and never fails.
func (r *Record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.came)
	r.came = make(chan struct{})
	return r.text.Write(p)
}

// String is all that was written.
func (r *Record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// Count is how often a text was written.
func (r *Record) Count(text string) int { return strings.Count(r.String(), text) }

// Await returns once a text was written, and ends the test where that takes too long.
func (r *Record) Await(t testing.TB, longest time.Duration, text string) {
	t.Helper()
	r.AwaitAgain(t, longest, text, 0)
}

// AwaitAgain is Await for a text that was written before: it returns once that was more often than Count returned.
func (r *Record) AwaitAgain(t testing.TB, longest time.Duration, text string, before int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	for {
		r.mu.Lock()
		came, have := r.came, r.text.String()
		r.mu.Unlock()
		if strings.Count(have, text) > before {
			return
		}
		select {
		case <-came:
		case <-ctx.Done():
			t.Fatalf("%q did not come within %s; the end of what came:\n%s", text, longest, have[max(0, len(have)-recordShown):])
		}
	}
}
