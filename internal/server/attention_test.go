package server

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
)

func TestWhatNeedsAttentionIsWhatTheReaderSees(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(appOf("", `{"sync":{"status":"Unknown"},"health":{"status":"Healthy"},"conditions":[{"type":"ComparisonError","message":"no such directory"}]}`), "")
	w.turn(agentapi.StateDisconnected, time.Now().Add(-time.Minute))
	if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/roles", `{"name":"looker","permissions":["application_view"]}`); code != http.StatusOK {
		t.Fatal(code, answer)
	}
	for _, c := range []struct {
		who, token, query string
		want              []string
	}{
		{"the first user", w.admin, "", []string{"SourceError account.prod/argocd/thing", "AgentAway account.prod"}},
		{"the first user, one row", w.admin, "?limit=1", []string{"SourceError account.prod/argocd/thing"}},
		{"the first user, agents", w.admin, "?kind=AgentAway&kind=AgentDegraded", []string{"AgentAway account.prod"}},
		{"who sees applications alone", w.user("looker", "account.looker", "account"), "", []string{"SourceError account.prod/argocd/thing"}},
		{"who sees those of an organization", w.user("stranger", "account.looker", "org.other"), "", nil},
	} {
		code, answer := w.do(c.token, http.MethodGet, "/api/v1/fleet/attention"+c.query, "")
		var got api.Attention
		if err := json.Unmarshal([]byte(answer), &got); code != http.StatusOK || err != nil {
			t.Fatalf("%s: %d %s", c.who, code, answer)
		}
		var rows []string
		for _, i := range got.Items {
			rows = append(rows, i.Kind+" "+i.Object.ID)
		}
		if !slices.Equal(rows, c.want) {
			t.Errorf("%s: %v, want %v", c.who, rows, c.want)
		}
	}
	for _, wrong := range []string{"?kind=Fine", "?limit=101", "?scope=nowhere"} {
		if code, answer := w.do(w.admin, http.MethodGet, "/api/v1/fleet/attention"+wrong, ""); code != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", wrong, code, answer)
		}
	}
}
