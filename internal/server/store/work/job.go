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
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// ErrLost says that another server has a job.
var ErrLost = errors.New("the job is another server's")

// AddJob keeps a job with its applications, in their order. token is the id of
// the token that it was asked for with; empty for none.
func (s *Jobs) AddJob(ctx context.Context, j api.Job, token string, applications []string) error {
	err := s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(ctx, `INSERT INTO bulk_job (id, by_type, by_id, token, action, reason, body, state, message, stopped_by, created_at, finished_at, holder, held_until)
			VALUES (`+db.Marks(14)+")", j.ID, j.By.Type, j.By.ID, token, j.Request.Action, j.Request.Reason, db.Encode(jobBody{j.Request, j.Traceparent}), api.JobRunning, "", "", t.Now, 0, "", 0)
		if err != nil {
			return err
		}
		place := 0
		for part := range slices.Chunk(applications, db.RowsAtOnce) {
			args := make([]any, 0, 9*len(part))
			for _, id := range part {
				place++
				args = append(args, j.ID, place, id, api.TargetWaiting, "", "", "", 0, 0)
			}
			line := "(" + db.Marks(9) + ")"
			_, err := t.Exec(ctx, "INSERT INTO bulk_target (job, place, id, state, command, request, message, started_at, finished_at) VALUES "+
				strings.Repeat(line+", ", len(part)-1)+line, args...)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep job: %w", err)
	}
	return nil
}

const jobColumns = "bulk_job.id, bulk_job.by_type, bulk_job.by_id, bulk_job.body, bulk_job.state, bulk_job.message, bulk_job.stopped_by, bulk_job.created_at, bulk_job.finished_at"

// jobBody is what the column body holds.
type jobBody struct {
	api.JobRequest
	Traceparent string `json:"traceparent,omitempty"`
}

func scanJob(rows *sql.Rows, j *api.Job, more ...any) error {
	var body jobBody
	err := rows.Scan(append([]any{
		&j.ID, &j.By.Type, &j.By.ID, db.Decode(&body), &j.State, &j.Message, &j.StoppedBy, db.Instant(&j.CreatedAt), db.Instant(&j.FinishedAt),
	}, more...)...)
	j.Request, j.Traceparent = body.JobRequest, body.Traceparent
	return err
}

// GetJob reads a job with how far it is.
func (s *Jobs) GetJob(ctx context.Context, id string) (j api.Job, err error) {
	err = s.db.Read(ctx, func(t db.Tx) error {
		err := t.Row(ctx, "SELECT "+jobColumns+" FROM bulk_job WHERE id = ?", []any{id}, func(rows *sql.Rows) error {
			return scanJob(rows, &j)
		})
		if db.IsNotFound(err) {
			return db.NotFound("job", id)
		}
		if err == nil {
			err = countTargets(ctx, t, []*api.Job{&j})
		}
		return err
	})
	return j, err
}

