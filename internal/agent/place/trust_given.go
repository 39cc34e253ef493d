package place

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/trust"
	"github.com/slipway-gitops/slipway/internal/integrity/cosign"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/project"
	"github.com/slipway-gitops/slipway/internal/source/oci"
)

const (
	maxArtifactKeys  = 1000
	maxArtifactRoots = 20
	// maxArtifactFaults bounds what is logged of one reading.
	maxArtifactFaults = 100
)

// artifactTrust is what artifacts are verified with: public keys, and roots of identities.
type artifactTrust struct {
	keys    []cosign.Key
	roots   []cosign.Root
	faults  []string
	edition string // equal for equal keys and roots
}

// readArtifactTrust reads the entries of the ConfigMap: a JSON document is a root, and anything else a key.
func readArtifactTrust(data map[string]string) artifactTrust {
	var out artifactTrust
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(data)) {
		text := data[name]
		fmt.Fprintf(sum, "%q %q\n", name, text)
		kind, err := "key", error(nil)
		if strings.HasPrefix(strings.TrimSpace(text), "{") {
			kind = "root"
			out.roots, err = added(out.roots, maxArtifactRoots, name, text, cosign.ReadRoot)
		} else {
			out.keys, err = added(out.keys, maxArtifactKeys, name, text, cosign.ReadKey)
		}
		if err != nil && len(out.faults) < maxArtifactFaults {
			out.faults = append(out.faults, fmt.Sprintf("%s %s of %s is not used: %v", kind, legible.Line(name, 100), ConfigArtifacts, err))
		}
	}
	out.edition = hex.EncodeToString(sum.Sum(nil)[:16])
	return out
}

// added reads one more entry, as long as there are not too many.
func added[T any](list []T, most int, name, text string, read func(name, text string) (T, error)) ([]T, error) {
	if len(list) >= most {
		return list, fmt.Errorf("there are more than %d: delete some", most)
	}
	one, err := read(name, text)
	if err != nil {
		return list, err
	}
	return append(list, one), nil
}

// judge asks for what the policy asks for: a key, or an identity. Neither counts in place of the other.
func (a artifactTrust) judge(claim trust.Claim, found []oci.Proof) (string, *cosign.Fault) {
	proofs := make([]cosign.Proof, len(found))
	for i, p := range found {
		proofs[i] = cosign.Proof(p)
	}
	if len(claim.Policy.Identities) == 0 {
		key, fault := cosign.Judge(cosign.Question{Digest: claim.Digest, Proofs: proofs, Keys: a.keys, Allowed: claim.Policy.Cosign})
		if fault != nil {
			return "", fault
		}
		return key.String(), nil
	}
	q := cosign.Keyless{Digest: claim.Digest, Proofs: proofs, Roots: a.roots}
	for _, allowed := range claim.Policy.Identities {
		if !slices.Contains(q.Named, allowed.Root) {
			q.Named = append(q.Named, allowed.Root)
		}
	}
	q.Allows = func(who cosign.Identity) bool {
		return slices.ContainsFunc(claim.Policy.Identities, func(allowed project.Identity) bool {
			return allowed.Allows(who.Root.Name, who.Issuer, who.Subject)
		})
	}
	who, fault := cosign.JudgeKeyless(q)
	if fault != nil {
		return "", fault
	}
	return who.String(), nil
}
