// Package project says what an AppProject permits: repositories, destinations, kinds of objects, and namespaces of
// Applications. It looks at nothing but its arguments.
package project

import (
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// Rules are the compiled rules of one project. They never change, so they may be used by many goroutines at once.
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

	unkept  []string // promises of the project that this version cannot keep
	ignored []string // what it asks for besides, and nothing acts on yet
}

// rule is a pattern that permits, or denies.
type rule struct {
	glob
	deny bool
}

// New compiles the rules of a project. The error says which pattern cannot be read: a rule that denies must not get
// lost. It does not ask for more than that; see Validate.
func New(p *v1alpha1.AppProject) (*Rules, error) {
	r := &Rules{
		name: p.Name, scopedOnly: p.Spec.PermitOnlyProjectScopedClusters, allNamespaced: p.Spec.NamespaceResourceWhitelist == nil,
	}
	r.unkept, r.ignored = unsupported(&p.Spec)
	b := newBudget()
	if err := r.compile(b, &p.Spec); err != nil {
		return nil, fmt.Errorf("project %q: %w", p.Name, err)
	}
	return r, nil
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
	return nil
}

func unnamed(list []v1alpha1.GroupKind) []v1alpha1.ClusterResourceRule {
	out := make([]v1alpha1.ClusterResourceRule, 0, len(list))
	for _, gk := range list {
		out = append(out, v1alpha1.ClusterResourceRule{Group: gk.Group, Kind: gk.Kind})
	}
	return out
}

// unsupported names the fields that nothing acts on yet: promises, which must not be broken in silence, and the rest.
func unsupported(spec *v1alpha1.AppProjectSpec) (unkept, ignored []string) {
	if len(spec.SignatureKeys) > 0 {
		unkept = append(unkept, "spec.signatureKeys")
	}
	if spec.SourceIntegrity != nil {
		unkept = append(unkept, "spec.sourceIntegrity")
	}
	if len(spec.DestinationServiceAccounts) > 0 {
		unkept = append(unkept, "spec.destinationServiceAccounts")
	}
	if len(spec.SyncWindows) > 0 {
		unkept = append(unkept, "spec.syncWindows")
	}
	if spec.OrphanedResources != nil {
		ignored = append(ignored, "spec.orphanedResources")
	}
	return unkept, ignored
}

// Keepable returns an error when the project promises what this version cannot keep: that commits are signed, that
// somebody else's rights are used, that nothing is synced outside of a window. Nothing may be synced then.
func (r *Rules) Keepable() error {
	if len(r.unkept) == 0 {
		return nil
	}
	return fmt.Errorf("project %q has %s, which this version does not act on: nothing is synced, so that nothing happens that the project forbids; "+
		"remove it, or use another project", r.name, strings.Join(r.unkept, ", "))
}

// Ignored names the fields of the project that nothing acts on and that forbid nothing.
func (r *Rules) Ignored() []string { return r.ignored }

// Name returns the project's name.
func (r *Rules) Name() string { return r.name }

func (r *Rules) denied(format string, args ...any) error {
	return fmt.Errorf("project %q does not permit "+format, append([]any{r.name}, args...)...)
}
