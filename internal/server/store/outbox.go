package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// outbox is the table of messages: who may view a rule may view what it told.
func outbox() guarded {
	return guarded{name: "notification_delivery", of: api.TypeNotificationRule, kind: api.TypeNotificationRule}
}

const outboxColumns = `notification_delivery.delivery, notification_delivery.id, notification_delivery.scope, notification_delivery.channel,
	notification_delivery.state, notification_delivery.title, notification_delivery.message, notification_delivery.body,
	notification_delivery.attempts, notification_delivery.next_at, notification_delivery.created_at, notification_delivery.finished_at,
	notification_delivery.taken`

// outboxBody is what the column body holds.
type outboxBody struct {
	Event api.NotificationEvent `json:"event"`
	Text  string                `json:"text"`
}

func scanOutbox(rows interface{ Scan(...any) error }, d *api.NotificationDelivery, more ...any) error {
	var body outboxBody
	into := []any{
		&d.ID, &d.Rule, (*string)(&d.Scope), &d.Channel, &d.State, &d.Title, &d.Message, decode(&body),
		&d.Attempts, instant(&d.NextAt), instant(&d.CreatedAt), instant(&d.FinishedAt), scanner(func(text string) error { d.Taken = strings.Fields(text); return nil }),
	}
	err := rows.Scan(append(into, more...)...)
	d.Event, d.Text = body.Event, body.Text
	return err
}

// ListNotifications gives the messages of the rules that the filter lets through.
func (s *Store) ListNotifications(ctx context.Context, visible rbac.Filter, filter api.DeliveryFilter) (page api.Page[api.NotificationDelivery], err error) {
	w := &where{}
	w.permitted(outbox(), visible)
	w.options(outbox(), filter.ListOptions, "notification_delivery.title", "notification_delivery.object_id", "notification_delivery.message")
	for _, c := range []struct{ column, value string }{
		{"id", filter.Rule}, {"channel", filter.Channel}, {"state", filter.State}, {"event", filter.Event}, {"object_id", filter.Object},
	} {
		if c.value != "" {
			w.and("notification_delivery."+c.column+" = ?", c.value)
		}
	}
	if filter.Sort == "" {
		filter.Sort = "-createdAt"
	}
	sorts := map[string]string{
		"createdAt": "notification_delivery.created_at", "finishedAt": "notification_delivery.finished_at", "state": "notification_delivery.state",
	}
	order, err := newOrder(filter.ListOptions, "notification_delivery.delivery", sorts)
	if err != nil {
		return page, err
	}
	err = s.read(ctx, func(t tx) error {
		page, err = readPage(ctx, t, "notification_delivery", outboxColumns, w, order,
			func(rows *sql.Rows, d *api.NotificationDelivery, more ...any) error {
				return scanOutbox(rows, d, more...)
			},
			func(d *api.NotificationDelivery) string { return d.ID })
		return err
	})
	return page, err
}

// GetNotification reads a message.
func (s *Store) GetNotification(ctx context.Context, id string) (d api.NotificationDelivery, err error) {
	err = s.read(ctx, func(t tx) error {
		d, err = readMessage(ctx, t, id)
		return err
	})
	return d, err
}

func readMessage(ctx context.Context, t tx, id string) (d api.NotificationDelivery, err error) {
	row := t.QueryRowContext(ctx, t.dialect.rebind("SELECT "+outboxColumns+" FROM notification_delivery WHERE delivery = ?"), clean(id))
	if err = scanOutbox(row, &d); errors.Is(err, sql.ErrNoRows) {
		err = notFound("delivery", id)
	}
	return d, err
}

// ResendNotification has a message tried again from the first attempt on, at once.
// Receivers that have it get it again where all have. One that is on its way is a
// conflict.
func (s *Store) ResendNotification(ctx context.Context, id string) (d api.NotificationDelivery, err error) {
	err = s.write(ctx, func(t tx) error {
		now, err := t.clock(ctx)
		if err != nil {
			return err
		}
		n, err := t.exec(ctx, `UPDATE notification_delivery SET state = ?, attempts = 0, next_at = ?, holder = '', held_until = 0, message = '', finished_at = 0,
			taken = CASE WHEN state = 'Sent' THEN '' ELSE taken END WHERE delivery = ? AND held_until <= ?`, api.DeliveryWaiting, now, id, now)
		if err != nil {
			return err
		}
		if d, err = readMessage(ctx, t, id); err == nil && n == 0 {
			err = &refusal{ErrStale, api.Error{Code: api.CodeConflict, Message: "delivery " + id + " is being sent just now: look again in a minute"}}
		}
		return err
	})
	return d, err
}

