package work

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
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
		if err := t.One(ctx, "UPDATE setting SET version = version + 1 WHERE id = ? RETURNING version", []any{settingCommands}, &place); err != nil {
			return fmt.Errorf("place command: %w", err)
		}
		body, kept := string(c.Body), keptCommand{Command: c.Command, Trial: c.Trial}
		kept.Body = nil
		_, err = t.Exec(ctx, `INSERT INTO command (id, place, agent, agent_id, kind, object_type, object_id, object_scope, command, body, status, code,
			message, result, created_at, sent_at, deadline, finished_at) VALUES (`+db.Marks(18)+")",
			c.ID, place, c.Agent, agent, string(c.Kind), object.Type, object.ID, string(object.Scope), db.Encode(kept), body, string(agentapi.StatusPending), "",
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
func (s *Commands) MarkSent(ctx context.Context, uid string, ids []string, now time.Time) (open []string, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		open = nil
		for part := range slices.Chunk(ids, db.Chunk) {
			condition := "agent = ? AND finished_at = 0 AND id IN (" + db.Marks(len(part)) + ")"
			args := append([]any{uid}, db.Anys(part)...)
			set := append([]any{string(agentapi.StatusSent), now}, args...)
			if _, err := t.Exec(ctx, "UPDATE command SET status = ?, sent_at = CASE WHEN sent_at = 0 THEN ? ELSE sent_at END WHERE "+condition, set...); err != nil {
				return fmt.Errorf("mark commands as sent: %w", err)
			}
			if err := t.Each(ctx, "SELECT id FROM command WHERE "+condition+" ORDER BY place", args, db.Collect(&open)); err != nil {
				return err
			}
		}
		return nil
	})
	return open, err
}

// FinishCommand keeps the result of a command that has none yet, and reports
// whether it did.
func (s *Commands) FinishCommand(ctx context.Context, uid string, r agentapi.Result, pendingOnly bool, now time.Time) (done bool, err error) {
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
		n, err := t.Exec(ctx, "UPDATE command SET status = ?, code = ?, message = ?, result = ?, finished_at = ?, body = '' WHERE "+condition, args...)
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

// commands reads commands; gateway.ErrUnknown where there are none.
func readCommands(ctx context.Context, t db.Tx, condition string, args ...any) ([]gateway.Command, error) {
	var list []gateway.Command
	query := "SELECT id, command, body, status, code, message, result, finished_at FROM command WHERE " + condition + " ORDER BY place"
	err := t.Each(ctx, query, args, func(rows *sql.Rows) error {
		var c gateway.Command
		var id, body, result string
		var kept keptCommand
		err := rows.Scan(&id, db.Decode(&kept), &body, (*string)(&c.Result.Status), (*string)(&c.Result.Code), &c.Result.Message, &result,
			db.Instant(&c.Result.Finished))
		c.Command, c.Trial = kept.Command, kept.Trial
		c.ID, c.Result.ID = id, id
		c.Body, c.Result.Body = db.Raw(body), db.Raw(result)
		list = append(list, c)
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
func (s *Commands) OpenCommands(ctx context.Context, uid string) (list []gateway.Command, err error) {
	err = s.db.Read(ctx, func(t db.Tx) error {
		condition, args := "finished_at = 0", []any(nil)
		if uid != "" {
			condition, args = "finished_at = 0 AND agent = ?", []any{uid}
		}
		list, err = readCommands(ctx, t, condition, args...)
		return ignoreUnknown(err)
	})
	return list, err
}

// GetCommand returns a command and its result, as far as there is one.
func (s *Commands) GetCommand(ctx context.Context, id string) (c gateway.Command, err error) {
	err = s.db.Read(ctx, func(t db.Tx) error {
		found, err := readCommands(ctx, t, "id = ?", id)
		if err == nil {
			c = found[0]
		}
		return err
	})
	return c, err
}

const shownColumns = `command.id, command.agent_id, command.kind, command.object_type, command.object_id, command.object_scope,
	command.command, command.status, command.message, command.result, command.created_at, command.deadline, command.finished_at`

func scanShown(rows *sql.Rows, c *api.Command, more ...any) error {
	var asked agentapi.Command
	var result string
	err := rows.Scan(append([]any{
		&c.ID, &c.Agent, &c.Kind, &c.Object.Type, &c.Object.ID, (*string)(&c.Object.Scope), db.Decode(&asked), &c.Status,
		&c.Message, &result, db.Instant(&c.CreatedAt), db.Instant(&c.Deadline), db.Instant(&c.FinishedAt),
	}, more...)...)
	c.Reason, c.Result = asked.Reason, db.Raw(result)
	if kind, id, ok := strings.Cut(asked.User, ":"); ok {
		c.By = api.Principal{Type: kind, ID: id}
	}
	return err
}

// ShowCommand reads a command as the API tells it.
func (s *Commands) ShowCommand(ctx context.Context, id string) (c api.Command, err error) {
	err = s.db.Read(ctx, func(t db.Tx) error {
		err := t.Row(ctx, "SELECT "+shownColumns+" FROM command WHERE id = ?", []any{id}, func(rows *sql.Rows) error {
			return scanShown(rows, &c)
		})
		if db.IsNotFound(err) {
			return db.NotFound("command", id)
		}
		return err
	})
	return c, err
}

// ListCommands lists the commands of an agent, or of all where it is "": the
// newest first, unless something else is asked for.
func (s *Commands) ListCommands(ctx context.Context, agent string, options api.ListOptions) (page api.Page[api.Command], err error) {
	if options.Sort == "" {
		options.Sort = "-createdAt"
	}
	order, err := db.NewOrder(options, "command.id", map[string]string{
		"createdAt": "command.created_at", "finishedAt": "command.finished_at", "status": "command.status", "kind": "command.kind",
	})
	if err != nil {
		return page, err
	}
	w := &db.Where{}
	if agent != "" {
		w.And("command.agent_id = ?", agent)
	}
	if options.Scope != "" {
		condition, args := db.CompileScope("command.object_scope", options.Scope)
		w.And(condition, args...)
	}
	w.Contains(options.Search, "command.kind", "command.object_id", "command.message")
	err = s.db.Read(ctx, func(t db.Tx) error {
		page, err = db.ReadPage(ctx, t, "command", shownColumns, w, order, scanShown, func(c *api.Command) string { return c.ID })
		return err
	})
	return page, err
}

// DropCommands forgets commands that were finished before a time. Their ids stay used.
func (s *Commands) DropCommands(ctx context.Context, before time.Time) (dropped int64, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		dropped, err = t.Exec(ctx, "DELETE FROM command WHERE finished_at <> 0 AND finished_at < ?", before)
		return err
	})
	return dropped, err
}

// OverdueCommands returns the ids of commands without a result whose deadline
// has passed, by the uid of their agent.
func (s *Commands) OverdueCommands(ctx context.Context, now time.Time) (list map[string][]string, err error) {
	err = s.db.Read(ctx, func(t db.Tx) error {
		list = map[string][]string{}
		return t.Each(ctx, "SELECT agent, id FROM command WHERE finished_at = 0 AND deadline <= ?", []any{now}, func(rows *sql.Rows) error {
			var uid, id string
			err := rows.Scan(&uid, &id)
			list[uid] = append(list[uid], id)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list commands that are overdue: %w", err)
	}
	return list, nil
}

// ignoreUnknown drops the error that says that nothing was found.
func ignoreUnknown(err error) error {
	if errors.Is(err, gateway.ErrUnknown) {
		return nil
	}
	return err
}
