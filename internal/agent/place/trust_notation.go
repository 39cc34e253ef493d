package place

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/internal/engine/trust"
	"github.com/slipway-gitops/slipway/internal/integrity/notation"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/source/oci"
)

// enveloped is a remote that has signatures of the Notary Project.
type enveloped interface {
	Envelopes(ctx context.Context, digest string) ([]oci.Envelope, error)
}

// notation judges an artifact of a registry by its signatures of the Notary Project. The digest that was fetched is judged, also if its
// tag stands for another one by now.
func (t *Trust) notation(ctx context.Context, claim trust.Claim) (string, error) {
	repo, _, err := t.sources.Artifact(claim.Project, claim.Source)
	if err != nil {
		return "", err
	}
	refused := func(why any) error {
		return fmt.Errorf("OCI/NOTATION: Failed verifying revision %s of %s: %v", claim.Digest, redact.Addresses(repo.URL()), why)
	}
	remote, ok := repo.Remote().(enveloped)
	if !ok || claim.Digest == "" {
		return "", refused("a chart of a Helm repository has no signature of Notation: push it to an OCI registry and sign it there")
	}
	t.Refresh()
	t.mu.Lock()
	stores := t.stores
	t.mu.Unlock()
	now, policy := time.Now(), claim.Policy.Notation
	q := question{"notation", []any{repo.Scope(), policy, claim.Digest}, stores.Edition()}
	return t.remembered(ctx, q, now, func() (signedBy, error) {
		found, err := remote.Envelopes(ctx, claim.Digest)
		if err != nil {
			return signedBy{}, err // nothing is known
		}
		ask := notation.Question{
			Digest: claim.Digest, Stores: stores, Trusted: policy.Stores, Identities: policy.Identities, Now: now,
		}
		for _, e := range found {
			ask.Proofs = append(ask.Proofs, notation.Proof{MediaType: e.MediaType, Envelope: e.Content})
		}
		v, fault := notation.Judge(ask) //nolint:contextcheck // it judges values, and waits for nothing
		if fault != nil {
			return signedBy{err: refused(fault)}, nil
		}
		return signedBy{signer: v.String(), until: v.Until}, nil
	})
}
