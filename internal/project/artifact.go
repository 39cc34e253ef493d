package project

import (
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/address"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// artifactIntegrity returns what the project asks of a chart or an artifact: by a policy of oci, one of helm, or both. A policy names
// its address, or that of the repository that a chart is in.
func (r *Rules) artifactIntegrity(src v1alpha1.ApplicationSource) (Integrity, error) {
	if len(r.integrity.cosign)+len(r.integrity.helm) == 0 {
		return Integrity{}, nil
	}
	origins, err := r.artifactOrigins(src)
	if err != nil {
		return Integrity{}, err
	}
	found, err := r.onePolicy(r.integrity.cosign, origins, "oci", src.RepoURL)
	if err != nil {
		return Integrity{}, err
	}
	chart, err := r.onePolicy(r.integrity.helm, origins, "helm", src.RepoURL)
	if err != nil || chart == nil && found == nil {
		return Integrity{}, err
	}
	if found == nil {
		return *chart, nil
	}
	out := *found
	if chart != nil {
		out.Helm = chart.Helm // both are asked for
	}
	return out, nil
}

// artifactOrigins are where a chart or an artifact is opened: the address, and that of the chart below it.
func (r *Rules) artifactOrigins(src v1alpha1.ApplicationSource) ([]origin, error) {
	whole := src.RepoURL
	if src.Chart != "" {
		whole = strings.TrimSuffix(whole, "/") + "/" + src.Chart
	}
	if err := r.plain(whole); err != nil {
		return nil, err
	}
	var out []origin
	if mayBeRegistry(src.RepoURL) {
		at, _, err := address.ParseRegistry(src.RepoURL)
		if err != nil {
			return nil, r.unread(src.RepoURL, err)
		}
		below, _, err := address.ParseArtifact(src.RepoURL, src.Chart)
		if err != nil {
			return nil, r.unread(src.RepoURL, err)
		}
		out = append(out, origin{ofRegistry(at, "")}, origin{ofRegistry(below, "")})
	} else {
		for _, text := range []string{src.RepoURL, whole} {
			at, err := address.ParseGit(text) // a Helm repository has an address of the same form
			if err != nil {
				return nil, r.unread(src.RepoURL, err)
			}
			out = append(out, ofGit(at))
		}
	}
	for _, p := range out {
		if !matchable(p) {
			return nil, r.denied("a chart whose address has more than %d bytes; correct repoURL", maxValue)
		}
	}
	return out, nil
}

// plain refuses an address that may be read in another way than it is opened.
func (r *Rules) plain(text string) error {
	if len(text) > maxValue {
		return r.denied("a repository address of %d bytes: at most %d are read; correct repoURL", len(text), maxValue)
	}
	if ambiguous(text) {
		return r.denied("repository %s, since it asks for signatures and the address has \"..\", \"?\", \"#\", \"\\\" or blanks in it; "+
			"write the address without", redact.Addresses(text))
	}
	return nil
}

func (r *Rules) unread(text string, err error) error {
	return r.denied("repository %s, since it asks for signatures: %w", redact.Addresses(text), err)
}

// origin is something that is opened, by all readings of its address.
type origin []reading

// matches reports whether the policy is for something that has several origins: one that is named is enough, by one of its readings,
// and so is one that is left out, by all of them.
func (p integrityPolicy) matches(origins []origin) bool {
	included := false
	for _, at := range origins {
		for _, rule := range p.repos {
			named, all := false, true
			for _, one := range at {
				named, all = named || rule.about(one), all && rule.names(one)
			}
			if rule.deny && all {
				return false
			}
			included = included || !rule.deny && named
		}
	}
	return included
}

// onePolicy finds the policy of what is opened; nil for none. Several are an error, as in Argo CD: none of them is the one.
func (r *Rules) onePolicy(list []integrityPolicy, origins []origin, kind, repoURL string) (*Integrity, error) {
	var found []*Integrity
	for i := range list {
		if list[i].matches(origins) {
			found = append(found, &list[i].Integrity)
		}
	}
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("project %q: multiple (%d) %s source integrity policies found for repo URL: %s; "+
		"have one of them exclude it, with \"!\"", r.name, len(found), kind, redact.Addresses(repoURL))
}
