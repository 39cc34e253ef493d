package mirror

import (
	"context"
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/matrix"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/delivery"
)

// version of an application in SQL, as deployed.version returns it.
const deployedVersion = "COALESCE(NULLIF(item.deployed_tag, ''), NULLIF(item.deployed_chart, ''), item.deployed_commit)"

// running adds which applications count for the matrix.
func narrowRunning(w *db.Where, applications rbac.Filter, filter api.ServiceFilter) {
	w.And("item.kind = ?", api.KindApplication)
	w.Permitted(ItemsOf(api.KindApplication), applications)
	w.Is("item.agent_id", filter.Agent)
	w.Is("item.environment", filter.Environment)
	for column, value := range map[string]string{"type": filter.Type, "region": filter.Region} {
		if value != "" {
			w.And("item.environment IN (SELECT e.id FROM environment e WHERE e."+column+" = ?)", value)
		}
	}
}

// ListServiceRows gives the services that may be seen and have applications that
// may be seen, with where these run.
func (s *Items) ListServiceRows(ctx context.Context, visible, applications rbac.Filter,
	filter api.ServiceFilter,
) (api.Page[api.ServiceRow], error) {
	kept := delivery.Services()
	w := &db.Where{}
	w.Permitted(kept.Guarded(), visible)
	w.Options(kept.Guarded(), filter.ListOptions, "service.name", "service.display_name", "service.description")
	w.Is("service.id", filter.Service)
	// The index item_service has all that this asks of applications.
	inner := &db.Where{}
	inner.And("item.service <> ''")
	narrowRunning(inner, applications, filter)
	group := ""
	if filter.Drift {
		inner.And("item.environment <> '' AND " + deployedVersion + " <> ''")
		group = " GROUP BY item.service HAVING COUNT(DISTINCT " + deployedVersion + ") > 1 AND COUNT(DISTINCT item.environment) > 1"
	}
	w.And("service.id IN (SELECT item.service FROM item"+inner.String()+group+")", inner.Args...)
	return db.Read(ctx, s.db, func(t db.Tx) (page api.Page[api.ServiceRow], err error) {
		found, err := db.List[api.Service]{
			Table: "service", Columns: "service.id, service.name, service.display_name, service.scope", ID: "service.id", Sorts: kept.Sorting(),
			Scan: func(row db.Row, v *api.Service) error {
				return row.Scan(&v.ID, &v.Name, &v.DisplayName, (*string)(&v.Scope))
			},
			Key: func(v *api.Service) string { return v.ID },
		}.In(ctx, t, w, filter.ListOptions)
		if err != nil {
			return page, err
		}
		page = api.Page[api.ServiceRow]{Items: make([]api.ServiceRow, 0, len(found.Items)), Total: found.Total, NextCursor: found.NextCursor}
		places, err := runningOf(ctx, t, found.Items, applications, filter)
		for _, v := range found.Items {
			page.Items = append(page.Items, matrix.Row(v, places[v.ID]))
		}
		return page, err
	})
}

// runningOf reads where the applications of some services run, by service.
func runningOf(ctx context.Context, t db.Tx, of []api.Service, applications rbac.Filter,
	filter api.ServiceFilter,
) (map[string][]matrix.Place, error) {
	out := map[string][]matrix.Place{}
	for part := range slices.Chunk(of, db.Chunk) {
		ids := make([]string, len(part))
		for i, v := range part {
			ids[i] = v.ID
		}
		w := &db.Where{}
		w.Among("item.service", ids)
		w.And("item.service <> ''")
		narrowRunning(w, applications, filter)
		query := `SELECT item.service, item.id, item.sync, item.health,
				CASE WHEN item.stale_since <> 0 THEN item.stale_since ELSE ` + agentAwaySince + ` END,
				item.deployed_image, item.deployed_tag, item.deployed_chart, item.deployed_commit, item.deployed_at,
				item.environment, COALESCE(e.type, ''), COALESCE(e.region, ''), COALESCE(i.ready, 0), COALESCE(i.total, 0)
			FROM item LEFT JOIN environment e ON e.id = item.environment
				LEFT JOIN item i ON i.kind = '` + api.KindInstances + `' AND i.id = item.id` + w.String()
		err := t.Each(ctx, query, w.Args, func(row db.Row) error {
			var service string
			var d deployed
			var p matrix.Place
			err := row.Scan(&service, &p.ID, &p.Sync, &p.Health, db.Instant(&p.StaleSince),
				&d.image, &d.tag, &d.chart, &d.commit, &d.at, &p.Environment, &p.Type, &p.Region, &p.Ready, &p.Total)
			p.Deployed = d.told()
			out[service] = append(out[service], p)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
