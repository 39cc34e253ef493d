package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

const tokenColumns = `token.id, token.name, token.owner_type, token.owner_id, token.permissions, token.ceiling, token.expires_at,
	token.created_at, token.last_used_at`

func scanToken(v *api.Token) []any {
	return []any{
		&v.ID, &v.Name, &v.Owner.Type, &v.Owner.ID, decode(&v.Permissions), (*string)(&v.Scope), instant(&v.ExpiresAt),
		instant(&v.CreatedAt), instant(&v.LastUsedAt),
	}
}

// CreateToken keeps a token, if its grounds hold. ErrExists where its owner has one of that name.
func (s *Store) CreateToken(ctx context.Context, v authn.Token, on authn.Grounds) error {
	return s.write(ctx, func(t tx) error {
		scope, table := api.ScopeAccount, "person"
		if v.Owner.Type == api.PrincipalServiceAccount {
			table = "service_account"
			owner, err := serviceAccounts().get(ctx, t, v.Owner.ID)
			if err != nil {
				return err
			}
			scope = owner.Scope
		}
		if err := hold(ctx, t, table, v.Owner.Type, v.Owner.ID); err != nil {
			return err
		}
		if err := stand(ctx, t, on); err != nil {
			return err
		}
		_, err := t.exec(ctx, `INSERT INTO token (id, name, owner_type, owner_id, scope, hash, permissions, ceiling, expires_at, created_at, last_used_at)
			VALUES (`+marks(11)+")", v.ID, v.Name, v.Owner.Type, v.Owner.ID, string(scope), v.Hash, encode(v.Permissions), string(v.Scope),
			v.ExpiresAt, v.CreatedAt, v.LastUsedAt)
		if isExists(err) {
			return exists("token", v.Name)
		}
		if err != nil {
			return fmt.Errorf("keep token: %w", err)
		}
		return nil
	})
}

// AuthToken reads a token with its hash.
func (s *Store) AuthToken(ctx context.Context, id string) (v authn.Token, err error) {
	err = s.read(ctx, func(t tx) error {
		err := t.one(ctx, "SELECT "+tokenColumns+", token.hash FROM token WHERE id = ?", []any{id}, append(scanToken(&v.Token), &v.Hash)...)
		if isNotFound(err) {
			return notFound("token", id)
		}
		return err
	})
	return v, err
}

// GetToken reads a token without its hash.
func (s *Store) GetToken(ctx context.Context, id string) (api.Token, error) {
	v, err := s.AuthToken(ctx, id)
	return v.Token, err
}

// TouchToken notes that a token was used.
func (s *Store) TouchToken(ctx context.Context, id string, used time.Time) error {
	return s.write(ctx, func(t tx) error {
		_, err := t.exec(ctx, "UPDATE token SET last_used_at = ? WHERE id = ? AND last_used_at < ?", used, id, micros(used))
		return err
	})
}

// DeleteToken deletes a token.
func (s *Store) DeleteToken(ctx context.Context, id string) error {
	return s.write(ctx, func(t tx) error {
		n, err := t.exec(ctx, "DELETE FROM token WHERE id = ?", id)
		if err == nil && n == 0 {
			return notFound("token", id)
		}
		return err
	})
}

// ListTokens gives the tokens that the filter lets through: those of an owner,
// or all where it is empty.
func (s *Store) ListTokens(ctx context.Context, visible rbac.Filter, owner api.Principal, options api.ListOptions) (page api.Page[api.Token], err error) {
	order, err := newOrder(options, "token.id", map[string]string{
		"name": "token.name", "createdAt": "token.created_at", "expiresAt": "token.expires_at", "lastUsedAt": "token.last_used_at",
	})
	if err != nil {
		return page, err
	}
	w := &where{}
	tokens := guarded{name: "token", of: api.TypeToken, kind: api.TypeToken}
	w.permitted(tokens, visible)
	if owner != (api.Principal{}) {
		w.and("token.owner_type = ? AND token.owner_id = ?", owner.Type, owner.ID)
	}
	w.options(tokens, options, "token.name", "token.owner_id")
	err = s.read(ctx, func(t tx) error {
		page, err = readPage(ctx, t, "token", tokenColumns, w, order,
			func(rows *sql.Rows, v *api.Token, more ...any) error {
				return rows.Scan(append(scanToken(v), more...)...)
			},
			func(v *api.Token) string { return v.ID })
		return err
	})
	return page, err
}
