package report

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// clusterRenew is how old the reported condition of a cluster may be although nothing happened but answers.
const clusterRenew = time.Minute

// clusterRow is what is reported of a cluster besides its Secret.
type clusterRow struct {
	connection agentapi.Connection
	state      agentapi.ClusterState
}

// isNews reports whether a row is to be reported immediately, rather than with the next renewal.
func (r *clusterRow) isNews(was *clusterRow) bool {
	x, y := *r, *was
	measured := x.state.Latency > 0 != (y.state.Latency > 0)
	for _, of := range []*clusterRow{&x, &y} {
		of.connection.At, of.state.Latency, of.state.Objects = time.Time{}, 0, 0
	}
	return measured || x != y
}

// clusterRows are the rows as they are reported. They change now and then only: each change is a message to the server.
type clusterRows struct {
	settings     *place.Settings
	clusters     *place.Clusters
	applications *registry.Registry

	mu   sync.Mutex
	rows map[string]clusterRow
	at   time.Time
}

// look takes in rows where they are news, or it is time. It reports whether it did.
func (c *clusterRows) look(now map[string]clusterRow, at time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	news := len(now) != len(c.rows) || at.Sub(c.at) >= clusterRenew
	for name, row := range now {
		was, there := c.rows[name]
		news = news || !there || row.isNews(&was)
	}
	if news {
		c.rows, c.at = now, at
	}
	return news
}

func (c *clusterRows) get(name string) (clusterRow, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	row, ok := c.rows[name]
	return row, ok
}

// names are the names of the agent's clusters: of their Secrets, and of its own where no Secret describes it.
func (c *clusterRows) names() []string {
	secrets := c.settings.OfKind(v1alpha1.SecretTypeCluster)
	names := slices.Sorted(maps.Keys(secrets))
	if _, taken := secrets[v1alpha1.InClusterName]; !taken && c.clusters.HasImplied() {
		names = append(names, v1alpha1.InClusterName)
	}
	return names
}

// now are the rows as they are now.
func (c *clusterRows) now() map[string]clusterRow {
	used := c.use()
	secrets := c.settings.OfKind(v1alpha1.SecretTypeCluster)
	out := make(map[string]clusterRow, len(secrets)+1)
	for _, name := range c.names() {
		sec, described := secrets[name]
		server, secret := v1alpha1.InClusterServer, ""
		if described {
			server, secret = sec.Get("server"), name
		}
		row := rowOf(c.clusters.Condition(secret))
		row.state.Applications = used[place.ClusterKey(server, secret)]
		row.state.Implied = !described
		row.state.Off = server == v1alpha1.InClusterServer && !c.settings.InCluster()
		if row.connection.Status == connectionUnknown && row.connection.Message == "" && row.state.Applications == 0 {
			row.connection.Message = "no Application deploys to it"
		}
		out[name] = row
	}
	return out
}

// The words of agentapi.Connection.
const (
	connectionUnknown = "Unknown"
	connectionFailed  = "Failed"
	connectionGood    = "Successful"
)

// rowOf puts a condition into the words of the link.
func rowOf(c place.Condition) clusterRow {
	status := connectionUnknown
	switch c.Reach {
	case place.Reachable:
		status = connectionGood
	case place.Unreachable:
		status = connectionFailed
	case place.ReachUnknown:
	}
	const most = 500
	return clusterRow{
		connection: agentapi.Connection{Status: status, Message: legible.Cut(c.Why, most), At: c.At.UTC().Truncate(time.Second)},
		state: agentapi.ClusterState{
			Kubernetes: c.Version, Latency: milliseconds(c.Latency), Kinds: c.Kinds, Objects: c.Objects,
		},
	}
}

// milliseconds is a time with two significant digits: more are noise, and never 0 for one that was measured.
func milliseconds(d time.Duration) float64 {
	ms := float64(d) / float64(time.Millisecond)
	if ms <= 0 {
		return 0
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(ms, 'g', 2, 64), 64) // it wrote it itself
	return short
}

// use counts the Applications by the key of the cluster that they deploy to.
func (c *clusterRows) use() map[string]int {
	type aim struct{ project, server, name string }
	keys, out := map[aim]string{}, map[string]int{}
	c.applications.Each(func(_ registry.Name, app *v1alpha1.Application) {
		to := aim{app.Spec.ProjectName(), app.Spec.Destination.Server, app.Spec.Destination.Name}
		key, known := keys[to]
		if !known {
			key, _ = c.clusters.KeyOf(to.project, v1alpha1.ApplicationDestination{Server: to.server, Name: to.name})
			keys[to] = key
		}
		out[key]++
	})
	return out
}

// body is what is reported of a cluster; nil for one that is gone.
func (c *clusterRows) body(name string) ([]byte, error) {
	row, known := c.get(name)
	if !known { // it came since the last look
		row = clusterRow{connection: agentapi.Connection{Status: connectionUnknown}}
	}
	sec, described := c.settings.Secret(name, v1alpha1.SecretTypeCluster)
	if !described {
		if name != v1alpha1.InClusterName || !c.clusters.HasImplied() {
			return nil, nil
		}
		sec.Data = map[string][]byte{"name": []byte(v1alpha1.InClusterName), "server": []byte(v1alpha1.InClusterServer)}
		row.state.Implied = true
	}
	labels := maps.Clone(sec.Labels)
	delete(labels, v1alpha1.LabelSecretType)
	return link.SecretSetting(sec.Data, labels, sec.Version, &row.connection, &row.state)
}
