package need

import (
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/source"
)

const (
	maxKustomizations = 2000
	maxKustomization  = 5 << 20 // bytes of one
	maxRead           = 64 << 20
)

// Decode reads a kustomization with its deprecated fields moved to the present ones. ok is false where it cannot be read:
// Kustomize says better what is wrong.
func Decode(raw []byte) (k types.Kustomization, ok bool) {
	if len(raw) > maxKustomization || !document.WithinAliases(raw, maxKustomization) || k.Unmarshal(raw) != nil {
		return k, false
	}
	k.FixKustomization()
	return k, true
}

// Each calls f for every path in a kustomization, with the field that it is in; f may change it. Of a generator's "key=path" it
// gets the path.
func Each(k *types.Kustomization, f func(field string, p *string) error) error {
	for _, in := range []struct {
		field string
		paths []string
	}{
		{"resources", k.Resources},
		{"bases", k.Bases},
		{"components", k.Components},
		{"crds", k.Crds},
		{"configurations", k.Configurations},
		{"generators", k.Generators},
		{"transformers", k.Transformers},
		{"validators", k.Validators},
	} {
		for i := range in.paths {
			if err := f(in.field, &in.paths[i]); err != nil {
				return err
			}
		}
	}
	if p, has := k.OpenAPI["path"]; has {
		if err := f("openapi", &p); err != nil {
			return err
		}
		k.OpenAPI["path"] = p
	}
	for i := range k.Patches {
		if err := f("patches", &k.Patches[i].Path); err != nil {
			return err
		}
	}
	for i := range k.PatchesJson6902 {
		if err := f("patchesJson6902", &k.PatchesJson6902[i].Path); err != nil {
			return err
		}
	}
	for i := range k.PatchesStrategicMerge {
		p := string(k.PatchesStrategicMerge[i])
		if err := f("patchesStrategicMerge", &p); err != nil {
			return err
		}
		k.PatchesStrategicMerge[i] = types.PatchStrategicMerge(p)
	}
	for i := range k.Replacements {
		if err := f("replacements", &k.Replacements[i].Path); err != nil {
			return err
		}
	}
	for i := range k.ConfigMapGenerator {
		if err := eachPair("configMapGenerator", &k.ConfigMapGenerator[i].KvPairSources, f); err != nil {
			return err
		}
	}
	for i := range k.SecretGenerator {
		if err := eachPair("secretGenerator", &k.SecretGenerator[i].KvPairSources, f); err != nil {
			return err
		}
	}
	return nil
}

func eachPair(field string, s *types.KvPairSources, f func(field string, p *string) error) error {
	if err := f(field, &s.EnvSource); err != nil {
		return err
	}
	for i := range s.EnvSources {
		if err := f(field, &s.EnvSources[i]); err != nil {
			return err
		}
	}
	for i, file := range s.FileSources {
		key, p, named := strings.Cut(file, "=")
		if !named {
			p = file
		}
		was := p
		if err := f(field, &p); err != nil {
			return err
		}
		switch {
		case p == was:
		case named:
			s.FileSources[i] = key + "=" + p
		default:
			s.FileSources[i] = path.Base(was) + "=" + p
		}
	}
	return nil
}

// place is a directory of one of the trees.
type place struct{ tree, dir string }

// kustomizations walks the kustomizations of a source.
type kustomizations struct {
	req     render.Request
	build   BuildOptions
	list    *list
	visited map[place]bool
	read    int // bytes
}

func findKustomize(req render.Request, l *list) error {
	build, err := ParseBuildOptions(req.Settings.BuildOptionsOf(req.Source.Kustomize))
	if err != nil {
		return nil //nolint:nilerr // rendering reports it
	}
	w := &kustomizations{req: req, build: build, list: l, visited: map[place]bool{}}
	if o := req.Source.Kustomize; o != nil {
		for _, c := range o.Components {
			if err := w.reference(place{dir: req.Source.Path}, req.Tree, "components", c, 0); err != nil {
				return err
			}
		}
	}
	return w.walk(place{dir: req.Source.Path}, req.Tree, 0)
}

