package server

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
)

func TestAnAgentWasLastHeardWhenAnyServerHeardIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := func() (a api.Agent) {
		t.Helper()
		code, answer := w.do(w.admin, http.MethodGet, "/api/v1/agents/account.prod", "")
		if err := json.Unmarshal([]byte(answer), &a); err != nil || code != http.StatusOK {
			t.Fatalf("%d %s: %v", code, answer, err)
		}
		return a
	}
	known := agent()
	keep := func(at time.Time) {
		t.Helper()
		err := w.server.store.SaveHealth(t.Context(), known.UID, known.Status.Epoch, gateway.Health{State: agentapi.StateConnected, LastHeartbeat: at})
		if err != nil {
			t.Fatal(err)
		}
	}
	heard := time.Now().UTC().Truncate(time.Second)
	keep(heard)
	run(t, w.server) // from here on its gateway knows of that heartbeat
	<-w.server.gateway.Ready()
	for _, c := range []struct {
		name       string
		kept, want time.Time
	}{
		{"what is kept is older than what this server heard", heard.Add(-25 * time.Second), heard},
		{"another server heard it later", heard.Add(time.Second), heard.Add(time.Second)},
	} {
		keep(c.kept)
		if got := agent().Status.LastHeartbeatAt; !got.Equal(c.want) {
			t.Errorf("%s: alone it was heard at %s, want %s", c.name, got, c.want)
		}
		var page api.Page[api.Agent]
		code, answer := w.do(w.admin, http.MethodGet, "/api/v1/agents", "")
		if err := json.Unmarshal([]byte(answer), &page); err != nil || code != http.StatusOK || len(page.Items) != 1 {
			t.Fatalf("%d %s: %v", code, answer, err)
		}
		if got := page.Items[0].Status.LastHeartbeatAt; !got.Equal(c.want) {
			t.Errorf("%s: in the list it was heard at %s, want %s", c.name, got, c.want)
		}
	}
}
