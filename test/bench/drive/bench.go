package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/test/bench/corpus"
	"github.com/slipway-gitops/slipway/test/bench/meter"
	"github.com/slipway-gitops/slipway/test/bench/rig"
	"github.com/slipway-gitops/slipway/test/bench/score"
)

const (
	// livePrefix begins the names of the namespaces that applications go to, rawPrefix of those of the bare client.
	livePrefix = "bench"
	rawPrefix  = "bench-raw"
	// writers is how many requests the benchmark sends at a time outside of raw.
	writers = 8
	// crdTimeout is how long the API of the Applications may take to appear once the engine is ready.
	crdTimeout = 30 * time.Second
	// emptyTimeout is how long a cluster may take to forget what was deleted.
	emptyTimeout = 3 * time.Minute
)

// Config says what to run.
type Config struct {
	Shape corpus.Shape
	// Waves is the large application of the workload waves.
	Waves corpus.Waves
	// Workloads by name; cold always runs, since all others need it, but is only reported when it is named.
	Workloads []string
	// Runs is how often everything is repeated from the start, at least 1.
	Runs int
	// Kubeconfig of the cluster, and the namespace of the Applications.
	Kubeconfig string
	Namespace  string
	// Commits is how many commits the workload one makes, Drifted how many objects drift changes by hand.
	Commits, Drifted int
	// IdleFor is the length of the workload idle, Timeout the longest that any other may take.
	IdleFor, Timeout time.Duration
	// AllObjects makes the workload all change every object and not one of each application.
	AllObjects bool
	// ProfileDir is where profiles go, none if empty; ProfileLength is how long each lasts.
	ProfileDir    string
	ProfileLength time.Duration
	// CRDs are the definitions to apply before the engine starts, one YAML document each.
	CRDs [][]byte
	// Start starts the engine of a run, counted from 0.
	Start func(ctx context.Context, run int) (*rig.Engine, error)
	// StartLinked starts the engine of a run again, linked to a server, for the workloads of score.Linked.
	StartLinked func(ctx context.Context, run int) (*rig.Engine, error)
	// StartSite starts a further cluster, for the workload clusters, and returns its kubeconfig and what ends it.
	StartSite func(ctx context.Context, name string) (kubeconfig string, end func(), err error)
	Forge     *rig.Forge
	// Keep leaves the Applications and their objects in the cluster at the end.
	Keep bool
	Log  *slog.Logger
}

// bench is one call of Run.
type bench struct {
	Config
	client  *client
	samples map[string][]score.Sample
	starts  []float64
	memory  []float64
}

// Run does all the runs. When it fails half way, the result holds what was measured until then.
func Run(ctx context.Context, config Config) (score.Result, error) {
	b := &bench{Config: config, samples: map[string][]score.Sample{}}
	var err error
	if b.client, err = newClient(config.Kubeconfig); err != nil {
		return score.Result{}, err
	}
	defer b.client.http.CloseIdleConnections()
	result := score.Result{
		Version: score.Version, Time: time.Now().UTC(), Machine: rig.Machine(), Shape: config.Shape, Runs: config.Runs,
		Profiled: config.ProfileDir != "",
	}
	if result.Machine.Kubernetes, err = b.kubernetes(ctx); err != nil {
		return result, err
	}
	err = b.prepare(ctx)
	for n := 0; n < config.Runs && err == nil; n++ {
		err = b.run(ctx, n)
	}
	if err == nil && !config.Keep {
		err = b.tidy(ctx)
	}
	for _, name := range score.Known() {
		if samples := b.samples[name]; len(samples) > 0 {
			commits := 1
			if name == score.One || name == score.LinkedOne || name == score.Fair || name == score.Clusters {
				commits = config.Commits
			}
			m := score.Measure(name, commits, samples)
			score.Judge(&m, config.Shape)
			result.Workloads = append(result.Workloads, m)
		}
	}
	result.Engine.StartSeconds, result.Engine.MemoryMiB = score.Median(b.starts), score.Median(b.memory)
	return result, err
}

func (b *bench) wants(name string) bool { return slices.Contains(b.Workloads, name) }

func (b *bench) kubernetes(ctx context.Context) (string, error) {
	text, err := b.client.do(ctx, call{method: http.MethodGet, path: "/version"})
	if err != nil {
		return "", fmt.Errorf("read version of Kubernetes: %w", err)
	}
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return "", fmt.Errorf("read version of Kubernetes: %w", err)
	}
	return version.GitVersion, nil
}

