package project

import (
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// orphans is spec.orphanedResources.
type orphans struct {
	warn   bool
	ignore []kindRule
}

func newOrphans(b *budget, in *v1alpha1.OrphanedResources) (*orphans, error) {
	if in == nil {
		return nil, nil //nolint:nilnil // nothing is asked, and nothing is wrong with it
	}
	out := &orphans{warn: in.Warn != nil && *in.Warn}
	for _, key := range in.Ignore {
		rule := kindRule{named: key.Name != ""}
		kind := key.Kind
		if kind == "" {
			kind = "*"
		}
		for _, field := range []struct {
			into *glob
			text string
		}{{&rule.group, key.Group}, {&rule.kind, kind}, {&rule.name, key.Name}} {
			var err error
			if *field.into, err = b.compile(field.text, false); err != nil {
				return nil, err
			}
		}
		out.ignore = append(out.ignore, rule)
	}
	return out, nil
}

// WatchesOrphans says whether the project asks for objects that no Application wants (spec.orphanedResources), and
// whether its Applications are to be warned of them.
func (r *Rules) WatchesOrphans() (asked, warn bool) {
	return r.orphans != nil, r.orphans != nil && r.orphans.warn
}

// OrphanKind reports whether objects of a namespaced kind can be orphans at all. What the cluster makes and drops
// automatically cannot, nor what the project denies by kind.
func (r *Rules) OrphanKind(group, kind string) bool {
	switch group + "/" + kind {
	case "/Event", "events.k8s.io/Event", "/Endpoints", "discovery.k8s.io/EndpointSlice", "coordination.k8s.io/Lease",
		"authorization.k8s.io/LocalSubjectAccessReview", "/Binding":
		return false
	}
	return r.orphans != nil && group != "metrics.k8s.io" && r.PermitsResource(group, kind, "", true) == nil
}

// Orphaned reports whether an object that no Application wants, and that has no owner, is an orphan: not one that
// every namespace has, that the project denies, or that it says to ignore.
func (r *Rules) Orphaned(group, kind, namespace, name string) bool {
	switch {
	case namespace == "" || !r.OrphanKind(group, kind),
		group == "" && kind == "Service" && name == "kubernetes" && namespace == "default",
		group == "" && kind == "ServiceAccount" && name == "default",
		group == "" && kind == "ConfigMap" && name == "kube-root-ca.crt",
		r.PermitsResource(group, kind, name, true) != nil:
		return false
	}
	for i := range r.orphans.ignore {
		rule := &r.orphans.ignore[i]
		if rule.kind.match(kind) && rule.group.match(group) && (!rule.named || rule.name.match(name)) {
			return false
		}
	}
	return true
}
