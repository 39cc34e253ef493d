package oci

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/source/dockerhub"
)

// Scheme is what addresses of registries begin with.
const Scheme = "oci://"

const (
	maxAddress = 2000 // bytes
	maxPath    = 255  // bytes of the name of a repository, as registries have it
)

var (
	pathRule   = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	tagRule    = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`)
	digestRule = regexp.MustCompile(`^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$`)
)

// Address is a repository of a registry, or the part of the registry that a chart is in.
type Address struct {
	Host string // with the port, in lower case, as users write it
	Path string // name of the repository; "" for the registry as a whole
}

// ParseAddress reads oci://host/path, with the scheme or without, and the tag or the digest that follows the path, if one does.
func ParseAddress(raw string) (a Address, version string, err error) {
	text := strings.TrimSpace(raw)
	if scheme, _, ok := strings.Cut(text, "://"); ok {
		if !strings.EqualFold(scheme+"://", Scheme) {
			return Address{}, "", fmt.Errorf("the address of a registry begins with %s, not with %q", Scheme, legible.Line(scheme, 20)+"://")
		}
		text = text[len(Scheme):]
	}
	if text == "" || len(text) > maxAddress {
		return Address{}, "", fmt.Errorf("the address of the registry is empty or too long: write it as %shost/repository", Scheme)
	}
	host, path, _ := strings.Cut(text, "/")
	u, err := url.Parse("https://" + host)
	if err != nil || u.Hostname() == "" || u.Path != "" || strings.ContainsAny(host, "?#@\\ ") {
		return Address{}, "", fmt.Errorf("the address of the registry has no host that can be used: write it as %shost/repository, "+
			"without user and password", Scheme)
	}
	a.Host = strings.TrimSuffix(strings.ToLower(host), ":443")
	if before, digest, ok := strings.Cut(path, "@"); ok {
		if !IsDigest(digest) {
			return Address{}, "", errors.New("what follows @ in the address of the repository is no digest: write sha256: and 64 digits")
		}
		path, version = before, digest
	}
	if at := strings.LastIndexByte(path, ':'); at > strings.LastIndexByte(path, '/') {
		if !tagRule.MatchString(path[at+1:]) {
			return Address{}, "", errors.New("what follows the colon in the address of the repository is no tag: correct it")
		}
		if version == "" { // a digest is more exact than the tag beside it
			version = path[at+1:]
		}
		path = path[:at]
	}
	a.Path = strings.Trim(path, "/")
	if a.Path == "" && version == "" {
		return a, "", nil
	}
	if err := checkPath(a.Path); err != nil {
		return Address{}, "", err
	}
	return a, version, nil
}

func checkPath(path string) error {
	switch {
	case len(path) > maxPath:
		return fmt.Errorf("the name of the repository has more than %d bytes: correct it", maxPath)
	case pathRule.MatchString(path):
		return nil
	case pathRule.MatchString(strings.ToLower(path)):
		return fmt.Errorf("the repository %q has capital letters, which no registry takes: write it in lower case", legible.Line(path, 80))
	}
	return fmt.Errorf("%q is no name of a repository: its parts are lower case letters, digits, dots, dashes and underscores, between slashes",
		legible.Line(path, 80))
}

// Join is the repository of a chart that is in a.
func (a Address) Join(chart string) (Address, error) {
	if chart == "" {
		return a, nil
	}
	out := Address{Host: a.Host, Path: strings.Trim(a.Path+"/"+strings.Trim(chart, "/"), "/")}
	return out, checkPath(out.Path)
}

// String is the address with its scheme.
func (a Address) String() string {
	if a.Path == "" {
		return Scheme + a.Host
	}
	return Scheme + a.Host + "/" + a.Path
}

// server is the host that answers for a name. Docker Hub has its registry at another one than people write.
func (a Address) server() string {
	if host := dockerhub.Host(a.Host); host == dockerhub.Registry {
		return host
	}
	return a.Host
}

// IsDigest reports whether a text is a digest that content can be verified by.
func IsDigest(text string) bool { return digestRule.MatchString(text) }

// tagOf is the tag that a version has in a registry, which takes no "+".
func tagOf(version string) (string, bool) {
	tag := strings.ReplaceAll(version, "+", "_")
	return tag, tagRule.MatchString(tag)
}

// versionOf undoes what tagOf does.
func versionOf(tag string) string { return strings.Replace(tag, "_", "+", 1) }
