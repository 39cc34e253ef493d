package oci

import (
	"strings"

	"github.com/slipway-gitops/slipway/internal/address"
	"github.com/slipway-gitops/slipway/internal/source/dockerhub"
)

// Scheme is what addresses of registries begin with.
const Scheme = address.SchemeOCI

// Address is a repository of a registry, or the part of the registry that a chart is in.
type Address = address.Registry

// ParseAddress reads oci://host/path, with the scheme or without, and the tag or the digest that follows the path, if one does.
func ParseAddress(raw string) (a Address, version string, err error) {
	return address.ParseRegistry(raw)
}

// ParseArtifact reads the address of an artifact, or that of what a chart is in, and returns that of the chart. What a project's rules
// judge is read the same way.
func ParseArtifact(raw, chart string) (a Address, version string, err error) {
	return address.ParseArtifact(raw, chart)
}

// serverOf is the host that answers for a name. Docker Hub has its registry at another one than people write.
func serverOf(a Address) string {
	if host := dockerhub.Host(a.Host); host == dockerhub.Registry {
		return host
	}
	return a.Host
}

// IsDigest reports whether a text is a digest that content can be verified by.
func IsDigest(text string) bool { return address.IsDigest(text) }

// tagOf is the tag that a version has in a registry, which takes no "+".
func tagOf(version string) (string, bool) {
	tag := strings.ReplaceAll(version, "+", "_")
	return tag, address.IsTag(tag)
}

// versionOf undoes what tagOf does.
func versionOf(tag string) string { return strings.Replace(tag, "_", "+", 1) }
