package project

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// maxPairs bounds how many pairs of patterns are compared. A change of more counts as one that widens.
const maxPairs = 50_000

// Widens names the fields by which a project permits more after a change than before it: nothing where all that it
// permits then it permitted before. Where that cannot be decided, the field is named. A user who may edit a project,
// but not what is above it, may make no such change.
//
// Labels are among the fields: they select the global projects that a project inherits from.
func Widens(before, after *v1alpha1.AppProject) []string {
	was, now := &before.Spec, &after.Spec
	var out []string
	for _, field := range []struct {
		name   string
		narrow bool
	}{
		{"spec.sourceRepos", narrowSources(was.SourceRepos, now.SourceRepos)},
		{"spec.destinations", narrowDestinations(was.Destinations, now.Destinations)},
		{"spec.clusterResourceWhitelist", covered(now.ClusterResourceWhitelist, was.ClusterResourceWhitelist, kindWithin)},
		{"spec.clusterResourceBlacklist", covered(was.ClusterResourceBlacklist, now.ClusterResourceBlacklist, kindWithin)},
		{"spec.namespaceResourceWhitelist", narrowNamespaced(was.NamespaceResourceWhitelist, now.NamespaceResourceWhitelist)},
		{
			"spec.namespaceResourceBlacklist",
			covered(unnamed(was.NamespaceResourceBlacklist), unnamed(now.NamespaceResourceBlacklist), kindWithin),
		},
		{"spec.sourceNamespaces", covered(now.SourceNamespaces, was.SourceNamespaces, namespaceWithin)},
		{"spec.permitOnlyProjectScopedClusters", now.PermitOnlyProjectScopedClusters || !was.PermitOnlyProjectScopedClusters},
		// The first that matches is acted as: an order is not compared.
		{"spec.destinationServiceAccounts", slices.Equal(was.DestinationServiceAccounts, now.DestinationServiceAccounts)},
		{"spec.roles", narrowRoles(was.Roles, now.Roles)},
		{"spec.syncWindows", narrowWindows(was.SyncWindows, now.SyncWindows)},
		{"spec.signatureKeys", len(was.SignatureKeys) == 0 || len(now.SignatureKeys) > 0 && covered(now.SignatureKeys, was.SignatureKeys, same)},
		{"spec.sourceIntegrity", was.SourceIntegrity == nil || reflect.DeepEqual(was.SourceIntegrity, now.SourceIntegrity)},
		{"spec.orphanedResources", was.OrphanedResources == nil || reflect.DeepEqual(was.OrphanedResources, now.OrphanedResources)},
		{"metadata.labels", maps.Equal(before.Labels, after.Labels)},
		{"metadata.annotations", maps.Equal(ours(before.Annotations), ours(after.Annotations))},
		{"metadata.finalizers", slices.Equal(before.Finalizers, after.Finalizers)},
		{"metadata.ownerReferences", reflect.DeepEqual(before.OwnerReferences, after.OwnerReferences)},
	} {
		if !field.narrow {
			out = append(out, field.name)
		}
	}
	return out
}

// ours are the annotations that an agent or Argo CD acts on.
func ours(annotations map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range annotations {
		if strings.Contains(name, "slipway.io/") || strings.Contains(name, "argoproj.io/") {
			out[name] = value
		}
	}
	return out
}

func same[T any](T, T) bool { return false } // what is the same was found already

// covered reports whether each of some is in one of the others, or the same.
func covered[T comparable](some, others []T, within func(inner, outer T) bool) bool {
	known := make(map[T]bool, len(others))
	for _, one := range others {
		known[one] = true
	}
	pairs := 0
	for _, one := range some {
		if known[one] {
			continue
		}
		if pairs += len(others); pairs > maxPairs {
			return false
		}
		if !slices.ContainsFunc(others, func(other T) bool { return within(one, other) }) {
			return false
		}
	}
	return true
}