// countTargets says how far some jobs are.
func countTargets(ctx context.Context, t db.Tx, jobs []*api.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	byID := map[string]*api.JobCounts{}
	ids := make([]string, len(jobs))
	for i, j := range jobs {
		j.Counts = api.JobCounts{}
		byID[j.ID], ids[i] = &j.Counts, j.ID
	}
	for part := range slices.Chunk(ids, db.Chunk) {
		query := "SELECT job, state, COUNT(*) FROM bulk_target WHERE job IN (" + db.Marks(len(part)) + ") GROUP BY job, state"
		err := t.Each(ctx, query, db.Anys(part), func(rows *sql.Rows) error {
			var id, state string
			var n int64
			if err := rows.Scan(&id, &state, &n); err != nil {
				return err
			}
			c := byID[id]
			c.Total += n
			for name, into := range map[string]*int64{
				api.TargetWaiting: &c.Waiting, api.TargetRunning: &c.Running, api.TargetDone: &c.Done,
				api.TargetFailed: &c.Failed, api.TargetRefused: &c.Refused, api.TargetSkipped: &c.Skipped,
			} {
				if name == state {
					*into = n
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ListJobs lists jobs, the newest first unless something else is asked for.
func (s *Jobs) ListJobs(ctx context.Context, f api.JobFilter) (page api.Page[api.Job], err error) {
	if f.Sort == "" {
		f.Sort = "-createdAt"
	}
	order, err := db.NewOrder(f.ListOptions, "bulk_job.id", map[string]string{"createdAt": "bulk_job.created_at", "state": "bulk_job.state", "action": "bulk_job.action"})
	if err != nil {
		return page, err
	}
	w := &db.Where{}
	if f.State != "" {
		w.And("bulk_job.state = ?", f.State)
	}
	if f.By.ID != "" {
		w.And("bulk_job.by_type = ? AND bulk_job.by_id = ?", f.By.Type, f.By.ID)
	}
	if f.Token != "" {
		w.And("bulk_job.token = ?", f.Token)
	}
	w.Contains(f.Search, "bulk_job.id", "bulk_job.action", "bulk_job.reason", "bulk_job.by_id")
	err = s.db.Read(ctx, func(t db.Tx) error {
		page, err = db.ReadPage(ctx, t, "bulk_job", jobColumns, w, order, scanJob, func(j *api.Job) string { return j.ID })
		if err != nil {
			return err
		}
		jobs := make([]*api.Job, len(page.Items))
		for i := range page.Items {
			jobs[i] = &page.Items[i]
		}
		return countTargets(ctx, t, jobs)
	})
	return page, err
}

// JobToken is the id of the token that a job was asked for with; empty for none.
func (s *Jobs) JobToken(ctx context.Context, id string) (token string, err error) {
	err = s.db.Read(ctx, func(t db.Tx) error {
		return t.Each(ctx, "SELECT token FROM bulk_job WHERE id = ?", []any{id}, func(rows *sql.Rows) error { return rows.Scan(&token) })
	})
	return token, err
}

// ListJobTargets lists the applications of a job by id, unless something else
// is asked for; those of a state where one is named.
func (s *Jobs) ListJobTargets(ctx context.Context, job, state string, options api.ListOptions) (page api.Page[api.JobTarget], err error) {
	order, err := db.NewOrder(options, "bulk_target.id", map[string]string{
		"startedAt": "bulk_target.started_at", "finishedAt": "bulk_target.finished_at", "state": "bulk_target.state",
	})
	if err != nil {
		return page, err
	}
	w := &db.Where{}
	w.And("bulk_target.job = ?", job)
	if state != "" {
		w.And("bulk_target.state = ?", state)
	}
	w.Contains(options.Search, "bulk_target.id", "bulk_target.message")
	err = s.db.Read(ctx, func(t db.Tx) error {
		page, err = db.ReadPage(ctx, t, "bulk_target", targetColumns, w, order, scanTarget, func(v *api.JobTarget) string { return v.Application })
		return err
	})
	return page, err
}

const targetColumns = `bulk_target.place, bulk_target.id, bulk_target.state, bulk_target.command, bulk_target.request, bulk_target.message,
	bulk_target.started_at, bulk_target.finished_at`

func scanTarget(rows *sql.Rows, v *api.JobTarget, more ...any) error {
	return rows.Scan(append([]any{
		&v.Place, &v.Application, &v.State, &v.Command, &v.Request, &v.Message, db.Instant(&v.StartedAt), db.Instant(&v.FinishedAt),
	}, more...)...)
}

// ClaimBulk takes the oldest job for a while that is not over and that nobody
// has, and returns it with its token; none where there is none.
func (s *Jobs) ClaimBulk(ctx context.Context, holder string, hold time.Duration) (j *api.Job, token string, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		j, token = nil, ""
		now, err := t.Clock(ctx)
		if err != nil {
			return err
		}
		query := "SELECT id FROM bulk_job WHERE finished_at = 0 AND (held_until <= ? OR held_until > ?) ORDER BY created_at, id LIMIT 1"
		if t.Postgres() {
			query += " FOR UPDATE SKIP LOCKED"
		}
		var id string
		if err := t.One(ctx, query, []any{now, now + db.LongestPause.Microseconds()}, &id); err != nil {
			if db.IsNotFound(err) {
				return nil
			}
			return err
		}
		if _, err := t.Exec(ctx, "UPDATE bulk_job SET holder = ?, held_until = ? WHERE id = ?", holder, now+hold.Microseconds(), id); err != nil {
			return err
		}
		var found api.Job
		err = t.Each(ctx, "SELECT "+jobColumns+", token FROM bulk_job WHERE id = ?", []any{id}, func(rows *sql.Rows) error { return scanJob(rows, &found, &token) })
		if err == nil {
			j = &found
		}
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("claim a job: %w", err)
	}
	return j, token, nil
}

// HoldBulk keeps a job that was claimed for a while longer, and returns who has
// stopped it; ErrLost where another server has it.
func (s *Jobs) HoldBulk(ctx context.Context, id, holder string, hold time.Duration) (stoppedBy string, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		now, err := t.Clock(ctx)
		if err != nil {
			return err
		}
		err = t.One(ctx, "UPDATE bulk_job SET held_until = ? WHERE id = ? AND holder = ? AND finished_at = 0 RETURNING stopped_by",
			[]any{now + hold.Microseconds(), id, holder}, &stoppedBy)
		if db.IsNotFound(err) {
			return ErrLost
		}
		return err
	})
	return stoppedBy, err
}

// StopBulk notes that somebody wants a job to begin nothing more, and reports
// whether it was under way.
func (s *Jobs) StopBulk(ctx context.Context, id, by string) (was bool, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		n, err := t.Exec(ctx, "UPDATE bulk_job SET stopped_by = ? WHERE id = ? AND finished_at = 0 AND stopped_by = ''", by, id)
		was = n > 0
		return err
	})
	return was, err
}

// OpenTargets are the applications of a job that are not over, in their order,
// those first that have begun; limit of them.
func (s *Jobs) OpenTargets(ctx context.Context, job string, limit int) (list []api.JobTarget, err error) {
	err = s.db.Read(ctx, func(t db.Tx) error {
		list = nil
		for _, state := range []string{api.TargetRunning, api.TargetWaiting} {
			query := "SELECT " + targetColumns + " FROM bulk_target WHERE job = ? AND state = ? ORDER BY place LIMIT ?"
			err := t.Each(ctx, query, []any{job, state, max(limit-len(list), 0)}, func(rows *sql.Rows) error {
				var v api.JobTarget
				err := scanTarget(rows, &v)
				list = append(list, v)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

// KeepTarget writes what came of an application of a job, if the job is still
// the holder's; else it is ErrLost.
func (s *Jobs) KeepTarget(ctx context.Context, job, holder string, v api.JobTarget) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		n, err := t.Exec(ctx, `UPDATE bulk_target SET state = ?, command = ?, request = ?, message = ?, started_at = ?, finished_at = ?
			WHERE job = ? AND place = ? AND EXISTS (SELECT 1 FROM bulk_job WHERE id = ? AND holder = ? AND finished_at = 0)`,
			v.State, v.Command, v.Request, v.Message, v.StartedAt, v.FinishedAt, job, v.Place, job, holder)
		if err == nil && n == 0 {
			return ErrLost
		}
		return err
	})
}

// EndBulk ends a job, if it is still the holder's: what has not begun is skipped.
func (s *Jobs) EndBulk(ctx context.Context, id, holder, state, message string) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		n, err := t.Exec(ctx, "UPDATE bulk_job SET state = ?, message = ?, finished_at = ?, held_until = 0 WHERE id = ? AND holder = ? AND finished_at = 0",
			state, message, t.Now, id, holder)
		if err == nil && n == 0 {
			return ErrLost
		}
		if err != nil {
			return err
		}
		_, err = t.Exec(ctx, "UPDATE bulk_target SET state = ?, finished_at = ? WHERE job = ? AND state = ?", api.TargetSkipped, t.Now, id, api.TargetWaiting)
		return err
	})
}

// ReleaseBulk gives a job back, that any server may go on with after a while.
func (s *Jobs) ReleaseBulk(ctx context.Context, id, holder string, after time.Duration) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		now, err := t.Clock(ctx)
		if err != nil {
			return err
		}
		_, err = t.Exec(ctx, "UPDATE bulk_job SET held_until = ?, holder = '' WHERE id = ? AND holder = ? AND finished_at = 0", now+after.Microseconds(), id, holder)
		return err
	})
}

// DropJobs forgets jobs that ended before a time.
func (s *Jobs) DropJobs(ctx context.Context, before time.Time) error {
	return s.db.Run(ctx, "DELETE FROM bulk_job WHERE finished_at <> 0 AND finished_at < ?", before)
}
