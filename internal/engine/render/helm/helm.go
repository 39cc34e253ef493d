// Package helm renders charts as "helm template" does, from a Tree alone: no file of the host, no network, no cluster.
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

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
)

// helm3Version is what .Capabilities.HelmVersion says unless spec.source.helm.version is v4: charts test it to tell
// Helm 2 from Helm 3, and what they render is meant to be what Helm 3 renders.
const helm3Version = "v3.19.0"

// Renderer renders charts. The zero value is ready; it is safe for concurrent use.
type Renderer struct{}

var _ render.Renderer = Renderer{}

// Render renders the chart at req.Source.Path of a Request that render.Prepare made ready. ctx is looked at between the stages; a template that runs for ever
// is not interrupted. Errors name the chart, the file and, where Helm tells it, the line, and hold no values.
func (Renderer) Render(ctx context.Context, req render.Request) (res render.Result, err error) {
	j := newJob(req)
	defer func() {
		// Helm's code panics on some malformed charts.
		if r := recover(); r != nil {
			res.Objects, err = nil, fmt.Errorf("render chart %s: helm stopped at something it cannot handle; check Chart.yaml and the types in values", j.dir)
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
	opts    v1alpha1.HelmSource
	dir     string // of the chart in the tree
	budget  *budget
	scrub   scrubber
	cluster bool // the result depends on the destination cluster
}

func newJob(req render.Request) *job {
	j := &job{req: req, dir: treePath(req.Source.Path)}
	if req.Source.Helm != nil {
		j.opts = *req.Source.Helm
	}
	j.req.Limits = req.Limits.WithDefaults()
	j.budget = &budget{bytes: j.req.Limits.Bytes, files: maxFiles}
	return j
}

func (j *job) run(ctx context.Context) (manifests, error) {
	if err := checkVersion(j.opts.Version); err != nil {
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
func (j *job) render(ctx context.Context, chrt *chart.Chart, name string, vals map[string]any) (manifests, error) {
	if err := checkInstallable(chrt); err != nil {
		return nil, err
	}
	if err := chartutil.ProcessDependencies(chrt, vals); err != nil {
		return nil, fmt.Errorf("process dependencies: %w", err)
	}
	caps, err := j.capabilities()
	if err != nil {
		return nil, err
	}
	if want := chrt.Metadata.KubeVersion; want != "" {
		j.cluster = j.cluster || j.opts.KubeVersion == ""
		if !chartutil.IsCompatibleRange(want, caps.KubeVersion.String()) {
			return nil, fmt.Errorf("chart %s requires Kubernetes %s, the cluster has %s; use another chart version", chrt.Name(), want, caps.KubeVersion.Version)
		}
	}
	release := common.ReleaseOptions{
		Name:      name,
		Namespace: cmp.Or(j.opts.Namespace, j.req.Namespace),
		Revision:  1,
		IsInstall: true,
	}
	// Helm's own schema check would open files and URLs that a schema names: ours does not.
	top, err := util.ToRenderValuesWithSchemaValidation(chrt, vals, release, caps, true)
	if err != nil {
		return nil, fmt.Errorf("merge values: %w", err)
	}
	if !j.opts.SkipSchemaValidation {
		if err := checkSchemas(chrt, top); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// The zero Engine has no client, so lookup finds nothing, and answers no DNS question.
	files, err := engine.Engine{}.Render(chrt, top)
	if err != nil {
		return nil, fmt.Errorf("execute templates of chart %s: %w", chrt.Name(), err)
	}
	return j.collect(chrt, files)
}

// checkVersion accepts the versions that give what this renderer gives.
func checkVersion(v string) error {
	switch v {
	case "", "v3", "v4", "3", "4":
		return nil
	}
	return fmt.Errorf("helm version %q is not supported; set spec.source.helm.version to v3 or remove it", v)
}

func checkInstallable(c *chart.Chart) error {
	switch c.Metadata.Type {
	case "", "application":
		return nil
	}
	return fmt.Errorf("chart %s is of type %q and cannot be deployed by itself; depend on it from an application chart", c.Name(), c.Metadata.Type)
}

// capabilities is what templates see of the cluster: as with helm template, Helm's own list of API versions with
// those of the cluster added.
func (j *job) capabilities() (*common.Capabilities, error) {
	caps := common.DefaultCapabilities.Copy()
	if j.opts.Version != "v4" && j.opts.Version != "4" {
		caps.HelmVersion.Version = helm3Version
	}
	version := cmp.Or(j.opts.KubeVersion, j.req.Cluster.KubeVersion)
	if version != "" {
		// Build metadata ("+IKS") is no part of the version that charts compare.
		version, _, _ = strings.Cut(version, "+")
		v, err := common.ParseKubeVersion(version)
		if err != nil {
			return nil, fmt.Errorf("read Kubernetes version %q: %w; write it as v1.36.3", version, err)
		}
		caps.KubeVersion = *v
	}
	extra := j.opts.APIVersions
	if len(extra) == 0 {
		extra = j.req.Cluster.APIVersions
	}
	// DefaultCapabilities is shared: never append to its slice in place.
	all := make(common.VersionSet, 0, len(caps.APIVersions)+len(extra))
	caps.APIVersions = append(append(all, caps.APIVersions...), extra...)
	return caps, nil
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
