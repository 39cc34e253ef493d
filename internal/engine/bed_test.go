package engine

import (
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"log/slog"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/project"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// patience bounds the wait for something that a watch tells.
const patience = time.Minute

// bed is an Application on a namespace of a real API server, of which every revision is a text. It is also the engine's
// sources, renderer, clusters and projects.
type bed struct {
	t         *testing.T
	engine    *Engine
	app       *v1alpha1.Application
	rules     *project.Rules
	target    apply.Target
	revisions map[string]string // content of each, "" for the present one
	head      string
	fetched   error // of every fetch
	events    chan struct{}
}

func newBed(t *testing.T, change func(*rest.Config)) *bed {
	t.Helper()
	ns := testenv.Namespace(t)
	cfg := rest.CopyConfig(testenv.Cluster(t))
	if change != nil {
		change(cfg)
	}
	client, err := apply.NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{t: t, revisions: map[string]string{}, events: make(chan struct{}, 1), rules: permissive(t, nil)}
	state, err := live.Open(t.Context(), live.Config{
		Server: cfg.Host, REST: cfg, Log: slog.New(slog.DiscardHandler), Notify: func(live.Event) {
			select {
			case b.events <- struct{}{}:
			default:
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(state.Close)
	b.target = apply.Target{Client: client, Live: state}
	b.engine = &Engine{
		Sources: b, Renderer: b, Clusters: clusterOf{b}, Projects: b, Namespace: "argocd", Now: time.Now,
		Budget: &plan.Budget{Off: true}, Exists: func(string) bool { return false },
	}
	b.app = &v1alpha1.Application{Spec: v1alpha1.ApplicationSpec{
		Source:      &v1alpha1.ApplicationSource{RepoURL: "https://git.example/a", Path: "."},
		Destination: v1alpha1.ApplicationDestination{Server: "https://kubernetes.default.svc", Namespace: ns},
	}}
	b.app.Name, b.app.Namespace = "web-"+ns, "argocd"
	return b
}

// permissive are the rules of a project that permits everything that change does not forbid.
func permissive(t *testing.T, change func(*v1alpha1.AppProject)) *project.Rules {
	t.Helper()
	p := &v1alpha1.AppProject{}
	p.Name = "default"
	p.Spec.SourceRepos = []string{"*"}
	p.Spec.Destinations = []v1alpha1.ApplicationDestination{{Server: "*", Namespace: "*"}}
	all := []v1alpha1.ClusterResourceRule{{Group: "*", Kind: "*"}}
	p.Spec.ClusterResourceWhitelist = all
	if change != nil {
		change(p)
	}
	rules, err := project.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

type treeAt struct {
	source.Tree
	revision string
}

func (t treeAt) Revision() string { return t.revision }

func (b *bed) Fetch(_ context.Context, _ string, src v1alpha1.ApplicationSource, _ time.Time) (Fetched, error) {
	revision := b.head
	if src.TargetRevision != "" {
		revision = src.TargetRevision
	}
	return Fetched{Tree: treeAt{revision: revision}, Scope: "s"}, b.fetched
}

func (b *bed) Render(_ context.Context, req render.Request, _ string) (render.Result, bool, error) {
	out := render.Result{Tool: render.Directory}
	var list []map[string]any
	if err := yaml.Unmarshal([]byte(b.revisions[req.Tree.Revision()]), &list); err != nil {
		return out, false, err
	}
	for _, obj := range list {
		m, err := object.NewManifest(obj)
		if err != nil {
			return out, false, err
		}
		out.Objects = append(out.Objects, m)
	}
	return out, false, nil
}

func (b *bed) Needs(context.Context, render.Request, string) ([]need.Need, error) { return nil, nil }

func (b *bed) Identify(req render.Request, _ string) (uint64, bool) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(req.Tree.Revision()))
	return h.Sum64(), true
}

func (b *bed) Forget(render.Request, string) {}

func (b *bed) Target(context.Context, string, v1alpha1.ApplicationDestination) (apply.Target, error) {
	return b.target, nil
}

func (b *bed) Rules(string) (*project.Rules, error) { return b.rules, nil }

// clusterOf is the other half of Clusters, whose method is called like one of Renderer's.
type clusterOf struct{ *bed }

func (c clusterOf) Identify(string, v1alpha1.ApplicationDestination) (project.Cluster, error) {
	return project.Cluster{Server: c.app.Spec.Destination.Server}, nil
}

// commit makes a revision of a YAML list the present one.
func (b *bed) commit(revision, list string) {
	b.head, b.revisions[revision] = revision, list
}

// automate turns automated sync on.
func (b *bed) automate() {
	b.app.Spec.SyncPolicy = &v1alpha1.SyncPolicy{Automated: &v1alpha1.AutomatedSync{Prune: yes(), AllowEmpty: yes()}}
}

// turn reconciles, and writes what an agent would write.
func (b *bed) turn() Result {
	b.t.Helper()
	req := Request{App: b.app, Due: true}
	if last := b.app.Status.OperationState; last != nil && last.Phase == v1alpha1.OperationRunning {
		req.Retries = last.RetryCount
	}
	res := b.engine.Reconcile(b.t.Context(), req)
	next := b.app.DeepCopy()
	next.Status.Resources = res.Resources
	next.Status.Sync.Status = res.Sync
	if res.Operation != nil {
		next.Status.OperationState = res.Operation
		if res.Operation.Phase.Completed() {
			next.Operation = nil
		}
	}
	raw, err := json.Marshal(next)
	if err != nil {
		b.t.Fatal(err)
	}
	b.app = &v1alpha1.Application{}
	if err := json.Unmarshal(raw, b.app); err != nil {
		b.t.Fatal(err)
	}
	return res
}

// await waits until live state is as it should be.
func (b *bed) await(what string, ok func() bool) {
	b.t.Helper()
	timeout := time.After(patience)
	for !ok() {
		select {
		case <-b.events:
		case <-timeout:
			b.t.Fatalf("not in time: %s", what)
		}
	}
}

func (b *bed) key(name string) object.Key {
	return object.Key{Kind: "ConfigMap", Namespace: b.app.Spec.Destination.Namespace, Name: name}
}

func (b *bed) has(name string) bool {
	_, tracked, foreign := b.target.Live.Get(b.key(name))
	return tracked || foreign
}

var errTest = errors.New("it does not work")
