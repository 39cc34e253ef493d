package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

// lookAnyway is how often a job is looked at without an event: events are a hint.
const lookAnyway = 2 * time.Second

// follower says what becomes of the applications of a job: as they end, and how far it is on a terminal.
type follower struct {
	*connect.Common
	server *connect.Server
	id     string
	seen   map[string]bool // applications whose result was printed
}

// untilOver follows the job to its end, prints what came of each application, and is an error where that is not good.
func (f *follower) untilOver(ctx context.Context, timeout time.Duration, n names) error {
	limited := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	job, err := f.follow(limited)
	f.Status("")
	goesOn := fmt.Sprintf("the job goes on: `slipway job get %s` shows how far it is, `slipway job stop %s` stops it", f.id, f.id)
	switch {
	case err == nil:
	case interrupted(ctx):
		return errors.New("interrupted; " + goesOn)
	case limited.Err() != nil:
		return iostream.NotYetf("it is not over after %s; %s", timeout, goesOn)
	default:
		return f.server.Explain(err)
	}
	targets, err := client.All(api.ListOptions{}, func(o api.ListOptions) (api.Page[api.JobTarget], error) {
		return f.server.Client.JobTargets(ctx, f.id, "", o)
	})
	if err != nil {
		return f.server.Explain(err)
	}
	if err := f.printEnd(&job, targets, n); err != nil {
		return err
	}
	return verdict(&job)
}

func (f *follower) printEnd(j *api.Job, targets []api.JobTarget, n names) error {
	switch {
	case n.only:
		return n.print(f.Common, ids(targets, func(t *api.JobTarget) string { return t.Application }))
	case f.Output != iostream.Table:
		return f.Print(f.Output, map[string]any{"job": j, "targets": targets})
	}
	return f.Table(targetRows(targets))
}

// verdict is the error of a job that is over and did not do all that was asked for.
func verdict(j *api.Job) error {
	c := &j.Counts
	if j.State == api.JobDone && c.Failed+c.Refused == 0 {
		return nil
	}
	how := j.State
	if j.Message != "" {
		how = j.Message // such as "stopped by user:ada"
	}
	return fmt.Errorf("job %s is %s: %s of %s; `slipway job get %s` shows what came of each, `slipway app why APPLICATION` why it is as it is",
		j.ID, how, progress(c), count(c.Total, "application"), j.ID)
}

// progress is how far a job is.
func progress(c *api.JobCounts) string {
	return several(some(c.Done, "done"), some(c.Failed, "failed"), some(c.Refused, "refused"), some(c.Skipped, "skipped"),
		some(c.Running, "running"), some(c.Waiting, "waiting"))
}

// follow looks at the job whenever there are news, until it is over.
func (f *follower) follow(ctx context.Context) (api.Job, error) {
	ctx, cancel := context.WithCancel(ctx)
	news := make(chan struct{}, 1)
	poke := func() {
		select {
		case news <- struct{}{}:
		default:
		}
	}
	var told sync.WaitGroup
	defer told.Wait()
	defer cancel()
	told.Go(func() {
		// Without events it still looks.
		_ = f.server.Client.Events(ctx, client.EventOptions{Opened: poke}, func(e api.Event) error {
			if e.Object.ID == f.id || e.Type == api.EventReset {
				poke()
			}
			return nil
		})
	})
	ticker := time.NewTicker(lookAnyway)
	defer ticker.Stop()
	var last api.JobCounts
	for {
		job, err := f.server.Client.Job(ctx, f.id)
		if err != nil {
			return job, err
		}
		if job.Counts != last {
			last = job.Counts
			if err := f.tell(ctx); err != nil {
				return job, err
			}
		}
		f.Status(bar(&job.Counts))
		if job.State != api.JobRunning {
			return job, nil
		}
		select {
		case <-ctx.Done():
			return job, context.Cause(ctx)
		case <-news:
		case <-ticker.C:
		}
	}
}

// newest is how many applications are read at a time, those first that ended last.
const newest = 100

// tell prints the results that were not printed yet.
func (f *follower) tell(ctx context.Context) error {
	var news []api.JobTarget
	options := api.ListOptions{Limit: newest, Sort: "-finishedAt"}
	for {
		page, err := f.server.Client.JobTargets(ctx, f.id, "", options)
		if err != nil {
			return err
		}
		known := page.NextCursor == ""
		for _, t := range page.Items {
			switch {
			case t.FinishedAt.IsZero() || f.seen[t.Application]:
				known = true
			case t.State != api.TargetSkipped: // those are counted at the end
				news = append(news, t)
			}
		}
		if known {
			break
		}
		options.Cursor = page.NextCursor
	}
	for i := len(news) - 1; i >= 0; i-- {
		t := &news[i]
		if f.seen[t.Application] {
			continue
		}
		f.seen[t.Application] = true
		if t.State == api.TargetDone && f.Live() { // the bar shows those that are good, and the table at the end
			continue
		}
		f.Status("")
		f.Sayf("%s", strings.TrimSuffix(fmt.Sprintf("%s: %s after %s: %s", t.Application, t.State, took(t), t.Message), ": "))
	}
	return nil
}

// barWidth is how many characters show how far a job is.
const barWidth = 24

// bar is a job on one line of a terminal.
func bar(c *api.JobCounts) string {
	over := c.Done + c.Failed + c.Refused + c.Skipped
	full := 0
	if c.Total > 0 {
		full = int(over * barWidth / c.Total)
	}
	return fmt.Sprintf("[%s%s] %d/%d  %s", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), over, c.Total, progress(c))
}
