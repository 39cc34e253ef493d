// Package kustomize builds kustomizations as "kustomize build" does, from trees alone: no file of the host, no network,
// no plugins, no exec. What spec.source.kustomize changes is edited in memory, as "kustomize edit" would on disk. Remote bases are
// among the trees, and charts of helmCharts are rendered by package helm.
package kustomize

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// Renderer builds kustomizations, one at a time: the Kustomize libraries keep the schema of the API in a variable of
// the process, which a kustomization with an openapi field changes. A process should have one Renderer; two of them
// could mix up the schemas of two such kustomizations. Make it with New.
//
// A remote base that is not among the trees is refused. One hides from that check: a built-in transformer, configured in a file of
// its own, with a URL as path. In a worker process (package worker) that fails too, since there is no network.
type Renderer struct {
	turn     chan struct{}
	versions []string
}

var _ render.Renderer = (*Renderer)(nil)

// New returns a Renderer. versions are the names that spec.source.kustomize.version may use besides those of the
// built-in major version (v5...); all of them mean the built-in one.
func New(versions ...string) *Renderer {
	return &Renderer{turn: make(chan struct{}, 1), versions: versions}
}

// Render builds the kustomization at req.Source.Path of a Request that render.Prepare made ready. It waits for its turn as long
// as ctx allows; a build that has begun is not interrupted.
func (r *Renderer) Render(ctx context.Context, req render.Request) (res render.Result, err error) {
	b := newBuild(req)
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return render.Result{}, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return render.Result{}, err
	}
	defer func() {
		// The libraries panic on some malformed input.
		if p := recover(); p != nil {
			openapi.ResetOpenAPI()
			res, err = render.Result{}, fmt.Errorf("build kustomization %s: kustomize stopped at something it cannot handle; "+
				"check the kustomization and its patches", b.dir)
		}
	}()
	if err := r.checkVersion(b.opts.Version, req.Settings.KustomizeVersions); err != nil {
		return render.Result{}, fmt.Errorf("build kustomization %s: %w", b.dir, err)
	}
	set, err := b.run(ctx)
	deps := render.Deps{Cluster: b.cluster}
	if err != nil {
		return render.Result{Deps: deps}, fmt.Errorf("build kustomization %s: %w", b.dir, b.clean(err))
	}
	return render.Result{
		Tool:    render.Kustomize,
		Objects: set.Manifests(),
		Deps:    deps,
	}, nil
}

func (r *Renderer) checkVersion(v string, registered []string) error {
	if v == "" || strings.HasPrefix(strings.TrimPrefix(v, "v"), "5") || slices.Contains(r.versions, v) || slices.Contains(registered, v) {
		return nil
	}
	return fmt.Errorf("kustomize version %s is not registered; remove spec.source.kustomize.version or register it as "+
		"kustomize.path.%s in argocd-cm", v, v)
}

// build is one rendering.
type build struct {
	req      render.Request
	opts     v1alpha1.KustomizeSource
	options  need.BuildOptions
	dir      string // of the kustomization in the tree
	fs       *treeFS
	own      *mount               // of the source's own tree
	stands   map[string]standIn   // by the name of a file that stands for something else
	inflated map[string][]string  // files with rendered charts, by the directory of the kustomization
	visited  map[string]inflation // directories of kustomizations whose charts are rendered
	cluster  bool                 // a chart asked for the destination cluster
}

// standIn is what a file stands for that is in no tree.
type standIn struct {
	raw           string // URL as people wrote it; "" for a chart
	shown         string
	kustomization string // name of the file that asks for the chart
}

func newBuild(req render.Request) *build {
	b := &build{
		req: req, dir: treeName("/" + req.Source.Path),
		stands: map[string]standIn{}, inflated: map[string][]string{}, visited: map[string]inflation{},
	}
	if req.Source.Kustomize != nil {
		b.opts = *req.Source.Kustomize
	}
	b.req.Limits = req.Limits.WithDefaults()
	b.fs = newTreeFS(b.req.Limits.Bytes)
	b.fs.rewrite = b.localize
	b.own = b.fs.add(b.hidden(""), &mount{tree: req.Tree})
	return b
}

// root is the directory of the kustomization as Kustomize sees it.
func (b *build) root() string { return path.Join(b.own.dir, b.dir) }

func (b *build) run(ctx context.Context) (*document.Set, error) {
	var err error
	if b.options, err = need.ParseBuildOptions(b.req.Settings.BuildOptionsOf(&b.opts)); err != nil {
		return nil, err
	}
	if err := b.edit(); err != nil {
		return nil, err
	}
	if b.options.EnableHelm {
		if err := b.inflate(ctx, b.root(), ""); err != nil {
			return nil, err
		}
	}
	opts := krusty.MakeDefaultOptions()
	// As the command does: objects in the legacy order unless the kustomization has sortOptions.
	opts.Reorder = krusty.ReorderOptionUnspecified
	if b.options.Reorder != "" {
		opts.Reorder = krusty.ReorderOption(b.options.Reorder)
	}
	if b.options.LoadAll {
		opts.LoadRestrictions = types.LoadRestrictionsNone
	}
	out, err := krusty.MakeKustomizer(opts).Run(b.fs, b.root())
	if b.fs.schema {
		// The next kustomization must not see the schema that this one brought.
		openapi.ResetOpenAPI()
	}
	if err != nil {
		// The libraries lose the cause of errors of a file system.
		return nil, errors.Join(b.fs.refused, err)
	}
	set := document.NewSet(b.req.Limits.Bytes, b.req.Limits.Objects)
	for _, res := range out.Resources() {
		if err := b.restoreOrigins(res); err != nil {
			return nil, err
		}
		// What the command prints, read again: printing changes some texts and numbers, and Argo CD reads what is printed.
		printed, err := res.AsYAML()
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", res.CurId(), err)
		}
		if err := set.AddYAML("", printed); err != nil {
			var at *document.Error // its line is one of what was printed
			if errors.As(err, &at) {
				err = at.Err
			}
			return nil, fmt.Errorf("%s: %w", res.CurId(), err)
		}
	}
	return set, nil
}

const maxMessage = 1500

// plugin matches how Kustomize refuses a generator or transformer that is not built in.
var plugin = regexp.MustCompile(`unable to load external plugin '?([^'\n]+)'?`)

// clean bounds an error text and keeps to one refusal: the libraries wrap each level around the text of the last.
func (b *build) clean(err error) error {
	var r *refusal
	if errors.As(err, &r) {
		return r
	}
	if m := plugin.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("it uses the plugin %.100q, and rendering runs no plugins: %s", m[1], render.PluginAdvice(m[1]))
	}
	text := err.Error()
	clean := legible.Cut(b.legible(text), maxMessage)
	switch {
	case clean == text:
		return err
	case errors.Is(err, document.ErrLimit):
		return fmt.Errorf("%w: %s", document.ErrLimit, clean)
	}
	return errors.New(clean)
}
