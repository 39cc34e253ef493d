package job_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/job"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/work"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// limit is how long anything may take on a machine that is busy.
const limit = time.Minute

// doer does what a test wants.
type doer func(ctx context.Context, w job.Work) (state, message string, err error)

// Do implements job.Doer.
func (d doer) Do(ctx context.Context, w job.Work) (state, message string, err error) {
	return d(ctx, w)
}

// tracked tells of jobs that were given back.
type tracked struct {
	*store.Store
	released chan time.Duration
}

// ReleaseBulk implements job.Storage.
func (s *tracked) ReleaseBulk(ctx context.Context, id, holder string, after time.Duration) error {
	err := s.Store.ReleaseBulk(ctx, id, holder, after)
	select {
	case s.released <- after:
	default:
	}
	return err
}

// bench is a job of some applications that a runner runs.
type bench struct {
	t        *testing.T
	store    *tracked
	runner   *job.Runner
	finished chan api.Job
}

func run(t *testing.T, request api.JobRequest, applications int, do doer) *bench {
	t.Helper()
	s, err := store.Open(t.Context(), db.Config{URL: filepath.Join(t.TempDir(), "slipway.db")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Migrate(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, store: &tracked{s, make(chan time.Duration, 1)}, finished: make(chan api.Job, 100)}
	b.runner = job.New(job.Config{
		Storage: b.store, Doer: do, Holder: "one", Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Lost: func(err error) bool { return errors.Is(err, work.ErrLost) },
		Changed: func(_ context.Context, j api.Job) {
			if j.State != api.JobRunning {
				b.finished <- j
			}
		},
	})
	var ids []string
	for i := range applications {
		ids = append(ids, fmt.Sprintf("account.prod/argocd/a%d", i+1))
	}
	made := api.Job{ID: "j", By: api.Principal{Type: api.PrincipalUser, ID: "ada"}, Request: request}
	if err := s.AddJob(t.Context(), made, "", ids); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { b.runner.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		group.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) end() api.Job {
	b.t.Helper()
	select {
	case j := <-b.finished:
		return j
	case <-time.After(limit):
		b.t.Fatal("the job is not over")
	}
	return api.Job{}
}

func TestTheNextApplicationBeginsAsSoonAsOneIsOver(t *testing.T) {
	t.Parallel()
	var others sync.WaitGroup
	others.Add(9)
	b := run(t, api.JobRequest{Action: api.JobSync, Limit: 2}, 10, func(ctx context.Context, w job.Work) (string, string, error) {
		if w.Target.Place > 1 {
			others.Done()
			return api.TargetDone, "", nil
		}
		// The first is over when all others are.
		over := make(chan struct{})
		go func() { others.Wait(); close(over) }()
		select {
		case <-over:
			return api.TargetDone, "", nil
		case <-ctx.Done():
			for range 9 {
				others.Add(-1) // nobody waits any more
			}
			return "", "", ctx.Err()
		}
	})
	if j := b.end(); j.State != api.JobDone || j.Counts.Done != 10 {
		t.Errorf("it ended as %+v", j)
	}
}

func TestAJobThatCannotGoOnIsNotTriedAgainAtOnce(t *testing.T) {
	t.Parallel()
	b := run(t, api.JobRequest{Action: api.JobSync}, 1, func(context.Context, job.Work) (string, string, error) {
		return "", "", errors.New("the database is away")
	})
	select {
	case after := <-b.store.released:
		if after < time.Second {
			t.Errorf("it is tried again after %s", after)
		}
	case <-time.After(limit):
		t.Fatal("it is not given back")
	}
	j, err := b.store.GetJob(t.Context(), "j")
	if err != nil || j.State != api.JobRunning || j.Counts.Running != 1 {
		t.Errorf("it is %+v, %v", j, err)
	}
}

func TestAJobThatIsStoppedBeginsNothingMore(t *testing.T) {
	t.Parallel()
	began, goOn := make(chan struct{}, 3), make(chan struct{})
	b := run(t, api.JobRequest{Action: api.JobSync, Limit: 1}, 3, func(ctx context.Context, _ job.Work) (string, string, error) {
		began <- struct{}{}
		select {
		case <-goOn:
			return api.TargetDone, "", nil
		case <-ctx.Done():
			return "", "", ctx.Err()
		}
	})
	select {
	case <-began:
	case <-time.After(limit):
		t.Fatal("nothing began")
	}
	if _, err := b.store.StopBulk(t.Context(), "j", "user:bob"); err != nil {
		t.Fatal(err)
	}
	b.runner.Stop("j", "user:bob")
	close(goOn)
	j := b.end()
	if j.State != api.JobStopped || j.Message != "stopped by user:bob" || j.Counts.Done != 1 || j.Counts.Skipped != 2 {
		t.Errorf("it ended as %+v", j)
	}
}

func TestAJobEndsAfterTooManyFailures(t *testing.T) {
	t.Parallel()
	b := run(t, api.JobRequest{Action: api.JobSync, Limit: 1, StopAfter: 2}, 5, func(_ context.Context, w job.Work) (string, string, error) {
		return map[int64]string{1: api.TargetDone, 2: api.TargetFailed, 3: api.TargetRefused}[w.Target.Place], "", nil
	})
	if j := b.end(); j.State != api.JobStopped || j.Counts.Failed != 1 || j.Counts.Refused != 1 || j.Counts.Skipped != 2 {
		t.Errorf("it ended as %+v", j)
	}
}

// TestAJobOfWhichTheWakeUpIsLostBegins keeps a job that nobody wakes the runner for.
func TestAJobOfWhichTheWakeUpIsLostBegins(t *testing.T) {
	t.Parallel()
	b := run(t, api.JobRequest{}, 1, func(context.Context, job.Work) (string, string, error) { return api.TargetDone, "", nil })
	b.end()
	made := api.Job{ID: "k", By: api.Principal{Type: api.PrincipalUser, ID: "ada"}}
	if err := b.store.AddJob(t.Context(), made, "", []string{"account.prod/argocd/a1"}); err != nil {
		t.Fatal(err)
	}
	if j := b.end(); j.ID != "k" || j.State != api.JobDone {
		t.Errorf("got %+v", j)
	}
}
