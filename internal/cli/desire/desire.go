// Package desire finds out what an Application wants: it takes the sources from local directories or fetches them, renders them in
// confined processes, and places the objects as the agent would.
package desire

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/declared"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/engine/render/plain"
	"github.com/slipway-gitops/slipway/internal/engine/render/worker"
	"github.com/slipway-gitops/slipway/internal/engine/supply"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/sops"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
	"github.com/slipway-gitops/slipway/internal/source/sealed"
)

// HelmVariable names the environment variable with the Helm that renders a chart whose source names none: v3 or v4.
const HelmVariable = "SLIPWAY_HELM_VERSION"

// Fetcher gets the files of sources.
type Fetcher interface {
	// Fetch gets those of a source. revision takes the place of the source's own where it is not empty.
	Fetch(ctx context.Context, src v1alpha1.ApplicationSource, revision string) (source.Tree, error)
	// FetchNeed gets those that a source needs from elsewhere.
	FetchNeed(ctx context.Context, n need.Need) (source.Tree, error)
}

// Options say how to render.
type Options struct {
	Revision string // where not empty, takes the place of the target revision of the first source
	Cluster  render.Capabilities
	Plugins  string // directory with declarations of config management plugins; "" for none
	// Permits reports whether the project permits what a source needs from elsewhere; nil permits all, where the project is not known.
	Permits func(address, chart string) error
}

// Render renders every source of app, in their order.
func Render(ctx context.Context, app *v1alpha1.Application, fetch Fetcher, o Options) ([]object.Manifest, error) {
	sources := app.Spec.EffectiveSources()
	if len(sources) == 0 {
		return nil, fmt.Errorf("application %s has no source: set spec.source", app.Name)
	}
	trees := make([]source.Tree, len(sources))
	refs := map[string]source.Tree{}
	for i, src := range sources {
		want := ""
		if i == 0 {
			want = o.Revision
		}
		tree, err := fetch.Fetch(ctx, src, want)
		if err != nil {
			return nil, fmt.Errorf("get source %s: %w", redact.Addresses(src.RepoURL), err)
		}
		trees[i] = tree
		if src.Ref != "" {
			refs[src.Ref] = tree
		}
	}
	pipeline, done, err := newPipeline(o.Plugins)
	if err != nil {
		return nil, err
	}
	defer done()
	requests := make([]render.Request, len(sources))
	for i, src := range sources {
		requests[i] = render.Request{
			App:       render.App{Name: app.Name, Namespace: app.Namespace, Project: app.Spec.ProjectName()},
			Source:    src,
			Tree:      trees[i],
			Refs:      refs,
			Namespace: app.Spec.Destination.Namespace,
			Cluster:   o.Cluster,
		}
	}
	order := supply.Order{Needs: needs{fetch}, Find: finder(pipeline), App: app, Permits: o.Permits}
	if order.Permits == nil {
		order.Permits = func(string, string) error { return nil }
	}
	if err := order.Gather(ctx, requests, func(int) string { return "" }); err != nil {
		return nil, err
	}
	var out []object.Manifest
	for i := range requests {
		result, err := pipeline.Render(ctx, requests[i])
		if err != nil && len(sources) > 1 {
			return nil, fmt.Errorf("source %d of %d: %w", i+1, len(sources), err)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, result.Objects...)
	}
	return out, nil
}

// finder finds what a source needs: nothing where a plugin renders it.
func finder(pipeline *render.Pipeline) func(context.Context, render.Request, string) ([]need.Need, error) {
	return func(ctx context.Context, req render.Request, _ string) ([]need.Need, error) {
		found, _, err := need.Find(req)
		if len(found) > 0 || err != nil {
			if claimed, failed := pipeline.Claimed(ctx, req); claimed || failed != nil {
				return nil, failed
			}
		}
		return found, err
	}
}

// needs fetches what sources need.
type needs struct{ Fetcher }

// Locate implements supply.Needs.
func (needs) Locate(_ string, n need.Need) (need.Need, error) { return n, nil }

// FetchNeed implements supply.Needs.
func (n needs) FetchNeed(ctx context.Context, _ string, wanted need.Need, _ time.Time) (supply.Fetched, error) {
	tree, err := n.Fetcher.FetchNeed(ctx, wanted)
	return supply.Fetched{Tree: tree}, err
}

// Heed implements supply.Needs.
func (needs) Heed(*v1alpha1.Application, []supply.Needed, bool) {}

