package mirror

import (
	"context"
	"database/sql"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// ListInstances gives the pods of the applications that the filter lets through,
// an entry for each application that has some.
func (s *Items) ListInstances(ctx context.Context, visible rbac.Filter, filter api.InstanceFilter) (page api.Page[api.Instances], err error) {
	w := &db.Where{}
	narrowItems(w, api.KindApplication, filter.ItemFilter, visible)
	w.And("i.kind = ? AND i.id = item.id", api.KindInstances)
	for column, value := range map[string]string{"service": filter.Service, "environment": filter.Environment, "id": filter.Application} {
		if value != "" {
			w.And("item."+column+" = ?", value)
		}
	}
	if filter.Unready {
		w.And("i.ready < i.total")
	}
	order, err := db.NewOrder(filter.ListOptions, "item.id", itemSorts())
	if err != nil {
		return page, err
	}
	columns := "item.id, item.scope, item.service, item.environment, i.ready, i.total, i.body, i.changed_at, " +
		"CASE WHEN i.stale_since <> 0 THEN i.stale_since ELSE " + agentAwaySince + " END"
	err = s.db.Read(ctx, func(t db.Tx) error {
		page, err = db.ReadPage(ctx, t, "item, item i", columns, w, order, scanInstances, func(v *api.Instances) string { return v.Application })
		return err
	})
	return page, err
}

func scanInstances(rows *sql.Rows, v *api.Instances, more ...any) error {
	var body string
	into := []any{
		&v.Application, (*string)(&v.Scope), &v.Service, &v.Environment, &v.Ready, &v.Total, &body, db.Instant(&v.UpdatedAt), db.Instant(&v.StaleSince),
	}
	if err := rows.Scan(append(into, more...)...); err != nil {
		return err
	}
	v.Instances = []api.Instance{}
	var in struct {
		Instances []api.Instance `json:"instances"`
	}
	_ = strict.Decode([]byte(body), &in, strict.Foreign) // what an agent says wrong is nothing
	if in.Instances != nil {
		v.Instances = in.Instances
	}
	return nil
}
