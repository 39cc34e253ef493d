// Package address reads the addresses of repositories, of Git and of registries, and spells each in one way: what the rules of a project
// judge is what is opened. Pure.
package address

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
)

// Git is the address of a repository of Git. Two spellings of one address (letter case of the host, dot behind it, default port, default
// user of ssh, slash at the end, user of http(s)) give the same URL.
type Git struct {
	URL    string        // what git is given
	Scheme string        // https, http, ssh or file
	Host   string        // with a port that is not the default one
	Login  *url.Userinfo // that an http(s) address has, and that is not in URL; nil for none

	User          string // of ssh
	Path, Escaped string // decoded, and as it is in URL
}

const maxGit = 4096 // bytes

var scpLike = regexp.MustCompile(`^(?:([A-Za-z0-9._-]+)@)?([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):([^:].*)$`)

// ParseGit reads https://, http://, ssh:// and file:// addresses, scp-like ones (git@host:path) and absolute paths.
func ParseGit(raw string) (Git, error) {
	s := strings.TrimSpace(raw)
	if s == "" || len(s) > maxGit || strings.ContainsAny(s, "\x00\r\n\t ") || strings.HasPrefix(s, "-") {
		return Git{},
			errors.New("parse repository address: it is empty, too long or holds spaces: write it as https://host/path or git@host:path")
	}
	if !strings.Contains(s, "://") {
		if m := scpLike.FindStringSubmatch(s); m != nil && !filepath.IsAbs(s) {
			user := m[1]
			if user == "" {
				user = defaultUser
			}
			s = "ssh://" + user + "@" + m[2] + "/" + strings.TrimPrefix(m[3], "/")
		} else if filepath.IsAbs(s) {
			s = "file://" + s
		}
	}
	u, err := url.Parse(s)
	if err != nil {
		// The error of url.Parse quotes the address, and with it a password that may be inside.
		return Git{}, errors.New("parse repository address: it is not a URL: write it as https://host/path or git@host:path")
	}
	u.Scheme = strings.ToLower(u.Scheme)
	u.Fragment, u.RawFragment, u.RawQuery, u.ForceQuery = "", "", "", false
	switch u.Scheme {
	case "file":
		clean := filepath.Clean(u.Path)
		return Git{URL: "file://" + clean, Scheme: u.Scheme, Path: clean, Escaped: clean}, nil
	case "https", "http", "ssh":
	default:
		return Git{}, fmt.Errorf("repository address with scheme %q is not allowed: use https or ssh", u.Scheme)
	}
	if u.Hostname() == "" || strings.HasPrefix(u.Hostname(), "-") {
		return Git{}, errors.New("parse repository address: the host is missing or begins with a dash")
	}
	if u.Host, err = Host(u); err != nil {
		return Git{}, fmt.Errorf("parse repository address: %w", err)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = strings.TrimRight(u.RawPath, "/")
	out := Git{Scheme: u.Scheme, Host: u.Host, Path: u.Path, Escaped: u.EscapedPath()}
	out.Login = u.User
	u.User = nil
	if u.Scheme == "ssh" {
		if out.User = out.Login.Username(); out.User == "" {
			out.User = defaultUser
		}
		if strings.HasPrefix(out.User, "-") {
			return Git{}, errors.New("parse repository address: the user name begins with a dash")
		}
		out.Login, u.User = nil, url.User(out.User)
	}
	out.URL = u.String()
	return out, nil
}

// defaultUser is that of ssh.
const defaultUser = "git"

// Host is the host of a URL in one spelling: in lower case, with a port that is not the default one, and without a dot at the end. A name
// that is not written in ASCII is refused: clients of HTTP take many such names for one.
func Host(u *url.URL) (string, error) {
	name := strings.ToLower(u.Hostname())
	if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", errors.New("the host has characters that are not of ASCII: write it as in its certificate (xn--...)")
	}
	if name = strings.TrimSuffix(name, "."); name == "" {
		return "", errors.New("the host is missing: write it as https://host/path")
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	port := u.Port()
	if port != "" {
		if port = strings.TrimLeft(port, "0"); port == "" {
			port = "0"
		}
	}
	if port == "" || port == DefaultPort(u.Scheme) {
		return name, nil
	}
	return name + ":" + port, nil
}

// DefaultPort is the port that an address of a scheme has where it names none; "" for another scheme.
func DefaultPort(scheme string) string {
	switch scheme {
	case "https", "oci":
		return "443"
	case "http":
		return "80"
	case "ssh":
		return "22"
	}
	return ""
}
