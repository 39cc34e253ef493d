package webhook

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Repository is the identity of a git repository, whatever URL names it: scheme, user, port, letter case and a closing
// ".git" make no difference. Forges use the same path below https and ssh, often on different ports.
type Repository struct {
	Host string // lower case, without port and without the prefix of ssh on another port
	Path string // lower case, without slashes around it and without ".git"
}

// maxURL bounds the URLs that are looked at, in bytes.
const maxURL = 4096

var errNotRepository = errors.New("not the URL of a git repository")

// ParseRepository reads a URL (https, http, ssh, git) or the short form of ssh, user@host:path.
func ParseRepository(raw string) (Repository, error) {
	raw = strings.TrimSpace(raw)
	if len(raw) > maxURL {
		return Repository{}, errNotRepository
	}
	var r Repository
	var err error
	if scheme, rest, ok := strings.Cut(raw, "://"); ok {
		r, err = parseURL(scheme, rest)
	} else {
		r, err = parseShort(raw)
	}
	if err != nil {
		return Repository{}, err
	}
	r.Host = strings.TrimSuffix(strings.ToLower(r.Host), ".")
	r.Path = strings.TrimSuffix(strings.Trim(strings.ToLower(r.Path), "/"), ".git")
	if r.Host == "" || r.Path == "" {
		return Repository{}, errNotRepository
	}
	return r.canonical(), nil
}

// SameRepository reports whether two URLs name the same repository. What cannot be read names none.
func SameRepository(a, b string) bool {
	x, err := ParseRepository(a)
	if err != nil {
		return false
	}
	y, err := ParseRepository(b)
	return err == nil && x == y
}

// SameRemote reports whether two URLs name the same repository at the same place: over the same protocol, on the same
// port and, for ssh, as the same user. Credentials go by this and never by SameRepository: what was given for https must
// not be sent to another port or over http.
func SameRemote(a, b string) bool {
	x, err := parseRemote(a)
	if err != nil {
		return false
	}
	y, err := parseRemote(b)
	return err == nil && x == y
}

type remote struct{ scheme, user, host, port, path string }

func parseRemote(raw string) (remote, error) {
	raw = strings.TrimSpace(raw)
	if _, err := ParseRepository(raw); err != nil && !atRoot(raw) {
		return remote{}, err
	}
	if !strings.Contains(raw, "://") {
		before, after, ok := strings.Cut(raw, ":")
		if !ok || strings.ContainsAny(before, "/") || strings.ContainsAny(after, "?#") {
			return remote{}, errNotRepository // host/path names no protocol
		}
		raw = "ssh://" + before + "/" + strings.TrimPrefix(after, "/")
		if port, path, ok := strings.Cut(after, ":"); ok && digits(port) {
			raw = "ssh://" + before + ":" + port + "/" + path
		}
	}
	u, err := url.Parse(strings.ToLower(raw))
	if err != nil || u.RawQuery != "" || u.Fragment != "" {
		return remote{}, errNotRepository
	}
	r := remote{scheme: u.Scheme, host: u.Hostname(), port: u.Port(), path: strings.TrimSuffix(strings.Trim(u.EscapedPath(), "/"), ".git")}
	if r.port == "" {
		r.port = map[string]string{"https": "443", "http": "80", "ssh": "22", "git": "9418"}[r.scheme]
	}
	if r.scheme == "ssh" {
		r.user = u.User.Username()
	}
	return r, nil
}

// atRoot reports whether a URL is that of a web server itself. No repository of Git is there, but repositories of charts are.
func atRoot(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && len(raw) <= maxURL && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && strings.Trim(u.Path, "/") == ""
}

func parseURL(scheme, rest string) (Repository, error) {
	switch strings.ToLower(scheme) {
	case "https", "http", "ssh", "git", "git+ssh", "ssh+git", "git+https":
	default:
		return Repository{}, errNotRepository
	}
	authority, path, _ := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		if authority[0] == '-' {
			return Repository{}, errNotRepository // ssh would take it for an option
		}
		authority = authority[i+1:]
	}
	u, err := url.Parse("https://" + authority)
	if err != nil {
		return Repository{}, fmt.Errorf("%w: bad host", errNotRepository) // the parser's error would quote a password
	}
	path, _, _ = strings.Cut(path, "?")
	path, _, _ = strings.Cut(path, "#")
	return Repository{Host: u.Hostname(), Path: path}, nil
}

// parseShort reads [user@]host:[port:]path and host/path.
func parseShort(raw string) (Repository, error) {
	user, rest, ok := strings.Cut(raw, "@")
	if !ok {
		rest = raw
	} else if strings.HasPrefix(user, "-") || strings.ContainsAny(user, "/:") {
		return Repository{}, errNotRepository
	}
	i := strings.IndexAny(rest, ":/")
	if i <= 0 || !plainHost(rest[:i]) {
		return Repository{}, errNotRepository
	}
	host, path := rest[:i], rest[i+1:]
	if port, below, ok := strings.Cut(path, ":"); ok && digits(port) {
		path = below
	}
	return Repository{Host: host, Path: path}, nil
}

func plainHost(s string) bool {
	for _, c := range s {
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_'
		if !ok {
			return false
		}
	}
	return s != "" && s[0] != '-'
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// canonical takes out what forges vary between their https and ssh addresses.
func (r Repository) canonical() Repository {
	for _, prefix := range [2]string{"ssh.", "altssh."} { // ssh through port 443
		if host, ok := strings.CutPrefix(r.Host, prefix); ok && strings.Contains(host, ".") {
			r.Host = host
		}
	}
	// Azure DevOps: ssh has v3/organization/project/repository, https organization/project/_git/repository.
	if r.Host == "dev.azure.com" {
		if parts := strings.Split(r.Path, "/"); len(parts) == 4 && parts[0] == "v3" {
			r.Path = parts[1] + "/" + parts[2] + "/_git/" + parts[3]
		}
	}
	return r
}
