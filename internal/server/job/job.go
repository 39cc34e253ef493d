// Package job runs bulk jobs: the same with many applications, so many at a time, until too much fails. What it knows is in
// the database, so any server goes on with the jobs of one that ended.
package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/claim"
)

const (
	// hold is for how long a job is claimed, and keep how often the claim is renewed, and the job checked for a stop.
	hold, keep = 30 * time.Second, 2 * time.Second
	// atATime is how many jobs a server runs at a time.
	atATime = 20
	// told is the minimum time between two events of a job.
	told = 500 * time.Millisecond
)

// Storage keeps jobs. What another server has by now is ErrLost, as it is found by Lost.
type Storage interface {
	// ClaimBulk takes a job that no server has; nil where there is none.
	ClaimBulk(ctx context.Context, holder string, hold time.Duration) (j *api.Job, token string, err error)
	HoldBulk(ctx context.Context, id, holder string, hold time.Duration) (stoppedBy string, err error)
	// OpenTargets are those that are not over, those first that have begun.
	OpenTargets(ctx context.Context, job string, limit int) ([]api.JobTarget, error)
	KeepTarget(ctx context.Context, job, holder string, v api.JobTarget) error
	EndBulk(ctx context.Context, id, holder, state, message string) error
	// ReleaseBulk gives a job back, for any server to claim after a while.
	ReleaseBulk(ctx context.Context, id, holder string, after time.Duration) error
	GetJob(ctx context.Context, id string) (api.Job, error)
}

// Work is one application of a job.
type Work struct {
	Job *api.Job
	// Token is the id of the token that the job was asked for with; empty for none.
	Token  string
	Target api.JobTarget
	// Command is the id of the command: the same whichever server gives it, so that the agent does it once.
	Command string
	// Began is called for the operation that the agent has begun, before it is followed.
	Began func(request string) error
}

// Doer does it, on behalf of the user and with their present rights. It returns a state of api.JobTarget that
// is final, and a message for people; an error only where the server cannot go on, such as the end of ctx.
type Doer interface {
	Do(ctx context.Context, w Work) (state, message string, err error)
}

// Config is what a Runner needs.
type Config struct {
	Storage Storage
	Doer    Doer
	// Holder names this server.
	Holder string
	// Changed is called for a job now and then while it continues, and when it has ended.
	Changed func(context.Context, api.Job)
	// Lost is true for the error that says that another server has the job.
	Lost func(error) bool
	Log  *slog.Logger
	Now  func() time.Time
}

// Runner runs jobs.
type Runner struct {
	cfg    Config
	claims *claim.Runner[claimed]

	mu      sync.Mutex
	running map[string]*running
}

// New is a Runner.
func New(cfg Config) *Runner {
	r := &Runner{cfg: cfg, running: map[string]*running{}}
	r.claims = claim.New(claim.Config[claimed]{
		Noun: "job", Most: atATime, Take: r.take, Do: r.one, Lost: cfg.Lost, Log: cfg.Log,
		Release: func(ctx context.Context, id string, after time.Duration) error {
			return cfg.Storage.ReleaseBulk(ctx, id, cfg.Holder, after)
		},
	})
	return r
}

// Stop has a job begin nothing more from now on, if this server runs it.
func (r *Runner) Stop(id, by string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if run := r.running[id]; run != nil {
		run.stop(stoppedBy(by))
	}
}

// has notes which job is being run; nil for one that is not any more.
func (r *Runner) has(id string, run *running) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if run == nil {
		delete(r.running, id)
		return
	}
	r.running[id] = run
}

// claimed is a job that this server has.
type claimed struct {
	job   *api.Job
	token string
}

// Wake has it look for jobs immediately.
func (r *Runner) Wake() { r.claims.Wake() }

// Run runs jobs until ctx ends. Others go on with what it has begun.
func (r *Runner) Run(ctx context.Context) { r.claims.Run(ctx) }

// take claims a job.
func (r *Runner) take(ctx context.Context) (claimed, string, error) {
	j, token, err := r.cfg.Storage.ClaimBulk(ctx, r.cfg.Holder, hold)
	if err != nil || j == nil {
		return claimed{}, "", err
	}
	return claimed{j, token}, j.ID, nil
}

