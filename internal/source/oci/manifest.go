package oci

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Media types that are known by name.
const (
	typeManifest       = "application/vnd.oci.image.manifest.v1+json"
	typeIndex          = "application/vnd.oci.image.index.v1+json"
	typeDockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	typeDockerList     = "application/vnd.docker.distribution.manifest.list.v2+json"
	typeChart          = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

const (
	maxManifest  = 4 << 20 // bytes, what registries take at least
	maxLayers    = 10      // as in Argo CD
	maxManifests = 1000    // of an index
	maxNamed     = 5       // things in a message
)

// DefaultMediaTypes are the types of layers that are unpacked, as in Argo CD.
func DefaultMediaTypes() []string {
	return []string{"application/vnd.oci.image.layer.v1.tar", "application/vnd.oci.image.layer.v1.tar+gzip", typeChart}
}

// ErrArtifact says that what the registry has is no artifact that can be deployed.
var ErrArtifact = errors.New("artifact is refused")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrArtifact, fmt.Errorf(format, args...))
}

// descriptor names content of a registry.
type descriptor struct {
	MediaType    string `json:"mediaType"`
	ArtifactType string `json:"artifactType"`
	Digest       string `json:"digest"`
	Size         int64  `json:"size"`
	Platform     struct {
		OS           string `json:"os"`
		Architecture string `json:"architecture"`
		Variant      string `json:"variant"`
	} `json:"platform"`
	Annotations map[string]string `json:"annotations"`
}

// manifest is one, or an index of them.
type manifest struct {
	MediaType   string            `json:"mediaType"`
	Layers      []descriptor      `json:"layers"`
	Manifests   []descriptor      `json:"manifests"`
	Annotations map[string]string `json:"annotations"`
}

// readManifest reads what the registry has under a digest, which the content must have.
func readManifest(raw []byte, digest string) (manifest, error) {
	var m manifest
	if got := digestLike(digest, raw); got != digest {
		return m, refuse("the registry sends other content than that of %s: look who changed it", digest)
	}
	if err := strict.Decode(raw, &m, strict.Foreign); err != nil {
		return m, refuse("the manifest %s cannot be read: it is no manifest of OCI", digest)
	}
	if len(m.Layers) > maxLayers {
		return m, refuse("it has %d layers, and may have %d: push it with one", len(m.Layers), maxLayers)
	}
	if len(m.Manifests) > maxManifests {
		return m, refuse("it is an index of more than %d manifests", maxManifests)
	}
	return m, nil
}

// digestLike is the digest of content by the algorithm that digest has.
func digestLike(digest string, raw []byte) string {
	if strings.HasPrefix(digest, "sha512:") {
		sum := sha512.Sum512(raw)
		return "sha512:" + hex.EncodeToString(sum[:])
	}
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (m manifest) isIndex() bool {
	return m.MediaType == typeIndex || m.MediaType == typeDockerList || len(m.Manifests) > 0 && len(m.Layers) == 0
}

// only is the one manifest of an index that is not a proof about another one. Manifests of a cluster are the same on every
// platform, so an index that has several is an image to run, or names what only its author can choose from.
func (m manifest) only() (descriptor, error) {
	var found []descriptor
	for _, d := range m.Manifests {
		if d.Annotations["vnd.docker.reference.type"] == "" && d.Platform.OS != "unknown" {
			found = append(found, d)
		}
	}
	if len(found) == 1 && IsDigest(found[0].Digest) && found[0].Size <= maxManifest {
		return found[0], nil
	}
	names := make([]string, 0, maxNamed)
	for _, d := range found[:min(len(found), maxNamed)] {
		names = append(names, legible.Line(strings.Trim(d.Platform.OS+"/"+d.Platform.Architecture, "/"), 40))
	}
	return descriptor{}, refuse("it is an index of %d manifests (%s): push the artifact without platforms, "+
		"or set the digest of one as targetRevision",
		len(found), strings.Join(names, ", "))
}

// isContent reports whether a layer counts as content: an archive by its name, or what is allowed by name. Others, such as
// signatures and proofs, are left alone.
func isContent(mediaType string, allowed []string) bool {
	return strings.HasSuffix(mediaType, "tar") || strings.HasSuffix(mediaType, "tar+gzip") || slices.Contains(allowed, mediaType)
}

// content is the one layer with what is deployed.
func (m manifest) content(allowed []string, chart bool) (descriptor, error) {
	var found []descriptor
	for _, d := range m.Layers {
		if !isContent(d.MediaType, allowed) {
			continue
		}
		if !slices.Contains(allowed, d.MediaType) {
			return descriptor{}, refuse("its layer has the media type %q: allowed are %s (reposerver.oci.layer.media.types in argocd-cmd-params-cm)",
				legible.Line(d.MediaType, 100), strings.Join(allowed, ", "))
		}
		found = append(found, d)
	}
	switch {
	case len(found) == 0:
		types := make([]string, 0, maxNamed)
		for _, d := range m.Layers[:min(len(m.Layers), maxNamed)] {
			types = append(types, legible.Line(d.MediaType, 80))
		}
		return descriptor{}, refuse("it has no layer with files (its layers: %s): push a tar archive, with one of the media types %s",
			strings.Join(types, ", "), strings.Join(allowed, ", "))
	case len(found) > 1:
		return descriptor{}, refuse("it has %d layers with files: push one archive with all files", len(found))
	case chart && found[0].MediaType != typeChart:
		return descriptor{}, refuse("it is no Helm chart (media type %q): leave out chart, and put its name into repoURL",
			legible.Line(found[0].MediaType, 100))
	case !strings.HasPrefix(found[0].Digest, "sha256:") || !IsDigest(found[0].Digest):
		return descriptor{}, refuse("the digest of its layer is not of SHA-256: push it again")
	case found[0].Size <= 0:
		return descriptor{}, refuse("its layer is empty: push it with files")
	}
	return found[0], nil
}
