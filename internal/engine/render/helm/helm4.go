package helm

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
)

// helm4 is Helm 4.
type helm4 struct{}

func (helm4) installOrder() []string { return releaseutil.InstallOrder }

// split is that of Helm 4.2: the library's own is another one since 4.3.
func (helm4) split(text string) (docs []string) {
	for _, doc := range mark4.Split(text, -1) {
		if doc = strings.TrimLeftFunc(doc, unicode.IsSpace); doc != "" {
			docs = append(docs, doc)
		}
	}
	return docs
}

// mark4 matches what stands between two documents, with the white space around it.
var mark4 = regexp.MustCompile(`(?:^|\s*\n)---\s*`)

func (helm4) parseValues(raw []byte) (map[string]any, error) {
	return loader.LoadValues(bytes.NewReader(raw))
}

func (helm4) load(files []*archive.BufferedFile) (loaded, error) {
	c, err := loader.LoadFiles(files)
	if err != nil {
		return nil, err
	}
	return &chart4{c: c}, nil
}

type chart4 struct {
	c   *chart.Chart
	top common.Values // once merge returned
}

func (c *chart4) about() about {
	m := c.c.Metadata
	out := about{name: c.c.Name(), chartType: m.Type, kubeVersion: m.KubeVersion, defaults: c.c.Values, schema: c.c.Schema}
	for _, d := range m.Dependencies {
		if d != nil {
			out.required = append(out.required, dependency{d.Name, d.Repository})
		}
	}
	return out
}

func (c *chart4) dependencies() []loaded {
	deps := c.c.Dependencies()
	out := make([]loaded, len(deps))
	for i, d := range deps {
		out[i] = &chart4{c: d}
	}
	return out
}

func (c *chart4) add(dep loaded) {
	if d, ok := dep.(*chart4); ok {
		c.c.AddDependency(d.c)
	}
}

func (c *chart4) merge(in input) (map[string]any, error) {
	if err := chartutil.ProcessDependencies(c.c, in.values); err != nil {
		return nil, fmt.Errorf("process dependencies: %w", err)
	}
	caps := common.DefaultCapabilities.Copy()
	caps.HelmVersion.Version = helm4Version
	if in.kubeVersion != "" {
		v, err := common.ParseKubeVersion(in.kubeVersion)
		if err != nil {
			return nil, badKubeVersion(in.kubeVersion, err)
		}
		caps.KubeVersion = *v
	}
	// DefaultCapabilities is shared: never append to its slice in place.
	all := make(common.VersionSet, 0, len(caps.APIVersions)+len(in.apiVersions))
	caps.APIVersions = append(append(all, caps.APIVersions...), in.apiVersions...)
	if want := c.c.Metadata.KubeVersion; want != "" && !chartutil.IsCompatibleRange(want, caps.KubeVersion.String()) {
		return nil, incompatible(c.about(), caps.KubeVersion.Version)
	}
	release := common.ReleaseOptions{Name: in.release, Namespace: in.namespace, Revision: 1, IsInstall: true}
	// Helm's own schema check would open files and URLs that a schema names: ours does not.
	top, err := util.ToRenderValuesWithSchemaValidation(c.c, in.values, release, caps, true)
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
func (c *chart4) execute(ctx context.Context) (map[string]string, error) {
	return engine.Engine{}.RenderWithContext(ctx, c.c, c.top)
}

func (c *chart4) crds() []crd {
	var out []crd
	for _, f := range c.c.CRDObjects() {
		out = append(out, crd{f.Filename, f.File.Data})
	}
	return out
}
