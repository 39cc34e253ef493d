package mirror

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/delivery"
)

// rejudge has ApplicationSets belong where this program says. An earlier one may have gone by another rule, and an agent reports
// a set again only when it changes: until then it would be seen and changed with the rights to a project that it reaches beyond.
func (s *Copies) rejudge(ctx context.Context) error {
	type set struct{ agent, entry, hash, project string }
	var moved []set
	err := s.db.Read(ctx, func(t db.Tx) error {
		moved = nil
		query := "SELECT agent, entry, hash, name, argo_project, body FROM item WHERE kind = ?"
		return t.Each(ctx, query, []any{string(agentapi.ItemApplicationSet)}, func(row db.Row) error {
			var m set
			var name, was, body string
			if err := row.Scan(&m.agent, &m.entry, &m.hash, &name, &was, &body); err != nil {
				return err
			}
			if m.project = readFields(agentapi.ItemApplicationSet, name, json.RawMessage(body)).argoProject; m.project != was {
				moved = append(moved, m)
			}
			return nil
		})
	})
	if err != nil || len(moved) == 0 {
		return err
	}
	err = s.db.Write(ctx, func(t db.Tx) error {
		for _, m := range moved {
			var id string
			var scope api.Scope
			if err := t.One(ctx, "SELECT id, scope FROM agent WHERE uid = ?", []any{m.agent}, &id, (*string)(&scope)); err != nil {
				if db.IsNotFound(err) {
					continue // it was deleted in the meantime, with its items
				}
				return err
			}
			where, err := delivery.ReadPlaces(ctx, t, id, scope)
			if err != nil {
				return err
			}
			edition, err := delivery.Revise(ctx, t, m.agent, false)
			if err != nil {
				return err
			}
			_, err = t.Exec(ctx, "UPDATE item SET argo_project = ?, scope = ?, edition = ? WHERE agent = ? AND entry = ? AND hash = ?",
				m.project, string(where.Of(m.project)), edition, m.agent, m.entry, m.hash)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("move ApplicationSets to where they belong: %w", err)
	}
	return nil
}
