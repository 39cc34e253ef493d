// Package project says what an AppProject permits: repositories, destinations, kinds of objects, namespaces of
// Applications, times to sync at, and as whom. It looks at nothing but its arguments.
package project

import (
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// Rules are the compiled rules of one project. They never change, so they may be used by many goroutines concurrently.
// What nothing permits is denied, and what one rule denies no other permits.
//
// The errors of its methods are for the person whose Application is stopped: they name the project, what it does not
// permit, and what to do.
type Rules struct {
	name         string
	sources      []rule
	destinations []destination
	namespaces   []namespaceRule
	scopedOnly   bool

	clusterAllowed, clusterDenied       kinds
	namespacedAllowed, namespacedDenied kinds
	allNamespaced                       bool

	windows  []*window
	accounts []account
	orphans  *orphans // nil: nothing is asked about them

	deletions string // deletion budget, as it is written

	integrity integrity // what it asks of signatures
	faults    []error
}

// rule is a pattern that permits, or denies.
type rule struct {
	glob
	deny bool
}

// New compiles the rules of a project, which inherits from global projects (see Global). The error says which pattern
// cannot be read: a rule that denies must not get lost. It does not ask for more than that; see Validate.
func New(p *v1alpha1.AppProject, inherited ...*v1alpha1.AppProject) (*Rules, error) {
	spec := inherit(&p.Spec, inherited)
	r := &Rules{
		name: p.Name, deletions: p.Annotations[v1alpha1.AnnotationDeletionBudget],
		scopedOnly: spec.PermitOnlyProjectScopedClusters, allNamespaced: spec.NamespaceResourceWhitelist == nil,
		faults: faults(p),
	}
	b := newBudget()
	err := r.compile(b, &spec)
	if err == nil {
		r.integrity, err = newIntegrity(b, &p.Spec, p.Annotations[v1alpha1.AnnotationSourceIntegrity])
	}
	for _, from := range append([]*v1alpha1.AppProject{p}, inherited...) {
		if err == nil {
			err = r.compileWindows(b, from)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("project %q: %w", p.Name, err)
	}
	return r, nil
}

func (r *Rules) compileWindows(b *budget, from *v1alpha1.AppProject) error {
	if len(r.windows)+len(from.Spec.SyncWindows) > maxWindows {
		return fmt.Errorf("spec.syncWindows: more than %d, with those of global projects: join them", maxWindows)
	}
	for i, in := range from.Spec.SyncWindows {
		w, err := newWindow(b, from.Name, in)
		if err != nil {
			return fmt.Errorf("spec.syncWindows[%d] of project %q: %w", i, from.Name, err)
		}
		r.windows = append(r.windows, w)
	}
	return nil
}

func (r *Rules) compile(b *budget, spec *v1alpha1.AppProjectSpec) error {
	for _, pattern := range spec.SourceRepos {
		text, deny := strings.CutPrefix(pattern, "!")
		g, err := b.compile(normalize(text), true)
		if err != nil {
			return fmt.Errorf("spec.sourceRepos: %w", err)
		}
		r.sources = append(r.sources, rule{g, deny})
	}
	for _, d := range spec.Destinations {
		compiled, err := newDestination(b, d)
		if err != nil {
			return fmt.Errorf("spec.destinations: %w", err)
		}
		r.destinations = append(r.destinations, compiled)
	}
	for _, pattern := range spec.SourceNamespaces {
		compiled, err := newNamespaceRule(b, pattern)
		if err != nil {
			return fmt.Errorf("spec.sourceNamespaces: %w", err)
		}
		r.namespaces = append(r.namespaces, compiled)
	}
	for _, list := range []struct {
		field string
		into  *kinds
		from  []v1alpha1.ClusterResourceRule
	}{
		{"clusterResourceWhitelist", &r.clusterAllowed, spec.ClusterResourceWhitelist},
		{"clusterResourceBlacklist", &r.clusterDenied, spec.ClusterResourceBlacklist},
		{"namespaceResourceWhitelist", &r.namespacedAllowed, unnamed(spec.NamespaceResourceWhitelist)},
		{"namespaceResourceBlacklist", &r.namespacedDenied, unnamed(spec.NamespaceResourceBlacklist)},
	} {
		var err error
		if *list.into, err = newKinds(b, list.from); err != nil {
			return fmt.Errorf("spec.%s: %w", list.field, err)
		}
	}
	for _, in := range spec.DestinationServiceAccounts {
		compiled, err := newAccount(b, in)
		if err != nil {
			return fmt.Errorf("spec.destinationServiceAccounts: %w", err)
		}
		r.accounts = append(r.accounts, compiled)
	}
	var err error
	if r.orphans, err = newOrphans(b, spec.OrphanedResources); err != nil {
		return fmt.Errorf("spec.orphanedResources: %w", err)
	}
	return nil
}

func unnamed(list []v1alpha1.GroupKind) []v1alpha1.ClusterResourceRule {
	out := make([]v1alpha1.ClusterResourceRule, 0, len(list))
	for _, gk := range list {
		out = append(out, v1alpha1.ClusterResourceRule{Group: gk.Group, Kind: gk.Kind})
	}
	return out
}

// DeletionBudget returns what the project says of how much one sync may delete; "" when it says nothing.
func (r *Rules) DeletionBudget() string {
	if r == nil {
		return ""
	}
	return r.deletions
}

// Faults returns what Validate finds wrong in a project that could still be compiled.
func (r *Rules) Faults() []error { return r.faults }

// Name returns the project's name.
func (r *Rules) Name() string { return r.name }

func (r *Rules) denied(format string, args ...any) error {
	return fmt.Errorf("project %q does not permit "+format, append([]any{r.name}, args...)...)
}
