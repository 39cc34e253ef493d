package oci

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Media types and annotations of signatures.
const (
	typeSimpleSigning   = "application/vnd.dev.cosign.simplesigning.v1+json"
	typeBundle          = "application/vnd.dev.sigstore.bundle"
	annotationSignature = "dev.cosignproject.cosign/signature"

	// What proves who signed without a key.
	annotationCertificate = "dev.sigstore.cosign/certificate"
	annotationLog         = "dev.sigstore.cosign/bundle"
	annotationTimestamp   = "dev.sigstore.cosign/rfc3161timestamp"
)

// Bounds of the signatures of one artifact.
const (
	maxProofs     = 50
	maxProof      = 1 << 20 // bytes
	maxProofBytes = 4 << 20 // of all of them
	maxReferrings = 1000    // entries of an index that are looked at
	maxLooked     = 100     // manifests that are read
)

// Proof is a signature that a registry has of an artifact. Nothing of it is verified.
type Proof struct {
	Payload   []byte // the signed text, or a bundle of text and signature
	Signature string // in base64; "" for a bundle

	// Annotations of a signature that was made without a key; "" where it has none, and for a bundle.
	Certificate, Log, Timestamp string
}

// Proofs returns the signatures of a digest that cosign made: those of the tag that is named after it, and the bundles that refer to
// it.
func (r *Remote) Proofs(ctx context.Context, digest string) ([]Proof, error) {
	if !IsDigest(digest) {
		return nil, fmt.Errorf("%s: %w: it has no digest", r.URL(), artifact.ErrNoVersion)
	}
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	bundles, err := r.registry.bundles(ctx, digest)
	if err != nil {
		return nil, fmt.Errorf("%s@%s: read its signatures: %w", r.URL(), digest, err)
	}
	tagged, err := r.registry.tagged(ctx, digest)
	if err != nil {
		return nil, fmt.Errorf("%s@%s: read its signatures: %w", r.URL(), digest, err)
	}
	return append(bundles, tagged...), nil
}

// skipped reports whether an error is about one signature alone: others still count.
func skipped(err error) bool {
	return errors.Is(err, artifact.ErrNoVersion) || errors.Is(err, ErrArtifact)
}

// tagged are the signatures under the tag that is named after a digest.
func (r *registry) tagged(ctx context.Context, digest string) ([]Proof, error) {
	m, err := r.sidecar(ctx, strings.Replace(digest, ":", "-", 1)+".sig")
	if err != nil {
		return nil, err
	}
	var out []Proof
	left := maxProofBytes / 2
	for _, layer := range m.Layers {
		p := Proof{
			Signature: layer.Annotations[annotationSignature], Certificate: layer.Annotations[annotationCertificate],
			Log: layer.Annotations[annotationLog], Timestamp: layer.Annotations[annotationTimestamp],
		}
		if layer.MediaType != typeSimpleSigning || p.Signature == "" || p.annotated() > maxProof || len(out) >= maxProofs/2 {
			continue
		}
		if left -= int(min(layer.Size, maxProof)) + p.annotated(); left < 0 {
			break
		}
		if p.Payload, err = r.small(ctx, layer); skipped(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// annotated is how many bytes the annotations of a signature have.
func (p Proof) annotated() int {
	return len(p.Signature) + len(p.Certificate) + len(p.Log) + len(p.Timestamp)
}

// referring is what refers to a digest: by the registry's list, of one type where kind is not "" and the registry can select them,
// or where it has no list by the index that clients keep under a tag.
func (r *registry) referring(ctx context.Context, digest, kind string) ([]descriptor, error) {
	at := r.at("referrers", digest)
	if kind != "" {
		at.RawQuery = url.Values{"artifactType": {kind}}.Encode()
	}
	raw, err := r.get(ctx, at, http.Header{"Accept": {typeIndex}})
	var index manifest
	switch {
	case errors.Is(err, web.ErrNotFound):
		return r.marked(ctx, digest)
	case err == nil:
		if strict.Decode(raw, &index, strict.Foreign) != nil {
			err = refuse("the registry's list of what refers to it cannot be read")
		}
	}
	return index.Manifests[:min(len(index.Manifests), maxReferrings)], err
}

// marked is what refers to a digest by the index that clients keep under a tag.
func (r *registry) marked(ctx context.Context, digest string) ([]descriptor, error) {
	index, err := r.sidecar(ctx, strings.Replace(digest, ":", "-", 1))
	return index.Manifests[:min(len(index.Manifests), maxReferrings)], err
}

// bundles are the signatures of cosign that refer to a digest.
func (r *registry) bundles(ctx context.Context, digest string) ([]Proof, error) {
	all, err := r.referring(ctx, digest, "")
	if err != nil {
		return nil, err
	}
	var out []Proof
	left, looked := maxProofBytes/2, 0
	for _, d := range all {
		if !strings.HasPrefix(d.ArtifactType, typeBundle) || !IsDigest(d.Digest) || len(out) >= maxProofs/2 {
			continue
		}
		if looked++; looked > maxLooked {
			break
		}
		m, err := r.manifest(ctx, d.Digest)
		if skipped(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(m.Layers) != 1 || !strings.HasPrefix(m.Layers[0].MediaType, typeBundle) {
			continue
		}
		if left -= int(min(m.Layers[0].Size, maxProof)); left < 0 {
			break
		}
		payload, err := r.small(ctx, m.Layers[0])
		if skipped(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, Proof{Payload: payload})
	}
	return out, nil
}

// sidecar reads the manifest of a tag beside an artifact; an empty one where there is none. What it says is verified later.
func (r *registry) sidecar(ctx context.Context, tag string) (manifest, error) {
	var m manifest
	raw, err := r.get(ctx, r.at("manifests", tag), acceptManifests())
	if errors.Is(err, web.ErrNotFound) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	if strict.Decode(raw, &m, strict.Foreign) != nil {
		return m, refuse("the manifest under the tag %s cannot be read", tag)
	}
	return m, nil
}

// small reads content that is small, which must have its digest.
func (r *registry) small(ctx context.Context, d descriptor) ([]byte, error) {
	if !IsDigest(d.Digest) || d.Size <= 0 || d.Size > maxProof {
		return nil, refuse("a signature has a size or a digest that is not possible")
	}
	content, err := r.blob(ctx, d)
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }()
	raw, err := io.ReadAll(io.LimitReader(content, d.Size+1))
	if err != nil {
		return nil, err
	}
	if digestLike(d.Digest, raw) != d.Digest {
		return nil, refuse("the registry sends other content than that of %s: look who changed it", d.Digest)
	}
	return raw, nil
}
