package access

import (
	"context"
	"database/sql"
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

// Groups describes how groups are kept.
func Groups() *entity.Kind[api.Group] {
	return &entity.Kind[api.Group]{
		Table: "team", Noun: "group", Kind: api.TypeGroup,
		Meta: func(g *api.Group) *api.Meta { return &g.Meta },
		ID:   func(g *api.Group) string { return g.Scope.ID(g.Name) },
		Columns: func(g *api.Group) []entity.Column {
			return []entity.Column{{Name: "claim", Value: g.Claim, Into: &g.Claim}}
		},
		Sorts:   entity.Sorts("team"),
		Fill:    fillMembers,
		Written: writeMembers,
		References: func(ctx context.Context, t db.Tx, g *api.Group) ([]api.Ref, error) {
			return Bindings().Refs(ctx, t, "principal_type = ? AND principal_id = ?", api.PrincipalGroup, g.ID)
		},
		Release: func(ctx context.Context, t db.Tx, g *api.Group) error {
			return releasePrincipal(ctx, t, api.PrincipalGroup, g.ID)
		},
	}
}

func fillMembers(ctx context.Context, t db.Tx, list []*api.Group) error {
	byID, ids := map[string]*api.Group{}, make([]string, 0, len(list))
	for _, g := range list {
		byID[g.ID] = g
		ids = append(ids, g.ID)
	}
	for part := range slices.Chunk(ids, db.Chunk) {
		query := "SELECT team, person FROM team_member WHERE team IN (" + db.Marks(len(part)) + ") ORDER BY person"
		err := t.Each(ctx, query, db.Anys(part), func(rows *sql.Rows) error {
			var team, person string
			err := rows.Scan(&team, &person)
			if g := byID[team]; g != nil {
				g.Members = append(g.Members, person)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// writeMembers makes the members those of the value.
func writeMembers(ctx context.Context, t db.Tx, g, before *api.Group) error {
	var was []string
	if before != nil {
		was = before.Members
	}
	now := slices.Compact(slices.Sorted(slices.Values(g.Members)))
	for part := range slices.Chunk(without(was, now), db.Chunk) {
		args := append([]any{g.ID}, db.Anys(part)...)
		if _, err := t.Exec(ctx, "DELETE FROM team_member WHERE team = ? AND person IN ("+db.Marks(len(part))+")", args...); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(without(now, was), db.Chunk) {
		var known []string
		if err := t.Each(ctx, "SELECT id FROM person WHERE id IN ("+db.Marks(len(part))+")", db.Anys(part), db.Collect(&known)); err != nil {
			return err
		}
		if missing := without(part, known); len(missing) > 0 {
			return db.Invalid("members", "user %q does not exist", missing[0])
		}
		for _, person := range part {
			if _, err := t.Exec(ctx, "INSERT INTO team_member (team, person) VALUES (?, ?)", g.ID, person); err != nil {
				return err
			}
		}
	}
	return nil
}

// without returns what is in one list and not in the other.
func without(list, other []string) []string {
	there := map[string]bool{}
	for _, s := range other {
		there[s] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return there[s] })
}