// walk looks at the kustomization in a directory and at those that it names. depth counts remote bases on the way.
func (w *kustomizations) walk(at place, tree source.Tree, depth int) error {
	if w.visited[at] {
		return nil
	}
	w.visited[at] = true
	if len(w.visited) > maxKustomizations {
		return fmt.Errorf("it has more than %d kustomizations; split the application", maxKustomizations)
	}
	var k types.Kustomization
	found := false
	for _, base := range konfig.RecognizedKustomizationFileNames() {
		raw, err := tree.ReadFile(path.Join(at.dir, base))
		if err == nil {
			if w.read += len(raw); w.read > maxRead {
				return fmt.Errorf("its kustomizations have more than %d MiB; split the application", maxRead>>20)
			}
			k, found = Decode(raw)
			break
		}
		if err := passing(err); err != nil {
			return err
		}
	}
	if !found {
		return nil
	}
	err := Each(&k, func(field string, p *string) error { return w.reference(at, tree, field, *p, depth) })
	if err != nil || !w.build.EnableHelm {
		return err
	}
	for i := range k.HelmCharts {
		n, remote, err := Inflated(&k, &k.HelmCharts[i], tree, at.dir)
		if err != nil {
			return err
		}
		if remote {
			if err := w.list.add(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// reference follows one path of a kustomization.
func (w *kustomizations) reference(at place, tree source.Tree, field, p string, depth int) error {
	if p == "" || strings.Contains(p, "\n") {
		return nil
	}
	if !IsRemote(p) {
		dir := path.Join(at.dir, p)
		if path.IsAbs(p) || dir == ".." || strings.HasPrefix(dir, "../") {
			return nil
		}
		e, err := tree.Stat(dir)
		if err != nil {
			return passing(err)
		}
		if !e.IsDir() {
			return nil
		}
		return w.walk(place{at.tree, dir}, tree, depth)
	}
	ref, err := ParseReference(field, p)
	if err != nil {
		return nil //nolint:nilerr // rendering refuses it, and says where it is named
	}
	if depth >= MaxRounds {
		return fmt.Errorf("%s is named by remote bases that are nested deeper than %d; copy some of them into the repository",
			redact.Addresses(p), MaxRounds)
	}
	ref.By = field + " of " + path.Join(at.dir, "kustomization.yaml")
	if err := w.list.add(ref.Need); err != nil {
		return err
	}
	key := ref.Key()
	if next := w.req.Needs[key]; next != nil && ref.Kind == Git {
		return w.walk(place{key, ref.Path}, next, depth+1)
	}
	return nil
}

// Inflated returns the chart that an entry of helmCharts in the kustomization of a directory is rendered from: where it is in the
// tree, remote is false and its directory is that of InflatedDir.
func Inflated(k *types.Kustomization, c *types.HelmChart, tree source.Tree, dir string) (n Need, remote bool, err error) {
	if c.Repo == "" {
		return Need{}, false, nil
	}
	e, err := tree.Stat(InflatedDir(k, c, dir))
	if err == nil && e.IsDir() {
		return Need{}, false, nil
	}
	if err := passing(err); err != nil {
		return Need{}, false, err
	}
	n = Need{
		Kind: Chart, URL: strings.TrimSuffix(c.Repo, "/"), Name: c.Name, Revision: c.Version,
		By: "helmCharts of " + path.Join(dir, "kustomization.yaml"),
	}
	if n.Revision == "" && c.Devel {
		n.Revision = ">0.0.0-0"
	}
	if _, alias := n.Alias(); alias {
		return Need{}, false, fmt.Errorf("helmCharts: repo %s of chart %s is no address; write it with https:// or oci://", n.URL, n.Name)
	}
	if err := checkChart(n); err != nil {
		return Need{}, false, fmt.Errorf("helmCharts: %w", err)
	}
	return n, true, nil
}

// InflatedDir is the directory in which Kustomize looks for a chart of helmCharts before it fetches it.
func InflatedDir(k *types.Kustomization, c *types.HelmChart, dir string) string {
	home := types.HelmDefaultHome
	if k.HelmGlobals != nil && k.HelmGlobals.ChartHome != "" {
		home = k.HelmGlobals.ChartHome
	}
	if c.Version != "" && c.Repo != "" {
		return path.Join(dir, home, c.Name+"-"+c.Version, c.Name)
	}
	return path.Join(dir, home, c.Name)
}
