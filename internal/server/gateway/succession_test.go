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
			if w := g.HandleHello(t.Context(), uid, hello()); w.Error == nil || w.Error.Code != agentapi.CodeSuperseded {
				t.Errorf("the one before: %+v", w)
			}
		}
		found := false
		for _, e := range store.Links() {
			found = found || e.Type == gateway.LinkSuperseded
		}
		if !found {
			t.Error("the audit does not have it")
		}
		back := hello()
		back.Generation = 8
		if w := g.HandleHello(t.Context(), uid, back); w.Error != nil {
			t.Errorf("the one before, promoted again: %v", w.Error)
		}
	})
}
