package drive

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/slipway-gitops/slipway/test/bench/corpus"
	"github.com/slipway-gitops/slipway/test/bench/score"
)

// refreshKey asks an engine to look at an Application again; the engine takes it off when it has.
const refreshKey = "argocd.argoproj.io/refresh"

// cold creates all Applications together and waits until each is synced at the head of the repository.
func (s *stage) cold(ctx context.Context, sample *score.Sample) error {
	sample.RawSeconds = s.floor.cold
	wait, cancel := s.awaitSynced(s.allApps(), s.repo.Head())
	defer cancel()
	bodies := make([][]byte, s.Shape.Apps)
	for i := range bodies {
		var err error
		if bodies[i], err = s.Shape.Application(i, s.Namespace, s.Shape.Namespace(livePrefix, i), s.repo.URL); err != nil {
			return err
		}
	}
	begin := time.Now()
	err := each(ctx, len(bodies), writers, func(ctx context.Context, i int) error {
		_, err := s.client.do(ctx, call{method: http.MethodPost, path: s.applicationsPath(), body: bodies[i]})
		return err
	})
	if err != nil {
		return fmt.Errorf("create applications: %w", err)
	}
	synced, err := wait(ctx)
	if err != nil {
		return fmt.Errorf("wait for applications to be synced: %w", err)
	}
	sample.Latencies = since(begin, synced)
	end, err := s.verify(ctx, sample, last(synced), "")
	sample.WallSeconds, sample.StatusSeconds = end.Sub(begin).Seconds(), last(synced).Sub(begin).Seconds()
	return err
}

// all changes every application in one commit: the probe of each, or every object with AllObjects.
func (s *stage) all(ctx context.Context, sample *score.Sample) error {
	sample.RawSeconds = s.floor.all
	value := fmt.Sprintf("all-%d", s.number+1)
	var files []corpus.File
	for i := range s.states {
		s.states[i].Value = value
		write := s.Shape.ProbeFile
		if s.AllObjects {
			s.states[i].Round = value
			write = s.Shape.Files
		}
		more, err := write(i, s.states[i])
		if err != nil {
			return err
		}
		files = append(files, more...)
	}
	waitLive, cancel := s.awaitValues(s.allApps(), value)
	defer cancel()
	push, err := s.repo.Commit(ctx, "change every application", files)
	if err != nil {
		return err
	}
	waitSynced, cancelSynced := s.awaitSynced(s.allApps(), push.After)
	defer cancelSynced()
	if err := s.engine.Notify(ctx, s.repo.URL, push); err != nil {
		return err
	}
	live, err := waitLive(ctx)
	if err != nil {
		return fmt.Errorf("wait for live objects: %w", err)
	}
	synced, err := waitSynced(ctx)
	if err != nil {
		return fmt.Errorf("wait for applications to be synced: %w", err)
	}
	end := last(live)
	if s.AllObjects {
		end, err = s.verify(ctx, sample, last(synced), value)
	}
	sample.Latencies = since(push.At, live)
	sample.WallSeconds, sample.StatusSeconds = end.Sub(push.At).Seconds(), last(synced).Sub(push.At).Seconds()
	return err
}

// one changes one object of one application in a commit, again and again, each time once the engine is at rest.
func (s *stage) one(ctx context.Context, sample *score.Sample) error {
	sample.RawLatencies, sample.RawSeconds = s.floor.one, score.Median(s.floor.one)
	for n := range s.Commits {
		timed, cancel := context.WithTimeoutCause(ctx, s.Timeout, errTooLong)
		live, synced, err := s.commitOne(timed, n)
		cancel()
		if err != nil {
			return fmt.Errorf("commit %d: %w", n+1, err)
		}
		sample.Latencies = append(sample.Latencies, live)
		sample.StatusSeconds = max(sample.StatusSeconds, synced)
		if n < s.Commits-1 && !s.rest(ctx) {
			sample.Notes = append(sample.Notes, fmt.Sprintf("the engine did not come to rest after commit %d", n+1))
		}
	}
	sample.WallSeconds = score.Median(sample.Latencies)
	return nil
}

