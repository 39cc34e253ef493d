package work

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// Server is one of the servers that share the database.
type Server struct {
	// ID is that of the process.
	ID string
	// Address is where the others reach it, host:port; empty where they cannot.
	Address string
	// KeyPrint distinguishes the keys that servers sign with.
	KeyPrint string
	Version  string
}

// KeepServer says that a server runs, and returns the others that were seen
// within life.
func (s *Servers) KeepServer(ctx context.Context, me Server, life time.Duration) ([]Server, error) {
	return db.Write(ctx, s.db, func(t db.Tx) ([]Server, error) {
		now, err := t.Clock(ctx)
		if err != nil {
			return nil, err
		}
		_, err = t.Exec(ctx, `INSERT INTO server (id, address, key_print, version, started_at, seen_at) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET address = excluded.address, seen_at = excluded.seen_at`,
			me.ID, me.Address, me.KeyPrint, me.Version, now, now)
		if err != nil {
			return nil, fmt.Errorf("keep that this server runs: %w", err)
		}
		query := "SELECT id, address, key_print, version FROM server WHERE id <> ? AND seen_at > ? AND seen_at <= ? ORDER BY started_at, id"
		return db.Collect(ctx, t, query, []any{me.ID, now - life.Microseconds(), now + life.Microseconds()}, func(row db.Row, o *Server) error {
			return row.Scan(&o.ID, &o.Address, &o.KeyPrint, &o.Version)
		})
	})
}

// BuryServers forgets servers that were not seen within life, and those that
// had the address of this one before it: they were killed. What they were
// sending is to be sent now, by the servers that are there. It returns how many there were;
// each is returned to one caller only.
func (s *Servers) BuryServers(ctx context.Context, me Server, life time.Duration) (n int64, err error) {
	err = s.db.Timed(ctx, func(t db.Tx, now int64) error {
		query := "DELETE FROM server WHERE id <> ? AND (seen_at <= ? OR seen_at > ? OR address <> '' AND address = ?) RETURNING id"
		gone, err := db.Column[string](ctx, t, query, me.ID, now-life.Microseconds(), now+life.Microseconds(), me.Address)
		if err != nil {
			return err
		}
		n = int64(len(gone))
		return t.ExecOf(ctx, "UPDATE notification_delivery SET held_until = 0 WHERE state = 'Waiting' AND holder IN (LIST)", nil, gone)
	})
	if err != nil {
		return 0, fmt.Errorf("forget servers that are gone: %w", err)
	}
	return n, nil
}

// StandAlone says that there is no other server: what another one was sending is
// to be sent now.
func (s *Servers) StandAlone(ctx context.Context, me string) error {
	return s.db.Run(ctx, "UPDATE notification_delivery SET held_until = 0 WHERE state = 'Waiting' AND holder <> ?", me)
}

// DropServer forgets a server that ended in order.
func (s *Servers) DropServer(ctx context.Context, id string) error {
	return s.db.Run(ctx, "DELETE FROM server WHERE id = ?", id)
}

// ClaimJob takes a job for a while, and reports whether it did: it is due, and
// no other server has it. The server that has it claims it again before the time is over.
func (s *Servers) ClaimJob(ctx context.Context, job, holder string, hold time.Duration) (mine bool, err error) {
	err = s.db.Timed(ctx, func(t db.Tx, now int64) error {
		n, err := t.Exec(ctx, `INSERT INTO job (id, holder, held_until, due_at) VALUES (?, ?, ?, 0)
			ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
			WHERE (job.due_at <= ? OR job.due_at > ?) AND (job.held_until <= ? OR job.held_until > ? OR job.holder = excluded.holder)`,
			job, holder, now+hold.Microseconds(), now, now+db.LongestPause.Microseconds(), now, now+(hold+db.ClockAhead).Microseconds())
		mine = n > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("claim job %s: %w", job, err)
	}
	return mine, nil
}

// EndJob gives a job back that is to be done again after a while.
func (s *Servers) EndJob(ctx context.Context, job, holder string, again time.Duration) error {
	err := s.db.Timed(ctx, func(t db.Tx, now int64) error {
		return t.Run(ctx, "UPDATE job SET held_until = 0, due_at = ? WHERE id = ? AND holder = ?", now+again.Microseconds(), job, holder)
	})
	if err != nil {
		return fmt.Errorf("end job %s: %w", job, err)
	}
	return nil
}

// JobDue returns when a job is, or was, to be done next; no time for one that was never done.
func (s *Servers) JobDue(ctx context.Context, job string) (due time.Time, err error) {
	var at int64
	err = s.db.One(ctx, "SELECT due_at FROM job WHERE id = ?", []any{job}, &at)
	if err != nil && !db.IsNotFound(err) {
		return time.Time{}, fmt.Errorf("read when job %s is due: %w", job, err)
	}
	if at > 0 {
		due = time.UnixMicro(at).UTC()
	}
	return due, nil
}
