package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/slipway-gitops/slipway/test/bench/corpus"
	"github.com/slipway-gitops/slipway/test/bench/meter"
	"github.com/slipway-gitops/slipway/test/bench/rig"
	"github.com/slipway-gitops/slipway/test/bench/score"
)

const (
	// clusters is how many clusters the agent has in the workload of that name, realSites how many of them are control planes of
	// their own besides the one of the benchmark. The others are that one, at an address each, with an account and a namespace each.
	clusters  = 50
	realSites = 2
	// sitePrefix begins the names of clusters and of the namespaces there.
	sitePrefix = "bench-cluster"
)

// sites is what the workload clusters has.
type sites struct {
	repo    *rig.Repository
	states  []corpus.State
	shape   corpus.Shape
	client  *client // of the control plane that has most of them
	close   []func()
	perMiB  float64 // memory of one cluster at rest
	perCPU  float64 // processor seconds of one cluster in an idle minute
	commits int
}

func siteName(i int) string { return fmt.Sprintf("%s-%d", sitePrefix, i) }

// beforeClusters starts the agent again, gives it the clusters with an application each, and finds what they cost at rest.
func (s *stage) beforeClusters(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.Timeout, errTooLong)
	defer cancel()
	s.engine.Close()
	engine, err := s.Start(ctx, s.number)
	if err != nil {
		return err
	}
	s.replace(ctx, engine)
	s.sites.shape, s.sites.client = corpus.Shape{Apps: clusters, Objects: s.Shape.Objects, Namespaces: clusters}, s.client
	s.sites.states = make([]corpus.State, clusters)
	if s.sites.repo, err = s.Forge.NewRepository(ctx, fmt.Sprintf("%s-%d", sitePrefix, s.number+1)); err != nil {
		return err
	}
	var files []corpus.File
	for i := range clusters {
		s.sites.states[i].Value = "begin"
		more, err := s.sites.shape.Files(i, s.sites.states[i])
		if err != nil {
			return err
		}
		files = append(files, more...)
	}
	push, err := s.sites.repo.Commit(ctx, "begin", files)
	if err != nil {
		return err
	}
	s.rest(ctx)
	before, err := s.tree.Memory()
	if err != nil {
		return err
	}
	idleBefore, err := s.idleCPU(ctx)
	if err != nil {
		return err
	}
	if err := s.makeSites(ctx); err != nil {
		return err
	}
	wait, cancelWait := s.awaitSites(push.After)
	defer cancelWait()
	if err := each(ctx, clusters, writers, s.createSiteApplication); err != nil {
		return err
	}
	if _, err := wait(ctx); err != nil {
		return fmt.Errorf("wait for applications of all clusters: %w", err)
	}
	s.rest(ctx)
	after, err := s.tree.Memory()
	if err != nil {
		return err
	}
	idleAfter, err := s.idleCPU(ctx)
	if err != nil {
		return err
	}
	s.sites.perMiB = mebibytes(after.Judged()-before.Judged()) / clusters
	s.sites.perCPU = max(0, idleAfter-idleBefore) / clusters
	return nil
}

// replace puts another engine in the place of the one that runs.
func (s *stage) replace(ctx context.Context, engine *rig.Engine) {
	s.sampler.Close()
	s.engine, s.tree = engine, meter.NewTree(engine.PIDs...)
	s.sampler = meter.NewSampler(ctx, s.tree)
}

// idleCPU is what the engine uses in a minute in which nothing happens, in seconds.
func (s *stage) idleCPU(ctx context.Context) (float64, error) {
	begin, err := s.tree.CPU()
	if err != nil {
		return 0, err
	}
	timer := time.NewTimer(s.IdleFor)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return 0, fmt.Errorf("wait for an idle minute: %w", context.Cause(ctx))
	case <-timer.C:
	}
	end, err := s.tree.CPU()
	return (end - begin).Seconds() * time.Minute.Seconds() / s.IdleFor.Seconds(), err
}

