package drive

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/test/bench/corpus"
	"github.com/slipway-gitops/slipway/test/bench/rig"
	"github.com/slipway-gitops/slipway/test/bench/score"
)

const (
	// wavesNamespace is where the large application goes, wavesRawNamespace where the bare client puts the same.
	wavesNamespace    = livePrefix + "-waves"
	wavesRawNamespace = rawPrefix + "-waves"
	// wavesWriters is how many requests the bare client has in flight for the large application.
	wavesWriters = 16
)

// large is the application of the workload waves.
type large struct {
	repo *rig.Repository
	raw  float64
}

// beforeWaves applies the large application by the bare client, takes that away again, and makes its repository.
func (s *stage) beforeWaves(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.Timeout, errTooLong)
	defer cancel()
	for _, name := range []string{wavesNamespace, wavesRawNamespace} {
		if err := s.awaitEnd(ctx, name); err != nil {
			return err
		}
		body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, name)
		if err := s.client.apply(ctx, "/api/v1/namespaces/"+name, "slipway-bench", body); err != nil {
			return fmt.Errorf("create namespace %s: %w", name, err)
		}
		if err := s.emptyWaves(ctx, name); err != nil {
			return err
		}
	}
	jobs, _ := s.Waves.Jobs()
	objects := slices.Clone(jobs)
	for n := range s.Waves.Waves {
		objects = append(objects, s.Waves.Wave(n)...)
	}
	writes := make([]write, len(objects))
	for i, o := range objects {
		body, err := o.JSON(wavesRawNamespace)
		if err != nil {
			return err
		}
		writes[i] = write{path: objectPath(o, wavesRawNamespace), body: body}
	}
	var err error
	if s.large.raw, err = s.send(ctx, writes, wavesWriters); err != nil {
		return err
	}
	if err := s.emptyWaves(ctx, wavesRawNamespace); err != nil {
		return err
	}
	if s.large.repo, err = s.Forge.NewRepository(ctx, fmt.Sprintf("waves-%d", s.number+1)); err != nil {
		return err
	}
	files, err := s.Waves.Files()
	if err == nil {
		_, err = s.large.repo.Commit(ctx, "begin", files)
	}
	return err
}

// emptyWaves deletes what the large application left in a namespace.
func (s *stage) emptyWaves(ctx context.Context, namespace string) error {
	selector := url.Values{"labelSelector": {corpus.AppLabel}}
	for _, kind := range s.Waves.Kinds() {
		path := kind.Prefix + "/namespaces/" + namespace + "/" + kind.Resource
		if err := s.deleteAll(ctx, path, selector); err != nil {
			return err
		}
		if err := s.gone(ctx, path, selector); err != nil {
			return err
		}
	}
	return nil
}

// waves creates one large Application and waits until its operation has succeeded and it is synced and healthy. The
// latencies are those of the gates between waves.
func (s *stage) waves(ctx context.Context, sample *score.Sample) error {
	sample.RawSeconds = s.large.raw
	gates, err := s.watchGates(ctx)
	defer gates.close()
	if err != nil {
		return err
	}
	key := s.Namespace + "/" + corpus.WavesName
	done := newGoal([]string{key})
	versions := map[string]bool{}
	cancel := s.apps.subscribe(func(at string, a application, when time.Time) {
		if at != key {
			return
		}
		versions[a.Metadata.ResourceVersion] = true
		sample.ApplicationBytes = max(sample.ApplicationBytes, a.bytes)
		if a.synced(s.large.repo.Head()) && a.Status.OperationState.Phase == "Succeeded" && a.Status.Health.Status == "Healthy" {
			done.reach(at, when)
		}
	})
	stopped := false
	stop := func() {
		if !stopped {
			cancel()
			stopped = true
		}
	}
	defer stop()
	body, err := s.Waves.Application(s.Namespace, wavesNamespace, s.large.repo.URL)
	if err != nil {
		return err
	}
	begin := time.Now()
	if _, err := s.client.do(ctx, call{method: http.MethodPost, path: s.applicationsPath(), body: body}); err != nil {
		return fmt.Errorf("create application: %w", err)
	}
	told, err := s.apps.reached(ctx, done, application.String)
	if err != nil {
		return fmt.Errorf("wait for the large application: %w", err)
	}
	stop()
	sample.WallSeconds = last(told).Sub(begin).Seconds()
	sample.StatusSeconds = sample.WallSeconds
	sample.ApplicationWrites = len(versions) - 1
	sample.Latencies = gates.waits(s.Waves)
	sample.Notes = append(sample.Notes, fmt.Sprintf(
		"%d objects in %d waves with %d hooks; the Application was written %d times and had %d bytes at most; "+
			"p50 and p99 are those of the gates between waves",
		s.Waves.Objects, s.Waves.Waves, s.Waves.Hooks, sample.ApplicationWrites, sample.ApplicationBytes))
	return s.verifyWaves(ctx, sample)
}

