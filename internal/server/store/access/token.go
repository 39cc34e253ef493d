package access

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

const tokenColumns = `token.id, token.name, token.owner_type, token.owner_id, token.permissions, token.ceiling, token.expires_at,
	token.created_at, token.last_used_at`

func scanToken(row db.Row, v *api.Token) error {
	return row.Scan(&v.ID, &v.Name, &v.Owner.Type, &v.Owner.ID, db.Decode(&v.Permissions), (*string)(&v.Scope), db.Instant(&v.ExpiresAt),
		db.Instant(&v.CreatedAt), db.Instant(&v.LastUsedAt))
}

// CreateToken keeps a token, if its grounds hold. ErrExists where its owner has one of that name.
func (s *Tokens) CreateToken(ctx context.Context, v authn.Token, on authn.Grounds) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		scope, table := api.ScopeAccount, "person"
		if v.Owner.Type == api.PrincipalServiceAccount {
			table = "service_account"
			owner, err := AccountKind().Get(ctx, t, v.Owner.ID)
			if err != nil {
				return err
			}
			scope = owner.Scope
		}
		if err := entity.Hold(ctx, t, table, v.Owner.Type, v.Owner.ID); err != nil {
			return err
		}
		if err := stand(ctx, t, on); err != nil {
			return err
		}
		_, err := t.Exec(ctx,
			`INSERT INTO token (id, name, owner_type, owner_id, scope, hash, permissions, ceiling, expires_at, created_at, last_used_at)
			VALUES (`+db.Marks(11)+")", v.ID, v.Name, v.Owner.Type, v.Owner.ID, string(scope), v.Hash, db.Encode(v.Permissions), string(v.Scope),
			v.ExpiresAt, v.CreatedAt, v.LastUsedAt)
		if db.IsExists(err) {
			return db.Exists("token", v.Name)
		}
		if err != nil {
			return fmt.Errorf("keep token: %w", err)
		}
		return nil
	})
}

// AuthToken reads a token with its hash.
func (s *Tokens) AuthToken(ctx context.Context, id string) (authn.Token, error) {
	return db.Get(ctx, s.db, "token", id, "SELECT "+tokenColumns+", token.hash FROM token WHERE id = ?",
		[]any{id}, func(row db.Row, v *authn.Token) error {
			return scanToken(row.With(&v.Hash), &v.Token)
		})
}

// GetToken reads a token without its hash.
func (s *Tokens) GetToken(ctx context.Context, id string) (api.Token, error) {
	v, err := s.AuthToken(ctx, id)
	return v.Token, err
}

// TouchToken notes that a token was used.
func (s *Tokens) TouchToken(ctx context.Context, id string, used time.Time) error {
	return s.db.Run(ctx, "UPDATE token SET last_used_at = ? WHERE id = ? AND last_used_at < ?", used, id, db.Micros(used))
}

// DeleteToken deletes a token.
func (s *Tokens) DeleteToken(ctx context.Context, id string) error {
	return s.db.Change(ctx, "token", id, "DELETE FROM token WHERE id = ?", id)
}

// ListTokens gives the tokens that the filter lets through: those of an owner,
// or all where it is empty.
func (s *Tokens) ListTokens(ctx context.Context, visible rbac.Filter, owner api.Principal,
	options api.ListOptions,
) (api.Page[api.Token], error) {
	w := &db.Where{}
	tokens := db.Guarded{Name: "token", Of: api.TypeToken, Kind: api.TypeToken}
	w.Permitted(tokens, visible)
	if owner != (api.Principal{}) {
		w.And("token.owner_type = ? AND token.owner_id = ?", owner.Type, owner.ID)
	}
	w.Options(tokens, options, "token.name", "token.owner_id")
	return db.List[api.Token]{
		Table: "token", Columns: tokenColumns, ID: "token.id", Sorts: map[string]string{
			"name": "token.name", "createdAt": "token.created_at", "expiresAt": "token.expires_at", "lastUsedAt": "token.last_used_at",
		}, Scan: scanToken, Key: func(v *api.Token) string { return v.ID },
	}.Page(ctx, s.db, w, options)
}