// newPipeline puts the renderers together: what runs a program of the source's own making does so in a confined process,
// also here, since a pull request in CI is as hostile as anything.
func newPipeline(plugins string) (*render.Pipeline, func(), error) {
	helm := cmp.Or(os.Getenv(HelmVariable), render.HelmV3)
	if helm != render.HelmV3 && helm != render.HelmV4 {
		return nil, nil, iostream.Usagef("%s is %q: set it to v3 or v4, as --helm-version of the agent", HelmVariable, helm)
	}
	children, err := worker.New(worker.Config{})
	if err != nil {
		return nil, nil, fmt.Errorf("prepare render workers: %w", err)
	}
	pipeline := &render.Pipeline{
		Plain: plain.Renderer{}, Jsonnet: children, Helm: children, Kustomize: children,
		HelmVersion: func() string { return helm },
	}
	done := func() { _ = children.Close() }
	if plugins != "" {
		if _, err := os.Stat(plugins); err != nil {
			done()
			return nil, nil, iostream.Usagef("--plugins: %v: name the directory with the declarations", err)
		}
		work, err := os.MkdirTemp("", "slipway-plugins-")
		if err != nil {
			done()
			return nil, nil, fmt.Errorf("make directory for plugins: %w", err)
		}
		pipeline.Plugins = &declared.Renderer{Dir: plugins, Work: work}
		done = func() { _ = children.Close(); _ = os.RemoveAll(work) }
	}
	return pipeline, done, nil
}

// Local takes sources from directories of this machine, and others from elsewhere. Close it after use.
type Local struct {
	Elsewhere Fetcher       // nil: nothing is fetched
	all       *dirtree.Tree // for every source; nil where each has its own
	byURL     map[string]*dirtree.Tree
	ring      *sops.Ring // that encrypted files are decrypted with; nil: none is
}

// DecryptWith has encrypted files decrypted with the private keys in files of this machine.
func (l *Local) DecryptWith(files []string) error {
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read key: %w", err)
		}
		if l.ring == nil {
			l.ring = &sops.Ring{}
		}
		if err := l.ring.Add(name, data); err != nil {
			return err
		}
	}
	return nil
}

// opened is a tree with its files decrypted, where there are keys.
func (l *Local) opened(tree source.Tree) source.Tree {
	if l.ring == nil {
		return tree
	}
	return sealed.New(tree, sealed.Keys{Ring: l.ring, Holder: "--sops-key", Advice: "name the file with the private key of one of these"})
}

// OpenLocal opens the values of the flag --repo: DIR for all sources, or URL=DIR for those of one repository.
func OpenLocal(values []string) (*Local, error) {
	l := &Local{byURL: map[string]*dirtree.Tree{}}
	for _, value := range values {
		url, dir := "", value
		if i := strings.LastIndex(value, "="); i > 0 && strings.Contains(value[:i], ":") {
			url, dir = value[:i], value[i+1:]
		}
		if url == "" && l.all != nil {
			l.Close()
			return nil, iostream.Usagef("--repo %s: only one directory can be for all sources; write the others as URL=DIR", value)
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			l.Close()
			return nil, fmt.Errorf("find directory %s: %w", dir, err)
		}
		tree, err := dirtree.Open(abs, "local")
		if err != nil {
			l.Close()
			return nil, err
		}
		if url == "" {
			l.all = tree
		} else {
			l.byURL[url] = tree
		}
	}
	return l, nil
}

// Close releases the directories.
func (l *Local) Close() {
	if l.all != nil {
		_ = l.all.Close()
	}
	for _, tree := range l.byURL {
		_ = tree.Close()
	}
}

// Fetch returns the directory for the repository of src, where revisions mean nothing, or has it fetched.
func (l *Local) Fetch(ctx context.Context, src v1alpha1.ApplicationSource, revision string) (source.Tree, error) {
	if tree, ok := l.byURL[src.RepoURL]; ok {
		return l.opened(tree), nil
	}
	if l.all != nil && !artifactual(src) {
		return l.opened(l.all), nil
	}
	tree, err := l.elsewhere().Fetch(ctx, src, revision)
	if err != nil {
		return nil, err
	}
	return l.opened(tree), nil
}

// FetchNeed returns the directory for what is needed, or has it fetched. That of a chart is named by its repository and its name.
func (l *Local) FetchNeed(ctx context.Context, n need.Need) (source.Tree, error) {
	url := n.URL
	if n.Kind == need.Chart {
		url = strings.TrimSuffix(url, "/") + "/" + n.Name
	}
	if tree, ok := l.byURL[url]; ok {
		return l.opened(tree), nil
	}
	tree, err := l.elsewhere().FetchNeed(ctx, n)
	if err != nil {
		return nil, err
	}
	return l.opened(tree), nil
}

func (l *Local) elsewhere() Fetcher {
	if l.Elsewhere == nil {
		return None{}
	}
	return l.Elsewhere
}
