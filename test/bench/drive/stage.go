package drive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/test/bench/corpus"
	"github.com/slipway-gitops/slipway/test/bench/meter"
	"github.com/slipway-gitops/slipway/test/bench/rig"
	"github.com/slipway-gitops/slipway/test/bench/score"
)

const (
	// An engine is at rest when it used less than restShare of one core in each of restWindows windows on end.
	restWindow  = 100 * time.Millisecond
	restWindows = 4
	restShare   = 0.03
	// restTimeout is how long to wait for that; an engine that polls may never rest.
	restTimeout = 30 * time.Second
)

// errTooLong is why a workload was given up.
var errTooLong = errors.New("the workload took too long; raise --timeout if the engine was still at it")

// stage is one run: a fresh repository and engine, and what is watched of the cluster.
type stage struct {
	*bench
	number  int
	engine  *rig.Engine
	tree    *meter.Tree
	sampler *meter.Sampler
	floor   floor
	repo    *rig.Repository
	apps    *mirror[application]
	probes  *mirror[probe]
	// states are what the last commit says about each application.
	states []corpus.State
	// large is what the workload waves delivers, and its floor.
	large large
	// neighbor is what the workload fair delivers.
	neighbor neighbor
	// sites is what the workload clusters has.
	sites sites
	// singles is how many commits of one application there were.
	singles int
	// linked says that the engine is the one with a link to a server.
	linked bool
}

// workload is one thing to measure.
type workload struct {
	name string
	work func(ctx context.Context, sample *score.Sample) error
	// limit is the longest that it may take.
	limit time.Duration
	// steady workloads end on time, not on a state: nothing is left to wait for.
	steady bool
	// before makes what the workload needs, unmeasured; it may be nil.
	before func(ctx context.Context) error
}

func (s *stage) workloads() []workload {
	return []workload{
		{name: score.Cold, work: s.cold, limit: s.Timeout},
		{name: score.All, work: s.all, limit: s.Timeout},
		// Each commit has the limit for itself, and a rest after it.
		{name: score.One, work: s.one, limit: time.Duration(s.Commits) * (s.Timeout + restTimeout)},
		{name: score.Drift, work: s.drift, limit: s.Timeout},
		{name: score.Noop, work: s.noop, limit: s.Timeout},
		{name: score.Idle, work: s.idle, limit: s.IdleFor + s.Timeout, steady: true},
		{name: score.Waves, before: s.beforeWaves, work: s.waves, limit: s.Timeout},
		{name: score.LinkedOne, before: s.link, work: s.one, limit: time.Duration(s.Commits) * (s.Timeout + restTimeout)},
		{name: score.LinkedIdle, before: s.link, work: s.idle, limit: s.IdleFor + s.Timeout, steady: true},
		// The last one: what burns goes on until its time limit.
		{name: score.Fair, before: s.beforeFair, work: s.fair, limit: time.Duration(s.Commits) * s.Timeout, steady: true},
		{name: score.Clusters, before: s.beforeClusters, work: s.clusters, limit: time.Duration(s.Commits) * (s.Timeout + restTimeout)},
	}
}

