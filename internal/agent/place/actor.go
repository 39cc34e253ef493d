package place

import (
	"fmt"
	"net/http"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/project"
)

// Keys of argocd-cm.
const (
	keyImpersonate = "application.sync.impersonation.enabled"
	keyEnforce     = "application.sync.impersonation.enforced"
)

// Actor says as whom the requests of an Application's syncs are made. The zero value is the agent itself.
type Actor struct {
	user   string // to impersonate
	Denial string // why nothing may be written
}

// actor finds as whom a project's Applications act at a destination. Where no account is found nothing is written, unless
// that is not enforced: the agent's own rights are not a fallback for those that were not granted.
func (c *Clusters) actor(called string, entry clusterEntry, namespace string) Actor {
	config := c.Settings.Config(ConfigArgoCD)
	if config[keyImpersonate] != "true" {
		return Actor{}
	}
	rules, err := c.Rules(called)
	if err != nil {
		return Actor{Denial: err.Error()}
	}
	user, err := rules.ServiceAccount(project.Cluster{Server: entry.server, Name: entry.name, Project: entry.owner}, namespace, "")
	switch {
	case err != nil:
		return Actor{Denial: err.Error()}
	case user == "" && config[keyEnforce] != "false":
		return Actor{Denial: fmt.Sprintf("no matching service account found for destination server %s and namespace %s: "+
			"add one to spec.destinationServiceAccounts of project %q", entry.server, namespace, called)}
	}
	return Actor{user: user}
}

// actors are the clients of one cluster that act as a service account.
type actors map[Actor]*apply.Client

// maxActors bounds the clients of one cluster. They share its connections, so that one is quickly made again.
const maxActors = 256

func (m *actors) client(who Actor, d *Destination) (*apply.Client, error) {
	if who == (Actor{}) {
		return d.Target.Client, nil
	}
	if c := (*m)[who]; c != nil {
		return c, nil
	}
	config := rest.CopyConfig(d.rest)
	if who.Denial != "" {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return readOnly{next, who.Denial} })
	} else {
		config.Impersonate = rest.ImpersonationConfig{UserName: who.user}
	}
	c, err := apply.NewClient(config)
	if err != nil {
		return nil, err
	}
	if len(*m) >= maxActors || *m == nil {
		*m = actors{}
	}
	(*m)[who] = c
	return c, nil
}

// readOnly lets requests through that change nothing, and answers others as an API server would that allows none.
type readOnly struct {
	next http.RoundTripper
	why  string
}

// RoundTrip implements http.RoundTripper.
func (t readOnly) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodGet {
		return t.next.RoundTrip(req)
	}
	return refusal(req, t.why)
}

// As is the configuration of requests to the cluster as a service account.
func (d *Destination) As(who Actor) *rest.Config { return who.on(d.rest) }

// SocketAs is as As, for clients with their own dialer. No such client passes the limits of the cluster, so what it is for is checked
// here.
func (d *Destination) SocketAs(who Actor, namespace string) (*rest.Config, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return who.on(d.socket), d.entry.limits.PermitsNamespace(namespace)
}

// maxClients bounds the clients of a cluster that are kept. What is dropped is made again.
const maxClients = 64

// Client is one for requests to the cluster as a service account.
func (d *Destination) Client(who Actor) (dynamic.Interface, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.clients[who]; c != nil {
		return c, nil
	}
	c, err := dynamic.NewForConfig(d.As(who))
	if err != nil {
		return nil, fmt.Errorf("make client for %s: %w", d.Target.Live.Server, err)
	}
	if len(d.clients) >= maxClients || d.clients == nil {
		d.clients = map[Actor]dynamic.Interface{}
	}
	d.clients[who] = c
	return c, nil
}

func (who Actor) on(of *rest.Config) *rest.Config {
	config := rest.CopyConfig(of)
	config.WarningHandler = rest.NoWarnings{}
	if who.user != "" {
		config.Impersonate = rest.ImpersonationConfig{UserName: who.user}
	}
	return config
}
