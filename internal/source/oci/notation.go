package oci

import (
	"context"
	"fmt"
	"slices"

	"github.com/slipway-gitops/slipway/internal/source/artifact"
)

const typeNotation = "application/vnd.cncf.notary.signature"

// maxEnvelope bounds a signature of the Notary Project, in bytes.
const maxEnvelope = 64 << 10

// Envelope is a signature of the Notary Project that a registry has. Nothing of it is verified.
type Envelope struct {
	MediaType string
	Content   []byte // empty where it is larger than one may be
}

// Envelopes returns the signatures of the Notary Project that refer to a digest.
func (r *Remote) Envelopes(ctx context.Context, digest string) ([]Envelope, error) {
	if !IsDigest(digest) {
		return nil, fmt.Errorf("%s: %w: it has no digest", r.URL(), artifact.ErrNoVersion)
	}
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	out, err := r.registry.envelopes(ctx, digest)
	if err != nil {
		return nil, fmt.Errorf("%s@%s: read its signatures: %w", r.URL(), digest, err)
	}
	return out, nil
}

func (r *registry) envelopes(ctx context.Context, digest string) ([]Envelope, error) {
	all, err := r.referring(ctx, digest, typeNotation)
	if err != nil {
		return nil, err
	}
	marked, err := r.marked(ctx, digest) // notation writes there by default, whatever the registry lists
	if err != nil {
		return nil, err
	}
	var out []Envelope
	seen := map[string]bool{}
	for _, d := range slices.Concat(all, marked) {
		if d.ArtifactType != typeNotation || !IsDigest(d.Digest) || len(out) >= maxProofs || seen[d.Digest] {
			continue
		}
		if seen[d.Digest] = true; len(seen) > maxLooked {
			break
		}
		m, err := r.manifest(ctx, d.Digest)
		if skipped(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(m.Layers) != 1 {
			continue
		}
		one := Envelope{MediaType: m.Layers[0].MediaType}
		if m.Layers[0].Size <= maxEnvelope {
			if one.Content, err = r.small(ctx, m.Layers[0]); skipped(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		out = append(out, one)
	}
	return out, nil
}
