package delivery

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

// Environments describes how environments and their clusters are kept.
func Environments() *entity.Kind[api.Environment] {
	return &entity.Kind[api.Environment]{
		Table: "environment", Noun: "environment", Kind: api.TypeEnvironment,
		Columns: func(v *api.Environment) []entity.Column {
			return []entity.Column{{Name: "type", Value: v.Type, Into: &v.Type}, {Name: "region", Value: v.Region, Into: &v.Region}}
		},
		Sorts:   map[string]string{"type": "environment.type", "region": "environment.region"},
		Fill:    fillClusters,
		Prepare: prepareEnvironment,
		Written: writeClusters,
		References: func(ctx context.Context, t db.Tx, v *api.Environment) ([]api.Ref, error) {
			refs, err := linkReferences(ctx, t, "environment", v.ID)
			for _, c := range v.Clusters {
				refs = append(refs, api.Ref{Type: api.TypeCluster, ID: c.Agent + "/" + c.Cluster})
			}
			return refs, err
		},
		Release: func(ctx context.Context, t db.Tx, v *api.Environment) error {
			return unlink(ctx, t, "environment", v.Base())
		},
	}
}

func fillClusters(ctx context.Context, t db.Tx, list []*api.Environment) error {
	byID, ids := entity.ByID(list)
	query := "SELECT environment, agent, cluster FROM environment_cluster WHERE environment IN (LIST) ORDER BY agent, cluster"
	return t.EachOf(ctx, query, nil, ids, func(row db.Row) error {
		var id string
		var c api.EnvironmentCluster
		if err := row.Scan(&id, &c.Agent, &c.Cluster); err != nil {
			return err
		}
		byID[id].Clusters = append(byID[id].Clusters, c)
		return nil
	})
}

// prepareEnvironment checks type and clusters, and calls clusters by their names.
func prepareEnvironment(ctx context.Context, t db.Tx, v, before *api.Environment) error {
	v.Type = cmp.Or(v.Type, api.EnvironmentPreProduction)
	if v.Type != api.EnvironmentProduction && v.Type != api.EnvironmentPreProduction {
		return db.Invalid("type", "an environment is %s or %s", api.EnvironmentProduction, api.EnvironmentPreProduction)
	}
	var was []api.EnvironmentCluster
	if before != nil {
		was = before.Clusters
	}
	for i, c := range v.Clusters {
		if slices.Contains(was, c) {
			continue
		}
		cluster, err := clusterFor(ctx, t, c, v.Scope)
		if err != nil {
			return err
		}
		v.Clusters[i].Cluster = cluster
	}
	slices.SortFunc(v.Clusters, func(a, b api.EnvironmentCluster) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Cluster, b.Cluster))
	})
	v.Clusters = slices.Compact(v.Clusters)
	return nil
}

// clusterFor finds a cluster for an environment, and returns what it is called.
func clusterFor(ctx context.Context, t db.Tx, c api.EnvironmentCluster, scope api.Scope) (string, error) {
	if err := entity.Refers(ctx, t, "clusters", "agent", "agent", c.Agent); err != nil {
		return "", err
	}
	in, _, err := api.ParseID(c.Agent)
	if err != nil {
		return "", db.Invalid("clusters", "%s", err)
	}
	found := false
	query := "SELECT destination, title, scope FROM item WHERE agent_id = ? AND kind = ? AND (title = ? OR destination = ?) ORDER BY id"
	err = t.Each(ctx, query, []any{c.Agent, api.KindCluster, c.Cluster, c.Cluster}, func(row db.Row) error {
		var server, name string
		var of api.Scope
		err := row.Scan(&server, &name, (*string)(&of))
		if !found || of.Contains(in) { // of several Secrets for one cluster the one that most may use
			found, in, c.Cluster = true, of, cmp.Or(name, server)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	switch {
	case !found && (c.Cluster == api.InCluster || c.Cluster == api.InClusterServer):
		c.Cluster = api.InCluster
	case !found:
		return "", db.Invalid("clusters", "agent %s knows no cluster %q: `slipway cluster list` shows those that it has; %s is its own", c.Agent,
			c.Cluster, api.InCluster)
	}
	if !in.Contains(scope) {
		return "", db.Invalid("clusters", "cluster %s of agent %s is at %s, which does not reach %s, where the environment is: "+
			"make the environment there or inside", c.Cluster, c.Agent, in, scope)
	}
	return c.Cluster, nil
}

// writeClusters makes the clusters those of the value, and assigns their
// applications again.
func writeClusters(ctx context.Context, t db.Tx, v, before *api.Environment) error {
	if err := LockLinks(ctx, t, true); err != nil {
		return err
	}
	var was []api.EnvironmentCluster
	if before != nil {
		was = before.Clusters
	}
	agents := map[string]bool{}
	for _, c := range was {
		if slices.Contains(v.Clusters, c) {
			continue
		}
		agents[c.Agent] = true
		if err := t.Run(ctx, "DELETE FROM environment_cluster WHERE environment = ? AND agent = ? AND cluster = ?", v.ID, c.Agent,
			c.Cluster); err != nil {
			return err
		}
	}
	for _, c := range v.Clusters {
		if slices.Contains(was, c) {
			continue
		}
		agents[c.Agent] = true
		query := "INSERT INTO environment_cluster (environment, scope, agent, cluster) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
		n, err := t.Exec(ctx, query, v.ID, string(v.Scope), c.Agent, c.Cluster)
		if err != nil {
			return err
		}
		if n == 0 {
			return clusterTaken(ctx, t, v.Scope, c)
		}
	}
	if before == nil {
		if err := relinkNamed(ctx, t, api.LabelEnvironment, v.Base()); err != nil {
			return err
		}
	}
	return relinkOf(ctx, t, "agent_id", slices.Sorted(maps.Keys(agents)))
}

// clusterTaken says which environment has a cluster already.
func clusterTaken(ctx context.Context, t db.Tx, scope api.Scope, c api.EnvironmentCluster) error {
	var by string
	query := "SELECT environment FROM environment_cluster WHERE scope = ? AND agent = ? AND cluster = ?"
	if err := t.One(ctx, query, []any{string(scope), c.Agent, c.Cluster}, &by); err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	return db.Invalid("clusters", "cluster %s of agent %s is in environment %s already: take it out there first", c.Cluster, c.Agent, by)
}
