package gateway_test

import (
	"crypto/ed25519"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

// deaf returns a gateway that has other servers and hears nothing of them.
func deaf(t *testing.T, store *gatewaytest.Memory) *gateway.Gateway {
	t.Helper()
	g, err := gateway.New(gateway.Config{
		Agents: store, Copies: store, Commands: store, Audit: store, Key: make(ed25519.PrivateKey, ed25519.PrivateKeySize), Log: quiet(),
		Cluster: &gateway.Cluster{Secret: "s"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Remember(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestAnAgentThatAnotherServerHearsIsNotLostAndOneThatNobodyHearsIsLostOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := gatewaytest.NewMemory()
		uid := registered(t, store)
		one := deaf(t, store)
		defer one.Forget()
		w := one.HandleHello(t.Context(), uid, hello())
		beat := func() {
			if ack := one.HandleHeartbeat(t.Context(), uid, agentapi.Heartbeat{Epoch: w.Epoch}); ack.Error != nil {
				t.Fatal(ack.Error)
			}
		}
		beat()
		two, three := deaf(t, store), deaf(t, store)
		defer two.Forget()
		defer three.Forget()
		lost := func() (n int) {
			synctest.Wait()
			for _, e := range store.Links() {
				if e.Type == gateway.LinkLost {
					n++
				}
			}
			return n
		}
		for range 30 {
			pass(agentapi.HeartbeatInterval)
			beat()
		}
		if n := lost(); n != 0 {
			t.Errorf("%d times lost although one server hears it", n)
		}
		pass(3 * agentapi.DisconnectedAfter)
		if n := lost(); n != 1 {
			t.Errorf("%d times lost when nobody hears it", n)
		}
		for name, g := range map[string]*gateway.Gateway{"one": one, "two": two, "three": three} {
			if h, _ := g.Health(uid); h.State != agentapi.StateDisconnected {
				t.Errorf("%s says %s", name, h.State)
			}
		}
	})
}

func TestACommandThatNoServerKnowsIsEndedAfterItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := gatewaytest.NewMemory()
		uid := registered(t, store)
		g := deaf(t, store)
		defer g.Forget()
		c := sync1("late")
		c.Agent, c.Issued, c.Deadline = uid, time.Now(), time.Now().Add(time.Minute)
		if err := store.AddCommand(t.Context(), gateway.Command{Command: c}); err != nil {
			t.Fatal(err)
		}
		status := func() agentapi.Status {
			if err := g.Commands.SettleOverdue(t.Context()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			kept, err := store.GetCommand(t.Context(), "late")
			if err != nil {
				t.Fatal(err)
			}
			return kept.Result.Status
		}
		if s := status(); s != agentapi.StatusPending {
			t.Errorf("%s before its deadline", s)
		}
		pass(2 * time.Minute)
		if s := status(); s != agentapi.StatusExpired {
			t.Errorf("%s after its deadline", s)
		}
	})
}
