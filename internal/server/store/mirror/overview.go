package mirror

import (
	"cmp"
	"context"
	"fmt"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/census"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/fleet"
)

// Overview counts what the filters let through.
func (s *Fleet) Overview(ctx context.Context, ofAgents, applications, clusters, repositories rbac.Filter) (o api.Overview, err error) {
	err = s.survey(ctx, applications, api.FleetFilter{}, func(t db.Tx, found *census.Selection) error {
		o = api.Overview{Applications: found.Total(), Agents: map[string]int64{}, Sync: map[string]int64{}, Health: map[string]int64{}}
		w := &db.Where{}
		w.Permitted(fleet.AgentKind().Guarded(), ofAgents)
		state := "CASE WHEN agent.revoked <> 0 THEN '" + api.AgentRevoked + "' ELSE agent.state END"
		if err := countBy(ctx, t, "SELECT "+state+", COUNT(*) FROM agent"+w.String()+" GROUP BY 1", w.Args, o.Agents); err != nil {
			return err
		}
		kind := func(kind string, filter rbac.Filter) *db.Where {
			w := &db.Where{}
			w.And("item.kind = ?", kind)
			w.Permitted(ItemsOf(kind), filter)
			return w
		}
		for column, into := range map[int]map[string]int64{census.Sync: o.Sync, census.Health: o.Health} {
			for name, n := range found.Count(column) {
				into[cmp.Or(name, "Unknown")] += n
			}
		}
		w = kind(api.KindCluster, clusters)
		if err := t.One(ctx, "SELECT COUNT(*) FROM item"+w.String(), w.Args, &o.Clusters); err != nil {
			return err
		}
		w = kind(api.KindRepository, repositories)
		return t.One(ctx, "SELECT COUNT(*) FROM item"+w.String(), w.Args, &o.Repositories)
	})
	if err != nil {
		return o, fmt.Errorf("count what there is: %w", err)
	}
	return o, nil
}

func countBy(ctx context.Context, t db.Tx, query string, args []any, into map[string]int64) error {
	return t.Each(ctx, query, args, db.Pair(func(name string, n int64) { into[cmp.Or(name, "Unknown")] += n }))
}
