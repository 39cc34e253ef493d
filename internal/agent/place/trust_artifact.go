package place

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/internal/engine/trust"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/source/oci"
)

// refusedLife is how long it is known that an artifact has no good signature. It is signed after it was pushed.
const refusedLife = 15 * time.Second

// signedBy is the answer about an artifact. One that was signed stays signed: neither its content nor the keys change, and it counts
// when it was signed.
type signedBy struct {
	signer string
	err    error
	at     time.Time
	until  time.Time // after which the answer no longer counts; zero for never
}

// proving is a remote that has signatures of its artifacts.
type proving interface {
	Proofs(ctx context.Context, digest string) ([]oci.Proof, error)
}

// artifact judges an artifact of a registry by its signatures. The digest that was fetched is judged, also if its tag
// stands for another one by now.
func (t *Trust) artifact(ctx context.Context, claim trust.Claim) (string, error) {
	repo, _, err := t.sources.Artifact(claim.Project, claim.Source)
	if err != nil {
		return "", err
	}
	refused := func(why string) error {
		return fmt.Errorf("OCI/COSIGN: Failed verifying revision %s of %s: %s", claim.Digest, redact.Addresses(repo.URL()), why)
	}
	remote, ok := repo.Remote().(proving)
	if !ok || claim.Digest == "" {
		return "", refused("a chart of a Helm repository has no signature of cosign: push it to an OCI registry and sign it there")
	}
	t.Refresh()
	t.mu.Lock()
	keys := artifactTrust{keys: t.cosign, roots: t.roots, edition: t.edition}
	t.mu.Unlock()
	q := question{"cosign", []any{repo.Scope(), claim.Policy.Cosign, claim.Policy.Identities, claim.Digest}, keys.edition}
	return t.remembered(ctx, q, time.Now(), func() (signedBy, error) {
		found, err := remote.Proofs(ctx, claim.Digest)
		if err != nil {
			return signedBy{}, err // nothing is known
		}
		signer, fault := keys.judge(claim, found)
		if fault != nil {
			return signedBy{err: refused(fault.String())}, nil
		}
		return signedBy{signer: signer}, nil
	})
}
