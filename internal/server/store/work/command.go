package work

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

// AddCommand keeps a command as pending. Its id must never have been used.
func (s *Commands) AddCommand(ctx context.Context, c gateway.Command) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		var agent, scope string
		if err := t.One(ctx, "SELECT id, scope FROM agent WHERE uid = ?", []any{c.Agent}, &agent, &scope); err != nil {
			if db.IsNotFound(err) {
				return gateway.ErrUnknown
			}
			return err
		}
		object := api.Ref{Type: api.TypeAgent, ID: agent, Scope: api.Scope(scope)}
		if c.Target.Name != "" {
			object = api.Ref{Type: entity.TypeOf(c.Target.Kind), ID: api.ItemID(agent, c.Target.Namespace, c.Target.Name), Scope: api.Scope(scope)}
			err := t.One(ctx, "SELECT scope FROM item WHERE kind = ? AND id = ?", []any{string(c.Target.Kind), object.ID}, (*string)(&object.Scope))
			if err != nil && !db.IsNotFound(err) {
				return err
			}
		}
		_, err := t.Exec(ctx, "INSERT INTO command_id (id, created_at) VALUES (?, ?)", c.ID, t.Now)
		if db.IsExists(err) {
			return gateway.ErrExists
		}
		if err != nil {
			return err
		}
		// One row that all of them change puts them in an order.
		var place int64
		if err := t.One(ctx, "UPDATE setting SET version = version + 1 WHERE id = ? RETURNING version", []any{settingCommands},
			&place); err != nil {
			return fmt.Errorf("place command: %w", err)
		}
		body, kept := string(c.Body), keptCommand{Command: c.Command, Trial: c.Trial}
		kept.Body = nil
		_, err = t.Exec(ctx,
			`INSERT INTO command (id, place, agent, agent_id, kind, object_type, object_id, object_scope, command, body, status, code,
			message, result, created_at, sent_at, deadline, finished_at) VALUES (`+db.Marks(18)+")",
			c.ID, place, c.Agent, agent, string(c.Kind), object.Type, object.ID, string(object.Scope), db.Encode(kept), body,
			string(agentapi.StatusPending), "",
			"", "", c.Issued, 0, c.Deadline, 0)
		if err != nil {
			return fmt.Errorf("keep command: %w", err)
		}
		return nil
	})
}

// keptCommand is a command as its row has it: without its body, which has a column of its own.
type keptCommand struct {
	agentapi.Command
	Trial bool `json:"trial,omitempty"`
}

// settingCommands is the row whose version is the place of the newest command.
const settingCommands = "commands"

// MarkSent makes pending commands sent, and returns the ids of those that are
// pending or sent.
func (s *Commands) MarkSent(ctx context.Context, uid string, ids []string, now time.Time) ([]string, error) {
	return db.Write(ctx, s.db, func(t db.Tx) (open []string, err error) {
		const condition = "agent = ? AND finished_at = 0 AND id IN (LIST)"
		err = t.ExecOf(ctx, "UPDATE command SET status = ?, sent_at = CASE WHEN sent_at = 0 THEN ? ELSE sent_at END WHERE "+condition,
			[]any{string(agentapi.StatusSent), now, uid}, ids)
		if err != nil {
			return nil, fmt.Errorf("mark commands as sent: %w", err)
		}
		err = t.EachOf(ctx, "SELECT id FROM command WHERE "+condition+" ORDER BY place", []any{uid}, ids, db.Texts(&open))
		return open, err
	})
}

// FinishCommand keeps the result of a command that has none yet, and reports
// whether it did.
func (s *Commands) FinishCommand(ctx context.Context, uid string, r agentapi.Result, pendingOnly bool,
	now time.Time,
) (done bool, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		done = false
		finished := r.Finished
		if finished.IsZero() {
			finished = now
		}
		condition := "id = ? AND agent = ? AND finished_at = 0"
		args := []any{string(r.Status), string(r.Code), r.Message, string(r.Body), finished, r.ID, uid}
		if pendingOnly {
			condition += " AND status = ?"
			args = append(args, string(agentapi.StatusPending))
		}
		n, err := t.Exec(ctx, "UPDATE command SET status = ?, code = ?, message = ?, result = ?, finished_at = ?, body = '' WHERE "+condition,
			args...)
		if err != nil {
			return fmt.Errorf("keep result of command: %w", err)
		}
		if n > 0 {
			done = true
			return nil
		}
		_, err = readCommands(ctx, t, "id = ? AND agent = ?", r.ID, uid)
		return err
	})
	return done, err
}

