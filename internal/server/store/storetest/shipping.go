package storetest

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
)

// Shipping is a store with an agent of the account, whose Argo project shop
// belongs to project acme.shop.
type Shipping struct {
	*Bench
	T     *testing.T
	Agent api.Agent
	Epoch int64
	seq   int64
}

// NewShipping has an agent with a mapped project.
func NewShipping(t *testing.T, b *Bench) *Shipping {
	t.Helper()
	b.Tree(t)
	s := &Shipping{Bench: b, T: t}
	s.Agent, s.Epoch = b.Agent(t, "prod", "account")
	Must[api.Mapping](t)(b.SetMapping(t.Context(), api.Mapping{Agent: s.Agent.ID, ArgoProject: "shop", Project: "acme.shop"}))
	return s
}

// Tell stores items that the agent reports.
func (s *Shipping) Tell(items ...agentapi.Item) []gateway.Changed {
	s.T.Helper()
	s.seq++
	return Must[[]gateway.Changed](s.T)(s.ApplyItems(s.T.Context(), s.Agent.UID, s.Epoch, s.seq, items, s.Clock.Now()))
}

// Service makes a service.
func (s *Shipping) Service(scope api.Scope, name string) api.Service {
	s.T.Helper()
	return Must[api.Service](s.T)(s.Services.Create(s.T.Context(), api.Service{Meta: api.Meta{Name: name, Scope: scope}}))
}

// Environment makes an environment with clusters.
func (s *Shipping) Environment(scope api.Scope, name string, clusters ...string) api.Environment {
	s.T.Helper()
	v := api.Environment{Meta: api.Meta{Name: name, Scope: scope}}
	for _, c := range clusters {
		v.Clusters = append(v.Clusters, api.EnvironmentCluster{Agent: s.Agent.ID, Cluster: c})
	}
	return Must[api.Environment](s.T)(s.Environments.Create(s.T.Context(), v))
}

// Expect checks what an application is of, both as stored and as explained.
func (s *Shipping) Expect(when, app, service, environment string) {
	s.T.Helper()
	got := Must[api.ApplicationDetail](s.T)(s.GetApplication(s.T.Context(), s.Agent.ID, "argocd", app))
	said := Must[api.ApplicationLinked](s.T)(s.GetLink(s.T.Context(), s.Agent.ID, "argocd", app))
	have := []string{got.Service, got.Environment, said.Service, said.Environment}
	if diff := cmp.Diff([]string{service, environment, service, environment}, have); diff != "" {
		s.T.Errorf("%s: service and environment of %s, stored and explained (-want +got):\n%s", when, app, diff)
	}
}

// Cluster is a cluster as an agent reports it.
func Cluster(secret, name, server, project string) agentapi.Item {
	body, _ := json.Marshal(agentapi.Setting{Fields: map[string]string{"name": name, "server": server, "project": project}})
	return agentapi.Item{
		Key:  agentapi.Key{Kind: agentapi.ItemCluster, Namespace: "argocd", Name: secret},
		Hash: agentapi.Hash(body), Body: body,
	}
}

// To gives an Application a destination.
func To(destination map[string]any) func(map[string]any) {
	return func(r map[string]any) { r["spec"].(map[string]any)["destination"] = destination }
}
