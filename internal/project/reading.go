package project

import (
	"net/url"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/internal/address"
	"github.com/slipway-gitops/slipway/internal/source/dockerhub"
)

// reading is a place that an address is read as, spelled in the ways in which patterns name it. It is made of what opens the place
// (package address), never of the text that was written: two addresses that open the same have the same readings.
//
// A rule that permits, or that leaves out, needs one of own. For one that denies, or that asks for signatures, more counts as well.
type reading struct {
	own  []string // with its scheme, or without as it was written
	more []string // of the same place, in the words of another kind of source
}

// names reports whether a rule is about a place, in its own words.
func (r rule) names(one reading) bool { return slices.ContainsFunc(one.own, r.match) }

// about reports whether a rule is about a place, in any words.
func (r rule) about(one reading) bool { return r.names(one) || slices.ContainsFunc(one.more, r.match) }

// matchable reports whether patterns can be matched with all spellings: a pattern matches nothing that is longer.
func matchable(readings []reading) bool {
	long := func(s string) bool { return len(s) > maxValue }
	return !slices.ContainsFunc(readings, func(one reading) bool {
		return slices.ContainsFunc(one.own, long) || slices.ContainsFunc(one.more, long)
	})
}

// readingsOf returns what an address may be read as. Escapes in it are read as they are and as what they stand for, and an address without
// a scheme as one of Git and one of a registry. An address that nothing can open is read as it is written.
func readingsOf(text string) []reading {
	var out []reading
	registry := mayBeRegistry(text)
	if at, err := address.ParseGit(text); err == nil {
		out = ofGit(at)
	}
	if at, version, err := address.ParseRegistry(text); registry && err == nil {
		one := ofRegistry(at, version)
		if !strings.Contains(text, "://") {
			one.own, one.more = one.more, one.own
		}
		out = append(out, one)
	}
	if len(out) > 0 {
		return out
	}
	plain := normalize(text)
	out = append(out, asWritten(plain))
	if decoded, err := url.PathUnescape(plain); err != nil || decoded != plain {
		out = append(out, asWritten(normalize(decoded))) // "" where it cannot be decoded
	}
	return out
}

// mayBeRegistry reports whether an address has the scheme of registries or none.
func mayBeRegistry(text string) bool {
	scheme, _, ok := strings.Cut(strings.TrimSpace(text), "://")
	return !ok || strings.EqualFold(scheme, "oci")
}

func asWritten(s string) reading {
	return reading{own: []string{s}, more: []string{untagged(s)}}
}

// ofGit are the readings of a repository of Git.
func ofGit(at address.Git) []reading {
	paths := []string{at.Path}
	if at.Escaped != (&url.URL{Path: at.Path}).EscapedPath() {
		paths = append(paths, at.Escaped)
	}
	if decoded, err := url.PathUnescape(at.Path); at.Scheme == "file" && err == nil && decoded != at.Path {
		paths = append(paths, decoded) // git decodes what it is given
	}
	out := make([]reading, len(paths))
	for i, path := range paths {
		out[i] = spell(at, shorten(strings.ToLower(path)))
	}
	return out
}

// spell writes a repository of Git in all ways. The default user of ssh and default ports can be left out.
func spell(at address.Git, path string) reading {
	if at.Scheme == "file" {
		return reading{own: []string{"file://" + path, path}}
	}
	path = strings.TrimPrefix(path, "/")
	behind := path
	if path != "" {
		behind = "/" + path
	}
	hosts := []string{at.Host}
	explicit := strings.HasSuffix(at.Host, "]") == strings.Contains(at.Host, ":") // an address of IPv6 has colons
	if explicit {
		hosts = append(hosts, at.Host+":"+address.DefaultPort(at.Scheme))
	}
	var out reading
	if at.Scheme != "ssh" {
		for _, host := range hosts {
			out.own = append(out.own, at.Scheme+"://"+host+behind)
		}
		return out
	}
	users := []string{strings.ToLower(at.User) + "@"}
	if users[0] == "git@" {
		users = append(users, "")
	}
	for _, user := range users {
		for i, host := range hosts {
			out.own = append(out.own, "ssh://"+user+host+behind)
			if user != "" {
				out.own = append(out.own, user+host+behind)
			} else {
				out.more = append(out.more, host+behind)
			}
			if i == 0 && explicit {
				out.own = append(out.own, user+host+":"+path)
			}
		}
	}
	return out
}

// ofRegistry is the reading of a repository of a registry, and of a version in its address: "" for none.
func ofRegistry(at address.Registry, version string) reading {
	host := dockerhub.Host(at.Host)
	hosts := []string{host}
	if strings.HasSuffix(host, "]") == strings.Contains(host, ":") {
		hosts = append(hosts, host+":443")
	}
	ends := []string{""}
	switch {
	case address.IsDigest(version):
		ends = append(ends, "@"+version)
	case version != "":
		ends = append(ends, ":"+strings.ToLower(version))
	}
	var out reading
	for _, host := range hosts {
		for _, end := range ends {
			s := host
			if at.Path != "" {
				s += "/" + strings.TrimSuffix(at.Path, ".git") + end
			}
			out.own, out.more = append(out.own, schemeOCI+s), append(out.more, s)
		}
	}
	return out
}

const schemeOCI = address.SchemeOCI

// ambiguous reports whether an address has what Git would read, drop or resolve otherwise than a pattern does.
func ambiguous(text string) bool {
	plain := strings.TrimSpace(text)
	decoded, _ := url.PathUnescape(plain)
	for _, s := range []string{plain, decoded} {
		if strings.ContainsAny(s, "?#\\ ") || strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			return true
		}
		for _, part := range strings.FieldsFunc(s, func(c rune) bool { return c == '/' || c == ':' }) {
			if part == "." || part == ".." {
				return true
			}
		}
	}
	return false
}
