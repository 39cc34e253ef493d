package kustomize

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// isKustomization reports whether base is a name under which Kustomize looks for a kustomization.
func isKustomization(base string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), base)
}

// localize prepares a kustomization before Kustomize reads it. What it names elsewhere becomes a path to what was fetched, and
// charts become the objects that they were rendered to. It refuses what would leave a repository or run something. A kustomization
// that cannot be read passes: Kustomize says better what is wrong.
func (b *build) localize(at *mount, name string, raw []byte) ([]byte, error) {
	var k types.Kustomization
	if err := k.Unmarshal(raw); err != nil {
		return raw, nil //nolint:nilerr // see above
	}
	b.fs.schema = b.fs.schema || len(k.OpenAPI) > 0
	dir := path.Join(at.dir, path.Dir(name))
	changed := false
	if len(k.HelmCharts) > 0 || len(k.HelmChartInflationGenerator) > 0 {
		if !b.options.EnableHelm {
			return nil, fmt.Errorf("%s uses helmCharts, which needs --enable-helm: have it added to kustomize.buildOptions in argocd-cm, "+
				"or use a source of its own for the chart", name)
		}
		k.HelmCharts, k.HelmChartInflationGenerator, k.HelmGlobals = nil, nil, nil
		k.Resources = append(k.Resources, b.inflated[dir]...)
		changed = true
	}
	err := need.Each(&k, func(field string, p *string) error {
		if *p == "" || strings.Contains(*p, "\n") {
			return nil
		}
		if !need.IsRemote(*p) {
			return b.within(at, name, field, *p)
		}
		local, err := b.fetched(dir, field, *p)
		if err != nil {
			return fmt.Errorf("%s names %s under %s: %w", b.shown(at, name), redact.Addresses(*p), field, err)
		}
		*p, changed = local, true
		return nil
	})
	if err != nil || !changed {
		return raw, err
	}
	out, err := yaml.Marshal(k)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", name, err)
	}
	return out, nil
}

// within refuses a path that leaves its repository, and a file outside the directory of a kustomization from elsewhere: as in
// Kustomize, LoadRestrictionsNone does not concern these.
func (b *build) within(at *mount, name, field, p string) error {
	dir := path.Join(at.dir, path.Dir(name))
	to := path.Join(dir, p)
	if path.IsAbs(p) {
		to = path.Clean(p)
	}
	inside := func(root string) bool { return to == root || strings.HasPrefix(to, root+"/") }
	if !inside(at.dir) {
		return fmt.Errorf("%s names %s under %s, which is outside the repository; only what the repository holds can be used",
			b.shown(at, name), p, field)
	}
	if at.raw != "" && b.options.LoadAll && !inside(dir) && !b.fs.IsDir(to) {
		return fmt.Errorf("%s names the file %s under %s, which is outside its directory: a remote base may not do so; "+
			"copy the base into the repository", b.shown(at, name), p, field)
	}
	return nil
}

// shown names a file of a tree for people.
func (b *build) shown(at *mount, name string) string {
	if at.raw == "" {
		return name
	}
	return redact.Addresses(at.from.URL) + "/" + name
}

// errNotFetched is what a remote base gives that nothing fetched.
var errNotFetched = errors.New("it is not in the repository and was not fetched; copy it into the repository")

// fetched returns the path, relative to dir, at which Kustomize finds what raw names under a field.
func (b *build) fetched(dir, field, raw string) (string, error) {
	ref, err := need.ParseReference(field, raw)
	if err != nil {
		return "", err
	}
	tree := b.req.Needs[ref.Key()]
	if tree == nil {
		return "", errNotFetched
	}
	if ref.Kind == need.Git {
		m := b.fs.add(b.hidden(raw), &mount{tree: tree, raw: raw, from: ref})
		return relative(dir, path.Join(m.dir, ref.Path)), nil
	}
	content, err := tree.ReadFile(need.FileName)
	if err != nil {
		return "", err
	}
	// In the directory of the kustomization, since files elsewhere may not be loaded.
	name := "fetched-" + b.hidden(raw) + path.Ext(strings.SplitN(ref.URL, "?", 2)[0])
	b.fs.overlay[path.Join(dir, name)] = content
	b.stands[name] = standIn{raw: raw, shown: redact.Addresses(ref.URL)}
	return name, nil
}

// hidden makes a name that the author of a remote base cannot know: the commit of the source is part of it.
func (b *build) hidden(raw string) string {
	sum := sha256.Sum256([]byte(b.req.Tree.Revision() + "\x00" + b.req.App.Name + "\x00" + raw))
	return hex.EncodeToString(sum[:12])
}

// legible puts what people wrote in place of the paths that Kustomize saw.
func (b *build) legible(text string) string {
	for _, m := range b.fs.mounts {
		text = strings.ReplaceAll(text, m.dir, redact.Addresses(m.from.URL))
	}
	for name, what := range b.stands {
		text = strings.ReplaceAll(text, name, what.shown)
	}
	return text
}
