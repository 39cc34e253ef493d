package delivery

import (
	"context"
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

// Services describes how services are kept.
func Services() *entity.Kind[api.Service] {
	return &entity.Kind[api.Service]{
		Table: "service", Noun: "service", Kind: api.TypeService,
		Written: func(ctx context.Context, t db.Tx, v, before *api.Service) error {
			if before != nil { // name and scope are what they were
				return nil
			}
			if err := LockLinks(ctx, t, true); err != nil {
				return err
			}
			return relinkNamed(ctx, t, api.LabelService, v.Base())
		},
		References: func(ctx context.Context, t db.Tx, v *api.Service) ([]api.Ref, error) {
			return linkReferences(ctx, t, "service", v.ID)
		},
		Release: func(ctx context.Context, t db.Tx, v *api.Service) error { return unlink(ctx, t, "service", v.Base()) },
	}
}

// relinkNamed assigns the applications again whose label names something
// that is there now.
func relinkNamed(ctx context.Context, t db.Tx, label string, m *api.Meta) error {
	ids, err := db.Column[string](ctx, t, "SELECT id FROM label WHERE type = ? AND name = ? AND value IN (?, ?)",
		api.KindApplication, label, m.Name, m.ID)
	if err != nil {
		return err
	}
	return relinkOf(ctx, t, "id", ids)
}

// relinkOf is Relink for applications that have one of some values in a column.
func relinkOf(ctx context.Context, t db.Tx, column string, values []string) error {
	for part := range slices.Chunk(values, db.Chunk) {
		if err := Relink(ctx, t, column+" IN ("+db.Marks(len(part))+")", db.Anys(part)...); err != nil {
			return err
		}
	}
	return nil
}

// linkReferences are the applications that are of a service or environment, also
// those that are linked to it and not there: as many as an error names.
func linkReferences(ctx context.Context, t db.Tx, column, id string) ([]api.Ref, error) {
	found, err := entity.Refs(ctx, t, "item", api.TypeApplication, column+" = ? AND "+column+" <> ''", id)
	if err != nil {
		return nil, err
	}
	here := map[string]bool{}
	for _, ref := range found {
		here[ref.ID] = true
	}
	query := "SELECT agent, namespace, name FROM application_link WHERE " + column + " = ? ORDER BY agent, namespace, name LIMIT 100"
	err = t.Each(ctx, query, []any{id}, func(row db.Row) error {
		var agent, namespace, name string
		err := row.Scan(&agent, &namespace, &name)
		if at := api.ItemID(agent, namespace, name); !here[at] {
			scope, _, _ := api.ParseID(agent)
			found = append(found, api.Ref{Type: api.TypeApplication, ID: at, Scope: scope})
		}
		return err
	})
	return found, err
}

// unlink has no application be of a service or environment that goes.
func unlink(ctx context.Context, t db.Tx, column string, m *api.Meta) error {
	if err := LockLinks(ctx, t, true); err != nil {
		return err
	}
	if err := t.Run(ctx, "UPDATE application_link SET "+column+" = '', version = version + 1, updated_at = ? WHERE "+column+" = ?",
		t.Now, m.ID); err != nil {
		return err
	}
	if err := t.Run(ctx, "DELETE FROM application_link WHERE service = '' AND environment = ''"); err != nil {
		return err
	}
	// The row itself goes first, so that it is not found again.
	if err := t.Run(ctx, "DELETE FROM "+column+" WHERE id = ?", m.ID); err != nil {
		return err
	}
	return Relink(ctx, t, column+" = ? AND "+column+" <> ''", m.ID)
}
