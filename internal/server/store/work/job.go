package work

import (
	"context"
	"errors"
	"fmt"
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
		_, err := t.Exec(ctx,
			`INSERT INTO bulk_job (id, by_type, by_id, token, action, reason, body, state, message, stopped_by, created_at, finished_at,
				holder, held_until)
			VALUES (`+db.Marks(14)+")", j.ID, j.By.Type, j.By.ID, token, j.Request.Action, j.Request.Reason,
			db.Encode(jobBody{j.Request, j.Traceparent}), api.JobRunning, "", "", t.Now, 0, "", 0)
		if err != nil {
			return err
		}
		rows := make([][]any, len(applications))
		for i, id := range applications {
			rows[i] = []any{j.ID, i + 1, id, api.TargetWaiting, "", "", "", 0, 0}
		}
		return t.Insert(ctx, "bulk_target (job, place, id, state, command, request, message, started_at, finished_at)", rows, "")
	})
	if err != nil {
		return fmt.Errorf("keep job: %w", err)
	}
	return nil
}

const jobColumns = "bulk_job.id, bulk_job.by_type, bulk_job.by_id, bulk_job.body, bulk_job.state, bulk_job.message, bulk_job.stopped_by, " +
	"bulk_job.created_at, bulk_job.finished_at"

// jobBody is what the column body holds.
type jobBody struct {
	api.JobRequest
	Traceparent string `json:"traceparent,omitempty"`
}

func scanJob(row db.Row, j *api.Job) error {
	var body jobBody
	err := row.Scan(&j.ID, &j.By.Type, &j.By.ID, db.Decode(&body), &j.State, &j.Message, &j.StoppedBy, db.Instant(&j.CreatedAt),
		db.Instant(&j.FinishedAt))
	j.Request, j.Traceparent = body.JobRequest, body.Traceparent
	return err
}