func (b *bench) newStage(ctx context.Context, number int, engine *rig.Engine, floor floor) (*stage, error) {
	s := &stage{bench: b, number: number, engine: engine, floor: floor, tree: meter.NewTree(engine.PIDs...)}
	var err error
	// The name must be new to an engine that outlives the runs, so that its caches are as cold as ours.
	if s.repo, err = b.Forge.NewRepository(ctx, fmt.Sprintf("fleet-%d", number+1)); err != nil {
		return nil, err
	}
	s.states = make([]corpus.State, b.Shape.Apps)
	var files []corpus.File
	for i := range s.states {
		s.states[i].Value = "cold"
		more, err := b.Shape.Files(i, s.states[i])
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	if _, err := s.repo.Commit(ctx, "begin", files); err != nil {
		return nil, err
	}
	if s.apps, err = newMirror[application](ctx, b.client, b.applicationsPath(), corpus.AppLabel); err != nil {
		return nil, err
	}
	if s.probes, err = newMirror[probe](ctx, b.client, "/api/v1/configmaps", corpus.ProbeLabel); err != nil {
		s.apps.close()
		return nil, err
	}
	s.sampler = meter.NewSampler(ctx, s.tree)
	return s, nil
}

// link puts an engine with a link to a server in the place of the one without.
func (s *stage) link(ctx context.Context) error {
	if s.linked {
		return nil
	}
	s.engine.Close()
	engine, err := s.StartLinked(ctx, s.number)
	if err != nil {
		return err
	}
	s.replace(ctx, engine)
	s.linked = true
	return nil
}

func (s *stage) close() {
	s.sampler.Close()
	s.apps.close()
	s.probes.close()
	for _, end := range s.sites.close {
		end()
	}
}

// counts is what was counted up to one moment.
type counts struct {
	server, own, engine meter.Requests
}

func (s *stage) counts(ctx context.Context) (counts, error) {
	page, err := s.engine.Metrics(ctx)
	if err != nil {
		return counts{}, fmt.Errorf("read metrics of the engine: %w", err)
	}
	var c counts
	if c.engine, err = meter.EngineRequests(bytes.NewReader(page)); err != nil {
		return counts{}, err
	}
	if c.server, err = s.client.served(ctx); err != nil {
		return counts{}, err
	}
	c.own = s.client.sentSoFar()
	return c, nil
}

// measure runs one workload between two readings of everything.
func (s *stage) measure(ctx context.Context, w workload) (score.Sample, error) {
	var sample score.Sample
	if !s.rest(ctx) {
		sample.Notes = append(sample.Notes, "the engine did not come to rest before this workload")
	}
	before, err := s.counts(ctx)
	if err != nil {
		return sample, err
	}
	var profile *rig.Profile
	if s.ProfileDir != "" {
		name := fmt.Sprintf("%s-%d", w.name, s.number+1)
		if profile, err = s.engine.StartProfile(ctx, s.ProfileDir, name, s.ProfileLength); err != nil {
			return sample, err
		}
	}
	s.sampler.Take()
	begin, err := s.tree.CPU()
	if err != nil {
		return sample, err
	}
	own, err := meter.OwnCPU()
	if err != nil {
		return sample, err
	}
	s.Log.Info("workload started", "workload", w.name, "run", s.number+1)
	timed, cancel := context.WithTimeoutCause(ctx, w.limit, errTooLong)
	err = w.work(timed, &sample)
	cancel()
	if err != nil {
		return sample, err
	}
	if !w.steady && !s.rest(ctx) {
		sample.Notes = append(sample.Notes, "the engine did not come to rest after this workload; its CPU time is cut off")
	}
	end, err := s.tree.CPU()
	if err != nil {
		return sample, err
	}
	ownEnd, err := meter.OwnCPU()
	if err != nil {
		return sample, err
	}
	sample.CPUSeconds, sample.BenchCPUSeconds = (end - begin).Seconds(), (ownEnd - own).Seconds()
	peak := s.sampler.Take()
	sample.PSSMiB, sample.RSSMiB, sample.HWMMiB = mebibytes(peak.PSS), mebibytes(peak.RSS), mebibytes(peak.HWM)
	after, err := s.counts(ctx)
	if err != nil {
		return sample, err
	}
	s.record(&sample, w.name, before, after)
	if profile != nil {
		if err := profile.Finish(ctx); err != nil {
			return sample, err
		}
	}
	s.Log.Info("workload finished", "workload", w.name, "run", s.number+1, "wall", sample.WallSeconds, "cpu", sample.CPUSeconds)
	return sample, nil
}

// record fills in the API requests between two readings.
func (s *stage) record(sample *score.Sample, name string, before, after counts) {
	var known meter.Requests
	if before.server != nil && after.server != nil {
		known = after.server.Minus(before.server).Minus(after.own.Minus(before.own)).WithoutBackground()
		sample.Requests = counted(known)
	}
	if len(after.engine) > 0 {
		told := after.engine.Minus(before.engine)
		sample.EngineRequests = counted(told)
		if told.Detailed() {
			known = told.WithoutLeases()
		}
	}
	sample.Verbs = known.ByVerb()
	if name == score.Noop && known != nil {
		// Taking the annotation off is one write for each application.
		extra := max(0, float64(known.Writes())/float64(s.Shape.Apps)-1)
		sample.ExtraWrites = &extra
	}
}

// rest waits until the engine uses next to no processor time, and says whether it came to that.
func (s *stage) rest(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, restTimeout)
	defer cancel()
	tick := time.NewTicker(restWindow)
	defer tick.Stop()
	quiet := 0
	used, err := s.tree.CPU()
	at := time.Now()
	for quiet < restWindows {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		before, from := used, at
		if err != nil {
			return false
		}
		used, err = s.tree.CPU()
		at = time.Now()
		if used-before < time.Duration(restShare*float64(at.Sub(from))) {
			quiet++
		} else {
			quiet = 0
		}
	}
	return true
}
