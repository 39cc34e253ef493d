package gateway_test

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

func TestAnAgentThatRunsAnotherEngineThanItWasCreatedForIsRefusedAndTold(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		created, runs agentapi.Engine
		what          string // to do
	}{
		{agentapi.EngineArgoCD, "", "start it with --engine argocd"},
		{agentapi.EngineArgoCD, agentapi.EngineSlipway, "slipway agent update account.prod --engine slipway"},
		{"", agentapi.EngineArgoCD, "start it without --engine"},
		{agentapi.EngineSlipway, agentapi.EngineArgoCD, "slipway agent update account.prod --engine argocd"},
	} {
		t.Run(string(test.created)+" "+string(test.runs), func(t *testing.T) {
			t.Parallel()
			s := start(t, gatewaytest.NewMemory())
			i := s.register("account.prod", "one")
			if err := s.store.SetEngine(t.Context(), i.uid, test.created); err != nil {
				t.Fatal(err)
			}
			a := s.connect(i)
			for range 2 {
				w := a.tryHelloOf(test.runs)
				if w.Error == nil || w.Error.Code != agentapi.CodeEngine || !strings.Contains(w.Error.Message, test.what) || w.Engine != test.created.Known() {
					t.Fatalf("it is told %+v", w)
				}
			}
			kept, err := s.store.AgentByUID(t.Context(), i.uid)
			if err != nil || !strings.Contains(kept.Health.Message, test.what) || kept.Health.State != agentapi.StateNever {
				t.Errorf("the server says %+v (%v)", kept.Health, err)
			}
			told := 0
			for _, e := range s.store.Links() {
				if e.Type == gateway.LinkEngine {
					told++
				}
			}
			if told != 1 {
				t.Errorf("the audit has %d entries of it", told)
			}
			if err := s.store.SetEngine(t.Context(), i.uid, test.runs); err != nil {
				t.Fatal(err)
			}
			if w := a.tryHelloOf(test.runs); w.Error != nil || w.Engine != test.runs.Known() {
				t.Errorf("once it is created for what it runs, it is told %+v", w)
			}
		})
	}
}
