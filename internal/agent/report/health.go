package report

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/discovery"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Ask finds out what the agent works on.
func (s *Source) Ask(ctx context.Context) {
	versions := s.ownVersions()
	if client, err := discovery.NewDiscoveryClientForConfig(s.Rest); err == nil {
		if raw, err := client.RESTClient().Get().AbsPath("/version").Timeout(5 * time.Second).Do(ctx).Raw(); err == nil {
			var v struct {
				GitVersion string `json:"gitVersion"`
			}
			if strict.Decode(raw, &v, strict.Foreign) == nil {
				versions.Kubernetes = v.GitVersion
			}
		}
	}
	s.known.Store(&versions)
}

// Versions returns what ask has found.
func (s *Source) Versions() agentapi.Versions {
	if v := s.known.Load(); v != nil {
		return *v
	}
	return s.ownVersions()
}

// ownVersions is what is known of the agent without asking.
func (s *Source) ownVersions() agentapi.Versions {
	return agentapi.Versions{Agent: s.Version, Engine: s.Engine}
}

// Manages reports whether the agent works on Applications in a namespace.
func (s *Source) Manages(namespace string) bool {
	counts := s.counts.Load()
	return counts != nil && (*counts)(namespace)
}

// apiSilence is how long an API server may be silent until it counts as not healthy.
const apiSilence = 30 * time.Second

// Components says how the parts of the agent are.
func (s *Source) Components() []agentapi.Component {
	defer s.lookAtConnections()
	return []agentapi.Component{s.Health(), s.apiHealth(), s.gitHealth()}
}

func (s *Source) apiHealth() agentapi.Component {
	c := agentapi.Component{Name: "kubernetes", Status: agentapi.ComponentHealthy}
	if s.own.silent() > apiSilence {
		c.Status, c.Message = agentapi.ComponentDegraded, "the API server does not answer, or answers with errors"
	}
	return c
}

func (s *Source) gitHealth() agentapi.Component {
	repos, broken := s.followed(), 0
	for _, r := range repos {
		if r.Err() != nil {
			broken++
		}
	}
	return gitComponent(len(repos), broken)
}

// gitComponent says how reading repositories goes. One that cannot be reached is its own matter, and that of its
// Applications: a wrong address says nothing of the agent. Where none of several can be reached, the agent cannot reach any.
func gitComponent(all, broken int) agentapi.Component {
	c := agentapi.Component{Name: "git", Status: agentapi.ComponentHealthy}
	if broken == 0 {
		return c
	}
	c.Message = fmt.Sprintf("%d of %d repositories cannot be reached: their Applications show why", broken, all)
	if all > 1 && broken == all {
		c.Status, c.Message = agentapi.ComponentDegraded, fmt.Sprintf("none of %d repositories can be reached: check the network of the agent",
			all)
	}
	return c
}

// reach opens the connection to where an Application is deployed, if this process does not work on it: it reports its pods
// anyway. It asks nothing of the cluster.
func (s *Source) reach(ctx context.Context, app *v1alpha1.Application) {
	if s.instances != nil && app != nil && !s.Works(registry.NameOf(app)) {
		_, _ = s.Clusters.Target(ctx, app.Spec.ProjectName(), app.Spec.Destination) // its status says why there is none
	}
}
