package repository

import (
	"strings"

	"github.com/slipway-gitops/slipway/internal/source/dockerhub"
	"github.com/slipway-gitops/slipway/internal/source/oci"
)

const scheme = oci.Scheme

// IsOCI reports whether an address has the scheme of registries.
func IsOCI(address string) bool { return strings.HasPrefix(address, scheme) }

// trimOCI is an address without the scheme of registries.
func trimOCI(address string) string {
	if IsOCI(address) {
		return address[len(scheme):]
	}
	return address
}

// below reports whether a URL is at or under a prefix. The prefix ends at a boundary, so that what is meant for
// https://git.example is never sent to https://git.example.evil.
func below(url, prefix string) bool {
	rest, ok := strings.CutPrefix(url, prefix)
	return ok && (rest == "" || strings.HasSuffix(prefix, "/") || strings.HasPrefix(rest, "/"))
}

// ofRegistry reports whether an address is one of a registry: it has the scheme of registries, or none and a host with a path, as
// Argo CD writes registries of Helm charts.
func ofRegistry(address string) bool {
	if IsOCI(address) {
		return true
	}
	host, _, _ := strings.Cut(address, "/")
	return address != "" && !strings.Contains(address, "://") && !strings.ContainsAny(host, "@\\ ") && strings.Contains(host, ".") &&
		!strings.HasPrefix(address, "/") && onlyPort(host)
}

// onlyPort reports whether what follows a colon in a host is a port: git@host:path and host:path are of Git.
func onlyPort(host string) bool {
	_, port, has := strings.Cut(host, ":")
	return !has || port != "" && strings.Trim(port, "0123456789") == ""
}

// sameRegistry reports whether two addresses name one repository of a registry; both may leave out the scheme.
func sameRegistry(a, b string) bool {
	x, ok := registryAddress(a)
	if !ok {
		return false
	}
	y, ok := registryAddress(b)
	return ok && x == y
}

// belowRegistry reports whether an address is at or under that of a template.
func belowRegistry(address, prefix string) bool {
	x, ok := registryAddress(address)
	if !ok {
		return false
	}
	y, ok := registryAddress(prefix)
	return ok && x.Host == y.Host && (y.Path == "" || x.Path == y.Path || strings.HasPrefix(x.Path, y.Path+"/"))
}

func registryAddress(text string) (oci.Address, bool) {
	if !ofRegistry(text) {
		return oci.Address{}, false
	}
	a, _, err := oci.ParseAddress(text)
	a.Host = dockerhub.Host(a.Host)
	return a, err == nil
}

// FromRegistry reports whether a source is read from a registry: by its address, or because the fields of its Secret set it.
func FromRegistry(address, chart string, fields map[string][]byte) bool {
	return IsOCI(address) || Secret{Data: fields}.Registry() || chart != "" && ofRegistry(address)
}
