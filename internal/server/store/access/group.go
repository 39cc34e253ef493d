package access

import (
	"context"
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

// Groups describes how groups are kept.
func Groups() *entity.Kind[api.Group] {
	return &entity.Kind[api.Group]{
		Table: "team", Noun: "group", Kind: api.TypeGroup,
		Columns: func(g *api.Group) []entity.Column {
			return []entity.Column{{Name: "claim", Value: g.Claim, Into: &g.Claim}}
		},
		Fill:    fillMembers,
		Written: writeMembers,
		References: func(ctx context.Context, t db.Tx, g *api.Group) ([]api.Ref, error) {
			return bindingsOf(ctx, t, api.PrincipalGroup, g.ID)
		},
		Release: func(ctx context.Context, t db.Tx, g *api.Group) error {
			return releasePrincipal(ctx, t, api.PrincipalGroup, g.ID)
		},
	}
}

func fillMembers(ctx context.Context, t db.Tx, list []*api.Group) error {
	byID, ids := entity.ByID(list)
	return t.EachOf(ctx, "SELECT team, person FROM team_member WHERE team IN (LIST) ORDER BY person", nil,
		ids, db.Pair(func(team, person string) {
			byID[team].Members = append(byID[team].Members, person)
		}))
}

// writeMembers makes the members those of the value.
func writeMembers(ctx context.Context, t db.Tx, g, before *api.Group) error {
	var was []string
	if before != nil {
		was = before.Members
	}
	now := slices.Compact(slices.Sorted(slices.Values(g.Members)))
	if err := t.ExecOf(ctx, "DELETE FROM team_member WHERE team = ? AND person IN (LIST)", []any{g.ID}, without(was, now)); err != nil {
		return err
	}
	added := without(now, was)
	known, err := db.IDs(ctx, t, "person", added)
	if err != nil {
		return err
	}
	for _, person := range added {
		if !known[person] {
			return db.Invalid("members", "user %q does not exist", person)
		}
	}
	rows := make([][]any, len(added))
	for i, person := range added {
		rows[i] = []any{g.ID, person}
	}
	return t.Insert(ctx, "team_member (team, person)", rows, "")
}

// without returns what is in one list and not in the other.
func without(list, other []string) []string {
	there := db.Set(other)
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return there[s] })
}
