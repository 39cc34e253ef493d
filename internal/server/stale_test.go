package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
)

// turn has the agent be connected, or away since it was heard at a time.
func (w *world) turn(state agentapi.State, heard time.Time) {
	w.t.Helper()
	ctx := w.t.Context()
	agent, err := w.server.store.Agents.Get(ctx, "account.prod")
	if err != nil {
		w.t.Fatal(err)
	}
	err = w.server.store.SaveHealth(ctx, agent.UID, agent.Status.Epoch, gateway.Health{State: agentapi.StateConnected, Since: heard, LastHeartbeat: heard})
	turn := gateway.TurnBack
	if err == nil && state == agentapi.StateDisconnected {
		lost := gateway.Health{State: state, Since: heard.Add(agentapi.DisconnectedAfter), LastHeartbeat: heard, Message: "no heartbeat"}
		_, err = w.server.store.MarkLost(ctx, agent.UID, agent.Status.Epoch, lost, heard)
		turn = gateway.TurnAway
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.server.notify(gateway.Change{UID: agent.UID, Agent: true, Turn: turn})
}

func TestAnApplicationSaysHowOldItIsWhileItsAgentIsAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(appOf("", `{"sync":{"status":"Synced","revision":"abc"},"health":{"status":"Healthy"},"reconciledAt":"2030-06-01T00:00:00Z"}`), "")
	heard := time.Now().Add(-time.Minute).UTC().Truncate(time.Microsecond)
	read := func(path string, into any) {
		t.Helper()
		code, answer := w.do(w.admin, http.MethodGet, path, "")
		if err := json.Unmarshal([]byte(answer), into); code != http.StatusOK || err != nil {
			t.Fatalf("%s: %d %s", path, code, answer)
		}
	}
	check := func(when string, want api.Age, first string) {
		t.Helper()
		var one api.ApplicationDetail
		var list, fleet api.Page[api.Application]
		var because api.Why
		var counted api.FleetSummary
		read(shopPath, &one)
		read("/api/v1/applications?agent=account.prod", &list)
		read("/api/v1/fleet/applications?stale=true", &fleet)
		read("/api/v1/fleet/summary", &counted)
		read(shopPath+"/why", &because)
		for what, got := range map[string]api.Age{"one": one.Age, "in the list": list.Items[0].Age, "why": because.Age} {
			if got.Stale != want.Stale || got.AgentAway != want.AgentAway || !got.AsOf.Equal(want.AsOf) {
				t.Errorf("%s, %s: %+v, want %+v", when, what, got, want)
			}
		}
		if stale := map[bool]int64{true: 1}[want.Stale]; fleet.Total != stale || counted.Stale != stale {
			t.Errorf("%s: %d are found as stale and %d counted, want %d", when, fleet.Total, counted.Stale, stale)
		}
		if r := because.Reasons; r[0].Code != first || len(r) != 1 {
			t.Errorf("%s: the reasons are %+v, want %s alone", when, r, first)
		}
	}
	w.turn(agentapi.StateConnected, heard)
	check("connected", api.Age{}, "Done")
	w.turn(agentapi.StateDisconnected, heard)
	check("away", api.Age{Stale: true, AsOf: heard, AgentAway: true}, "AgentAway")

	// What only reads is refused, and what changes something is kept for a while: the answer says so.
	code, answer := w.do(w.admin, http.MethodPost, shopPath+"/sync?wait=0", `{}`)
	var command api.Command
	if err := json.Unmarshal([]byte(answer), &command); err != nil || code != http.StatusAccepted || command.Status != api.CommandPending ||
		!strings.Contains(command.Message, "agent account.prod is away, and was last heard at "+heard.Format(time.RFC3339)) {
		t.Errorf("a sync: %d %s", code, answer)
	}
	if code, answer := w.do(w.admin, http.MethodGet, shopPath+"/tree", ""); code != http.StatusServiceUnavailable || !strings.Contains(answer, "is not connected") {
		t.Errorf("the tree: %d %s", code, answer)
	}
	w.turn(agentapi.StateConnected, time.Now())
	check("back", api.Age{}, "Done")
}

func TestWhoSeesAnApplicationIsToldThatItsAgentWentAwayAndCameBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := httptest.NewServer(w.server.Handler())
	t.Cleanup(server.Close)
	if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/roles", `{"name":"looker","permissions":["application_view"]}`); code != http.StatusOK {
		t.Fatal(code, answer)
	}
	looker, stranger := w.user("looker", "account.looker", "account"), w.user("stranger", "account.looker", "org.other")
	sees := w.watch(server, looker, "", api.TypeAgent)
	strange := w.watch(server, stranger, "", api.TypeAgent, api.TypeApplication)
	now := time.Now()
	w.turn(agentapi.StateDisconnected, now)
	w.turn(agentapi.StateConnected, now)
	for _, want := range []string{"agent.away", "agent.back"} {
		// Others are of the agent itself, which this reader does not see.
		if e := next(t, sees); e.Type != want || e.Object.ID != "account.prod" || len(e.Labels) > 0 {
			t.Errorf("got %+v, want %s", e, want)
		}
	}
	if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/agents", `{"name":"edge","scope":"org.other"}`); code != http.StatusOK {
		t.Fatal(code, answer)
	}
	w.server.publish(t.Context(), api.Event{Type: "application.changed", Object: api.Ref{Type: api.TypeApplication, ID: "org.other.edge/a/b", Scope: "org.other"}})
	if e := next(t, strange); e.Object.ID != "org.other.edge/a/b" {
		t.Errorf("who sees nothing of the agent is told of it: %+v", e)
	}
}