// one runs a job to its end, or until it is another server's.
func (r *Runner) one(ctx context.Context, c claimed) error {
	begun := r.cfg.Now()
	run := &running{Runner: r, job: c.job, token: c.token, changed: make(chan struct{}, 1)}
	r.has(c.job.ID, run)
	err := run.all(ctx)
	r.has(c.job.ID, nil)
	if err != nil {
		return err
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	run.tell(last)
	r.cfg.Log.Info("job is over", "job", c.job.ID, "action", c.job.Request.Action, "took", r.cfg.Now().Sub(begun))
	return nil
}

// running is a job that this server runs.
type running struct {
	*Runner
	job     *api.Job
	token   string
	changed chan struct{} // something is to be reported

	mu       sync.Mutex
	failures int64
	stopped  string // why nothing more is begun; "" while it goes on
	fault    error
}

// all runs what is open.
func (r *running) all(ctx context.Context) error {
	if r.job.StoppedBy != "" {
		r.stop(stoppedBy(r.job.StoppedBy))
	}
	present, err := r.cfg.Storage.GetJob(ctx, r.job.ID)
	if err != nil {
		return fmt.Errorf("read job: %w", err)
	}
	r.fail(present.Counts.Failed + present.Counts.Refused)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var watch sync.WaitGroup
	watch.Go(func() { r.hold(ctx, cancel) })
	watch.Go(func() { r.tells(ctx) })
	err = r.targets(ctx)
	cancel()
	watch.Wait()
	if fault := r.why(); fault != nil {
		return fault
	}
	if err != nil {
		return err
	}
	state, message := api.JobDone, ""
	if message = r.stopping(); message != "" {
		state = api.JobStopped
	}
	end, cancelEnd := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancelEnd()
	return r.cfg.Storage.EndBulk(end, r.job.ID, r.cfg.Holder, state, message)
}

// targets does what is open, so many at a time: the next one begins as soon as one is over.
func (r *running) targets(ctx context.Context) error {
	limit := r.job.Request.Limit
	if limit <= 0 {
		limit = api.DefaultJobLimit
	}
	var group sync.WaitGroup
	defer group.Wait()
	slots := make(chan struct{}, min(limit, api.MaxJobLimit))
	begun := map[int64]bool{}
	for {
		// Those under way are at most half of these, so what is listed shows what is left.
		open, err := r.cfg.Storage.OpenTargets(ctx, r.job.ID, cap(slots)*2)
		if err != nil {
			return fmt.Errorf("read applications of job: %w", err)
		}
		did := false
		for _, t := range open {
			if begun[t.Place] {
				continue
			}
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			if r.why() != nil {
				return nil // it is reported
			}
			// What has begun is waited for, regardless of the server that began it.
			if t.State == api.TargetWaiting && r.stopping() != "" {
				<-slots
				continue
			}
			did, begun[t.Place] = true, true
			group.Go(func() {
				defer func() { <-slots }()
				r.target(ctx, t)
			})
		}
		if !did || ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// target does it with one application.
func (r *running) target(ctx context.Context, t api.JobTarget) {
	work := Work{Job: r.job, Token: r.token, Target: t, Command: fmt.Sprintf("%s-%d", r.job.ID, t.Place)}
	t.State, t.Command = api.TargetRunning, work.Command
	if t.StartedAt.IsZero() {
		t.StartedAt = r.cfg.Now().UTC()
	}
	save := func(ctx context.Context) error { return r.cfg.Storage.KeepTarget(ctx, r.job.ID, r.cfg.Holder, t) }
	if err := save(ctx); err != nil {
		r.broke(err)
		return
	}
	work.Target = t
	work.Began = func(request string) error {
		t.Request = request
		return save(ctx)
	}
	state, message, err := r.cfg.Doer.Do(ctx, work)
	if err != nil {
		r.broke(err)
		return
	}
	t.State, t.Message, t.FinishedAt = state, message, r.cfg.Now().UTC()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := save(last); err != nil {
		r.broke(err)
		return
	}
	if state == api.TargetFailed || state == api.TargetRefused {
		r.fail(1)
	}
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

func (r *running) fail(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures += n
	if most := int64(r.job.Request.StopAfter); most > 0 && r.failures >= most && r.stopped == "" {
		r.stopped = fmt.Sprintf("stopped, since %d failed", r.failures)
	}
}

func (r *running) stop(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped == "" {
		r.stopped = why
	}
}

func stoppedBy(who string) string { return "stopped by " + who }

// stopping is why nothing more is begun.
func (r *running) stopping() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped
}

// broke notes that this server cannot go on.
func (r *running) broke(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault == nil || r.cfg.Lost(err) {
		r.fault = err
	}
}

func (r *running) why() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fault
}

// hold renews the claim on the job, and checks whether a user has stopped it.
func (r *running) hold(ctx context.Context, cancel func()) {
	ticker := time.NewTicker(keep)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		by, err := r.cfg.Storage.HoldBulk(ctx, r.job.ID, r.cfg.Holder, hold)
		switch {
		case err == nil:
			last = time.Now()
			if by != "" {
				r.stop(stoppedBy(by))
			}
		case ctx.Err() != nil:
		case r.cfg.Lost(err) || time.Since(last) > hold/2:
			r.broke(errors.Join(err, errors.New("the job cannot be held any longer")))
			cancel()
			return
		}
	}
}

// tells reports the progress of the job now and then.
func (r *running) tells(ctx context.Context) {
	ticker := time.NewTicker(told)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.changed:
		}
		r.tell(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (r *running) tell(ctx context.Context) {
	if j, err := r.cfg.Storage.GetJob(ctx, r.job.ID); err == nil {
		r.cfg.Changed(ctx, j)
	}
}