// prepare makes what outlasts the runs: definitions, namespaces, a warm API server.
func (b *bench) prepare(ctx context.Context) error {
	for _, manifest := range b.CRDs {
		var head struct {
			Metadata metadata `json:"metadata"`
		}
		if err := yaml.Unmarshal(manifest, &head); err != nil {
			return fmt.Errorf("read definition: %w", err)
		}
		name := head.Metadata.Name
		path := "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + name
		if err := b.client.apply(ctx, path, "slipway-bench", manifest); err != nil {
			return fmt.Errorf("install definition %s: %w", name, err)
		}
	}
	names := append(b.Shape.AllNamespaces(livePrefix), b.Namespace)
	names = append(names, b.Shape.AllNamespaces(rawPrefix)...)
	for _, name := range names {
		if err := b.awaitEnd(ctx, name); err != nil {
			return err
		}
		body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, name)
		if err := b.client.apply(ctx, "/api/v1/namespaces/"+name, "slipway-bench", body); err != nil {
			return fmt.Errorf("create namespace %s: %w", name, err)
		}
	}
	if len(b.CRDs) > 0 {
		if err := b.awaitAPI(ctx); err != nil {
			return err
		}
	}
	if err := b.empty(ctx, livePrefix); err != nil {
		return err
	}
	return b.warm(ctx)
}

// awaitEnd waits until a namespace that an earlier call deleted is gone; one that is in use may stay.
func (b *bench) awaitEnd(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, emptyTimeout)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		text, err := b.client.do(ctx, call{method: http.MethodGet, path: "/api/v1/namespaces/" + name})
		if answered(err, http.StatusNotFound) {
			return nil
		}
		var namespace struct {
			Metadata struct {
				Deleted string `json:"deletionTimestamp"`
			} `json:"metadata"`
		}
		if err == nil {
			err = json.Unmarshal(text, &namespace)
		}
		if err != nil {
			return fmt.Errorf("read namespace %s: %w", name, err)
		}
		if namespace.Metadata.Deleted == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for namespace %s to be deleted: %w; a finalizer may hold it", name, ctx.Err())
		case <-tick.C:
		}
	}
}

// tidy deletes the namespaces that prepare made, except that of the engine.
func (b *bench) tidy(ctx context.Context) error {
	names := append(b.Shape.AllNamespaces(livePrefix), b.Shape.AllNamespaces(rawPrefix)...)
	if b.wants(score.Waves) {
		names = append(names, wavesNamespace, wavesRawNamespace)
	}
	for _, name := range names {
		_, err := b.client.do(ctx, call{method: http.MethodDelete, path: "/api/v1/namespaces/" + name})
		if err != nil && !answered(err, http.StatusNotFound) {
			return fmt.Errorf("delete namespace %s: %w", name, err)
		}
	}
	return nil
}

// run goes once from nothing to the last workload and back.
func (b *bench) run(ctx context.Context, n int) (err error) {
	var floor floor
	if b.wants(score.Raw) {
		if floor, err = b.raw(ctx); err != nil {
			return fmt.Errorf("run workload raw: %w", err)
		}
	}
	engine, err := b.Start(ctx, n)
	if err != nil {
		return err
	}
	// The linked workloads put another one in its place.
	defer func() { engine.Close() }()
	if engine.StartTime > 0 {
		b.starts = append(b.starts, engine.StartTime.Seconds())
	}
	if err := b.awaitAPI(ctx); err != nil {
		return err
	}
	s, err := b.newStage(ctx, n, engine, floor)
	if err != nil {
		return err
	}
	defer s.close()
	if memory, err := s.tree.Memory(); err == nil {
		b.memory = append(b.memory, mebibytes(memory.Judged()))
	}
	for _, w := range s.workloads() {
		if !b.wants(w.name) && w.name != score.Cold {
			continue
		}
		if w.before != nil {
			err := w.before(ctx)
			engine = s.engine
			if err != nil {
				return fmt.Errorf("prepare workload %s: %w", w.name, err)
			}
		}
		sample, err := s.measure(ctx, w)
		if err != nil {
			return fmt.Errorf("run workload %s: %w", w.name, errors.Join(err, s.engine.Alive()))
		}
		if b.wants(w.name) {
			b.samples[w.name] = append(b.samples[w.name], sample)
		}
	}
	if b.Keep && n == b.Runs-1 {
		return nil
	}
	// Ours must not heal what we are about to delete. One that another process runs stays, and loses the Applications first.
	engine.Close()
	return b.empty(ctx, livePrefix)
}

