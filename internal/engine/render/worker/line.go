package worker

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/queue"
)

// Outcome is how a job ended.
type Outcome string

// The outcomes.
const (
	Rendered Outcome = "ok"
	Failed   Outcome = "failed"   // by an error of the source, or for want of memory
	TimedOut Outcome = "timeout"  // it took longer than Limits.Seconds
	Canceled Outcome = "canceled" // its result was not wanted any more
)

// Outcomes returns all outcomes.
func Outcomes() []Outcome { return []Outcome{Rendered, Failed, TimedOut, Canceled} }

// Report is what is known of a job that is over.
type Report struct {
	Outcome Outcome
	Waited  time.Duration // until it began, and while others had its place
	CPU     time.Duration // processor time of its child, all attempts together
	Yielded int           // how often others took its place
}

// pending is a job in the queue. All but begin is guarded by Renderer.mu.
type pending struct {
	id    queue.ID
	begin chan struct{} // wakes Render, which waits for a start; it has room for one

	goes    bool   // it is to run
	stopped bool   // its present attempt was stopped, so that others have its place
	child   *child // while it has one that may be sent signals
	still   bool   // it is to stand still
	halted  time.Time
	report  Report
}

// jobOf names what a request is for. The project is that of the Application; what a project may render was decided before.
func jobOf(req render.Request) queue.Job {
	return queue.Job{
		Project: req.App.Project,
		App:     req.App.Namespace + "/" + req.App.Name,
		Source:  string(req.Tool) + "\x00" + req.Source.RepoURL + "\x00" + req.Source.Chart + "\x00" + req.Source.Path,
	}
}

// Render runs req, prepared by render.Prepare, in a child. Limits.Seconds counts from when a child is free, and not while
// the child stands still for the sake of others. Errors wrap render.ErrTimeout, ErrMemory or render.ErrCrash where the child
// was stopped or died; the next job gets a new one.
func (r *Renderer) Render(ctx context.Context, req render.Request) (render.Result, error) {
	req.Limits = req.Limits.WithDefaults()
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return render.Result{}, ErrClosed
	}
	p := &pending{id: r.queue.Add(jobOf(req), time.Now()), begin: make(chan struct{}, 1)}
	r.jobs[p.id] = p
	r.step()
	r.mu.Unlock()
	for {
		waits := time.Now()
		select {
		case <-p.begin:
		case <-ctx.Done():
			r.leave(p, 0, ctx.Err())
			return render.Result{}, ctx.Err()
		case <-r.quit:
			r.leave(p, 0, ErrClosed)
			return render.Result{}, ErrClosed
		}
		p.report.Waited += time.Since(waits)
		if !r.starts(p) {
			continue
		}
		res, used, err := r.attempt(ctx, p, req)
		if err != nil && r.again(ctx, p, used) {
			continue
		}
		r.leave(p, used, err)
		return res, err
	}
}

// attempt runs a job in a child, and returns the processor time that it took.
func (r *Renderer) attempt(ctx context.Context, p *pending, req render.Request) (render.Result, time.Duration, error) {
	c, err := r.take()
	if err != nil {
		return render.Result{}, 0, err
	}
	defer r.wg.Done()
	used := c.jobs > 0
	res, err := r.runIn(ctx, p, c, req)
	if used && c.dead && !c.heard && ctx.Err() == nil && !errors.Is(err, ErrClosed) && !r.wasStopped(p) {
		// It died while it was idle (of a shortage of memory, say): this job is not to blame.
		c.stop()
		if c, err = start(r.cfg); err != nil {
			return render.Result{}, 0, err
		}
		res, err = r.runIn(ctx, p, c, req)
	}
	took := c.total()
	r.give(c)
	return res, took, err
}

// runIn runs a job in a child, to which signals can be sent as long as it does.
func (r *Renderer) runIn(ctx context.Context, p *pending, c *child, req render.Request) (render.Result, error) {
	c.begin(req)
	r.mu.Lock()
	p.child = c
	if p.still {
		c.pace.pause()
	}
	if p.stopped { // before it had begun
		kill(c.cmd.Process)
	}
	r.mu.Unlock()
	return c.run(ctx, r.quit, req, func() {
		r.mu.Lock()
		p.child = nil
		r.mu.Unlock()
	})
}

// starts begins an attempt, unless the job was stopped again before it came to that.
func (r *Renderer) starts(p *pending) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.stopped = false
	return p.goes
}

// again reports whether an attempt ended only because others had the place of the job, which is to begin again.
func (r *Renderer) again(ctx context.Context, p *pending, used time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	again := p.stopped && ctx.Err() == nil && !r.closed
	if again {
		p.report.CPU += used
	}
	return again
}

func (r *Renderer) wasStopped(p *pending) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return p.stopped
}

// leave takes a job out of the queue, and reports it.
func (r *Renderer) leave(p *pending, used time.Duration, err error) {
	p.report.CPU += used
	switch {
	case err == nil:
		p.report.Outcome = Rendered
	case errors.Is(err, render.ErrTimeout):
		p.report.Outcome = TimedOut
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, ErrClosed):
		p.report.Outcome = Canceled
	default:
		p.report.Outcome = Failed
	}
	r.mu.Lock()
	r.queue.Done(p.id, used, p.report.Outcome != Canceled, time.Now())
	delete(r.jobs, p.id)
	if !p.halted.IsZero() {
		p.report.Waited += time.Since(p.halted)
	}
	r.step()
	r.mu.Unlock()
	if r.cfg.Done != nil {
		r.cfg.Done(p.report)
	}
}

// ask is what the alarm does.
func (r *Renderer) ask() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.step()
}

// step does what the queue says. The lock is held.
func (r *Renderer) step() {
	if r.closed {
		return
	}
	now := time.Now()
	for _, p := range r.jobs {
		if p.child != nil {
			r.queue.Spent(p.id, p.child.spent(), now)
		}
	}
	moves, again := r.queue.Next(now)
	for _, m := range moves {
		r.do(r.jobs[m.ID], m.Act, now)
	}
	if again > 0 {
		r.alarm.Reset(again)
	}
}

func (r *Renderer) do(p *pending, act queue.Act, now time.Time) {
	switch act {
	case queue.Start:
		p.goes = true
		select {
		case p.begin <- struct{}{}:
		default: // it is awake already
		}
	case queue.Pause:
		p.report.Yielded++
		p.still, p.halted = true, now
		if p.child != nil {
			p.child.pace.pause()
		}
	case queue.Resume:
		p.report.Waited += now.Sub(p.halted)
		p.still, p.halted = false, time.Time{}
		if p.child != nil {
			p.child.pace.resume()
		}
	case queue.Restart:
		p.report.Yielded++
		p.goes, p.stopped = false, true
		if p.child != nil {
			kill(p.child.cmd.Process)
		}
	}
}

// Waiting returns how many jobs wait for a child, those that stand still included.
func (r *Renderer) Waiting() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.queue.Waiting()
}
