package project

import (
	"net/url"
	"strings"

	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/source/dockerhub"
)

// PermitsSource says whether Applications may read a repository (spec.sourceRepos): nil, or why not. Letter case, a
// ".git" or "/" at the end, and the two ways to write an ssh address make no difference.
//
// Addresses that mean another place to Git than to a reader are refused unless every repository is permitted and none denied: with
// "https://git.example/team/**" permitted, "https://git.example/team/../other" is not.
func (r *Rules) PermitsSource(repoURL string) error {
	if len(repoURL) > maxValue {
		return r.denied("a repository address of %d bytes: at most %d are read; correct repoURL", len(repoURL), maxValue)
	}
	shown := redact.Addresses(repoURL)
	plain := normalize(repoURL)
	spellings := []string{plain}
	if decoded, err := url.PathUnescape(plain); err != nil || decoded != plain {
		spellings = append(spellings, normalize(decoded)) // "" where it cannot be decoded
	}
	open, denies, permitted := false, false, true
	for _, s := range spellings {
		every, matches := false, false
		for _, rule := range r.sources {
			denies = denies || rule.deny
			switch {
			case rule.deny && (rule.match(s) || rule.match(anonymous(s))):
				return r.denied("repository %s: spec.sourceRepos of the project forbids it; use another repository, or have the project changed", shown)
			case !rule.deny && rule.all:
				every = true
			case !rule.deny && rule.match(s):
				matches = true
			}
		}
		open = every
		permitted = permitted && (every || matches)
	}
	switch {
	case !permitted:
		return r.denied("repository %s: add it to spec.sourceRepos of the project, or use another repository", shown)
	case (!open || denies) && ambiguous(spellings):
		return r.denied("repository %s: its address has \"..\", \"?\", \"#\", \"\\\" or blanks in it; write the address without", shown)
	}
	return nil
}

// PermitsChart is PermitsSource for an address and a chart there; "" for none. In a registry the chart is a part of the address, with
// or without a scheme, so a rule that denies that address holds as well.
func (r *Rules) PermitsChart(repoURL, chart string) error {
	if err := r.PermitsSource(repoURL); err != nil {
		return err
	}
	scheme, rest, ok := strings.Cut(repoURL, "://")
	if !ok {
		rest = repoURL
	}
	if ok && !strings.EqualFold(scheme, "oci") {
		return nil
	}
	for _, address := range []string{"oci://" + rest, "oci://" + strings.TrimSuffix(rest, "/") + "/" + chart} {
		s := anonymous(normalize(address))
		for _, rule := range r.sources {
			if rule.deny && rule.match(s) {
				return r.denied("repository %s: spec.sourceRepos of the project forbids it; use another repository, or have the project changed",
					redact.Addresses(address))
			}
		}
	}
	return nil
}

// ambiguous reports whether a spelling has what Git would read, drop or resolve otherwise than a pattern does.
func ambiguous(spellings []string) bool {
	for _, s := range spellings {
		if strings.ContainsAny(s, "?#\\ ") || strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			return true
		}
		for part := range strings.SplitSeq(s, "/") {
			if part == "." || part == ".." {
				return true
			}
		}
	}
	return false
}

// normalize writes an address, or a pattern of addresses, in one way of the several that mean the same.
func normalize(repo string) string {
	s := strings.ToLower(strings.TrimSpace(repo))
	scheme, rest, ok := strings.Cut(s, "://")
	switch {
	case !ok:
		// user@host:path is ssh; a path on this machine has no such colon.
		host, path, scp := strings.Cut(s, ":")
		if !scp || strings.Contains(host, "/") || !strings.Contains(host, "@") {
			return hub(shorten(s))
		}
		return shorten(host + "/" + strings.TrimPrefix(path, "/"))
	case scheme == "ssh":
		authority, path, _ := strings.Cut(rest, "/")
		if host, first, colon := strings.Cut(authority, ":"); colon && !digits(first) && !strings.Contains(host, "[") {
			return shorten(host + "/" + first + "/" + path)
		}
		return shorten(rest)
	}
	if scheme == "oci" {
		return scheme + "://" + hub(shorten(rest))
	}
	return scheme + "://" + shorten(rest)
}

// hub gives a registry that is Docker Hub the one name that its other names stand for, so that a rule about one of them is about all.
func hub(s string) string {
	host, path, slash := strings.Cut(s, "/")
	if host = dockerhub.Host(host); host != dockerhub.Registry {
		return s
	}
	if slash {
		return host + "/" + path
	}
	return host
}

// shorten drops what makes no difference in a path.
func shorten(s string) string {
	for strings.Contains(s, "//") {
		s = strings.ReplaceAll(s, "//", "/")
	}
	s = strings.TrimSuffix(s, "/")
	return strings.TrimSuffix(s, ".git")
}

// anonymous returns a normalized address without the user of http(s), a port that is the default, a dot behind the host, and the tag or
// the digest of an artifact: a rule that denies is not got around with any of them.
func anonymous(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	port, known := map[string]string{"https": ":443", "http": ":80", "oci": ":443"}[scheme]
	if !ok || !known {
		return s
	}
	if at := strings.LastIndexByte(rest, '@'); scheme == "oci" && at > strings.LastIndexByte(rest, '/') {
		rest = rest[:at]
	}
	authority, path, slash := strings.Cut(rest, "/")
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	authority = strings.TrimSuffix(strings.TrimSuffix(authority, port), ".")
	if tag := strings.LastIndexByte(path, ':'); scheme == "oci" && tag > strings.LastIndexByte(path, '/') {
		path = path[:tag]
	}
	if slash {
		path = "/" + path
	}
	if scheme == "oci" {
		return scheme + "://" + hub(authority+path)
	}
	return scheme + "://" + authority + path
}

func digits(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}
