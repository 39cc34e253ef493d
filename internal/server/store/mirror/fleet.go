package mirror

import (
	"context"
	"fmt"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/census"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// survey finds the applications that a filter leaves of what may be seen, in the
// copy in memory, and calls then in the same moment of the database: what it
// reads is what was found.
func (s *Fleet) survey(ctx context.Context, visible rbac.Filter, filter api.FleetFilter, then func(db.Tx, *census.Selection) error) error {
	if filter.RepoURL != "" {
		filter.RepoURL = sameRepo(filter.RepoURL)
	}
	turn, err := s.census.Turn(ctx)
	if err != nil {
		return fmt.Errorf("wait for the copy of applications: %w", err)
	}
	defer turn.End()
	return s.db.Read(ctx, func(t db.Tx) error {
		if err := turn.Update(ctx, reader{t}); err != nil {
			return err
		}
		found, err := turn.Select(visible, filter, db.Moment(t.Now))
		turn.End()
		if err != nil {
			return err
		}
		return then(t, found)
	})
}

// WarmUp reads what applications are counted and found by, so that the first
// query does not wait for it.
func (s *Fleet) WarmUp(ctx context.Context) error {
	return s.survey(ctx, rbac.Filter{Type: api.TypeApplication}, api.FleetFilter{}, func(db.Tx, *census.Selection) error { return nil })
}

// Summary counts the applications that a filter leaves of what may be seen.
func (s *Fleet) Summary(ctx context.Context, visible rbac.Filter, filter api.FleetFilter) (out api.FleetSummary, err error) {
	err = s.survey(ctx, visible, filter, func(_ db.Tx, found *census.Selection) error {
		out = found.Summary()
		return nil
	})
	return out, err
}

// Matrix says how the applications that a filter leaves of what may be seen are, for
// each value of by, which is what a summary calls it.
func (s *Fleet) Matrix(ctx context.Context, visible rbac.Filter, filter api.FleetFilter, by string) (out api.FleetMatrix, err error) {
	column, known := map[string]int{
		"agent": census.Agent, "cluster": census.Cluster, "environment": census.Environment, "region": census.Region, "service": census.Service,
		"argoProject": census.ArgoProject, "scope": census.Scope,
	}[by]
	if !known {
		return out, api.Errorf(api.CodeInvalid,
			"%.40q is nothing that applications are put together by: take agent, cluster, environment, region, service, argoProject or scope", by)
	}
	err = s.survey(ctx, visible, filter, func(_ db.Tx, found *census.Selection) error {
		out = found.Matrix(column)
		return nil
	})
	return out, err
}

// ListFleet gives the applications that a filter leaves of what may be seen.
func (s *Fleet) ListFleet(ctx context.Context, visible rbac.Filter, filter api.FleetFilter,
	options api.ListOptions,
) (page api.Page[api.Application], err error) {
	sorts := itemSorts()
	sorts["attention"] = db.Attention
	order, err := db.NewOrder(options, "item.id", sorts)
	if err != nil {
		return page, err
	}
	by := census.Order{By: fleetOrder(order.Column), Down: order.Down, Skip: order.Offset, Limit: order.Limit}
	if order.Start {
		by.After = &census.Mark{ID: order.StartID}
		switch value := order.Value.(type) {
		case int64:
			by.After.Time = value
		case string:
			if by.By != census.ID {
				by.After.Text = value
			}
		}
	}
	err = s.survey(ctx, visible, filter, func(t db.Tx, found *census.Selection) error {
		ids, last := found.Page(by)
		page = api.Page[api.Application]{Total: found.Total()}
		if last != nil {
			switch {
			case db.Numeric(order.Column):
				page.NextCursor = order.Cursor(last.Time, last.ID)
			case by.By == census.ID:
				page.NextCursor = order.Cursor(last.ID, last.ID)
			default:
				page.NextCursor = order.Cursor(last.Text, last.ID)
			}
		}
		var err error
		page.Items, err = readApplications(ctx, t, ids)
		return err
	})
	return page, err
}

// fleetOrder is what the copy calls a column that lists are sorted by.
func fleetOrder(column string) int {
	return map[string]int{
		"item.id": census.ID, "item.name": census.Name, "item.namespace": census.Namespace, "item.agent_id": census.Agent,
		"item.argo_project": census.ArgoProject, "item.scope": census.Scope, "item.changed_at": census.ChangedAt, "item.sync": census.Sync,
		"item.health": census.Health, "item.phase": census.Phase, "item.repo_url": census.Repo, "item.destination": census.Cluster,
		"item.finished_at": census.FinishedAt, "item.service": census.Service, "item.environment": census.Environment,
		"item.drift_since": census.DriftSince,
		db.Attention:       census.Worst,
	}[column]
}

// readApplications reads applications in the order of their ids.
func readApplications(ctx context.Context, t db.Tx, ids []string) ([]api.Application, error) {
	out, places := make([]api.Application, len(ids)), make(map[string]int, len(ids))
	for i, id := range ids {
		places[id] = i
	}
	query := "SELECT " + applicationColumns + " FROM item WHERE item.kind = '" + api.KindApplication + "' AND item.id IN (LIST)"
	err := t.EachOf(ctx, query, nil, ids, func(row db.Row) error {
		var a api.Application
		err := scanApplication(row, &a)
		if at, wanted := places[a.ID]; wanted {
			out[at] = a
			delete(places, a.ID)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read applications: %w", err)
	}
	if len(places) > 0 {
		return nil, fmt.Errorf("read applications: %d of %d that the copy in memory has are not in the database: restart the server",
			len(places), len(ids))
	}
	return out, nil
}

// FleetIDs are the ids of the applications that a filter leaves, in their order:
// one more than limit where there are more.
func (s *Fleet) FleetIDs(ctx context.Context, visible rbac.Filter, filter api.FleetFilter, limit int) (ids []string, err error) {
	err = s.survey(ctx, visible, filter, func(_ db.Tx, found *census.Selection) error {
		ids, _ = found.Page(census.Order{By: census.ID, Limit: limit + 1})
		return nil
	})
	return ids, err
}

const censusColumns = `item.id, item.name, item.sync, item.health, item.phase, item.agent_id, item.destination, item.environment,
	item.service,
	item.argo_project, ` + deployedVersion +
	`, item.scope, item.namespace, item.repo_url, item.repos, item.labels, item.held, item.stale_since,
	item.conditions, item.drift_since, item.finished_at, item.changed_at`

// reader reads what the copy in memory asks for.
type reader struct{ db.Tx }

// ReadFleet gives what changed of applications since editions that are known.
func (t reader) ReadFleet(ctx context.Context,
	known map[string]int64,
) (changed []census.Delta, agents []census.Presence, places map[string]census.Place, err error) {
	places = map[string]census.Place{}
	err = t.Each(ctx, "SELECT id, type, region FROM environment", nil, func(row db.Row) error {
		var id string
		var p census.Place
		err := row.Scan(&id, &p.Type, &p.Region)
		places[id] = p
		return err
	})
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read environments: %w", err)
	}
	query := "SELECT agent.uid, " + awayAgent +
		", COALESCE(e.edition, 0), COALESCE(e.dropped, 0) FROM agent LEFT JOIN item_edition e ON e.agent = agent.uid"
	err = t.Each(ctx, query, nil, func(row db.Row) error {
		var d census.Delta
		var dropped, away int64
		if err := row.Scan(&d.UID, &away, &d.Edition, &dropped); err != nil {
			return err
		}
		agents = append(agents, census.Presence{UID: d.UID, Away: away != 0})
		was, read := known[d.UID]
		if d.Whole = !read || was < dropped || was > d.Edition; d.Whole || was != d.Edition {
			changed = append(changed, d)
		}
		return nil
	})
	for i := range changed {
		if err == nil {
			err = readDelta(ctx, t.Tx, &changed[i], known[changed[i].UID])
		}
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read what applications are counted by: %w", err)
	}
	return changed, agents, places, nil
}

// readDelta reads the rows of an agent: those that came after an edition, or all.
func readDelta(ctx context.Context, t db.Tx, d *census.Delta, after int64) error {
	if d.Whole {
		after = -1
	}
	query := "SELECT " + censusColumns + " FROM item WHERE item.kind = '" + api.KindApplication + "' AND item.agent = ? AND item.edition > ?"
	var err error
	d.Rows, err = db.Collect(ctx, t, query, []any{d.UID, after}, func(row db.Row, r *census.Row) error {
		var held, stale int64
		c := &r.Cells
		err := row.Scan(&r.ID, &c[census.Name], &c[census.Sync], &c[census.Health], &c[census.Phase], &c[census.Agent], &c[census.Cluster],
			&c[census.Environment],
			&c[census.Service], &c[census.ArgoProject], &c[census.Version], &c[census.Scope], &c[census.Namespace],
			&c[census.Repo], &c[census.Repos],
			db.Decode(&r.Labels), &held, &stale, db.Decode(&r.Conditions), &r.DriftSince, &r.FinishedAt, &r.ChangedAt)
		r.Held, r.Stale = held != 0, stale != 0
		return err
	})
	return err
}
