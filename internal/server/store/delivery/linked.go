package delivery

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// Linked is the service and environment of an application, and the source of each.
type Linked struct {
	Service, serviceBy         string
	Environment, environmentBy string
	unknown                    []string // labels that name nothing
}

// Linkable is what it follows from.
type Linkable struct {
	Namespace, Name string
	Scope           api.Scope
	Labels          map[string]string
	Destination     string // name or address of a cluster
}

// Linker says what the applications of one agent are of. What it knows is read
// for some of them at a time.
type Linker struct {
	services, environments map[string]bool // ids that there are, of those that labels may mean
	links                  map[[2]string]api.ApplicationLink
	clusters               map[string][]string // environments by cluster
	names                  map[string]string   // of clusters, by address
}

// settingLinks is the row that writers of services, environments and links lock
// exclusively, and writers of applications share: an application that is being
// stored is seen by the change, or sees it.
const settingLinks = "links"

// LockLinks locks the row of links: alone for a change, else shared.
func LockLinks(ctx context.Context, t db.Tx, change bool) error {
	if !t.Postgres() { // SQLite has one writer, and this is it
		return nil
	}
	how := "FOR SHARE"
	if change {
		how = "FOR UPDATE"
	}
	return t.Run(ctx, "SELECT 1 FROM setting WHERE id = ? "+how, settingLinks)
}

// NewLinker reads what the links of some applications of an agent follow from.
func NewLinker(ctx context.Context, t db.Tx, agent string, apps []Linkable) (*Linker, error) {
	l := &Linker{links: map[[2]string]api.ApplicationLink{}, clusters: map[string][]string{}, names: map[string]string{}}
	var services, environments, called []string
	for _, a := range apps {
		services = append(services, meanings(a.Labels[api.LabelService], a.Scope)...)
		environments = append(environments, meanings(a.Labels[api.LabelEnvironment], a.Scope)...)
		called = append(called, a.Name)
	}
	var err error
	if l.services, err = thoseThere(ctx, t, "service", services); err != nil {
		return nil, err
	}
	if l.environments, err = thoseThere(ctx, t, "environment", environments); err != nil {
		return nil, err
	}
	query := "SELECT namespace, name, " + linkColumns + " FROM application_link WHERE agent = ? AND name IN (LIST)"
	err = t.EachOf(ctx, query, []any{agent}, called, func(row db.Row) error {
		var at [2]string
		var link api.ApplicationLink
		err := row.Scan(&at[0], &at[1], &link.Service, &link.Environment, &link.Version, db.Instant(&link.CreatedAt), db.Instant(&link.UpdatedAt))
		l.links[at] = link
		return err
	})
	if err != nil {
		return nil, err
	}
	return l, readClusters(ctx, t, agent, l)
}

// readClusters reads which environments have clusters of an agent, and what
// these are called.
func readClusters(ctx context.Context, t db.Tx, agent string, l *Linker) error {
	err := t.Each(ctx, "SELECT cluster, environment FROM environment_cluster WHERE agent = ?",
		[]any{agent}, db.Pair(func(cluster, environment string) {
			l.clusters[cluster] = append(l.clusters[cluster], environment)
		}))
	if err != nil || len(l.clusters) == 0 {
		return err
	}
	l.names, err = clusterNames(ctx, t, agent)
	return err
}

// clusterNames are the names of an agent's clusters by address.
func clusterNames(ctx context.Context, t db.Tx, agent string) (map[string]string, error) {
	names := map[string]string{api.InClusterServer: api.InCluster}
	query := "SELECT destination, title FROM item WHERE agent_id = ? AND kind = ? AND title <> '' ORDER BY id"
	err := t.Each(ctx, query, []any{agent, api.KindCluster}, db.Pair(func(server, name string) {
		if _, known := names[server]; !known {
			names[server] = name
		}
	}))
	return names, err
}

// there returns those of some ids that a table has.
func thoseThere(ctx context.Context, t db.Tx, table string, ids []string) (map[string]bool, error) {
	slices.Sort(ids)
	return db.IDs(ctx, t, table, slices.Compact(ids))
}

