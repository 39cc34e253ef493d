package access

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

// CreateSession keeps a session, if its grounds hold.
func (s *Sessions) CreateSession(ctx context.Context, v authn.Session, on authn.Grounds) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		if err := entity.Hold(ctx, t, "person", "user", v.User); err != nil {
			return err
		}
		if err := stand(ctx, t, on); err != nil {
			return err
		}
		_, err := t.Exec(ctx, `INSERT INTO session (hash, person, method, ip, user_agent, created_at, seen_at, expires_at)
			VALUES (`+db.Marks(8)+")", v.Hash, v.User, v.Method, v.IP, v.UserAgent, v.CreatedAt, v.SeenAt, v.ExpiresAt)
		if err != nil {
			return fmt.Errorf("keep session: %w", err)
		}
		return nil
	})
}

// stand checks that grounds hold, and holds them until the transaction ends. What would end them waits for it, or was
// waited for.
func stand(ctx context.Context, t db.Tx, on authn.Grounds) error {
	over := api.Errorf(api.CodeUnauthenticated, "a password was changed, or what you signed in with has ended, at this moment: sign in again")
	lock := ""
	if t.Postgres() {
		lock = " FOR SHARE"
	}
	for _, ground := range []struct{ query, key string }{
		{"SELECT password_hash, disabled FROM person WHERE id = ?", on.User},
		{"SELECT '', 0 FROM session WHERE hash = ?", on.Session},
		{"SELECT '', 0 FROM token WHERE id = ?", on.Token},
	} {
		if ground.key == "" {
			continue
		}
		var hash string
		var disabled bool
		err := t.One(ctx, ground.query+lock, []any{ground.key}, &hash, &disabled)
		if db.IsNotFound(err) || err == nil && (disabled || ground.key == on.User && hash != on.PasswordHash) {
			return over
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Session reads a session.
func (s *Sessions) Session(ctx context.Context, hash string) (v authn.Session, err error) {
	err = s.db.Read(ctx, func(t db.Tx) error {
		err := t.One(ctx, "SELECT hash, person, method, ip, user_agent, created_at, seen_at, expires_at FROM session WHERE hash = ?", []any{hash},
			&v.Hash, &v.User, &v.Method, &v.IP, &v.UserAgent, db.Instant(&v.CreatedAt), db.Instant(&v.SeenAt), db.Instant(&v.ExpiresAt))
		return db.Missing(err, "session", "")
	})
	return v, err
}

// TouchSession notes that a session was used.
func (s *Sessions) TouchSession(ctx context.Context, hash string, seen time.Time) error {
	return s.db.Run(ctx, "UPDATE session SET seen_at = ? WHERE hash = ? AND seen_at < ?", seen, hash, db.Micros(seen))
}

// DeleteSession ends a session. One that is not there is no error.
func (s *Sessions) DeleteSession(ctx context.Context, hash string) error {
	return s.db.Run(ctx, "DELETE FROM session WHERE hash = ?", hash)
}

// DeleteSessionsOf ends all sessions of a user.
func (s *Sessions) DeleteSessionsOf(ctx context.Context, user string) error {
	return s.db.Run(ctx, "DELETE FROM session WHERE person = ?", user)
}

// DeleteOldSessions removes those that expired, or were not seen since.
func (s *Sessions) DeleteOldSessions(ctx context.Context, now, unseenSince time.Time) error {
	return s.db.Run(ctx, "DELETE FROM session WHERE expires_at <= ? OR seen_at < ?", now, unseenSince)
}

// Attempt reads what is remembered of wrong passwords for a key, writes what
// next makes of it, and returns that. No other call for the key comes between.
func (s *Sessions) Attempt(ctx context.Context, key string, next func(authn.Attempt) authn.Attempt) (now authn.Attempt, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		// One statement makes the row or locks it: between two, a sign-in at the same moment can remove it.
		var was authn.Attempt
		err := t.One(ctx, `INSERT INTO attempt (id, failures, last_at, locked_until) VALUES (?, 0, 0, 0)
			ON CONFLICT (id) DO UPDATE SET failures = attempt.failures RETURNING failures, last_at, locked_until`,
			[]any{key}, &was.Failures, db.Instant(&was.LastAt), db.Instant(&was.LockedUntil))
		if err != nil {
			return fmt.Errorf("read wrong passwords: %w", err)
		}
		now = next(was)
		return t.Run(ctx, "UPDATE attempt SET failures = ?, last_at = ?, locked_until = ? WHERE id = ?", now.Failures, now.LastAt,
			now.LockedUntil, key)
	})
	return now, err
}

// ClearAttempts forgets a key.
func (s *Sessions) ClearAttempts(ctx context.Context, key string) error {
	return s.db.Run(ctx, "DELETE FROM attempt WHERE id = ?", key)
}

// DeleteOldAttempts forgets those whose last one was before.
func (s *Sessions) DeleteOldAttempts(ctx context.Context, before time.Time) error {
	return s.db.Run(ctx, "DELETE FROM attempt WHERE last_at < ?", before)
}

// CreatePending keeps something that is finished once and soon.
func (s *Sessions) CreatePending(ctx context.Context, p authn.Pending) error {
	return s.db.Run(ctx, "INSERT INTO pending (kind, hash, body, expires_at) VALUES (?, ?, ?, ?)", p.Kind, p.Hash, string(p.Body), p.ExpiresAt)
}

// TakePending gives what is pending and removes it.
func (s *Sessions) TakePending(ctx context.Context, kind, hash string) (p authn.Pending, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		var body string
		p = authn.Pending{Kind: kind, Hash: hash}
		err := t.One(ctx, "DELETE FROM pending WHERE kind = ? AND hash = ? RETURNING body, expires_at", []any{kind, hash}, &body,
			db.Instant(&p.ExpiresAt))
		if db.IsNotFound(err) {
			return db.NotFound(kind, "")
		}
		p.Body = []byte(body)
		return err
	})
	return p, err
}

// DeleteOldPending removes what expired.
func (s *Sessions) DeleteOldPending(ctx context.Context, now time.Time) error {
	return s.db.Run(ctx, "DELETE FROM pending WHERE expires_at <= ?", now)
}
