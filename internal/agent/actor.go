package agent

import (
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/project"
)

// Keys of argocd-cm.
const (
	keyImpersonate = "application.sync.impersonation.enabled"
	keyEnforce     = "application.sync.impersonation.enforced"
)

// actor says as whom the requests of an Application's syncs are made. The zero value is the agent itself.
type actor struct {
	user   string // to impersonate
	denial string // why nothing may be written
}

// actor finds as whom a project's Applications act at a destination. Where no account is found nothing is written, unless
// that is not enforced: the agent's own rights are not a fallback for those that somebody has forgotten to give.
func (c *clusters) actor(called string, entry clusterEntry, namespace string) actor {
	config := c.settings.config(configArgoCD)
	if config[keyImpersonate] != "true" {
		return actor{}
	}
	rules, err := c.rules(called)
	if err != nil {
		return actor{denial: err.Error()}
	}
	user, err := rules.ServiceAccount(project.Cluster{Server: entry.server, Name: entry.name, Project: entry.owner}, namespace, "")
	switch {
	case err != nil:
		return actor{denial: err.Error()}
	case user == "" && config[keyEnforce] != "false":
		return actor{denial: fmt.Sprintf("no matching service account found for destination server %s and namespace %s: "+
			"add one to spec.destinationServiceAccounts of project %q", entry.server, namespace, called)}
	}
	return actor{user: user}
}

// actors are the clients of one cluster that act as somebody.
type actors map[actor]*apply.Client

// maxActors bounds the clients of one cluster. They share its connections, so that one is quickly made again.
const maxActors = 256

func (m *actors) client(who actor, d *destination) (*apply.Client, error) {
	if who == (actor{}) {
		return d.target.Client, nil
	}
	if c := (*m)[who]; c != nil {
		return c, nil
	}
	config := rest.CopyConfig(d.rest)
	if who.denial != "" {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return readOnly{next, who.denial} })
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
