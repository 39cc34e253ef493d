// Package helm renders charts as "helm template" of Helm 3 or Helm 4 does, from a Tree alone: no file of the host, no
// network, no cluster.
// A template can run for ever or eat all memory, and Go code cannot stop it; where charts are not trusted, run the
// renderer in a worker process (package worker).
package helm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
)

// Renderer renders charts. The zero value is ready; it is safe for concurrent use.
type Renderer struct{}

var _ render.Renderer = Renderer{}

// Render renders the chart at req.Source.Path of a Request that render.Prepare made ready. ctx is looked at between the stages; a
// template that runs for ever is not interrupted. Errors name the chart, the file and, if Helm reports it, the line, and hold no
// values.
func (Renderer) Render(ctx context.Context, req render.Request) (render.Result, error) {
	return newJob(req).result(ctx)
}

// Inflate renders a chart as Kustomize has helm do it: values are documents, weakest first, in place of all that the source says of
// values, and hooks can be left out.
func Inflate(ctx context.Context, req render.Request, values [][]byte, noHooks bool) (render.Result, error) {
	j := newJob(req)
	j.given, j.noHooks = values, noHooks
	return j.result(ctx)
}

func (j *job) result(ctx context.Context) (res render.Result, err error) {
	defer func() {
		// Helm's code panics on some malformed charts.
		if r := recover(); r != nil {
			res.Objects, err = nil, fmt.Errorf("render chart %s: helm stopped at something it cannot handle; "+
				"check Chart.yaml and the types in values", j.dir)
		}
	}()
	set, err := j.run(ctx)
	res = render.Result{Tool: render.Helm, Objects: set, Deps: render.Deps{Cluster: j.cluster}}
	if err != nil {
		return res, fmt.Errorf("render chart %s: %w", j.dir, j.scrub.err(err))
	}
	return res, nil
}

// job is one rendering.
type job struct {
	req     render.Request
	helm    edition
	opts    v1alpha1.HelmSource
	dir     string // of the chart in the tree
	budget  *budget
	scrub   scrubber
	cluster bool // the result depends on the destination cluster
	given   [][]byte
	noHooks bool
}

func newJob(req render.Request) *job {
	j := &job{req: req, dir: treePath(req.Source.Path)}
	if req.Source.Helm != nil {
		j.opts = *req.Source.Helm
	}
	j.req.Limits = req.Limits.WithDefaults()
	j.budget = &budget{bytes: j.req.Limits.Bytes, files: maxFiles, names: maxNames}
	return j
}

func (j *job) run(ctx context.Context) (manifests, error) {
	var err error
	if j.helm, err = editionOf(j.opts.Version); err != nil {
		return nil, err
	}
	name := cmp.Or(j.opts.ReleaseName, j.req.App.Name)
	if err := chartutil.ValidateReleaseName(name); err != nil {
		return nil, fmt.Errorf("release name %q: %w; set spec.source.helm.releaseName", name, err)
	}
	vals, err := j.values()
	if err != nil {
		return nil, err
	}
	chrt, err := j.load()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return j.render(ctx, chrt, name, vals)
}

// render does what "helm template" does once chart and values are there.
func (j *job) render(ctx context.Context, c loaded, release string, vals map[string]any) (manifests, error) {
	if err := checkInstallable(c); err != nil {
		return nil, err
	}
	if c.about().kubeVersion != "" {
		j.cluster = j.cluster || j.opts.KubeVersion == ""
	}
	in := j.input()
	in.release, in.values = release, vals
	merged, err := c.merge(in)
	if err != nil {
		return nil, err
	}
	if !j.opts.SkipSchemaValidation {
		if err := checkSchemas(c, merged); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	files, err := c.execute(ctx)
	if err != nil {
		return nil, fmt.Errorf("execute templates of chart %s: %w", c.about().name, err)
	}
	return j.collect(c, files)
}

func checkInstallable(c loaded) error {
	switch t := c.about().chartType; t {
	case "", "application":
		return nil
	default:
		return fmt.Errorf("chart %s is of type %q and cannot be deployed on its own; depend on it from an application chart", c.about().name, t)
	}
}

// input is what templates see of destination and cluster: as with helm template, Helm's own list of API versions with those
// of the cluster added.
func (j *job) input() input {
	in := input{
		namespace:   cmp.Or(j.opts.Namespace, j.req.Namespace),
		kubeVersion: cmp.Or(j.opts.KubeVersion, j.req.Cluster.KubeVersion),
		apiVersions: j.opts.APIVersions,
	}
	// Build metadata ("+IKS") is no part of the version that charts compare.
	in.kubeVersion, _, _ = strings.Cut(in.kubeVersion, "+")
	if len(in.apiVersions) == 0 {
		in.apiVersions = j.req.Cluster.APIVersions
	}
	return in
}

// noteCapabilities records that the cluster was asked when text mentions it: what a template does with the mention
// is not known, so every mention counts.
func (j *job) noteCapabilities(text []byte) {
	given := j.opts.KubeVersion != "" && len(j.opts.APIVersions) > 0
	if !j.cluster && !given && bytes.Contains(text, []byte("Capabilities")) {
		j.cluster = true
	}
}

// treePath makes a clean tree name of a path in a spec.
func treePath(p string) string {
	p = strings.TrimPrefix(path.Clean("/"+p), "/")
	if p == "" {
		return "."
	}
	return p
}

// errLimit is what exceeding the byte or file limit gives.
func errLimit(what string) error {
	return fmt.Errorf("%s: %w; split the chart or leave files out with .helmignore", what, document.ErrLimit)
}

var errNoChart = errors.New("there is no Chart.yaml; check spec.source.path")
