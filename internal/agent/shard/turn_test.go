package shard

import (
	"context"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/clock"
)

func TestATurnThatWaitsForARenderWorkerDoesNotKeepItsShard(t *testing.T) {
	t.Parallel()
	held := New(Config{N: 1})
	held.held[0] = &holding{ctx: t.Context(), active: true, now: clock.Now}
	held.held[0].until.Store(new(clock.Now().Add(time.Hour)))
	q := registry.NewQueue(nil)
	t.Cleanup(q.Close)
	a := registry.NewTurns(4, q, held.Away)
	for name, before := range map[string]bool{"it waits before": true, "it waits after": false} {
		held.held[0].giving = false
		ctx, end := context.WithCancel(t.Context())
		a.Take()
		app := &v1alpha1.Application{}
		app.Name = name
		ctx = registry.WithSeat(ctx, a.Admit(app, end))
		var back func()
		if before {
			back = registry.Leave(ctx)
		}
		held.GiveUp(0)
		if !before {
			back = registry.Leave(ctx)
		}
		if ctx.Err() == nil {
			t.Errorf("%s: the turn goes on", name)
		}
		back()
		if len(held.held[0].away) != 0 {
			t.Errorf("%s: it is kept as one that waits", name)
		}
	}
}
