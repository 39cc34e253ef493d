package project

import (
	"fmt"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// kinds is a list of rules about kinds. Plain ones are looked up, the others are tried in turn.
type kinds struct {
	plain    map[groupKind]bool
	patterns []kindRule
}

type groupKind struct{ group, kind string }

type kindRule struct {
	group, kind, name glob
	named             bool // only objects of that name
}

func newKinds(b *budget, list []v1alpha1.ClusterResourceRule) (kinds, error) {
	out := kinds{plain: make(map[groupKind]bool, len(list))}
	for _, in := range list {
		k := kindRule{named: in.Name != ""}
		for _, field := range []struct {
			into *glob
			text string
		}{{&k.group, in.Group}, {&k.kind, in.Kind}, {&k.name, in.Name}} {
			var err error
			if *field.into, err = b.compile(field.text, false); err != nil {
				return kinds{}, err
			}
		}
		if k.group.exact() && k.kind.exact() && !k.named {
			out.plain[groupKind{in.Group, in.Kind}] = true
		} else {
			out.patterns = append(out.patterns, k)
		}
	}
	return out, nil
}

func (k *kinds) match(group, kind, name string) bool {
	for i := range k.patterns {
		p := &k.patterns[i]
		if p.kind.match(kind) && p.group.match(group) && (!p.named || p.name.match(name)) {
			return true
		}
	}
	return len(k.plain) > 0 && k.plain[groupKind{group, kind}]
}

// PermitsResource says whether Applications may deploy an object (spec.clusterResourceWhitelist and -Blacklist,
// spec.namespaceResourceWhitelist and -Blacklist): nil, or why not. Without rules every namespaced kind is permitted and
// no cluster-wide one.
func (r *Rules) PermitsResource(group, kind, name string, namespaced bool) error {
	if len(group) > maxValue || len(kind) > maxValue || len(name) > maxValue {
		return r.denied("an object whose group, kind or name has more than %d bytes: correct the manifest", maxValue)
	}
	allowed, denied, all := &r.clusterAllowed, &r.clusterDenied, false
	if namespaced {
		allowed, denied, all = &r.namespacedAllowed, &r.namespacedDenied, r.allNamespaced
	}
	if (all || allowed.match(group, kind, name)) && !denied.match(group, kind, name) {
		return nil
	}
	field := "clusterResource"
	if namespaced {
		field = "namespaceResource"
	}
	what := kind
	if group != "" {
		what += "." + group
	}
	if name != "" {
		what = fmt.Sprintf("%s %q", what, name)
	}
	if denied.match(group, kind, name) {
		return r.denied("%s: spec.%sBlacklist of the project forbids it; remove the object from the source, or have the project changed", what,
			field)
	}
	return r.denied("%s: add its kind to spec.%sWhitelist of the project, or remove the object from the source", what, field)
}