func (s *stage) commitOne(ctx context.Context, n int) (live, synced float64, err error) {
	// Seven apart, so that neighbours in a directory listing are not all there is.
	app := (n*7 + 3) % s.Shape.Apps
	// Never the same twice: the workload runs without and with a link, and an old state must not pass for the new one.
	s.singles++
	s.states[app].Value = fmt.Sprintf("one-%d-%d", s.number+1, s.singles)
	files, err := s.Shape.ProbeFile(app, s.states[app])
	if err != nil {
		return 0, 0, err
	}
	waitLive, cancel := s.awaitValues([]int{app}, s.states[app].Value)
	defer cancel()
	push, err := s.repo.Commit(ctx, "change one object", files)
	if err != nil {
		return 0, 0, err
	}
	waitSynced, cancelSynced := s.awaitSynced([]int{app}, push.After)
	defer cancelSynced()
	if err := s.engine.Notify(ctx, s.repo.URL, push); err != nil {
		return 0, 0, err
	}
	at, err := waitLive(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("wait for the live object: %w", err)
	}
	told, err := waitSynced(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("wait for the application to be synced: %w", err)
	}
	return last(at).Sub(push.At).Seconds(), last(told).Sub(push.At).Seconds(), nil
}

// drift changes objects by hand, as another field manager, and waits until each is put back.
func (s *stage) drift(ctx context.Context, sample *score.Sample) error {
	sample.RawSeconds = s.floor.drift
	count := min(s.Drifted, s.Shape.Apps)
	// Later runs begin elsewhere: an engine may heal the same application more slowly the second time.
	apps := make([]int, count)
	keys := make([]string, count)
	for i := range apps {
		apps[i] = (i + s.number*count) % s.Shape.Apps
		keys[i] = s.probeKey(apps[i])
	}
	wanted := map[string]string{}
	for _, app := range apps {
		wanted[s.probeKey(app)] = s.states[app].Value
	}
	const byHand = "changed by hand"
	restored := newGoal(keys)
	changed := map[string]bool{}
	cancel := s.probes.subscribe(func(key string, p probe, at time.Time) {
		switch {
		case p.Data[corpus.ValueKey] == byHand:
			changed[key] = true
		case changed[key] && p.Data[corpus.ValueKey] == wanted[key]:
			restored.reach(key, at)
		}
	})
	defer cancel()
	sent := make([]time.Time, count)
	body := fmt.Appendf(nil, `{"data":{%q:%q}}`, corpus.ValueKey, byHand)
	begin := time.Now()
	err := each(ctx, count, writers, func(ctx context.Context, i int) error {
		sent[i] = time.Now()
		path := objectPath(s.Shape.Probe(apps[i], corpus.State{}), s.Shape.Namespace(livePrefix, apps[i]))
		_, err := s.client.do(ctx, call{
			method: http.MethodPatch, path: path, contentType: mergeType, body: body,
			query: url.Values{"fieldManager": {"kubectl-edit"}},
		})
		return err
	})
	if err != nil {
		return fmt.Errorf("change objects by hand: %w", err)
	}
	times, err := s.probes.reached(ctx, restored, func(p probe) string { return fmt.Sprintf("the value is %q", p.Data[corpus.ValueKey]) })
	if err != nil {
		return fmt.Errorf("wait for objects to be put back: %w", err)
	}
	for i, key := range keys {
		sample.Latencies = append(sample.Latencies, times[key].Sub(sent[i]).Seconds())
	}
	sample.WallSeconds = last(times).Sub(begin).Seconds()
	return nil
}

