package pace_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/source/pace"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// remote reports each look at it.
type remote struct {
	name    string
	crashes bool
	looks   chan struct{}

	mu   sync.Mutex
	next time.Time
}

func (r *remote) URL() string { return r.name }

func (r *remote) Due() (time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next, true
}

func (r *remote) Poll(ctx context.Context) func() {
	select {
	case r.looks <- struct{}{}:
	case <-ctx.Done():
	}
	if r.crashes {
		panic("Zaubernuss")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = time.Now().Add(time.Millisecond)
	return func() { panic("Hamamelis") }
}

func TestOneThatCrashesDisturbsNoOther(t *testing.T) {
	t.Parallel()
	bad, good := &remote{name: "bad", crashes: true, looks: make(chan struct{}, 100)}, &remote{name: "good", looks: make(chan struct{})}
	record := testenv.NewRecord()
	loop := pace.NewLoop(time.Hour, func() []*remote { return []*remote{bad, good} }, slog.New(slog.NewTextHandler(record, nil)))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- loop.Run(ctx) }()
	for range 20 {
		<-good.looks
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if text := record.String(); !strings.Contains(text, "Zaubernuss") || !strings.Contains(text, "repo=bad") || !strings.Contains(text, "Hamamelis") {
		t.Errorf("the log has %s", text)
	}
	if n := len(bad.looks); n != 1 {
		t.Errorf("one that crashes is looked at %d times in a row", n)
	}
}

func TestACrashBesideTheLoopEndsThere(t *testing.T) {
	t.Parallel()
	r := &remote{name: "bad"}
	loop := pace.NewLoop(time.Hour, func() []*remote { return nil }, slog.New(slog.DiscardHandler))
	if loop.Do(r, func() { panic("Zaubernuss") }) {
		t.Error("a crash is taken for an end")
	}
	if !loop.Do(r, func() {}) {
		t.Error("an end is taken for a crash")
	}
}
