package work

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/event"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

const (
	// eventsKept is how many events stay: twice what a server has in memory, so
	// that one that reads slowly finds what it lacks.
	eventsKept = 2 * event.DefaultKept
	// placeEvents is the row of event_place.
	placeEvents = "events"
)

// OpenEvents returns what distinguishes the numbers of this database's
// events from those of another, and the number of the newest.
func (s *Events) OpenEvents(ctx context.Context) (run string, newest int64, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(ctx, "INSERT INTO event_place (id, run, number) VALUES (?, ?, 0) ON CONFLICT (id) DO NOTHING", placeEvents,
			strings.ToLower(rand.Text()[:10]))
		if err != nil {
			return err
		}
		return t.One(ctx, "SELECT run, number FROM event_place WHERE id = ?", []any{placeEvents}, &run, &newest)
	})
	if err != nil {
		return "", 0, fmt.Errorf("open the events: %w", err)
	}
	return run, newest, nil
}

// AppendEvents keeps events behind the newest, in one transaction that makes
// others wait: a reader of a number has been able to read all before it. It
// returns the number of the last one.
func (s *Events) AppendEvents(ctx context.Context, events []api.Event) (last int64, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		err := t.One(ctx, "UPDATE event_place SET number = number + ? WHERE id = ? RETURNING number", []any{len(events), placeEvents}, &last)
		if err != nil {
			return err
		}
		rows := make([][]any, len(events))
		for i, e := range events {
			raw, err := json.Marshal(e)
			if err != nil {
				return fmt.Errorf("write event %s: %w", e.Type, err)
			}
			rows[i] = []any{last - int64(len(events)-1-i), string(raw)}
		}
		if err := t.Insert(ctx, "event (number, body)", rows, ""); err != nil {
			return err
		}
		return t.Run(ctx, "DELETE FROM event WHERE number <= ?", last-eventsKept)
	})
	if err != nil {
		return 0, fmt.Errorf("keep events: %w", err)
	}
	return last, nil
}

// EventsAfter returns events with numbers above one, in their order.
func (s *Events) EventsAfter(ctx context.Context, after int64, limit int) ([]event.Numbered, error) {
	query := "SELECT number, body FROM event WHERE number > ? ORDER BY number LIMIT ?"
	list, err := db.All(ctx, s.db, query, []any{after, limit},
		func(row db.Row, e *event.Numbered) error { return row.Scan(&e.Number, db.Decode(&e.Event)) })
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return list, nil
}