// noop asks for a refresh of every Application, with nothing to do, and waits until each request was served.
func (s *stage) noop(ctx context.Context, sample *score.Sample) error {
	served := newGoal(s.appKeys(s.allApps()))
	asked := map[string]bool{}
	cancel := s.apps.subscribe(func(key string, a application, at time.Time) {
		if _, there := a.Metadata.Annotations[refreshKey]; there {
			asked[key] = true
		} else if asked[key] {
			served.reach(key, at)
		}
	})
	defer cancel()
	body := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"normal"}}}`, refreshKey)
	begin := time.Now()
	err := each(ctx, s.Shape.Apps, writers, func(ctx context.Context, i int) error {
		_, err := s.client.do(ctx, call{
			method: http.MethodPatch, path: s.applicationsPath() + "/" + s.Shape.AppName(i), contentType: mergeType, body: body,
		})
		return err
	})
	if err != nil {
		return fmt.Errorf("ask for refreshes: %w", err)
	}
	times, err := s.apps.reached(ctx, served, application.String)
	if err != nil {
		return fmt.Errorf("wait for refreshes: %w", err)
	}
	sample.Latencies = since(begin, times)
	sample.WallSeconds = last(times).Sub(begin).Seconds()
	return nil
}

// idle does nothing for a while.
func (s *stage) idle(ctx context.Context, sample *score.Sample) error {
	begin := time.Now()
	timer := time.NewTimer(s.IdleFor)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return fmt.Errorf("do nothing: %w", context.Cause(ctx))
	case <-timer.C:
	}
	sample.WallSeconds = time.Since(begin).Seconds()
	return nil
}

func (s *stage) allApps() []int {
	out := make([]int, s.Shape.Apps)
	for i := range out {
		out[i] = i
	}
	return out
}

func (s *stage) probeKey(app int) string {
	return s.Shape.Namespace(livePrefix, app) + "/" + s.Shape.ProbeName(app)
}

func (s *stage) appKeys(apps []int) []string {
	out := make([]string, len(apps))
	for i, app := range apps {
		out[i] = s.Namespace + "/" + s.Shape.AppName(app)
	}
	return out
}

// await is a wait that began when it was made, so that nothing in between is missed.
type await func(ctx context.Context) (map[string]time.Time, error)

// awaitSynced waits until applications are reported as synced at a commit.
func (s *stage) awaitSynced(apps []int, revision string) (await, func()) {
	g := newGoal(s.appKeys(apps))
	cancel := s.apps.subscribe(func(key string, a application, at time.Time) {
		if a.synced(revision) {
			g.reach(key, at)
		}
	})
	return func(ctx context.Context) (map[string]time.Time, error) {
		return s.apps.reached(ctx, g, application.String)
	}, cancel
}

// awaitValues waits until the probes of applications have a value.
func (s *stage) awaitValues(apps []int, value string) (await, func()) {
	keys := make([]string, len(apps))
	for i, app := range apps {
		keys[i] = s.probeKey(app)
	}
	g := newGoal(keys)
	cancel := s.probes.subscribe(func(key string, p probe, at time.Time) {
		if p.Data[corpus.ValueKey] == value {
			g.reach(key, at)
		}
	})
	return func(ctx context.Context) (map[string]time.Time, error) {
		return s.probes.reached(ctx, g, func(p probe) string { return fmt.Sprintf("the value is %q", p.Data[corpus.ValueKey]) })
	}, cancel
}

// verify looks whether every object exists, in a round unless that is empty. If so it returns the time that the
// Applications gave. If not, the engine spoke too soon: that is noted, and the time is when it became true.
func (s *stage) verify(ctx context.Context, sample *score.Sample, claimed time.Time, round string) (time.Time, error) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for early := false; ; early = true {
		missing, err := s.missing(ctx, round)
		if err != nil {
			return claimed, err
		}
		if len(missing) == 0 && early {
			return time.Now(), nil
		}
		if len(missing) == 0 {
			return claimed, nil
		}
		if !early {
			sample.Notes = append(sample.Notes, fmt.Sprintf(
				"all Applications were reported as synced while %d objects were not, such as %s", len(missing), missing[0]))
		}
		select {
		case <-ctx.Done():
			return claimed, fmt.Errorf("wait for objects: %d are missing, such as %s: %w", len(missing), missing[0], context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// missing lists the objects that are not there, or not in the round.
func (s *stage) missing(ctx context.Context, round string) ([]string, error) {
	live := map[string]map[string]metadata{}
	for _, kind := range s.Shape.Kinds() {
		found, err := s.names(ctx, kind.Prefix+"/"+kind.Resource, url.Values{"labelSelector": {corpus.AppLabel}})
		if err != nil {
			return nil, err
		}
		live[kind.Resource] = found
	}
	var out []string
	for i := range s.states {
		for _, o := range s.Shape.AppObjects(i, corpus.State{}) {
			key := s.Shape.Namespace(livePrefix, i) + "/" + o.Name
			found, there := live[o.Resource][key]
			if !there || round != "" && found.Annotations[corpus.RoundAnnotation] != round {
				out = append(out, o.Resource+" "+key)
			}
		}
	}
	return out, nil
}