// GetJob reads a job with how far it is.
func (s *Jobs) GetJob(ctx context.Context, id string) (api.Job, error) {
	return db.Read(ctx, s.db, func(t db.Tx) (api.Job, error) {
		j, err := db.Only(ctx, t, "SELECT "+jobColumns+" FROM bulk_job WHERE id = ?", []any{id}, scanJob)
		if err != nil {
			return j, db.Missing(err, "job", id)
		}
		err = countTargets(ctx, t, []*api.Job{&j})
		return j, err
	})
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
	query := "SELECT job, state, COUNT(*) FROM bulk_target WHERE job IN (LIST) GROUP BY job, state"
	return t.EachOf(ctx, query, nil, ids, func(row db.Row) error {
		var id, state string
		var n int64
		if err := row.Scan(&id, &state, &n); err != nil {
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
}

// ListJobs lists jobs, the newest first unless something else is asked for.
func (s *Jobs) ListJobs(ctx context.Context, f api.JobFilter) (api.Page[api.Job], error) {
	w := &db.Where{}
	w.Is("bulk_job.state", f.State)
	if f.By.ID != "" {
		w.And("bulk_job.by_type = ? AND bulk_job.by_id = ?", f.By.Type, f.By.ID)
	}
	w.Is("bulk_job.token", f.Token)
	w.Contains(f.Search, "bulk_job.id", "bulk_job.action", "bulk_job.reason", "bulk_job.by_id")
	return db.Read(ctx, s.db, func(t db.Tx) (api.Page[api.Job], error) {
		page, err := db.List[api.Job]{
			Table: "bulk_job", Columns: jobColumns, ID: "bulk_job.id", Sorts: map[string]string{
				"createdAt": "bulk_job.created_at", "state": "bulk_job.state", "action": "bulk_job.action",
			}, Usual: "-createdAt", Scan: scanJob, Key: func(j *api.Job) string { return j.ID },
		}.In(ctx, t, w, f.ListOptions)
		if err != nil {
			return page, err
		}
		jobs := make([]*api.Job, len(page.Items))
		for i := range page.Items {
			jobs[i] = &page.Items[i]
		}
		return page, countTargets(ctx, t, jobs)
	})
}

// JobToken is the id of the token that a job was asked for with; empty for none.
func (s *Jobs) JobToken(ctx context.Context, id string) (token string, err error) {
	if err = s.db.One(ctx, "SELECT token FROM bulk_job WHERE id = ?", []any{id}, &token); db.IsNotFound(err) {
		return "", nil
	}
	return token, err
}

// ListJobTargets lists the applications of a job by id, unless something else
// is asked for; those of a state where one is named.
func (s *Jobs) ListJobTargets(ctx context.Context, job, state string, options api.ListOptions) (api.Page[api.JobTarget], error) {
	w := &db.Where{}
	w.And("bulk_target.job = ?", job)
	w.Is("bulk_target.state", state)
	w.Contains(options.Search, "bulk_target.id", "bulk_target.message")
	return db.List[api.JobTarget]{
		Table: "bulk_target", Columns: targetColumns, ID: "bulk_target.id", Sorts: map[string]string{
			"startedAt": "bulk_target.started_at", "finishedAt": "bulk_target.finished_at", "state": "bulk_target.state",
		}, Scan: scanTarget, Key: func(v *api.JobTarget) string { return v.Application },
	}.Page(ctx, s.db, w, options)
}

const targetColumns = `bulk_target.place, bulk_target.id, bulk_target.state, bulk_target.command, bulk_target.request, bulk_target.message,
	bulk_target.started_at, bulk_target.finished_at`

func scanTarget(row db.Row, v *api.JobTarget) error {
	return row.Scan(&v.Place, &v.Application, &v.State, &v.Command, &v.Request, &v.Message, db.Instant(&v.StartedAt),
		db.Instant(&v.FinishedAt))
}

// ClaimBulk takes the oldest job for a while that is not over and that no
// server has, and returns it with its token; none where there is none.
func (s *Jobs) ClaimBulk(ctx context.Context, holder string, hold time.Duration) (j *api.Job, token string, err error) {
	err = s.db.Timed(ctx, func(t db.Tx, now int64) error {
		j, token = nil, ""
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
		if err := t.Run(ctx, "UPDATE bulk_job SET holder = ?, held_until = ? WHERE id = ?", holder, now+hold.Microseconds(), id); err != nil {
			return err
		}
		found, err := db.Only(ctx, t, "SELECT "+jobColumns+", token FROM bulk_job WHERE id = ?", []any{id}, func(row db.Row, j *api.Job) error {
			return scanJob(row.With(&token), j)
		})
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
	err = s.db.Timed(ctx, func(t db.Tx, now int64) error {
		err := t.One(ctx, "UPDATE bulk_job SET held_until = ? WHERE id = ? AND holder = ? AND finished_at = 0 RETURNING stopped_by",
			[]any{now + hold.Microseconds(), id, holder}, &stoppedBy)
		if db.IsNotFound(err) {
			return ErrLost
		}
		return err
	})
	return stoppedBy, err
}

// StopBulk notes that a job is to start no further applications, and reports
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
func (s *Jobs) OpenTargets(ctx context.Context, job string, limit int) ([]api.JobTarget, error) {
	return db.Read(ctx, s.db, func(t db.Tx) (list []api.JobTarget, err error) {
		for _, state := range []string{api.TargetRunning, api.TargetWaiting} {
			query := "SELECT " + targetColumns + " FROM bulk_target WHERE job = ? AND state = ? ORDER BY place LIMIT ?"
			found, err := db.Collect(ctx, t, query, []any{job, state, max(limit-len(list), 0)}, scanTarget)
			if err != nil {
				return nil, err
			}
			list = append(list, found...)
		}
		return list, nil
	})
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
		n, err := t.Exec(ctx, "UPDATE bulk_job SET state = ?, message = ?, finished_at = ?, held_until = 0 WHERE id = ? "+
			"AND holder = ? AND finished_at = 0",
			state, message, t.Now, id, holder)
		if err == nil && n == 0 {
			return ErrLost
		}
		if err != nil {
			return err
		}
		return t.Run(ctx, "UPDATE bulk_target SET state = ?, finished_at = ? WHERE job = ? AND state = ?", api.TargetSkipped, t.Now,
			id, api.TargetWaiting)
	})
}

// ReleaseBulk gives a job back, that any server may go on with after a while.
func (s *Jobs) ReleaseBulk(ctx context.Context, id, holder string, after time.Duration) error {
	return s.db.Timed(ctx, func(t db.Tx, now int64) error {
		return t.Run(ctx, "UPDATE bulk_job SET held_until = ?, holder = '' WHERE id = ? AND holder = ? AND finished_at = 0",
			now+after.Microseconds(), id, holder)
	})
}

// DropJobs forgets jobs that ended before a time.
func (s *Jobs) DropJobs(ctx context.Context, before time.Time) error {
	return s.db.Run(ctx, "DELETE FROM bulk_job WHERE finished_at <> 0 AND finished_at < ?", before)
}
