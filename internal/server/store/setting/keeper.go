package setting

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// settingServer is the row of api.Settings.
const settingServer = "settings"

// Settings reads the settings of the server.
func (s *Keeper) Settings(ctx context.Context) (api.Settings, error) {
	return db.Read(ctx, s.db, func(t db.Tx) (api.Settings, error) { return readSettings(ctx, t) })
}

func readSettings(ctx context.Context, t db.Tx) (api.Settings, error) {
	settings := api.Settings{AuditRetentionDays: 365, CommandRetentionDays: 30, LedgerRetentionDays: 400, LedgerRetentionGiB: 10}
	var version int64
	err := t.One(ctx, "SELECT value, version FROM setting WHERE id = ?", []any{settingServer}, db.Decode(&settings), &version)
	settings.Version = version
	if err != nil {
		return settings, fmt.Errorf("read settings: %w", err)
	}
	return settings, nil
}

// SetSettings changes the settings of the server. ErrStale where the version is
// another one than that of the settings; 0 is any.
func (s *Keeper) SetSettings(ctx context.Context, settings api.Settings) (api.Settings, error) {
	err := s.db.Write(ctx, func(t db.Tx) error {
		text, err := json.Marshal(settings)
		if err != nil {
			return fmt.Errorf("write settings: %w", err)
		}
		query, args := "UPDATE setting SET value = ?, version = version + 1 WHERE id = ?", []any{string(text), settingServer}
		if settings.Version != 0 {
			query, args = query+" AND version = ?", append(args, settings.Version)
		}
		n, err := t.Exec(ctx, query, args...)
		if err != nil {
			return fmt.Errorf("change settings: %w", err)
		}
		present, err := readSettings(ctx, t)
		if err == nil && n == 0 {
			return db.Stale("the settings", "", settings.Version, present.Version)
		}
		settings = present
		return err
	})
	return settings, err
}

// Kept is an answer to an idempotent request.
type Kept struct {
	Status int
	Header map[string]string
	Body   []byte
}

// claimTries is how often a key may be released between the attempt to take it
// and the look at its holder.
const claimTries = 3

// Claim takes an idempotency key, or gives what was kept for it. A key that is
// taken and has no answer yet is a conflict, and so is one that was taken for
// another request.
func (s *Claims) Claim(ctx context.Context, key, fingerprint string, until time.Time) (kept *Kept, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		kept = nil
		if err := t.Run(ctx, "DELETE FROM idempotency WHERE expires_at <= ?", t.Now); err != nil {
			return err
		}
		var was, body string
		var done int64
		answer := &Kept{}
		var expires time.Time
		// A key that is taken can be released before it is read: then it is free.
		err := error(db.ErrNotFound)
		for try := 0; try < claimTries && db.IsNotFound(err); try++ {
			n, err1 := t.Exec(ctx, `INSERT INTO idempotency (id, fingerprint, done, status, header, body, expires_at)
				VALUES (?, ?, 0, 0, '', '', ?) ON CONFLICT (id) DO NOTHING`, key, fingerprint, until)
			if err1 != nil || n > 0 {
				return err1
			}
			err = t.One(ctx, "SELECT fingerprint, done, status, header, body, expires_at FROM idempotency WHERE id = ?", []any{key},
				&was, &done, &answer.Status, db.Decode(&answer.Header), &body, db.Instant(&expires))
		}
		switch {
		case db.IsNotFound(err):
			return busy("", 1, "other requests with this idempotency key began and ended at this moment: try again")
		case err != nil:
			return err
		case was != fingerprint:
			return busy("Idempotency-Key", 0, "the idempotency key was used for another request: take a new one")
		case done == 0 && until.Sub(expires) > longestRequest:
			return busy("", 0, "the server stopped while it did this, and does not know the result: "+
				"check whether it was done (the audit log, or the commands of the agent), and send the request again with a new key")
		case done == 0:
			return busy("", 1, "a request with this idempotency key is under way: try again when it has ended")
		}
		answer.Body = []byte(body)
		kept = answer
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("claim idempotency key: %w", err)
	}
	return kept, nil
}

// busy is an error of a key that is another request's.
func busy(field string, retryAfter int, message string) error {
	return &db.Refusal{Kind: db.ErrExists, Said: api.Error{Code: api.CodeConflict, Message: message, Field: field, RetryAfter: retryAfter}}
}

// longestRequest is after what time a request is not under way any more, but was cut off with its server.
const longestRequest = 10 * time.Minute

// Keep keeps the answer for a key that was claimed.
func (s *Claims) Keep(ctx context.Context, key string, answer Kept) error {
	return s.db.Run(ctx, "UPDATE idempotency SET done = 1, status = ?, header = ?, body = ? WHERE id = ?",
		answer.Status, db.Encode(answer.Header), string(answer.Body), key)
}

// Release gives a key back whose request came to nothing.
func (s *Claims) Release(ctx context.Context, key string) error {
	return s.db.Run(ctx, "DELETE FROM idempotency WHERE id = ? AND done = 0", key)
}