// awaitAPI waits until the API server serves Applications, and makes the project that they name.
func (b *bench) awaitAPI(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, crdTimeout)
	defer cancel()
	projects := "/apis/argoproj.io/v1alpha1/namespaces/" + b.Namespace + "/appprojects"
	for _, path := range []string{b.applicationsPath(), projects} {
		if err := b.awaitServed(ctx, path); err != nil {
			return err
		}
	}
	return b.makeProject(ctx, "default")
}

// awaitServed waits until a collection can be listed. A definition that was just installed is unknown at first, and
// then its storage is not ready.
func (b *bench) awaitServed(ctx context.Context, path string) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := b.client.do(ctx, call{method: http.MethodGet, path: path, accept: namesType})
		if err == nil {
			return nil
		}
		if ctx.Err() == nil && !answered(err, http.StatusNotFound) && !answered(err, http.StatusTooManyRequests) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w; install the custom resource definitions of Argo CD", path, err)
		case <-tick.C:
		}
	}
}

// empty deletes all Applications of the benchmark, then all objects in the namespaces of a prefix.
func (b *bench) empty(ctx context.Context, prefix string) error {
	ctx, cancel := context.WithTimeout(ctx, emptyTimeout)
	defer cancel()
	selector := url.Values{"labelSelector": {corpus.AppLabel}}
	var collections []string
	if prefix == livePrefix {
		collections = append(collections, b.applicationsPath())
	}
	for _, namespace := range b.Shape.AllNamespaces(prefix) {
		for _, kind := range b.Shape.Kinds() {
			collections = append(collections, kind.Prefix+"/namespaces/"+namespace+"/"+kind.Resource)
		}
	}
	for i, path := range collections {
		if err := b.deleteAll(ctx, path, selector); err != nil {
			return err
		}
		if i == 0 && prefix == livePrefix {
			if err := b.gone(ctx, path, selector); err != nil {
				return err
			}
		}
	}
	for _, path := range collections {
		if err := b.gone(ctx, path, selector); err != nil {
			return err
		}
	}
	return nil
}

// deleteAll deletes what carries the label. A cluster without the kind has none of it.
func (b *bench) deleteAll(ctx context.Context, path string, selector url.Values) error {
	query := url.Values{"labelSelector": selector["labelSelector"], "propagationPolicy": {"Background"}}
	_, err := b.client.do(ctx, call{method: http.MethodDelete, path: path, query: query})
	if err != nil && !answered(err, http.StatusNotFound) && !answered(err, http.StatusMethodNotAllowed) {
		return fmt.Errorf("delete objects of an earlier run: %w", err)
	}
	return nil
}

// gone waits until a collection is empty. Nothing is measured in this time, so it may list again and again.
func (b *bench) gone(ctx context.Context, path string, selector url.Values) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		names, err := b.names(ctx, path, selector)
		if answered(err, http.StatusNotFound) || err == nil && len(names) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %d objects at %s to be deleted: %w; a finalizer may hold them", len(names), path, ctx.Err())
		case <-tick.C:
		}
	}
}

// names lists metadata only, by namespace and name.
func (b *bench) names(ctx context.Context, path string, selector url.Values) (map[string]metadata, error) {
	text, err := b.client.do(ctx, call{method: http.MethodGet, path: path, query: selector, accept: namesType})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", path, err)
	}
	var page struct {
		Items []struct {
			Metadata metadata `json:"metadata"`
		} `json:"items"`
	}
	if err := json.Unmarshal(text, &page); err != nil {
		return nil, fmt.Errorf("read list %s: %w", path, err)
	}
	out := make(map[string]metadata, len(page.Items))
	for _, item := range page.Items {
		out[item.Metadata.key()] = item.Metadata
	}
	return out, nil
}

func (b *bench) applicationsPath() string {
	return "/apis/argoproj.io/v1alpha1/namespaces/" + b.Namespace + "/applications"
}

// each calls work for 0 to n-1 with a number of workers.
func each(ctx context.Context, n, workers int, work func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i := range n {
		group.Go(func() error { return work(ctx, i) })
	}
	return group.Wait()
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }

// counted turns requests into what the result holds.
func counted(r meter.Requests) map[string]int {
	out := map[string]int{}
	for kind, n := range r {
		out[strings.TrimSpace(kind.Verb+" "+kind.Resource)] += n
	}
	return out
}
