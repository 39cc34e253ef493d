package kustomize

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/kustomize/kyaml/yaml/merge2"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/helm"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
)

// releaseName is what "helm template --generate-name" calls a release.
const releaseName = "release-name"

// inflation is the charts of one kustomization.
type inflation struct {
	namespace string // that the kustomizations above it give
	charts    bool
}

// inflate renders the charts of the kustomization in a directory and of those below it, before Kustomize reads them. Kustomize would
// run helm for each. namespace is that of the kustomizations above, which charts without one get.
func (b *build) inflate(ctx context.Context, dir, namespace string) error {
	if had, again := b.visited[dir]; again {
		if had.charts && had.namespace != namespace {
			return fmt.Errorf("the charts of %s are used in the namespaces %q and %q; give each a namespace in helmCharts",
				b.legible(dir), had.namespace, namespace)
		}
		return nil
	}
	b.visited[dir] = inflation{namespace: namespace}
	k, file := b.decoded(dir)
	if file == "" {
		return nil
	}
	below := cmp.Or(k.Namespace, namespace)
	at, _ := b.fs.find(dir)
	err := need.Each(&k, func(field string, p *string) error {
		to := path.Join(dir, *p)
		switch {
		case *p == "" || strings.Contains(*p, "\n"):
			return nil
		case need.IsRemote(*p):
			ref, err := need.ParseReference(field, *p)
			if err != nil || ref.Kind != need.Git || b.req.Needs[ref.Key()] == nil {
				return nil //nolint:nilerr // localize refuses it
			}
			m := b.fs.add(b.hidden(*p), &mount{tree: b.req.Needs[ref.Key()], raw: *p, from: ref})
			to = path.Join(m.dir, ref.Path)
		case path.IsAbs(*p) || !strings.HasPrefix(to+"/", at.dir+"/") || !b.fs.IsDir(to):
			return nil
		}
		return b.inflate(ctx, to, below)
	})
	if err != nil {
		return err
	}
	for i := range k.HelmCharts {
		c := k.HelmCharts[i]
		if c.Namespace == "" {
			c.Namespace = below
			b.visited[dir] = inflation{namespace: namespace, charts: k.Namespace == ""}
		}
		name := fmt.Sprintf("charts-%s-%d.yaml", b.hidden(dir), i)
		text, err := b.chart(ctx, &k, &c, dir)
		if err != nil {
			return fmt.Errorf("helmCharts of %s: %w", b.legible(dir), err)
		}
		if len(text) == 0 {
			continue // a chart may give nothing, a file of resources may not
		}
		b.fs.overlay[path.Join(dir, name)] = text
		b.inflated[dir] = append(b.inflated[dir], name)
		b.stands[name] = standIn{shown: "chart " + c.Name, kustomization: file}
	}
	return nil
}

// decoded reads the kustomization in a directory, and returns the name of its file; "" where there is none that can be read.
func (b *build) decoded(dir string) (types.Kustomization, string) {
	for _, base := range konfig.RecognizedKustomizationFileNames() {
		name := path.Join(dir, base)
		raw, ok := b.fs.overlay[name]
		if m, n := b.fs.find(name); !ok && m != nil {
			var err error
			if raw, err = m.tree.ReadFile(n); err != nil {
				continue
			}
		}
		if k, ok := need.Decode(raw); ok {
			return k, base
		}
		break
	}
	return types.Kustomization{}, ""
}

// chart renders one chart to a file of resources.
func (b *build) chart(ctx context.Context, k *types.Kustomization, c *types.HelmChart, dir string) ([]byte, error) {
	if c.Name == "" {
		return nil, errors.New("chart name cannot be empty; set name")
	}
	if strings.Contains(c.NameTemplate, "{{") {
		return nil, fmt.Errorf("chart %s: nameTemplate is a template, which is not supported; set releaseName", c.Name)
	}
	at, rel := b.fs.find(dir)
	tree, root := at.tree, need.InflatedDir(k, c, rel)
	n, remote, err := need.Inflated(k, c, at.tree, rel)
	if err != nil {
		return nil, err
	}
	if remote {
		if tree, root = b.req.Needs[n.Key()], "."; tree == nil {
			return nil, fmt.Errorf("chart %s: %w", c.Name, errNotFetched)
		}
	}
	values, err := b.chartValues(c, dir, func() ([]byte, error) {
		raw, err := tree.ReadFile(path.Join(root, "values.yaml"))
		if err != nil {
			return nil, fmt.Errorf("read values.yaml of chart %s: %w", c.Name, err)
		}
		return raw, nil
	})
	if err != nil {
		return nil, err
	}
	req := b.req
	req.Tree, req.Refs, req.Namespace = tree, nil, cmp.Or(c.Namespace, "default")
	req.Source = v1alpha1.ApplicationSource{Path: root, Helm: &v1alpha1.HelmSource{
		ReleaseName: cmp.Or(c.NameTemplate, c.ReleaseName, releaseName), SkipCRDs: !c.IncludeCRDs, SkipTests: c.SkipTests,
		KubeVersion: cmp.Or(c.KubeVersion, b.opts.KubeVersion, b.options.KubeVersion),
		APIVersions: firstOf(c.ApiVersions, b.opts.APIVersions, b.options.APIVersions),
	}}
	res, err := helm.Inflate(ctx, req, values, c.SkipHooks)
	b.cluster = b.cluster || res.Deps.Cluster
	if err != nil {
		return nil, err
	}
	return resources(res)
}

