package turn_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/slipway-gitops/slipway/internal/source/turn"
)

func TestATurnIsHeldByOneAtATime(t *testing.T) {
	t.Parallel()
	var turns turn.Turns
	var all sync.WaitGroup
	counts := map[string]*int{"a": new(int), "b": new(int)} // the race detector sees two at a time
	for i := range 200 {
		key := []string{"a", "b"}[i%2]
		all.Go(func() {
			end, err := turns.Take(t.Context(), key)
			if err != nil {
				t.Error(err)
				return
			}
			defer end()
			*counts[key]++
		})
	}
	all.Wait()
	if *counts["a"] != 100 || *counts["b"] != 100 {
		t.Errorf("%d and %d turns", *counts["a"], *counts["b"])
	}
	if n := turns.Len(); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

func TestKeysWithoutAUserAreForgotten(t *testing.T) {
	t.Parallel()
	var turns turn.Turns
	for i := range 1000 {
		end, err := turns.Take(t.Context(), fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		if n := turns.Len(); n != 1 {
			t.Fatalf("%d keys are in use", n)
		}
		end()
	}
}

func TestACallerThatWaitsGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	var turns turn.Turns
	end, err := turns.Take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("the application is gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	waits := make(chan error, 1)
	go func() {
		_, err := turns.Take(ctx, "a")
		waits <- err
	}()
	cancel(why)
	if err := <-waits; !errors.Is(err, why) {
		t.Errorf("it gave up with %v", err)
	}
	end()
	if n := turns.Len(); n != 0 {
		t.Errorf("%d keys are left", n)
	}
	if end, err = turns.Take(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	end()
}
