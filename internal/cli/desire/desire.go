// Package desire finds out what an Application wants: it takes the sources from local directories or fetches them over
// git, renders them in confined processes, and places the objects as the agent would.
package desire

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/plain"
	"github.com/slipway-gitops/slipway/internal/engine/render/worker"
	"github.com/slipway-gitops/slipway/internal/sops"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
	"github.com/slipway-gitops/slipway/internal/source/sealed"
)

// HelmVariable names the environment variable with the Helm that renders a chart whose source names none: v3 or v4.
const HelmVariable = "SLIPWAY_HELM_VERSION"

// Fetcher gets the files of a source. revision takes the place of the source's own where it is not empty.
type Fetcher interface {
	Fetch(ctx context.Context, src v1alpha1.ApplicationSource, revision string) (source.Tree, error)
}

// Render renders every source of app, in their order. revision, where not empty, takes the place of the target
// revision of the first source.
func Render(ctx context.Context, app *v1alpha1.Application, fetch Fetcher, revision string,
	cluster render.Capabilities,
) ([]object.Manifest, error) {
	sources := app.Spec.EffectiveSources()
	if len(sources) == 0 {
		return nil, fmt.Errorf("application %s has no source: set spec.source", app.Name)
	}
	trees := make([]source.Tree, len(sources))
	refs := map[string]source.Tree{}
	for i, src := range sources {
		want := ""
		if i == 0 {
			want = revision
		}
		tree, err := fetch.Fetch(ctx, src, want)
		if err != nil {
			return nil, fmt.Errorf("get source %s: %w", src.RepoURL, err)
		}
		trees[i] = tree
		if src.Ref != "" {
			refs[src.Ref] = tree
		}
	}
	pipeline, done, err := newPipeline()
	if err != nil {
		return nil, err
	}
	defer done()
	var out []object.Manifest
	for i, src := range sources {
		result, err := pipeline.Render(ctx, render.Request{
			App:       render.App{Name: app.Name, Namespace: app.Namespace, Project: app.Spec.ProjectName()},
			Source:    src,
			Tree:      trees[i],
			Refs:      refs,
			Namespace: app.Spec.Destination.Namespace,
			Cluster:   cluster,
		})
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

// newPipeline puts the renderers together: what runs a program of the source's own making does so in a confined process,
// also here, since a pull request in CI is as hostile as anything.
func newPipeline() (*render.Pipeline, func(), error) {
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
	return pipeline, func() { _ = children.Close() }, nil
}

// Local takes sources from directories of this machine. Close it after use.
type Local struct {
	all   *dirtree.Tree // for every source; nil where each has its own
	byURL map[string]*dirtree.Tree
	ring  *sops.Ring // that encrypted files are decrypted with; nil: none is
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
func (l *Local) opened(tree *dirtree.Tree) source.Tree {
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

// Fetch returns the directory for the repository of src. Revisions mean nothing here.
func (l *Local) Fetch(_ context.Context, src v1alpha1.ApplicationSource, _ string) (source.Tree, error) {
	if tree, ok := l.byURL[src.RepoURL]; ok {
		return l.opened(tree), nil
	}
	if l.all == nil {
		return nil, fmt.Errorf("no directory for it: add --repo %s=DIR", src.RepoURL)
	}
	if src.Chart != "" {
		return nil, fmt.Errorf("chart %s is in a Helm repository: unpack it and add --repo %s=DIR", src.Chart, src.RepoURL)
	}
	return l.opened(l.all), nil
}
