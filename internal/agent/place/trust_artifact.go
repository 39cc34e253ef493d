package place

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine/trust"
	"github.com/slipway-gitops/slipway/internal/integrity/cosign"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/source/oci"
)

const (
	maxArtifactKeys = 1000
	// refusedLife is how long it is known that an artifact has no good signature. It is signed after it was pushed.
	refusedLife = 15 * time.Second
)

// signedBy is the answer about an artifact. One that was signed stays signed: neither its content nor the keys change.
type signedBy struct {
	signer string
	err    error
	at     time.Time
	until  time.Time // after which the answer no longer counts; zero for never
}

// artifactKeys are the public keys that artifacts are verified with.
type artifactKeys struct {
	keys    []cosign.Key
	faults  []string
	edition string // equal for equal keys
}

func readArtifactKeys(data map[string]string) artifactKeys {
	var out artifactKeys
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(data)) {
		fmt.Fprintf(sum, "%q %q\n", name, data[name])
		key, err := cosign.ReadKey(name, data[name])
		switch {
		case err != nil:
			out.faults = append(out.faults, fmt.Sprintf("key %s of %s is not used: %v", legible.Line(name, 100), ConfigArtifacts, err))
		case len(out.keys) >= maxArtifactKeys:
			out.faults = append(out.faults, fmt.Sprintf("%s has more than %d keys: the last ones are not used; delete some",
				ConfigArtifacts, maxArtifactKeys))
			return out
		default:
			out.keys = append(out.keys, key)
		}
	}
	out.edition = hex.EncodeToString(sum.Sum(nil)[:16])
	return out
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
	keys, edition := t.cosign, t.edition
	t.mu.Unlock()
	raw, err := json.Marshal([]any{repo.Scope(), edition, claim.Policy.Cosign, claim.Digest})
	if err != nil {
		return "", err
	}
	about := string(raw)
	now := time.Now()
	t.mu.Lock()
	had, known := t.signed[about]
	t.mu.Unlock()
	if known && (had.err == nil || now.Sub(had.at) < refusedLife) {
		return had.signer, had.err
	}
	back := registry.LeaveAfter(ctx, slowSource)
	defer back()
	found, err := remote.Proofs(ctx, claim.Digest)
	if err != nil {
		return "", err // nothing is known
	}
	q := cosign.Question{Digest: claim.Digest, Keys: keys, Allowed: claim.Policy.Cosign}
	for _, p := range found {
		q.Proofs = append(q.Proofs, cosign.Proof{Payload: p.Payload, Signature: p.Signature})
	}
	answer := signedBy{at: now}
	if key, fault := cosign.Judge(q); fault == nil {
		answer.signer = key.String()
	} else {
		answer.err = refused(fmt.Sprintf("%s (key_id=%s); %s", fault.Code, fault.Key, fault.Next()))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.edition == edition {
		if len(t.signed) >= maxVerdicts {
			clear(t.signed)
		}
		t.signed[about] = answer
	}
	return answer.signer, answer.err
}