// addMessage stores a message unless it is there, and reports whether it did.
// It is sent from a time on, by the clock of the database.
func addMessage(ctx context.Context, t tx, d api.NotificationDelivery, from int64) (bool, error) {
	finished := int64(0)
	if d.State != api.DeliveryWaiting {
		finished = t.now
	}
	n, err := t.exec(ctx, `INSERT INTO notification_delivery (delivery, id, scope, channel, state, event, object_type, object_id, title, message, body,
		attempts, next_at, holder, held_until, created_at, finished_at) VALUES (`+marks(17)+") ON CONFLICT (delivery) DO NOTHING",
		d.ID, d.Rule, string(d.Scope), d.Channel, d.State, d.Event.Event, d.Event.Object.Type, d.Event.Object.ID, d.Title, d.Message,
		encode(outboxBody{d.Event, d.Text}), 0, from, "", 0, t.now, finished)
	if err != nil {
		return false, fmt.Errorf("keep notification: %w", err)
	}
	return n > 0, nil
}

// DueChannels returns the channels for which something is to be sent now, and
// in how long the next thing is; less than zero where nothing waits.
func (s *Store) DueChannels(ctx context.Context) (due []string, next time.Duration, err error) {
	err = s.read(ctx, func(t tx) error {
		due, next = nil, -1
		now, err := t.clock(ctx)
		if err != nil {
			return err
		}
		// What another server holds comes up again when its time is over.
		query := `SELECT channel, MIN(CASE WHEN held_until > next_at THEN held_until ELSE next_at END) FROM
			(SELECT channel, CASE WHEN held_until > ? THEN 0 ELSE held_until END AS held_until, CASE WHEN next_at > ? THEN 0 ELSE next_at END AS next_at
			FROM notification_delivery WHERE state = 'Waiting') waiting GROUP BY channel ORDER BY channel`
		ahead := now + longestPause.Microseconds()
		return t.each(ctx, query, []any{ahead, ahead}, func(rows *sql.Rows) error {
			var channel string
			var at int64
			err := rows.Scan(&channel, &at)
			if wait := time.Duration(at-now) * time.Microsecond; wait <= 0 {
				due = append(due, channel)
			} else if next < 0 || wait < next {
				next = wait
			}
			return err
		})
	})
	if err != nil {
		return nil, -1, fmt.Errorf("look for notifications to send: %w", err)
	}
	return due, next, nil
}

// ClaimNotification takes the next message of a channel for a while: nobody else
// sends it meanwhile. It reports whether there is one.
func (s *Store) ClaimNotification(ctx context.Context, channel, holder string, hold time.Duration) (d api.NotificationDelivery, there bool, err error) {
	err = s.write(ctx, func(t tx) error {
		there = false
		now, err := t.clock(ctx)
		if err != nil {
			return err
		}
		query := `SELECT delivery FROM notification_delivery WHERE state = 'Waiting' AND channel = ? AND (next_at <= ? OR next_at > ?) AND (held_until <= ? OR held_until > ?)
			ORDER BY next_at, created_at, delivery LIMIT 1`
		if t.dialect == postgres {
			query += " FOR UPDATE SKIP LOCKED"
		}
		var id string
		ahead := now + longestPause.Microseconds()
		if err := t.one(ctx, query, []any{channel, now, ahead, now, ahead}, &id); err != nil {
			if isNotFound(err) {
				return nil
			}
			return err
		}
		_, err = t.exec(ctx, "UPDATE notification_delivery SET holder = ?, held_until = ?, attempts = attempts + 1 WHERE delivery = ?",
			holder, now+hold.Microseconds(), id)
		if err != nil {
			return err
		}
		there = true
		d, err = readMessage(ctx, t, id)
		return err
	})
	if err != nil {
		return d, false, fmt.Errorf("claim a notification of %s: %w", channel, err)
	}
	return d, there, nil
}

// EndNotification says what came of an attempt: state Sent or Dead, or Waiting for
// another one after a while, and which receivers have it. Whoever lost the message
// says nothing.
func (s *Store) EndNotification(ctx context.Context, id, holder, state, message string, again time.Duration, taken []string) error {
	err := s.write(ctx, func(t tx) error {
		now, err := t.clock(ctx)
		if err != nil {
			return err
		}
		next, finished := now+again.Microseconds(), int64(0)
		if state != api.DeliveryWaiting {
			finished = now
		}
		_, err = t.exec(ctx, `UPDATE notification_delivery SET state = ?, message = ?, next_at = ?, finished_at = ?, holder = '', held_until = 0, taken = ?
			WHERE delivery = ? AND holder = ?`, state, message, next, finished, strings.Join(taken, " "), id, holder)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep what came of notification %s: %w", id, err)
	}
	return nil
}

// DropNotifications forgets messages that ended before a time.
func (s *Store) DropNotifications(ctx context.Context, before time.Time) error {
	return s.run(ctx, "DELETE FROM notification_delivery WHERE finished_at <> 0 AND finished_at < ?", before)
}
