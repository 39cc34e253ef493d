package helm

import (
	"context"
	"fmt"
	"strconv"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
)

// helm3 is Helm 3.
type helm3 struct{}

func (helm3) installOrder() []string { return releaseutil.InstallOrder }

func (helm3) split(text string) []string {
	docs := releaseutil.SplitManifests(text)
	out := make([]string, len(docs))
	for i := range out {
		out[i] = docs["manifest-"+strconv.Itoa(i)]
	}
	return out
}

func (helm3) parseValues(raw []byte) (map[string]any, error) {
	return chartutil.ReadValues(raw)
}

func (helm3) load(files []*archive.BufferedFile) (loaded, error) {
	own := make([]*loader.BufferedFile, len(files))
	for i, f := range files {
		own[i] = &loader.BufferedFile{Name: f.Name, Data: f.Data}
	}
	c, err := loader.LoadFiles(own)
	if err != nil {
		return nil, err
	}
	return &chart3{c: c}, nil
}

type chart3 struct {
	c   *chart.Chart
	top chartutil.Values // once merge returned
}

func (c *chart3) about() about {
	m := c.c.Metadata
	out := about{name: c.c.Name(), chartType: m.Type, kubeVersion: m.KubeVersion, defaults: c.c.Values, schema: c.c.Schema}
	for _, d := range m.Dependencies {
		if d != nil {
			out.required = append(out.required, dependency{d.Name, d.Repository})
		}
	}
	return out
}

func (c *chart3) dependencies() []loaded {
	deps := c.c.Dependencies()
	out := make([]loaded, len(deps))
	for i, d := range deps {
		out[i] = &chart3{c: d}
	}
	return out
}

func (c *chart3) add(dep loaded) {
	if d, ok := dep.(*chart3); ok {
		c.c.AddDependency(d.c)
	}
}

func (c *chart3) merge(in input) (map[string]any, error) {
	if err := chartutil.ProcessDependenciesWithMerge(c.c, in.values); err != nil {
		return nil, fmt.Errorf("process dependencies: %w", err)
	}
	caps := chartutil.DefaultCapabilities.Copy()
	caps.HelmVersion.Version = helm3Version
	if in.kubeVersion != "" {
		v, err := chartutil.ParseKubeVersion(in.kubeVersion)
		if err != nil {
			return nil, badKubeVersion(in.kubeVersion, err)
		}
		caps.KubeVersion = *v
	}
	// DefaultCapabilities is shared: never append to its slice in place.
	all := make(chartutil.VersionSet, 0, len(caps.APIVersions)+len(in.apiVersions))
	caps.APIVersions = append(append(all, caps.APIVersions...), in.apiVersions...)
	if want := c.c.Metadata.KubeVersion; want != "" && !chartutil.IsCompatibleRange(want, caps.KubeVersion.String()) {
		return nil, incompatible(c.about(), caps.KubeVersion.Version)
	}
	release := chartutil.ReleaseOptions{Name: in.release, Namespace: in.namespace, Revision: 1, IsInstall: true}
	// Helm's own schema check would open files and URLs that a schema names: ours does not.
	top, err := chartutil.ToRenderValuesWithSchemaValidation(c.c, in.values, release, caps, true)
	if err != nil {
		return nil, fmt.Errorf("merge values: %w", err)
	}
	c.top = top
	vals, err := top.Table("Values")
	if err != nil {
		return nil, fmt.Errorf("read merged values: %w", err)
	}
	return vals, nil
}

// execute uses the zero Engine: it has no client, so lookup finds nothing, and it answers no DNS question.
func (c *chart3) execute(context.Context) (map[string]string, error) {
	return engine.Engine{}.Render(c.c, c.top)
}

func (c *chart3) crds() []crd {
	var out []crd
	for _, f := range c.c.CRDObjects() {
		out = append(out, crd{f.Filename, f.File.Data})
	}
	return out
}