// readCommands reads commands; gateway.ErrUnknown where there are none.
func readCommands(ctx context.Context, t db.Tx, condition string, args ...any) ([]gateway.Command, error) {
	query := "SELECT id, command, body, status, code, message, result, finished_at FROM command WHERE " + condition + " ORDER BY place"
	list, err := db.Collect(ctx, t, query, args, func(row db.Row, c *gateway.Command) error {
		var id, body, result string
		var kept keptCommand
		err := row.Scan(&id, db.Decode(&kept), &body, (*string)(&c.Result.Status), (*string)(&c.Result.Code), &c.Result.Message, &result,
			db.Instant(&c.Result.Finished))
		c.Command, c.Trial = kept.Command, kept.Trial
		c.ID, c.Result.ID = id, id
		c.Body, c.Result.Body = db.Raw(body), db.Raw(result)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read commands: %w", err)
	}
	if len(list) == 0 {
		return nil, gateway.ErrUnknown
	}
	return list, nil
}

// OpenCommands returns the commands without a result, in the order they were added.
func (s *Commands) OpenCommands(ctx context.Context, uid string) ([]gateway.Command, error) {
	condition, args := "finished_at = 0", []any(nil)
	if uid != "" {
		condition, args = "finished_at = 0 AND agent = ?", []any{uid}
	}
	list, err := db.Read(ctx, s.db, func(t db.Tx) ([]gateway.Command, error) { return readCommands(ctx, t, condition, args...) })
	if errors.Is(err, gateway.ErrUnknown) {
		return nil, nil
	}
	return list, err
}

// GetCommand returns a command and its result, as far as there is one.
func (s *Commands) GetCommand(ctx context.Context, id string) (gateway.Command, error) {
	return db.Read(ctx, s.db, func(t db.Tx) (c gateway.Command, err error) {
		found, err := readCommands(ctx, t, "id = ?", id)
		if err == nil {
			c = found[0]
		}
		return c, err
	})
}

const shownColumns = `command.id, command.agent_id, command.kind, command.object_type, command.object_id, command.object_scope,
	command.command, command.status, command.message, command.result, command.created_at, command.deadline, command.finished_at`

func scanShown(row db.Row, c *api.Command) error {
	var asked agentapi.Command
	var result string
	err := row.Scan(
		&c.ID, &c.Agent, &c.Kind, &c.Object.Type, &c.Object.ID, (*string)(&c.Object.Scope), db.Decode(&asked), &c.Status,
		&c.Message, &result, db.Instant(&c.CreatedAt), db.Instant(&c.Deadline), db.Instant(&c.FinishedAt),
	)
	c.Reason, c.Result = asked.Reason, db.Raw(result)
	if kind, id, ok := strings.Cut(asked.User, ":"); ok {
		c.By = api.Principal{Type: kind, ID: id}
	}
	return err
}

// ShowCommand reads a command as the API returns it.
func (s *Commands) ShowCommand(ctx context.Context, id string) (api.Command, error) {
	return db.Get(ctx, s.db, "command", id, "SELECT "+shownColumns+" FROM command WHERE id = ?", []any{id}, scanShown)
}

// ListCommands lists the commands of an agent, or of all where it is "": the
// newest first, unless something else is asked for.
func (s *Commands) ListCommands(ctx context.Context, agent string, options api.ListOptions) (api.Page[api.Command], error) {
	w := &db.Where{}
	w.Is("command.agent_id", agent)
	if options.Scope != "" {
		w.Within("command.object_scope", options.Scope)
	}
	w.Contains(options.Search, "command.kind", "command.object_id", "command.message")
	return db.List[api.Command]{
		Table: "command", Columns: shownColumns, ID: "command.id", Sorts: map[string]string{
			"createdAt": "command.created_at", "finishedAt": "command.finished_at", "status": "command.status", "kind": "command.kind",
		}, Usual: "-createdAt", Scan: scanShown, Key: func(c *api.Command) string { return c.ID },
	}.Page(ctx, s.db, w, options)
}

// DropCommands forgets commands that were finished before a time. Their ids stay used.
func (s *Commands) DropCommands(ctx context.Context, before time.Time) (int64, error) {
	return db.Write(ctx, s.db, func(t db.Tx) (int64, error) {
		return t.Exec(ctx, "DELETE FROM command WHERE finished_at <> 0 AND finished_at < ?", before)
	})
}

// OverdueCommands returns the ids of commands without a result whose deadline
// has passed, by the uid of their agent.
func (s *Commands) OverdueCommands(ctx context.Context, now time.Time) (list map[string][]string, err error) {
	err = s.db.Read(ctx, func(t db.Tx) error {
		list = map[string][]string{}
		return t.Each(ctx, "SELECT agent, id FROM command WHERE finished_at = 0 AND deadline <= ?", []any{now}, db.Pair(func(uid, id string) {
			list[uid] = append(list[uid], id)
		}))
	})
	if err != nil {
		return nil, fmt.Errorf("list commands that are overdue: %w", err)
	}
	return list, nil
}