// makeSites makes the clusters, with an account in each, and describes them in Secrets.
func (s *stage) makeSites(ctx context.Context) error {
	for i := range clusters {
		c := s.client
		if i > 0 && i <= realSites {
			kubeconfig, end, err := s.StartSite(ctx, fmt.Sprintf("%s-%d", siteName(i), s.number+1))
			if err != nil {
				return err
			}
			s.sites.close = append(s.sites.close, end)
			if c, err = newClient(kubeconfig); err != nil {
				return err
			}
			s.sites.close = append(s.sites.close, c.http.CloseIdleConnections)
		}
		address := c.base.Host
		if i > realSites {
			forward, err := rig.NewForward(address)
			if err != nil {
				return err
			}
			s.sites.close = append(s.sites.close, forward.Close)
			address = forward.Address()
		}
		if err := s.makeSite(ctx, i, c, address); err != nil {
			return fmt.Errorf("make cluster %s: %w", siteName(i), err)
		}
	}
	return nil
}

// makeSite makes the namespace and the account of a cluster, and its Secret. One that shares its control plane with others is limited
// to its namespace.
func (s *stage) makeSite(ctx context.Context, i int, c *client, address string) error {
	name, core := siteName(i), "/api/v1/namespaces/"
	in := core + siteName(i)
	const manager, rbac = "slipway-bench", "/apis/rbac.authorization.k8s.io/v1"
	subject := fmt.Sprintf(`[{"kind":"ServiceAccount","name":"deploy","namespace":%q}]`, name)
	kind, grants, rights, where := "Role", "rolebindings", rbac+"/namespaces/"+name, name
	if i <= realSites {
		kind, grants, rights, where = "ClusterRole", "clusterrolebindings", rbac, ""
	}
	role := map[string]string{"Role": "roles", "ClusterRole": "clusterroles"}[kind]
	for _, one := range []struct{ path, body string }{
		{in, fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, name)},
		{in + "/serviceaccounts/deploy", fmt.Sprintf(`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"deploy","namespace":%q}}`, name)},
		{rights + "/" + role + "/" + name, fmt.Sprintf(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":%q,"metadata":{"name":%q,"namespace":%q},`+
			`"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]}`, kind, name, where)},
		{rights + "/" + grants + "/" + name, fmt.Sprintf(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"%sBinding","metadata":{"name":%q,"namespace":%q},`+
			`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":%q,"name":%q},"subjects":%s}`, kind, name, where, kind, name, subject)},
	} {
		if err := c.apply(ctx, one.path, manager, []byte(one.body)); err != nil {
			return err
		}
	}
	token, err := siteToken(ctx, c, in)
	if err != nil {
		return err
	}
	connection, err := json.Marshal(map[string]any{"bearerToken": token, "tlsClientConfig": map[string]any{"caData": c.ca}})
	if err != nil {
		return fmt.Errorf("encode connection: %w", err)
	}
	fields := map[string]string{"name": name, "server": "https://" + address, "config": string(connection)}
	if i > realSites {
		fields["namespaces"] = name
	}
	secret, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "stringData": fields, "metadata": map[string]any{
			"name": name, "namespace": s.Namespace, "labels": map[string]string{"argocd.argoproj.io/secret-type": "cluster"},
		},
	})
	if err != nil {
		return fmt.Errorf("encode Secret: %w", err)
	}
	return s.client.apply(ctx, core+s.Namespace+"/secrets/"+name, manager, secret)
}

