package address

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// SchemeOCI is what addresses of registries begin with.
const SchemeOCI = "oci://"

const (
	maxRegistry = 2000 // bytes
	maxPath     = 255  // bytes of the name of a repository, as registries have it
)

var (
	pathRule   = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	tagRule    = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`)
	digestRule = regexp.MustCompile(`^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$`)
)

// Registry is the address of a repository of a registry, or of the part of the registry that a chart is in.
type Registry struct {
	Host string // with a port that is not the default one, in lower case, without a dot at the end
	Path string // name of the repository; "" for the registry as a whole
}

// ParseRegistry reads oci://host/path, with the scheme or without, and the tag or the digest that follows the path, if one does.
func ParseRegistry(raw string) (a Registry, version string, err error) {
	text := strings.TrimSpace(raw)
	if scheme, _, ok := strings.Cut(text, "://"); ok {
		if !strings.EqualFold(scheme+"://", SchemeOCI) {
			return Registry{}, "", fmt.Errorf("the address of a registry begins with %s, not with %q", SchemeOCI, legible.Line(scheme, 20)+"://")
		}
		text = text[len(SchemeOCI):]
	}
	if text == "" || len(text) > maxRegistry {
		return Registry{}, "", fmt.Errorf("the address of the registry is empty or too long: write it as %shost/repository", SchemeOCI)
	}
	host, path, _ := strings.Cut(text, "/")
	u, err := url.Parse("https://" + host)
	if err != nil || u.Hostname() == "" || u.Path != "" || strings.ContainsAny(host, "?#@\\ ") {
		return Registry{}, "", fmt.Errorf("the address of the registry has no host that can be used: write it as %shost/repository, "+
			"without user and password", SchemeOCI)
	}
	if a.Host, err = Host(u); err != nil {
		return Registry{}, "", fmt.Errorf("the address of the registry: %w", err)
	}
	if before, digest, ok := strings.Cut(path, "@"); ok {
		if !IsDigest(digest) {
			return Registry{}, "", errors.New("what follows @ in the address of the repository is no digest: write sha256: and 64 digits")
		}
		path, version = before, digest
	}
	if at := strings.LastIndexByte(path, ':'); at > strings.LastIndexByte(path, '/') {
		if !tagRule.MatchString(path[at+1:]) {
			return Registry{}, "", errors.New("what follows the colon in the address of the repository is no tag: correct it")
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
		return Registry{}, "", err
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
func (a Registry) Join(chart string) (Registry, error) {
	if chart == "" {
		return a, nil
	}
	out := Registry{Host: a.Host, Path: strings.Trim(a.Path+"/"+strings.Trim(chart, "/"), "/")}
	return out, checkPath(out.Path)
}

// ParseArtifact reads the address of an artifact, or that of what a chart is in, and returns that of the chart. The version of a chart is
// never in the address.
func ParseArtifact(raw, chart string) (a Registry, version string, err error) {
	if a, version, err = ParseRegistry(raw); err != nil || chart == "" {
		return a, version, err
	}
	if version != "" {
		return Registry{}, "", errors.New("the address has a tag or a digest, and names a chart: write the address without, " +
			"and the version of the chart as the revision")
	}
	a, err = a.Join(chart)
	return a, "", err
}

// String is the address with its scheme.
func (a Registry) String() string {
	if a.Path == "" {
		return SchemeOCI + a.Host
	}
	return SchemeOCI + a.Host + "/" + a.Path
}

// IsDigest reports whether a text is a digest that content can be verified by.
func IsDigest(text string) bool { return digestRule.MatchString(text) }

// IsTag reports whether a registry takes a text as the name of a version.
func IsTag(text string) bool { return tagRule.MatchString(text) }
