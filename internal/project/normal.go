package project

import (
	"strings"

	"github.com/slipway-gitops/slipway/internal/address"
	"github.com/slipway-gitops/slipway/internal/source/dockerhub"
)

// normalize writes a pattern of addresses in one way of the several that mean the same, as readings are written. Where a host has * and the
// like in it, less is known of it, and it stays closer to what is written. The user of http(s) is no part of an address.
func normalize(pattern string) string {
	s := strings.ToLower(strings.TrimSpace(pattern))
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		// user@host:path is ssh; a path on this machine has no such colon, and host:5000 is a registry.
		host, path, scp := strings.Cut(s, ":")
		port, _, _ := strings.Cut(path, "/")
		special := strings.ContainsAny(host, "*?")
		if !scp || strings.Contains(host, "/") || strings.ContainsAny(host, `[{\`) || !strings.Contains(host, "@") && (special || digits(port)) {
			return hub(shorten(s))
		}
		return secure(host, shorten(strings.TrimPrefix(path, "/")))
	}
	authority, path, slash := strings.Cut(rest, "/")
	switch scheme {
	case "ssh":
		if strings.ContainsAny(authority, `[{\`) {
			return scheme + "://" + shorten(rest)
		}
		_, host := divide(authority)
		if _, first, colon := strings.Cut(host, ":"); colon && !digits(first) {
			return secure(strings.TrimSuffix(authority, ":"+first), shorten(first+"/"+path))
		}
		return secure(authority, shorten(path))
	case "https", "http", "oci":
		if slash {
			path = "/" + path
		}
		s = shorten(plainHost(anonymous(authority), scheme) + path)
		if scheme == "oci" {
			s = hub(s)
		}
		return scheme + "://" + s
	}
	return scheme + "://" + shorten(rest)
}

// secure writes an address of ssh, with the user that it has by default.
func secure(authority, path string) string {
	user, host := divide(authority)
	if user, _, _ = strings.Cut(user, ":"); user == "" && !strings.ContainsAny(host, "*?") { // * may stand for a user, too
		user = "git@"
	} else if user != "" {
		user = strings.TrimSuffix(user, "@") + "@" // no password counts
	}
	s := "ssh://" + user + plainHost(host, "ssh")
	if path = strings.TrimPrefix(path, "/"); path != "" {
		s += "/" + path
	}
	return s
}

// plainHost is a host without the port that is the default, and without the dot behind it.
func plainHost(host, scheme string) string {
	name, port := host, ""
	if i := strings.LastIndexByte(host, ':'); i >= 0 && digits(host[i+1:]) {
		name, port = host[:i], strings.TrimLeft(host[i+1:], "0")
	}
	if name = strings.TrimSuffix(name, "."); port == "" || port == address.DefaultPort(scheme) {
		return name
	}
	return name + ":" + port
}

// divide takes the user, with the sign behind it, off a host; "" for none.
func divide(authority string) (user, host string) {
	at := strings.LastIndexByte(authority, '@') + 1
	return authority[:at], authority[at:]
}

// anonymous is a host without the user before it. Where a pattern has alternatives, each loses its own.
func anonymous(authority string) string {
	if user, host := divide(authority); strings.Count(user, "{") == strings.Count(user, "}") {
		return host
	}
	var out strings.Builder
	for from := 0; from < len(authority); {
		end := strings.IndexAny(authority[from:], "{},")
		if end < 0 {
			end = len(authority) - from
		}
		_, host := divide(authority[from : from+end])
		out.WriteString(host)
		if from += end; from < len(authority) {
			out.WriteByte(authority[from])
			from++
		}
	}
	return out.String()
}

// untagged is an address of a registry without its tag or its digest.
func untagged(s string) string {
	rest, ok := strings.CutPrefix(s, schemeOCI)
	if !ok {
		return s
	}
	if at := strings.LastIndexByte(rest, '@'); at > strings.LastIndexByte(rest, '/') {
		rest = rest[:at]
	}
	if tag, slash := strings.LastIndexByte(rest, ':'), strings.LastIndexByte(rest, '/'); slash >= 0 && tag > slash {
		rest = rest[:tag]
	}
	return schemeOCI + rest
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

// shorten drops what makes no difference in a path: a doubled slash, one at the end, ".git", and the directory of Git in a working tree.
func shorten(s string) string {
	for strings.Contains(s, "//") {
		s = strings.ReplaceAll(s, "//", "/")
	}
	for s = strings.TrimSuffix(s, "/"); strings.HasSuffix(s, "/.git"); {
		s = strings.TrimSuffix(s, "/.git")
	}
	return strings.TrimSuffix(s, ".git")
}

func digits(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}