// siteToken asks for a token of the account in a namespace.
func siteToken(ctx context.Context, c *client, in string) (string, error) {
	text, err := c.do(ctx, call{
		method: http.MethodPost, path: in + "/serviceaccounts/deploy/token",
		body: []byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`),
	})
	if err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	var made struct {
		Status struct {
			Token string `json:"token"`
		} `json:"status"`
	}
	if err := json.Unmarshal(text, &made); err != nil {
		return "", fmt.Errorf("read a token: %w", err)
	}
	return made.Status.Token, nil
}

func (s *stage) createSiteApplication(ctx context.Context, i int) error {
	body, err := corpus.SiteApplication(siteName(i), s.Namespace, s.sites.repo.URL, s.sites.shape.AppPath(i))
	if err != nil {
		return err
	}
	if _, err := s.client.do(ctx, call{method: http.MethodPost, path: s.applicationsPath(), body: body}); err != nil {
		return fmt.Errorf("create application %s: %w", siteName(i), err)
	}
	return nil
}

// awaitSites waits until the applications of all clusters are synced at a commit.
func (s *stage) awaitSites(revision string) (await, func()) {
	keys := make([]string, clusters)
	for i := range keys {
		keys[i] = s.Namespace + "/" + siteName(i)
	}
	g := newGoal(keys)
	cancel := s.apps.subscribe(func(key string, a application, at time.Time) {
		if a.synced(revision) {
			g.reach(key, at)
		}
	})
	return func(ctx context.Context) (map[string]time.Time, error) {
		return s.apps.reached(ctx, g, application.String)
	}, cancel
}

// clusters times commits to one of the clusters at a time.
func (s *stage) clusters(ctx context.Context, sample *score.Sample) (err error) {
	defer func() { err = errors.Join(err, s.endClusters(context.WithoutCancel(ctx))) }()
	sample.ClusterMiB, sample.ClusterCPUSeconds = s.sites.perMiB, s.sites.perCPU
	for n := range s.Commits {
		timed, cancel := context.WithTimeoutCause(ctx, s.Timeout, errTooLong)
		took, err := s.commitSite(timed, realSites+1+n*7%(clusters-realSites-1))
		cancel()
		if err != nil {
			return fmt.Errorf("commit %d: %w", n+1, err)
		}
		sample.Latencies = append(sample.Latencies, took)
		s.rest(ctx)
	}
	sample.WallSeconds = score.Median(sample.Latencies)
	return nil
}

// commitSite changes the probe of one cluster, which the watch on the control plane that has it shows.
func (s *stage) commitSite(ctx context.Context, i int) (live float64, err error) {
	s.sites.commits++
	state := &s.sites.states[i]
	state.Value = fmt.Sprintf("site-%d-%d", s.number+1, s.sites.commits)
	files, err := s.sites.shape.ProbeFile(i, *state)
	if err != nil {
		return 0, err
	}
	key := siteName(i) + "/" + s.sites.shape.ProbeName(i)
	g := newGoal([]string{key})
	cancel := s.probes.subscribe(func(at string, p probe, when time.Time) {
		if at == key && p.Data[corpus.ValueKey] == state.Value {
			g.reach(key, when)
		}
	})
	defer cancel()
	push, err := s.sites.repo.Commit(ctx, "change one object", files)
	if err != nil {
		return 0, err
	}
	if err := s.engine.Notify(ctx, s.sites.repo.URL, push); err != nil {
		return 0, err
	}
	at, err := s.probes.reached(ctx, g, func(p probe) string { return fmt.Sprintf("the value is %q", p.Data[corpus.ValueKey]) })
	if err != nil {
		return 0, fmt.Errorf("wait for the live object: %w", err)
	}
	return last(at).Sub(push.At).Seconds(), nil
}

// endClusters deletes the applications, the Secrets and what they had in the control plane of the benchmark.
func (s *stage) endClusters(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, emptyTimeout)
	defer cancel()
	defer func() {
		for _, end := range s.sites.close {
			end()
		}
		s.sites.close = nil
	}()
	return each(ctx, clusters, writers, func(ctx context.Context, i int) error {
		name := siteName(i)
		paths := []string{s.applicationsPath() + "/" + name, "/api/v1/namespaces/" + s.Namespace + "/secrets/" + name}
		if i == 0 {
			const rbac = "/apis/rbac.authorization.k8s.io/v1"
			paths = append(paths, rbac+"/clusterrolebindings/"+name, rbac+"/clusterroles/"+name)
		}
		for _, path := range append(paths, "/api/v1/namespaces/"+name) {
			_, err := s.client.do(ctx, call{method: http.MethodDelete, path: path})
			if err != nil && !answered(err, http.StatusNotFound) {
				return fmt.Errorf("delete %s: %w", path, err)
			}
		}
		return nil
	})
}
