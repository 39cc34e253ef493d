package drive

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/slipway-gitops/slipway/test/bench/corpus"
	"github.com/slipway-gitops/slipway/test/bench/rig"
	"github.com/slipway-gitops/slipway/test/bench/score"
)

const (
	// burners is how many applications of one project burn processor time while another project's commits are timed.
	burners = 10
	// fairPause is the time between two of these commits.
	fairPause = 500 * time.Millisecond
)

// neighbor is what the workload fair delivers.
type neighbor struct {
	repo, burn *rig.Repository
	commits    int
}

// beforeFair makes both projects and their repositories, and waits until the quick application is there.
func (s *stage) beforeFair(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.Timeout, errTooLong)
	defer cancel()
	var err error
	for _, one := range []struct {
		name  string
		repo  **rig.Repository
		files []corpus.File
	}{
		{corpus.BurnProject, &s.neighbor.burn, corpus.BurnFiles(burners)},
		{corpus.FairProject, &s.neighbor.repo, corpus.FairFiles("begin")},
	} {
		if err := s.makeProject(ctx, one.name); err != nil {
			return err
		}
		if *one.repo, err = s.Forge.NewRepository(ctx, fmt.Sprintf("%s-%d", one.name, s.number+1)); err != nil {
			return err
		}
		if _, err := (*one.repo).Commit(ctx, "begin", one.files); err != nil {
			return err
		}
	}
	wait, cancelWait := s.awaitFair("begin")
	defer cancelWait()
	if err := s.createChart(ctx, corpus.FairName, corpus.FairProject, s.neighbor.repo.URL); err != nil {
		return err
	}
	_, err = wait(ctx)
	return err
}

// makeProject makes a project that may do everything.
func (b *bench) makeProject(ctx context.Context, name string) error {
	body := fmt.Appendf(nil, `{"apiVersion":"argoproj.io/v1alpha1","kind":"AppProject","metadata":{"name":%q,"namespace":%q},`+
		`"spec":{"sourceRepos":["*"],"destinations":[{"namespace":"*","server":"*"}],"clusterResourceWhitelist":[{"group":"*","kind":"*"}]}}`,
		name, b.Namespace)
	_, err := b.client.do(ctx, call{
		method: http.MethodPost, path: "/apis/argoproj.io/v1alpha1/namespaces/" + b.Namespace + "/appprojects", body: body,
	})
	if err != nil && !answered(err, http.StatusConflict) {
		return fmt.Errorf("create project %s: %w", name, err)
	}
	return nil
}

func (s *stage) createChart(ctx context.Context, name, project, repoURL string) error {
	body, err := corpus.ChartApplication(name, project, s.Namespace, s.Shape.Namespace(livePrefix, 0), repoURL)
	if err != nil {
		return err
	}
	if _, err := s.client.do(ctx, call{method: http.MethodPost, path: s.applicationsPath(), body: body}); err != nil {
		return fmt.Errorf("create application %s: %w", name, err)
	}
	return nil
}

// fair times commits to the quick application while the burners of another project burn. They begin with it, so that the
// first commits meet an engine that does not know them yet.
func (s *stage) fair(ctx context.Context, sample *score.Sample) (err error) {
	defer func() { err = errors.Join(err, s.endBurners(context.WithoutCancel(ctx))) }()
	for i := range burners {
		if err := s.createChart(ctx, corpus.BurnName(i), corpus.BurnProject, s.neighbor.burn.URL); err != nil {
			return err
		}
	}
	pause := time.NewTicker(fairPause)
	defer pause.Stop()
	for n := range s.Commits {
		took, err := s.commitFair(ctx)
		if err != nil {
			return fmt.Errorf("commit %d: %w", n+1, err)
		}
		sample.Latencies = append(sample.Latencies, took)
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait between commits: %w", context.Cause(ctx))
		case <-pause.C:
		}
	}
	sample.WallSeconds = score.Median(sample.Latencies)
	return nil
}

func (s *stage) commitFair(ctx context.Context) (live float64, err error) {
	s.neighbor.commits++
	value := fmt.Sprintf("fair-%d-%d", s.number+1, s.neighbor.commits)
	wait, cancel := s.awaitFair(value)
	defer cancel()
	push, err := s.neighbor.repo.Commit(ctx, "change one object", corpus.FairFiles(value))
	if err != nil {
		return 0, err
	}
	if err := s.engine.Notify(ctx, s.neighbor.repo.URL, push); err != nil {
		return 0, err
	}
	at, err := wait(ctx)
	if err != nil {
		return 0, fmt.Errorf("wait for the live object: %w", err)
	}
	return last(at).Sub(push.At).Seconds(), nil
}

// awaitFair waits until the object of the quick application has a value.
func (s *stage) awaitFair(value string) (await, func()) {
	key := s.Shape.Namespace(livePrefix, 0) + "/" + corpus.FairName
	g := newGoal([]string{key})
	cancel := s.probes.subscribe(func(at string, p probe, when time.Time) {
		if at == key && p.Data[corpus.ValueKey] == value {
			g.reach(key, when)
		}
	})
	return func(ctx context.Context) (map[string]time.Time, error) {
		return s.probes.reached(ctx, g, func(p probe) string { return fmt.Sprintf("the value is %q", p.Data[corpus.ValueKey]) })
	}, cancel
}

// endBurners deletes the burners.
func (s *stage) endBurners(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, emptyTimeout)
	defer cancel()
	for i := range burners {
		_, err := s.client.do(ctx, call{method: http.MethodDelete, path: s.applicationsPath() + "/" + corpus.BurnName(i)})
		if err != nil && !answered(err, http.StatusNotFound) {
			return fmt.Errorf("delete application %s: %w", corpus.BurnName(i), err)
		}
	}
	return nil
}