// patternWithin reports whether all that a pattern describes the other one describes too, as far as that is easy to see.
func patternWithin(inner, outer string, separated bool) bool {
	if inner == outer {
		return true
	}
	in, err := newBudget().compile(inner, separated)
	if err != nil {
		return false
	}
	out, err := newBudget().compile(outer, separated)
	switch {
	case err != nil:
		return false
	case out.all:
		return true
	case in.exact():
		return out.match(inner)
	case out.prefix && !out.within:
		// Whatever the pattern describes begins with what it begins with.
		return strings.HasPrefix(inner[:strings.IndexAny(inner, `*?[]{}\`)], out.text)
	case out.prefix && in.prefix && in.within:
		rest, ok := strings.CutPrefix(in.text, out.text)
		return ok && !strings.Contains(rest, "/")
	}
	return false
}

func narrowSources(was, now []string) bool {
	wasDenied, wasPermitted := parted(was)
	nowDenied, nowPermitted := parted(now)
	within := func(inner, outer string) bool { return patternWithin(inner, outer, true) }
	return covered(nowPermitted, wasPermitted, within) && covered(wasDenied, nowDenied, within)
}

// parted takes patterns of repositories apart: those that deny, and those that permit.
func parted(patterns []string) (denied, permitted []string) {
	for _, pattern := range patterns {
		if text, deny := strings.CutPrefix(pattern, "!"); deny {
			denied = append(denied, normalize(text))
		} else {
			permitted = append(permitted, normalize(text))
		}
	}
	return denied, permitted
}

// narrowDestinations compares destinations. Those that deny stay as they are: one permits what another forbids.
func narrowDestinations(was, now []v1alpha1.ApplicationDestination) bool {
	denies := func(d v1alpha1.ApplicationDestination) bool {
		return strings.HasPrefix(d.Server, "!") || strings.HasPrefix(d.Name, "!") || strings.HasPrefix(d.Namespace, "!")
	}
	var permitted []v1alpha1.ApplicationDestination
	for _, d := range was {
		switch {
		case !denies(d):
			permitted = append(permitted, d)
		case !slices.Contains(now, d):
			return false
		}
	}
	for _, d := range now {
		if denies(d) && !slices.Contains(was, d) {
			return false
		}
	}
	within := func(inner, outer string) bool { return inner == "" || patternWithin(inner, outer, false) }
	return covered(slices.DeleteFunc(slices.Clone(now), denies), permitted, func(inner, outer v1alpha1.ApplicationDestination) bool {
		// Without a namespace it is for objects of the cluster, so an empty pattern describes something.
		return within(inner.Server, outer.Server) && within(inner.Name, outer.Name) && patternWithin(inner.Namespace, outer.Namespace, false)
	})
}

// kindWithin reports whether a rule about kinds is for nothing that the other one is not for.
func kindWithin(inner, outer v1alpha1.ClusterResourceRule) bool {
	return patternWithin(inner.Group, outer.Group, false) && patternWithin(inner.Kind, outer.Kind, false) &&
		(outer.Name == "" || inner.Name != "" && patternWithin(inner.Name, outer.Name, false))
}

// narrowNamespaced compares lists of namespaced kinds. No list permits all of them, or those alone that the project
// inherits: that is not known here, so that a first entry counts as more.
func narrowNamespaced(was, now []v1alpha1.GroupKind) bool {
	if was == nil {
		return len(now) == 0
	}
	return now != nil && covered(unnamed(now), unnamed(was), kindWithin)
}

// namespaceWithin compares patterns of namespaces; of regular expressions only the same one is known to be no wider.
func namespaceWithin(inner, outer string) bool {
	return !strings.HasPrefix(inner, "/") && !strings.HasPrefix(outer, "/") && patternWithin(inner, outer, false)
}

// narrowRoles reports whether no role gives more. A role that denies something stays whole.
func narrowRoles(was, now []v1alpha1.ProjectRole) bool {
	old := make(map[string]v1alpha1.ProjectRole, len(was))
	for _, role := range was {
		if _, twice := old[role.Name]; twice {
			return reflect.DeepEqual(was, now)
		}
		old[role.Name] = role
	}
	for _, role := range now {
		before, there := old[role.Name]
		if !there {
			return false // it is new, or there twice
		}
		delete(old, role.Name)
		if grantsOnly(before) {
			if !covered(role.Policies, before.Policies, same) || !covered(role.Groups, before.Groups, same) ||
				!covered(role.JWTTokens, before.JWTTokens, same) {
				return false
			}
			continue
		}
		before.Description, role.Description = "", ""
		if !reflect.DeepEqual(before, role) {
			return false
		}
	}
	for _, gone := range old {
		if !grantsOnly(gone) {
			return false
		}
	}
	return true
}

// grantsOnly reports whether a role denies nothing.
func grantsOnly(role v1alpha1.ProjectRole) bool {
	return !slices.ContainsFunc(role.Policies, func(line string) bool {
		return strings.TrimSpace(line[strings.LastIndexByte(line, ',')+1:]) != "allow"
	})
}

// narrowWindows reports whether all windows are still there, and those that are new deny.
func narrowWindows(was, now []v1alpha1.SyncWindow) bool {
	key := func(w v1alpha1.SyncWindow) v1alpha1.SyncWindow { w.Description = ""; return w }
	left := slices.Clone(now)
	for _, old := range was {
		if len(left) > maxWindows {
			return false
		}
		at := slices.IndexFunc(left, func(w v1alpha1.SyncWindow) bool { return reflect.DeepEqual(key(w), key(old)) })
		if at < 0 {
			return false
		}
		left = slices.Delete(left, at, at+1)
	}
	return !slices.ContainsFunc(left, func(w v1alpha1.SyncWindow) bool { return w.Kind != v1alpha1.SyncWindowDeny })
}