// verifyWaves looks whether all objects are there.
func (s *stage) verifyWaves(ctx context.Context, sample *score.Sample) error {
	found := 0
	for _, kind := range s.Waves.Kinds() {
		names, err := s.names(ctx, kind.Prefix+"/namespaces/"+wavesNamespace+"/"+kind.Resource,
			url.Values{"labelSelector": {corpus.AppLabel + "=" + corpus.WavesName}})
		if err != nil {
			return err
		}
		found += len(names)
	}
	if want := s.Waves.Objects + s.Waves.Hooks; found != want {
		sample.Notes = append(sample.Notes, fmt.Sprintf("the operation was reported as done while %d of %d objects were there", found, want))
	}
	return nil
}

// gate is what the benchmark reads of an object that a wave waits for, or begins with.
type gate struct {
	Metadata struct {
		metadata
		Generation int64 `json:"generation"`
	} `json:"metadata"`
	Spec struct {
		Replicas int `json:"replicas"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64 `json:"observedGeneration"`
		UpdatedReplicas    int   `json:"updatedReplicas"`
		AvailableReplicas  int   `json:"availableReplicas"`
		Succeeded          int   `json:"succeeded"`
		Conditions         []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

func (g gate) meta() metadata { return g.Metadata.metadata }

// open reports whether nothing has to wait for the object any more.
func (g gate) open(resource string) bool {
	switch resource {
	case "deployments":
		return g.Status.ObservedGeneration >= g.Metadata.Generation &&
			g.Status.UpdatedReplicas >= g.Spec.Replicas && g.Status.AvailableReplicas >= g.Spec.Replicas
	case "jobs":
		for _, c := range g.Status.Conditions {
			if c.Type == "Complete" && c.Status == "True" {
				return true
			}
		}
		return false
	}
	return true
}

// gates follows what waves wait for.
type gates struct {
	mirrors []*mirror[gate]
	opened  []map[string]time.Time // by mirror: when each object opened first
	cancels []func()
}

func (s *stage) watchGates(ctx context.Context) (*gates, error) {
	g := &gates{}
	for _, kind := range s.Waves.Kinds() {
		m, err := newMirror[gate](ctx, s.client, kind.Prefix+"/namespaces/"+wavesNamespace+"/"+kind.Resource, corpus.GateLabel)
		if err != nil {
			return g, err
		}
		opened := map[string]time.Time{}
		g.mirrors, g.opened = append(g.mirrors, m), append(g.opened, opened)
		g.cancels = append(g.cancels, m.subscribe(func(_ string, o gate, at time.Time) {
			if _, known := opened[o.Metadata.Name]; !known && o.open(kind.Resource) {
				opened[o.Metadata.Name] = at
			}
		}))
	}
	return g, nil
}

// close ends the watches; a second call does nothing.
func (g *gates) close() {
	for i, m := range g.mirrors {
		g.cancels[i]()
		m.close()
	}
	g.mirrors, g.cancels = nil, nil
}

// waits returns for each wave but the first how long after the last object of the wave before was there and healthy its
// first object appeared, in seconds, in order of size.
func (g *gates) waits(w corpus.Waves) []float64 {
	g.close()
	opened := map[string]time.Time{}
	for _, some := range g.opened {
		for name, at := range some {
			opened[name] = at
		}
	}
	_, hooks := w.Jobs()
	var out []float64
	for n := 1; n < w.Waves; n++ {
		before := opened[fmt.Sprintf("wave-%02d", n-1)]
		for hook, wave := range hooks {
			if at := opened[hook]; wave == n-1 && at.After(before) {
				before = at
			}
		}
		first, there := opened[fmt.Sprintf("wave-%02d-config-0000", n)]
		if there && !before.IsZero() {
			out = append(out, max(0, first.Sub(before).Seconds()))
		}
	}
	slices.Sort(out)
	return out
}
