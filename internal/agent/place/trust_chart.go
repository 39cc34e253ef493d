package place

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/slipway-gitops/slipway/internal/engine/trust"
	"github.com/slipway-gitops/slipway/internal/integrity/provenance"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/oci"
)

// chart judges a chart by its provenance file. The archive that was fetched is judged, whatever the repository has by now.
func (t *Trust) chart(ctx context.Context, claim trust.Claim) (string, error) {
	repo, rev, err := t.sources.Artifact(claim.Project, claim.Source)
	if err != nil {
		return "", err
	}
	refused := func(why any) error {
		return fmt.Errorf("HELM/GPG: Failed verifying revision %s of %s: %v", claim.Revision, redact.Addresses(repo.URL()), why)
	}
	remote, ok := repo.Remote().(artifact.Proven)
	if !ok || claim.Digest == "" {
		return "", refused("it has no provenance file: charts have one, in Helm repositories and OCI registries")
	}
	keys := t.keyring()
	name, version := chartOf(repo, rev, claim)
	now := time.Now()
	q := question{"helm", []any{repo.Scope(), claim.Policy.Helm, claim.Digest, name, version}, keys.Edition()}
	return t.remembered(ctx, q, now, func() (signedBy, error) {
		found, err := remote.Provenance(ctx, rev.Chart, artifact.Found{Version: claim.Revision, Digest: claim.Digest})
		if errors.Is(err, artifact.ErrProvenance) {
			return signedBy{err: refused(err)}, nil
		}
		if err != nil {
			return signedBy{}, err // nothing is known
		}
		v, fault := provenance.Judge(provenance.Question{
			Text: found.Text, Keys: keys, Allowed: claim.Policy.Helm, Now: now, Chart: name, Version: version, File: found.File,
			Digest: found.Archive,
		})
		if fault != nil {
			return signedBy{err: refused(fault)}, nil
		}
		return signedBy{signer: v.Signer.String() + " (provenance)", until: v.Until}, nil
	})
}

// chartOf is the name and the version that a chart must have; the version is "" where the source asks for a digest or a tag that moves.
func chartOf(repo *artifact.Repo, rev artifact.Revision, claim trust.Claim) (name, version string) {
	if name = path.Base(rev.Chart); rev.Chart == "" {
		name = path.Base(repo.URL())
	}
	switch {
	case !oci.IsDigest(claim.Revision):
		return name, claim.Revision
	case artifact.Exact(rev.Version) && !artifact.Pinned(rev.Version):
		return name, rev.Version
	}
	return name, ""
}
