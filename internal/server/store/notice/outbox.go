package notice

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// outbox is the table of messages: users who may view a rule may view its messages.
func outbox() db.Guarded {
	return db.Guarded{Name: "notification_delivery", Of: api.TypeNotificationRule, Kind: api.TypeNotificationRule}
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

func scanOutbox(row db.Row, d *api.NotificationDelivery) error {
	var body outboxBody
	err := row.Scan(
		&d.ID, &d.Rule, (*string)(&d.Scope), &d.Channel, &d.State, &d.Title, &d.Message, db.Decode(&body),
		&d.Attempts, db.Instant(&d.NextAt), db.Instant(&d.CreatedAt), db.Instant(&d.FinishedAt),
		db.Scanner(func(text string) error { d.Taken = strings.Fields(text); return nil }),
	)
	d.Event, d.Text = body.Event, body.Text
	return err
}

// ListNotifications gives the messages of the rules that the filter lets through.
func (s *Outbox) ListNotifications(ctx context.Context, visible rbac.Filter,
	filter api.DeliveryFilter,
) (api.Page[api.NotificationDelivery], error) {
	w := &db.Where{}
	w.Permitted(outbox(), visible)
	w.Options(outbox(), filter.ListOptions, "notification_delivery.title", "notification_delivery.object_id", "notification_delivery.message")
	w.Is("notification_delivery.id", filter.Rule)
	w.Is("notification_delivery.channel", filter.Channel)
	w.Is("notification_delivery.state", filter.State)
	w.Is("notification_delivery.event", filter.Event)
	w.Is("notification_delivery.object_id", filter.Object)
	return db.List[api.NotificationDelivery]{
		Table: "notification_delivery", Columns: outboxColumns, ID: "notification_delivery.delivery", Sorts: map[string]string{
			"createdAt": "notification_delivery.created_at", "finishedAt": "notification_delivery.finished_at",
			"state": "notification_delivery.state",
		}, Usual: "-createdAt", Scan: scanOutbox, Key: func(d *api.NotificationDelivery) string { return d.ID },
	}.Page(ctx, s.db, w, filter.ListOptions)
}

// GetNotification reads a message.
func (s *Outbox) GetNotification(ctx context.Context, id string) (api.NotificationDelivery, error) {
	return db.Read(ctx, s.db, func(t db.Tx) (api.NotificationDelivery, error) { return readMessage(ctx, t, id) })
}

func readMessage(ctx context.Context, t db.Tx, id string) (api.NotificationDelivery, error) {
	d, err := db.Only(ctx, t, "SELECT "+outboxColumns+" FROM notification_delivery WHERE delivery = ?", []any{id}, scanOutbox)
	return d, db.Missing(err, "delivery", id)
}

// ResendNotification has a message tried again from the first attempt on, immediately.
// Receivers that have it get it again where all have. One that is being sent is a
// conflict.
func (s *Outbox) ResendNotification(ctx context.Context, id string) (d api.NotificationDelivery, err error) {
	err = s.db.Timed(ctx, func(t db.Tx, now int64) error {
		n, err := t.Exec(ctx,
			`UPDATE notification_delivery SET state = ?, attempts = 0, next_at = ?, holder = '', held_until = 0, message = '', finished_at = 0,
			taken = CASE WHEN state = 'Sent' THEN '' ELSE taken END WHERE delivery = ? AND held_until <= ?`, api.DeliveryWaiting, now, id, now)
		if err != nil {
			return err
		}
		if d, err = readMessage(ctx, t, id); err == nil && n == 0 {
			err = &db.Refusal{
				Kind: db.ErrStale,
				Said: api.Error{Code: api.CodeConflict, Message: "delivery " + id + " is being sent just now: look again in a minute"},
			}
		}
		return err
	})
	return d, err
}

// addMessage stores a message unless it is there, and reports whether it did.
// It is sent from a time on, by the clock of the database.
func addMessage(ctx context.Context, t db.Tx, d api.NotificationDelivery, from int64) (bool, error) {
	finished := int64(0)
	if d.State != api.DeliveryWaiting {
		finished = t.Now
	}
	n, err := t.Exec(ctx,
		`INSERT INTO notification_delivery (delivery, id, scope, channel, state, event, object_type, object_id, title, message, body,
		attempts, next_at, holder, held_until, created_at, finished_at) VALUES (`+db.Marks(17)+") ON CONFLICT (delivery) DO NOTHING",
		d.ID, d.Rule, string(d.Scope), d.Channel, d.State, d.Event.Event, d.Event.Object.Type, d.Event.Object.ID, d.Title, d.Message,
		db.Encode(outboxBody{d.Event, d.Text}), 0, from, "", 0, t.Now, finished)
	if err != nil {
		return false, fmt.Errorf("keep notification: %w", err)
	}
	return n > 0, nil
}

// DueChannels returns the channels for which something is to be sent now, and
// in how long the next thing is; less than zero where nothing waits.
func (s *Outbox) DueChannels(ctx context.Context) (due []string, next time.Duration, err error) {
	err = s.db.Read(ctx, func(t db.Tx) error {
		due, next = nil, -1
		now, err := t.Clock(ctx)
		if err != nil {
			return err
		}
		// What another server holds comes up again when its time is over.
		query := `SELECT channel, MIN(CASE WHEN held_until > next_at THEN held_until ELSE next_at END) FROM
			(SELECT channel, CASE WHEN held_until > ? THEN 0 ELSE held_until END AS held_until, CASE WHEN next_at > ?
			THEN 0 ELSE next_at END AS next_at
			FROM notification_delivery WHERE state = 'Waiting') waiting GROUP BY channel ORDER BY channel`
		ahead := now + db.LongestPause.Microseconds()
		return t.Each(ctx, query, []any{ahead, ahead}, func(row db.Row) error {
			var channel string
			var at int64
			err := row.Scan(&channel, &at)
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

// ClaimNotification takes the next message of a channel for a while: no other
// server sends it in the meantime. It reports whether there is one.
func (s *Outbox) ClaimNotification(ctx context.Context, channel, holder string,
	hold time.Duration,
) (d api.NotificationDelivery, there bool, err error) {
	err = s.db.Timed(ctx, func(t db.Tx, now int64) error {
		there = false
		query := `SELECT delivery FROM notification_delivery WHERE state = 'Waiting' AND channel = ? AND (next_at <= ? OR next_at > ?)
			AND (held_until <= ? OR held_until > ?)
			ORDER BY next_at, created_at, delivery LIMIT 1`
		if t.Postgres() {
			query += " FOR UPDATE SKIP LOCKED"
		}
		var id string
		ahead := now + db.LongestPause.Microseconds()
		if err := t.One(ctx, query, []any{channel, now, ahead, now, ahead}, &id); err != nil {
			if db.IsNotFound(err) {
				return nil
			}
			return err
		}
		err := t.Run(ctx, "UPDATE notification_delivery SET holder = ?, held_until = ?, attempts = attempts + 1 WHERE delivery = ?",
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
// another one after a while, and which receivers have it. A server that lost the
// message reports nothing.
func (s *Outbox) EndNotification(ctx context.Context, id, holder, state, message string, again time.Duration, taken []string) error {
	err := s.db.Timed(ctx, func(t db.Tx, now int64) error {
		next, finished := now+again.Microseconds(), int64(0)
		if state != api.DeliveryWaiting {
			finished = now
		}
		return t.Run(ctx,
			`UPDATE notification_delivery SET state = ?, message = ?, next_at = ?, finished_at = ?, holder = '', held_until = 0, taken = ?
			WHERE delivery = ? AND holder = ?`, state, message, next, finished, strings.Join(taken, " "), id, holder)
	})
	if err != nil {
		return fmt.Errorf("keep what came of notification %s: %w", id, err)
	}
	return nil
}

// DropNotifications forgets messages that ended before a time.
func (s *Outbox) DropNotifications(ctx context.Context, before time.Time) error {
	return s.db.Run(ctx, "DELETE FROM notification_delivery WHERE finished_at <> 0 AND finished_at < ?", before)
}
