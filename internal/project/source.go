package project

import (
	"github.com/slipway-gitops/slipway/internal/address"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// PermitsSource says whether Applications may read a repository (spec.sourceRepos): nil, or why not. All spellings of one address get the
// same answer (see reading): a repository that is permitted or denied by one of them is so by all, and nothing else is.
//
// Addresses that mean another place to Git than to a reader are refused unless every repository is permitted and none denied: with
// "https://git.example/team/**" permitted, "https://git.example/team/../other" is not.
func (r *Rules) PermitsSource(repoURL string) error {
	if len(repoURL) > maxValue {
		return r.denied("a repository address of %d bytes: at most %d are read; correct repoURL", len(repoURL), maxValue)
	}
	readings := readingsOf(repoURL)
	if !matchable(readings) {
		return r.denied("a repository address of more than %d bytes; correct repoURL", maxValue)
	}
	shown := redact.Addresses(repoURL)
	open, denies, permitted := false, false, true
	for _, one := range readings {
		every, matches := false, false
		for _, rule := range r.sources {
			denies = denies || rule.deny
			switch {
			case rule.deny && rule.about(one):
				return r.forbidden(shown)
			case !rule.deny && rule.all:
				every = true
			case !rule.deny && rule.names(one):
				matches = true
			}
		}
		open = every
		permitted = permitted && (every || matches)
	}
	switch {
	case !permitted:
		return r.denied("repository %s: add it to spec.sourceRepos of the project, or use another repository", shown)
	case (!open || denies) && ambiguous(repoURL):
		return r.denied("repository %s: its address has \"..\", \"?\", \"#\", \"\\\" or blanks in it; write the address without", shown)
	}
	return nil
}

func (r *Rules) forbidden(shown string) error {
	return r.denied("repository %s: spec.sourceRepos of the project forbids it; use another repository, or have the project changed", shown)
}

// PermitsChart is PermitsSource for an address and a chart there; "" for none. In a registry the chart is a part of the address, with
// or without a scheme, so a rule that denies that address holds as well.
func (r *Rules) PermitsChart(repoURL, chart string) error {
	if err := r.PermitsSource(repoURL); err != nil {
		return err
	}
	if chart == "" || !mayBeRegistry(repoURL) {
		return nil
	}
	if _, _, err := address.ParseRegistry(repoURL); err != nil {
		return nil //nolint:nilerr // no registry: who opens it reads it the same way
	}
	at, _, err := address.ParseArtifact(repoURL, chart)
	if err != nil {
		return r.denied("chart %.100q of %s: %w", chart, redact.Addresses(repoURL), err)
	}
	one := ofRegistry(at, "")
	if !matchable([]reading{one}) {
		return r.denied("a chart whose address has more than %d bytes; correct repoURL", maxValue)
	}
	for _, rule := range r.sources {
		if rule.deny && rule.about(one) {
			return r.forbidden(redact.Addresses(at.String()))
		}
	}
	return nil
}