func firstOf(lists ...[]string) []string {
	for _, l := range lists {
		if len(l) > 0 {
			return l
		}
	}
	return nil
}

// resources writes rendered objects as a file of resources, with the mark that Kustomize gives to what Helm generated.
func resources(res render.Result) ([]byte, error) {
	var out []byte
	for _, m := range res.Objects {
		obj, err := m.Decode()
		if err != nil {
			return nil, err
		}
		meta := object.Dict(obj, "metadata")
		notes := object.Dict(meta, "annotations")
		if notes == nil {
			notes = map[string]any{}
			meta["annotations"] = notes
		}
		notes[konfig.HelmGeneratedAnnotation] = "true"
		raw, err := json.Marshal(obj)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, "---\n"...), raw...), '\n')
	}
	return out, nil
}

// chartValues gives the value files of a chart, weakest first, as Kustomize would write them for helm.
func (b *build) chartValues(c *types.HelmChart, dir string, defaults func() ([]byte, error)) ([][]byte, error) {
	file, inline, err := defaults, []byte(nil), error(nil)
	if c.ValuesFile != "" {
		file = func() ([]byte, error) { return b.valuesFile(dir, c.ValuesFile) }
	}
	var first []byte
	switch merge := cmp.Or(c.ValuesMerge, "override"); {
	case merge != "override" && merge != "merge" && merge != "replace":
		return nil, fmt.Errorf("chart %s: valuesMerge is %q; write override, merge or replace", c.Name, c.ValuesMerge)
	case len(c.ValuesInline) == 0:
		if first, err = file(); err != nil {
			return nil, err
		}
	default:
		if inline, err = sigsyaml.Marshal(c.ValuesInline); err != nil {
			return nil, fmt.Errorf("encode valuesInline: %w", err)
		}
		if first = inline; merge != "replace" {
			base, err := file()
			if err != nil {
				return nil, err
			}
			if first, err = mergeValues(base, inline, merge == "override"); err != nil {
				return nil, fmt.Errorf("chart %s: merge valuesInline: the values are malformed; check them and values.yaml", c.Name)
			}
		}
	}
	out := [][]byte{first}
	for _, name := range c.AdditionalValuesFiles {
		raw, err := b.valuesFile(dir, name)
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}

// valuesFile reads a file of values, which must be where the kustomization may load files from.
func (b *build) valuesFile(dir, name string) ([]byte, error) {
	at, _ := b.fs.find(dir)
	root := dir
	if b.options.LoadAll && at.raw == "" {
		root = at.dir
	}
	p := path.Join(dir, name)
	if path.IsAbs(name) || !strings.HasPrefix(p, root+"/") {
		return nil, fmt.Errorf("values file %s is outside the directory of the kustomization; move it there", name)
	}
	raw, err := b.fs.ReadFile(p)
	if err != nil {
		return nil, fmt.Errorf("read values file %s: %w", name, err)
	}
	return raw, nil
}

// mergeValues lays inline over the values of a file, or these over it.
func mergeValues(file, inline []byte, override bool) ([]byte, error) {
	base, err := yaml.Parse(string(file))
	if err != nil {
		return nil, err
	}
	over, err := yaml.Parse(string(inline))
	if err != nil {
		return nil, err
	}
	if !override {
		base, over = over, base
	}
	out, err := merge2.Merge(over, base, yaml.MergeOptions{})
	if err != nil {
		return nil, err
	}
	values, err := out.Map()
	if err != nil {
		return nil, err
	}
	return sigsyaml.Marshal(values)
}
