package mirror

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// ListInstances gives the pods of the applications that the filter lets through,
// an entry for each application that has some.
func (s *Items) ListInstances(ctx context.Context, visible rbac.Filter, filter api.InstanceFilter) (api.Page[api.Instances], error) {
	w := &db.Where{}
	narrowItems(w, api.KindApplication, filter.ItemFilter, visible)
	w.And("i.kind = ? AND i.id = item.id", api.KindInstances)
	w.Is("item.service", filter.Service)
	w.Is("item.environment", filter.Environment)
	w.Is("item.id", filter.Application)
	if filter.Unready {
		w.And("i.ready < i.total")
	}
	return db.List[api.Instances]{
		Table: "item, item i", Columns: "item.id, item.scope, item.service, item.environment, i.ready, i.total, i.body, i.changed_at, " +
			"CASE WHEN i.stale_since <> 0 THEN i.stale_since ELSE " + agentAwaySince + " END",
		ID: "item.id", Sorts: itemSorts(), Scan: scanInstances, Key: func(v *api.Instances) string { return v.Application },
	}.Page(ctx, s.db, w, filter.ListOptions)
}

func scanInstances(row db.Row, v *api.Instances) error {
	var body string
	err := row.Scan(&v.Application, (*string)(&v.Scope), &v.Service, &v.Environment, &v.Ready, &v.Total, &body, db.Instant(&v.UpdatedAt),
		db.Instant(&v.StaleSince))
	if err != nil {
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
