package gateway_test

import (
	"testing"
	"testing/synctest"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

func TestAPromotedAgentIsWelcomedAtOnceAndTheOneBeforeIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, clock := gatewaytest.NewMemory(), &jumper{}
		uid := registered(t, store)
		g := bare(t, store, clock.config)
		defer func() { g.Forget() }()
		beating(t, g, uid)
		promoted := hello()
		promoted.ClusterUID, promoted.Generation = "another", 7
		if w := g.HandleHello(t.Context(), uid, promoted); w.Error != nil {
			t.Fatalf("a promoted agent, while the one before lives: %v", w.Error)
		}
		for range 2 {
			w := g.HandleHello(t.Context(), uid, hello())
			if w.Error == nil || w.Error.Code != agentapi.CodeSuperseded || w.Generation != promoted.Generation {
				t.Errorf("the one before: %+v", w)
			}
		}
		said := map[gateway.LinkEventType]int{}
		for _, e := range store.Links() {
			said[e.Type]++
		}
		if said[gateway.LinkPromoted] != 1 || said[gateway.LinkSuperseded] == 0 {
			t.Errorf("the audit has %v", said)
		}
		back := hello()
		back.Generation = 8
		if w := g.HandleHello(t.Context(), uid, back); w.Error != nil {
			t.Errorf("the one before, promoted again: %v", w.Error)
		}
	})
}
