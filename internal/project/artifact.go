package project

import (
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/redact"
)

const schemeOCI = "oci://"

// artifactIntegrity returns what the project asks of a chart or an artifact. A policy names its address, or that of the repository
// that a chart is in.
func (r *Rules) artifactIntegrity(src v1alpha1.ApplicationSource) (Integrity, error) {
	if len(r.integrity.cosign) == 0 {
		return Integrity{}, nil
	}
	address := src.RepoURL
	if !strings.Contains(address, "://") {
		address = schemeOCI + address
	}
	names := []string{address}
	if src.Chart != "" {
		names = append(names, strings.TrimSuffix(address, "/")+"/"+src.Chart)
	}
	var spelled [][]string
	for _, name := range names {
		s, err := r.spellings(name)
		if err != nil {
			return Integrity{}, err
		}
		spelled = append(spelled, s)
	}
	var found []*Integrity
	for i := range r.integrity.cosign {
		if p := &r.integrity.cosign[i]; p.matchesAny(spelled) {
			found = append(found, &p.Integrity)
		}
	}
	switch len(found) {
	case 0:
		return Integrity{}, nil
	case 1:
		return *found[0], nil
	}
	return Integrity{}, fmt.Errorf("project %q: multiple (%d) oci source integrity policies found for repo URL: %s; "+
		"have one of them exclude it, with \"!\"", r.name, len(found), redact.Addresses(address))
}

// matchesAny is matches for something that has several addresses, each with all its spellings: one that is named is enough, and so is
// one that is left out.
func (p integrityPolicy) matchesAny(spelled [][]string) bool {
	included := false
	for _, one := range spelled {
		if p.excludes(one) {
			return false
		}
		included = included || p.matches(one)
	}
	return included
}

// excludes reports whether the policy leaves out an address, by all its spellings.
func (p integrityPolicy) excludes(spellings []string) bool {
	for _, r := range p.repos {
		all := r.deny
		for _, s := range spellings {
			all = all && r.match(s)
		}
		if all {
			return true
		}
	}
	return false
}
