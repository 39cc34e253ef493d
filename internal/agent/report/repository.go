package report

import (
	"strings"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// repository is what Applications follow: one of Git, a chart repository or a registry.
type repository interface {
	URL() string
	Scope() string
	Err() error
}

// followed are all repositories with followers.
func (s *Source) followed() []repository {
	var out []repository
	for _, r := range s.Pool.Repos() {
		out = append(out, r)
	}
	if s.Artifacts != nil {
		for _, r := range s.Artifacts.Repos() {
			out = append(out, r)
		}
	}
	return out
}

// artifactConnection returns what is known of the way to a chart repository or a registry; nil where nothing is.
func (s *Source) artifactConnection(sec place.Secret) *agentapi.Connection {
	if s.Artifacts == nil {
		return nil
	}
	url := plainAddress(sec.Get("url"))
	for _, r := range s.Artifacts.Repos() {
		if at := plainAddress(r.URL()); at != url && !strings.HasPrefix(at, url+"/") {
			continue
		}
		if err := r.Err(); err != nil {
			return &agentapi.Connection{Status: "Failed", Message: redact.Addresses(err.Error())}
		}
		return &agentapi.Connection{Status: "Successful"}
	}
	return nil
}

// plainAddress is an address without the scheme of registries and the slash at the end.
func plainAddress(address string) string {
	return strings.ToLower(strings.TrimRight(strings.TrimPrefix(strings.TrimSpace(address), "oci://"), "/"))
}
