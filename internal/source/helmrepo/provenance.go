package helmrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"time"

	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/web"
)

// provenanceTime is how long a provenance file may take, which is small.
const provenanceTime = time.Minute

// Provenance returns the file beside the archive of a version. The digest of what was found is that of the archive that was fetched.
func (r *Repo) Provenance(ctx context.Context, chart string, f artifact.Found) (artifact.Provenance, error) {
	ctx, cancel := context.WithTimeout(ctx, provenanceTime)
	defer cancel()
	out := artifact.Provenance{Archive: f.Digest}
	x, err := r.current(ctx, time.Time{})
	if err != nil {
		return out, err
	}
	e, _, err := x.entry(chart, f.Version)
	if err != nil {
		return out, r.about(err)
	}
	at, err := r.address(chart, e)
	if err != nil {
		return out, r.about(err)
	}
	if at.Scheme == "oci" {
		return out, nil // its provenance is in the registry, and is asked for by the address there
	}
	out.File = path.Base(at.Path)
	if at.Path += ".prov"; at.RawPath != "" {
		at.RawPath += ".prov"
	}
	body, err := r.get(ctx, at)
	if errors.Is(err, web.ErrNotFound) {
		return out, nil
	}
	if err != nil {
		return out, r.about(err)
	}
	defer func() { _ = body.Close() }()
	out.Text, err = io.ReadAll(io.LimitReader(body, artifact.MaxProvenance+1))
	if err == nil && len(out.Text) > artifact.MaxProvenance {
		err = fmt.Errorf("%w: the provenance file of %s %s has more than %d KiB", artifact.ErrProvenance, chart, f.Version,
			artifact.MaxProvenance>>10)
	}
	return out, r.about(err)
}