// meanings are the ids that a name on a label may mean, the nearest first: that
// of the application's scope, and of those around it. An id means itself.
func meanings(name string, scope api.Scope) []string {
	if name == "" {
		return nil
	}
	if strings.Contains(name, ".") {
		if in, _, err := api.ParseID(name); err != nil || !in.Contains(scope) {
			return nil
		}
		return []string{name}
	}
	if api.CheckName(name) != nil {
		return nil
	}
	out := []string{scope.ID(name)}
	for parent, ok := scope.Parent(); ok; parent, ok = parent.Parent() {
		out = append(out, parent.ID(name))
	}
	return out
}

// reaches reports whether something with an id may be meant by an application
// of a scope: it belongs there or around it.
func reaches(id string, scope api.Scope) bool {
	in, _, err := api.ParseID(id)
	return err == nil && in.Contains(scope)
}

// Of says what an application is of: its labels, otherwise its manual link,
// otherwise its cluster.
func (l *Linker) Of(a Linkable) Linked {
	var out Linked
	labelled := func(label string, there map[string]bool) string {
		name := a.Labels[label]
		for _, id := range meanings(name, a.Scope) {
			if there[id] {
				return id
			}
		}
		if name != "" {
			out.unknown = append(out.unknown, label+"="+name)
		}
		return ""
	}
	link := l.links[[2]string{a.Namespace, a.Name}]
	if out.Service = labelled(api.LabelService, l.services); out.Service != "" {
		out.serviceBy = api.LinkedByLabel
	} else if reaches(link.Service, a.Scope) {
		out.Service, out.serviceBy = link.Service, api.LinkedByHand
	}
	if out.Environment = labelled(api.LabelEnvironment, l.environments); out.Environment != "" {
		out.environmentBy = api.LinkedByLabel
	} else if reaches(link.Environment, a.Scope) {
		out.Environment, out.environmentBy = link.Environment, api.LinkedByHand
	} else if out.Environment = l.environmentAt(a); out.Environment != "" {
		out.environmentBy = api.LinkedByCluster
	}
	return out
}

// environmentAt is the environment that has the cluster of an application: the
// one that is nearest to its scope.
func (l *Linker) environmentAt(a Linkable) string {
	cluster := a.Destination
	if name := l.names[cluster]; name != "" {
		cluster = name
	}
	nearest := ""
	for _, id := range l.clusters[cluster] {
		// Of two scopes around the application the longer one is inside the other.
		scope, _, err := api.ParseID(id)
		if err == nil && scope.Contains(a.Scope) && (nearest == "" || strings.Count(id, ".") > strings.Count(nearest, ".")) {
			nearest = id
		}
	}
	return nearest
}

// Relink assigns the applications of a condition again.
func Relink(ctx context.Context, t db.Tx, condition string, args ...any) error {
	type place struct{ agent, uid, entry, service, environment string }
	places, apps := map[string][]place{}, map[string][]Linkable{}
	query := "SELECT agent_id, agent, entry, service, environment, namespace, name, scope, labels, " +
		"destination FROM item WHERE kind = ? AND (" + condition + ")"
	err := t.Each(ctx, query, append([]any{api.KindApplication}, args...), func(row db.Row) error {
		var p place
		var a Linkable
		err := row.Scan(&p.agent, &p.uid, &p.entry, &p.service, &p.environment, &a.Namespace, &a.Name, (*string)(&a.Scope),
			db.Decode(&a.Labels), &a.Destination)
		places[p.agent], apps[p.agent] = append(places[p.agent], p), append(apps[p.agent], a)
		return err
	})
	if err != nil {
		return fmt.Errorf("read applications to link: %w", err)
	}
	for _, agent := range slices.Sorted(maps.Keys(apps)) {
		l, err := NewLinker(ctx, t, agent, apps[agent])
		if err != nil {
			return fmt.Errorf("read links: %w", err)
		}
		var edition int64
		for i, a := range apps[agent] {
			p, now := places[agent][i], l.Of(a)
			if now.Service == p.service && now.Environment == p.environment {
				continue
			}
			if edition == 0 {
				if edition, err = Revise(ctx, t, p.uid, false); err != nil {
					return err
				}
			}
			query := "UPDATE item SET service = ?, environment = ?, edition = ? WHERE agent = ? AND entry = ?"
			if err := t.Run(ctx, query, now.Service, now.Environment, edition, p.uid, p.entry); err != nil {
				return fmt.Errorf("link applications: %w", err)
			}
		}
	}
	return nil
}
