package setting

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// lockViews is the number of PostgreSQL's lock for saving a view.
const lockViews = 7_301_001

const viewColumns = "owner_id, name, description, filter, created_at, updated_at"

func scanView(row db.Row, v *api.View) error {
	var owner string
	err := row.Scan(&owner, &v.Name, &v.Description, db.Decode(&v.Filter), db.Instant(&v.CreatedAt), db.Instant(&v.UpdatedAt))
	v.Everyone = owner == ""
	return err
}

// ListViews gives the views of a user and those of everyone: by name, one's own first.
func (s *Views) ListViews(ctx context.Context, owner api.Principal) ([]api.View, error) {
	query := "SELECT " + viewColumns + " FROM saved_view WHERE owner_type = ? AND owner_id = ? OR owner_id = '' ORDER BY name, owner_id DESC"
	list, err := db.All(ctx, s.db, query, []any{owner.Type, owner.ID}, scanView)
	return append([]api.View{}, list...), err
}

// GetView reads a view of an owner; of everyone where the owner is empty.
func (s *Views) GetView(ctx context.Context, owner api.Principal, name string) (api.View, error) {
	return db.Read(ctx, s.db, func(t db.Tx) (api.View, error) { return readView(ctx, t, owner, name) })
}

func readView(ctx context.Context, t db.Tx, owner api.Principal, name string) (api.View, error) {
	query := "SELECT " + viewColumns + " FROM saved_view WHERE owner_type = ? AND owner_id = ? AND name = ?"
	v, err := db.Only(ctx, t, query, []any{owner.Type, owner.ID, name}, scanView)
	return v, db.Missing(err, "view", name)
}

// SaveView makes or replaces a view of an owner; of everyone where the owner is empty.
func (s *Views) SaveView(ctx context.Context, owner api.Principal, v api.View) (saved api.View, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		if t.Postgres() { // SQLite has one writer, and here two that come at a time are counted one after the other
			if err := t.Run(ctx, "SELECT pg_advisory_xact_lock(?)", lockViews); err != nil {
				return err
			}
		}
		var others int64
		query := "SELECT COUNT(*) FROM saved_view WHERE owner_type = ? AND owner_id = ? AND name <> ?"
		if err := t.One(ctx, query, []any{owner.Type, owner.ID, v.Name}, &others); err != nil {
			return err
		}
		if others >= api.MaxViews {
			return db.Invalid("name", "there are %d views already: delete an unused one", others)
		}
		_, err := t.Exec(ctx,
			`INSERT INTO saved_view (owner_type, owner_id, name, description, filter, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (owner_type, owner_id, name) DO UPDATE SET description = excluded.description, filter = excluded.filter,
			updated_at = excluded.updated_at`,
			owner.Type, owner.ID, v.Name, v.Description, db.Encode(v.Filter), t.Now, t.Now)
		if err != nil {
			return err
		}
		saved, err = readView(ctx, t, owner, v.Name)
		return err
	})
	return saved, err
}

// DeleteView deletes a view of an owner; of everyone where the owner is empty.
func (s *Views) DeleteView(ctx context.Context, owner api.Principal, name string) error {
	return s.db.Change(ctx, "view", name, "DELETE FROM saved_view WHERE owner_type = ? AND owner_id = ? AND name = ?",
		owner.Type, owner.ID, name)
}
