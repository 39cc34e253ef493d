package notice_test

import (
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

func TestAnAgentThatIsBackAfterALongTimeIsToldOnce(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		s := newTelling(t, b)
		save := func(state agentapi.State) {
			t.Helper()
			now := s.Clock.Now()
			if err := s.SaveHealth(t.Context(), s.Agent.UID, s.Epoch, gateway.Health{State: state, Since: now, LastHeartbeat: now}); err != nil {
				t.Fatal(err)
			}
		}
		away := func(d time.Duration) {
			t.Helper()
			now := s.Clock.Now()
			lost := gateway.Health{State: agentapi.StateDisconnected, Since: now, LastHeartbeat: now, Message: "no heartbeat"}
			if !storetest.Must[bool](t)(s.MarkLost(t.Context(), s.Agent.UID, s.Epoch, lost, now)) {
				t.Fatal("it is not lost")
			}
			s.Clock.Move(d)
			s.gather(true)
			save(agentapi.StateConnected)
			s.Clock.Move(time.Second)
		}
		save(agentapi.StateConnected)
		away(time.Hour)
		s.Clock.Move(time.Minute)
		s.rule("both", func(r *api.NotificationRule) { r.After = "10m" }, api.NotifyDisconnected, api.NotifyConnected)
		s.rule("back", func(r *api.NotificationRule) { r.After = "20m" }, api.NotifyConnected)
		s.rule("services", func(r *api.NotificationRule) { r.Services = []string{"account.none"} }, api.NotifyConnected)
		s.told("what was over before the rules were made")
		s.Clock.Move(time.Minute)
		away(9 * time.Minute)
		s.told("a short reconnect")
		away(15 * time.Minute)
		want := []string{"Waiting agent.disconnected account.prod", "Waiting agent.connected account.prod"}
		s.told("after fifteen minutes, for the rule of ten", want...)
		save(agentapi.StateDegraded)
		save(agentapi.StateConnected)
		s.Clock.Move(time.Hour)
		s.told("once", want...)
		away(time.Hour)
		s.told("the next time", "Waiting agent.disconnected account.prod", "Waiting agent.disconnected account.prod",
			"Waiting agent.connected account.prod", "Waiting agent.connected account.prod", "Waiting agent.connected account.prod")
	})
}
