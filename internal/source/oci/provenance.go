package oci

import (
	"context"
	"fmt"

	"github.com/slipway-gitops/slipway/internal/source/artifact"
)

const typeProvenance = "application/vnd.cncf.helm.chart.provenance.v1.prov"

// Provenance returns the provenance file that the manifest of a chart has beside its archive.
func (r *Remote) Provenance(ctx context.Context, _ string, f artifact.Found) (artifact.Provenance, error) {
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	if !IsDigest(f.Digest) {
		return artifact.Provenance{}, fmt.Errorf("%s: %w: it has no digest", r.URL(), artifact.ErrNoVersion)
	}
	wrap := func(err error) error { return fmt.Errorf("%s@%s: read its provenance: %w", r.URL(), f.Digest, err) }
	m, err := r.registry.whole(ctx, f.Digest)
	if err != nil {
		return artifact.Provenance{}, wrap(err)
	}
	content, err := m.content(r.opts.MediaTypes, r.opts.Chart)
	if err != nil {
		return artifact.Provenance{}, wrap(err)
	}
	out := artifact.Provenance{Archive: content.Digest}
	found := 0
	var layer descriptor
	for _, l := range m.Layers {
		if l.MediaType == typeProvenance {
			layer, found = l, found+1
		}
	}
	switch {
	case found == 0 || content.MediaType != typeChart:
		return out, nil
	case found > 1:
		return out, wrap(fmt.Errorf("%w: it has %d provenance files: push the chart with one", artifact.ErrProvenance, found))
	case layer.Size > artifact.MaxProvenance:
		return out, wrap(fmt.Errorf("%w: it has more than %d KiB", artifact.ErrProvenance, artifact.MaxProvenance>>10))
	}
	if out.Text, err = r.registry.small(ctx, layer); err != nil {
		return out, wrap(err)
	}
	return out, nil
}
