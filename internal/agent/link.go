package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/discovery"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// addLink makes the link to the server, where one is configured.
func (a *Agent) addLink() error {
	if a.cfg.Link == nil {
		return nil
	}
	core, err := corev1.NewForConfig(a.cfg.REST)
	if err != nil {
		return fmt.Errorf("make client for the link: %w", err)
	}
	a.linked = newLinkSource(a)
	a.linked.speaks.Store(a.shards == nil)
	executors, streamers := a.executors()
	var records link.Records
	if a.ledger != nil {
		records = a.ledger.book
	}
	a.link = link.New(link.Config{
		Server: a.cfg.Link.Server, Transport: a.cfg.Link.Transport, Token: a.cfg.Link.Token, Core: core, Namespace: a.cfg.Namespace,
		Instance: a.cfg.Identity + "_" + uuid.NewString()[:8], Source: a.linked, Records: records, Versions: a.linked.versions, Components: a.linked.components,
		Policy: func() map[string]string { return a.settings.Config(link.ConfigPolicy) }, Manages: a.linked.manages, Redact: a.linked.Redact, RedactText: a.linked.redactText,
		Meter: a.metrics, Trace: a.traces.of, ReadOnly: a.cfg.Shadow, Executors: executors, Streamers: streamers, Log: a.log.With("component", "link"),
	})
	a.linked.link = a.link
	a.registry.OnMove = a.linked.applicationMoved
	a.projects.OnMove = a.linked.projectMoved
	a.metrics.linked(a)
	a.cfg.REST.Wrap(a.linked.observe(v1alpha1.InClusterServer))
	a.clusters.Observe = a.linked.observe
	a.addInstances()
	return nil
}

// watchForLink starts the watches that only the link needs.
func (a *Agent) watchForLink(ctx context.Context, g *errgroup.Group) {
	if a.link == nil {
		return
	}
	watched, counts, err := a.applicationNamespaces()
	if err != nil {
		return // watchApplications says so
	}
	a.linked.counts.Store(&counts)
	for _, namespace := range watched {
		a.linked.sets.watch(ctx, g, a.apps, namespace, counts)
	}
}

// runLink keeps the link, from when everything is known that it tells.
func (a *Agent) runLink(ctx context.Context, g *errgroup.Group) {
	if a.link == nil {
		return
	}
	if a.ledger != nil {
		a.link.Prepare(ctx)
		a.ledger.survey(ctx)
		g.Go(func() error { return a.ledger.run(ctx) })
	}
	g.Go(func() error {
		defer a.linked.happenings.damp.FlushAll()
		a.linked.ask(ctx)
		return a.link.Run(ctx)
	})
}

// ask finds out what the agent works on.
func (s *linkSource) ask(ctx context.Context) {
	versions := s.ownVersions()
	if client, err := discovery.NewDiscoveryClientForConfig(s.agent.cfg.REST); err == nil {
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

// versions returns what ask has found.
func (s *linkSource) versions() agentapi.Versions {
	if v := s.known.Load(); v != nil {
		return *v
	}
	return s.ownVersions()
}

// ownVersions is what is known of the agent without asking.
func (s *linkSource) ownVersions() agentapi.Versions {
	return agentapi.Versions{Agent: s.agent.cfg.Version, Engine: s.agent.driver.engine()}
}

// manages reports whether the agent works on Applications in a namespace.
func (s *linkSource) manages(namespace string) bool {
	counts := s.counts.Load()
	return counts != nil && (*counts)(namespace)
}

// Bounds from which a part of the agent counts as not healthy.
const (
	queueLate  = time.Minute
	apiSilence = 30 * time.Second
)

// components says how the parts of the agent are.
func (s *linkSource) components() []agentapi.Component {
	defer s.lookAtConnections()
	return []agentapi.Component{s.agent.driver.health(), s.apiHealth(), s.gitHealth()}
}

func (s *linkSource) apiHealth() agentapi.Component {
	c := agentapi.Component{Name: "kubernetes", Status: agentapi.ComponentHealthy}
	s.mu.Lock()
	r := s.reached[v1alpha1.InClusterServer]
	s.mu.Unlock()
	if r != nil && r.silent() > apiSilence {
		c.Status, c.Message = agentapi.ComponentDegraded, "the API server does not answer, or answers with errors"
	}
	return c
}

func (s *linkSource) gitHealth() agentapi.Component {
	repos, broken := s.agent.pool.Repos(), 0
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
	c.Message = fmt.Sprintf("%d of %d repositories cannot be reached: their Applications say why", broken, all)
	if all > 1 && broken == all {
		c.Status, c.Message = agentapi.ComponentDegraded, fmt.Sprintf("none of %d repositories can be reached: check the network of the agent", all)
	}
	return c
}

// serveHealth says that the process lives, and how the link is. Who is without a server works on, so that is no failure.
func (a *Agent) serveHealth(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintln(w, "ok")
	if a.link == nil {
		return
	}
	s := a.link.Status()
	fmt.Fprintf(w, "link: %s since %s, %d pending\n", s.State, s.Since.UTC().Format(time.RFC3339), s.Pending)
	if s.Insecure {
		fmt.Fprintln(w, "link: INSECURE: the server's certificate is not verified")
	}
	if s.State == link.StateTwin {
		fmt.Fprintln(w, "link: TWIN: another cluster has an agent with this identity")
	}
}

// serveLink says how the link is.
func (a *Agent) serveLink(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a.link.Status()) // nobody is left to tell
}
