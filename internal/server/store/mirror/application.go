package mirror

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/delivery"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// applicationColumns are what a list of applications shows.
const applicationColumns = `item.id, item.agent_id, item.namespace, item.name, item.scope, item.argo_project, item.labels,
	item.sync, item.health,
	item.phase, item.message, item.revision, item.repo_url, item.path, item.destination, item.destination_namespace, item.auto_sync,
	item.conditions, item.finished_at, item.changed_at, item.stale_since, item.service, item.environment,
	item.held, item.drift_since, ` + deployedVersion + ", " + itemAge

func scanApplication(row db.Row, a *api.Application) error {
	var namespace string
	var finished, heard time.Time
	var away int64
	err := row.Scan(
		&a.ID, &a.Agent, &a.Namespace, &a.Name, (*string)(&a.Scope), &a.ArgoProject, db.Decode(&a.Labels), &a.Sync, &a.Health,
		&a.Phase, &a.Message, &a.Revision, &a.RepoURL, &a.Path, &a.Destination, &namespace, &a.AutoSync,
		db.Decode(&a.Conditions), db.Instant(&finished), db.Instant(&a.UpdatedAt), db.Instant(&a.StaleSince), &a.Service, &a.Environment,
		&a.Held, db.Instant(&a.DriftSince), &a.Version, &away, db.Instant(&heard),
	)
	a.Age = ageOf(a.StaleSince, a.UpdatedAt, away != 0, heard)
	if namespace != "" {
		a.Destination += "/" + namespace
	}
	if !finished.IsZero() {
		a.FinishedAt = &finished
	}
	return err
}

// ageOf says how old what is known of something is, which its agent has not reported since a time, and reported first as it is at
// another. The agent may be away, and was heard last at a time.
func ageOf(staleSince, updated time.Time, away bool, heard time.Time) api.Age {
	switch {
	case !staleSince.IsZero():
		return api.Age{Stale: true, AsOf: staleSince, AgentAway: away}
	case !away:
		return api.Age{}
	case heard.IsZero(): // it was registered again, and has not connected since
		heard = updated
	}
	return api.Age{Stale: true, AsOf: heard, AgentAway: true}
}

// ListApplications gives what the filter lets through.
func (s *Fleet) ListApplications(ctx context.Context, visible rbac.Filter,
	filter api.ApplicationFilter,
) (api.Page[api.Application], error) {
	return s.ListFleet(ctx, visible, api.FleetFilter{
		Search: filter.Search, Scope: filter.Scope, Labels: filter.Labels, Agent: filter.Agent, ArgoProject: filter.ArgoProject,
		Namespace: filter.Namespace, Sync: filter.Sync, Health: filter.Health, RepoURL: filter.RepoURL, Cluster: filter.Destination,
		Service: filter.Service, Environment: filter.Environment, Stale: filter.Stale,
	}, filter.ListOptions)
}

// GetApplication reads one with its resource.
func (s *Items) GetApplication(ctx context.Context, agent, namespace, name string) (api.ApplicationDetail, error) {
	id := api.ItemID(agent, namespace, name)
	query := "SELECT " + applicationColumns + ", item.body FROM item WHERE item.kind = ? AND item.id = ?"
	return db.Get(ctx, s.db, "application", id, query, []any{api.KindApplication, id}, func(row db.Row, detail *api.ApplicationDetail) error {
		var body string
		err := scanApplication(row.With(&body), &detail.Application)
		detail.Resource = json.RawMessage(body)
		return err
	})
}

const genericColumns = `item.agent_id, item.agent, item.kind, item.namespace, item.name, item.scope, item.argo_project, item.labels,
	item.body,
	item.hash, item.changed_at, item.stale_since, ` + itemAge

func scanItem(row db.Row, i *api.Item) error {
	var body string
	var heard time.Time
	var away int64
	err := row.Scan(
		&i.Agent, &i.AgentUID, &i.Kind, &i.Namespace, &i.Name, (*string)(&i.Scope), &i.ArgoProject, db.Decode(&i.Labels), &body,
		&i.Hash, db.Instant(&i.UpdatedAt), db.Instant(&i.StaleSince), &away, db.Instant(&heard),
	)
	i.Age = ageOf(i.StaleSince, i.UpdatedAt, away != 0, heard)
	if body != "" {
		i.Resource = json.RawMessage(body)
	}
	return err
}

// ListItems gives the items of a kind that the filter lets through.
func (s *Items) ListItems(ctx context.Context, kind string, visible rbac.Filter, filter api.ItemFilter) (api.Page[api.Item], error) {
	w := &db.Where{}
	narrowItems(w, kind, filter, visible)
	return db.List[api.Item]{
		Table: "item", Columns: genericColumns, ID: "item.id", Sorts: itemSorts(), Scan: scanItem, Key: (*api.Item).ID,
	}.Page(ctx, s.db, w, filter.ListOptions)
}

// GetItem reads one item.
func (s *Items) GetItem(ctx context.Context, kind, agent, namespace, name string) (api.Item, error) {
	id := api.ItemID(agent, namespace, name)
	return db.Get(ctx, s.db, kind, id, "SELECT "+genericColumns+" FROM item WHERE item.kind = ? AND item.id = ?", []any{kind, id}, scanItem)
}

// DropItem forgets an item that its agent no longer reports. One that it
// reports stays: it is to be deleted in the cluster.
func (s *Items) DropItem(ctx context.Context, kind, agent, namespace, name string) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		var since int64
		id := api.ItemID(agent, namespace, name)
		err := t.One(ctx, "SELECT stale_since FROM item WHERE kind = ? AND id = ?", []any{kind, id}, &since)
		if err != nil {
			return db.Missing(err, kind, id)
		}
		if since == 0 {
			return &db.Refusal{Kind: db.ErrReferenced, Said: api.Error{
				Code:    api.CodeConflict,
				Message: fmt.Sprintf("the agent still reports %s %q: delete it in the cluster, and its copy is removed automatically", kind, id),
			}}
		}
		var uid string
		if err := t.One(ctx, "SELECT uid FROM agent WHERE id = ?", []any{agent}, &uid); err != nil {
			return err
		}
		if _, err := delivery.Revise(ctx, t, uid, true); err != nil {
			return err
		}
		return dropItems(ctx, t, "kind = ? AND id = ? AND stale_since <> 0", kind, id)
	})
}

// ItemReferences are the applications that use a repository, a cluster or an
// Argo project: as many as an error names.
func (s *Items) ItemReferences(ctx context.Context, item api.Item) ([]api.Ref, error) {
	w := &db.Where{}
	w.And("item.kind = ? AND item.agent_id = ?", api.KindApplication, item.Agent)
	var setting struct {
		Fields map[string]string `json:"fields"`
	}
	_ = strict.Decode(item.Resource, &setting, strict.Foreign) // what cannot be read has no fields
	switch item.Kind {
	case api.KindArgoProject:
		w.And("item.argo_project = ?", item.Name)
	case api.KindRepository:
		if setting.Fields["url"] == "" {
			return nil, nil
		}
		inRepository(w, setting.Fields["url"])
	case api.KindCluster:
		w.And("item.destination IN (?, ?)", cmp.Or(setting.Fields["name"], item.Name), cmp.Or(setting.Fields["server"], item.Name))
	default:
		return nil, nil
	}
	return db.All(ctx, s.db, "SELECT item.id, item.scope FROM item"+w.String()+" ORDER BY item.id LIMIT 100",
		w.Args, func(row db.Row, ref *api.Ref) error {
			ref.Type = api.TypeApplication
			return row.Scan(&ref.ID, (*string)(&ref.Scope))
		})
}
