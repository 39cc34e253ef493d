package kustomize

import (
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/engine/render/need"
)

// Annotations that buildMetadata asks for.
const (
	originAnnotation          = "config.kubernetes.io/origin"
	transformationsAnnotation = "alpha.config.kubernetes.io/transformations"
)

// restoreOrigins has annotations about origins name repository, reference and path of a remote base, as Kustomize does, and not the
// directory that the base was shown in.
func (b *build) restoreOrigins(res *resource.Resource) error {
	notes := res.GetAnnotations()
	changed := false
	if text, has := notes[originAnnotation]; has {
		var o resource.Origin
		if yaml.Unmarshal([]byte(text), &o) == nil && b.restore(&o) {
			text, err := o.String()
			if err != nil {
				return err
			}
			notes[originAnnotation], changed = text, true
		}
	}
	if text, has := notes[transformationsAnnotation]; has {
		var all resource.Transformations
		moved := false
		if yaml.Unmarshal([]byte(text), &all) == nil {
			for _, o := range all {
				moved = o != nil && b.restore(o) || moved
			}
		}
		if moved {
			text, err := all.String()
			if err != nil {
				return err
			}
			notes[transformationsAnnotation], changed = text, true
		}
	}
	if changed {
		return res.SetAnnotations(notes)
	}
	return nil
}

// notCloned is what Kustomize calls the root of a repository there.
const notCloned = "notCloned"

func (b *build) restore(o *resource.Origin) (changed bool) {
	if made, has := b.stands[path.Base(o.Path)]; has {
		changed = true
		if made.raw == "" { // a chart
			o.ConfiguredIn = path.Join(path.Dir(o.Path), made.kustomization)
			o.ConfiguredBy.APIVersion, o.ConfiguredBy.Kind, o.Path = "builtin", "HelmChartInflationGenerator", ""
		} else if from, ok := need.AsRepository(made.raw); ok {
			o.Path, o.Repo, o.Ref = origin(from.Path, ""), from.URL, from.Revision
		} else {
			o.Path = path.Join(path.Dir(o.Path), made.raw)
		}
	}
	for _, p := range []*string{&o.Path, &o.ConfiguredIn} {
		for _, m := range b.fs.mounts {
			_, rest, found := strings.Cut("/"+*p+"/", m.dir+"/")
			if !found || m.raw == "" {
				continue
			}
			*p, o.Repo, o.Ref, changed = strings.Trim(rest, "/"), m.from.URL, m.from.Revision, true
			if m.from.Path == "." {
				*p = origin(".", *p)
			}
		}
	}
	return changed
}

// origin is how Kustomize names what is in a directory of a repository.
func origin(dir, rest string) string {
	if dir == "." {
		dir = notCloned
	}
	return path.Join(dir, rest)
}
