// Package cosign judges signatures of artifacts in registries that cosign made with a key: those of a tag beside the artifact, and
// the bundles that refer to it. A digest, the signatures and public keys go in; a verdict comes out.
package cosign

import (
	"fmt"
	"slices"

	"github.com/slipway-gitops/slipway/internal/integrity"
)

// Proof is a signature as a registry has it. Nothing of it is trusted.
type Proof struct {
	// Payload is the text that is signed, or the bundle with text and signature.
	Payload   []byte
	Signature string // in base64; "" for a bundle
}

// Bounds of one judgement.
const (
	MaxProofs = 50 // of one artifact
)

// Other is the code of a signature of something else.
const Other = integrity.OtherContent

// Question asks about one artifact.
type Question struct {
	Digest  string // of the manifest that is deployed
	Proofs  []Proof
	Keys    []Key    // that the agent knows
	Allowed []string // names of those that the project allows
}

// Fault is why an artifact is not trusted.
type Fault struct {
	Code integrity.Code
	Key  string // name of the key; "" where it is not known
}

// Judge returns the key that signed an artifact. One good signature is enough, also beside others that are ignored. Of several faults it
// returns the one that is nearest to a good signature.
func Judge(q Question) (Key, *Fault) {
	worst := Fault{Code: integrity.Unsigned}
	for _, p := range q.Proofs[:min(len(q.Proofs), MaxProofs)] {
		key, fault := q.judge(p)
		if fault == nil {
			return key, nil
		}
		if rank(fault.Code) > rank(worst.Code) {
			worst = *fault
		}
	}
	return Key{}, &worst
}

func rank(c integrity.Code) int {
	order := []integrity.Code{integrity.Unsigned, integrity.Unreadable, integrity.UnknownKey, Other, integrity.UnallowedKey}
	return slices.Index(order, c)
}

func (q Question) judge(p Proof) (Key, *Fault) {
	claim, ok := read(p)
	if !ok {
		return Key{}, &Fault{Code: integrity.Unreadable}
	}
	for _, key := range q.Keys {
		if !key.signed(claim.message, claim.signature) {
			continue
		}
		switch {
		case !slices.Contains(claim.digests, q.Digest):
			return key, &Fault{Code: Other, Key: key.Name}
		case !slices.Contains(q.Allowed, key.Name):
			return key, &Fault{Code: integrity.UnallowedKey, Key: key.Name}
		}
		return key, nil
	}
	return Key{}, &Fault{Code: integrity.UnknownKey}
}

// String names a key for people.
func (k Key) String() string { return fmt.Sprintf("cosign key %s (%s)", k.Name, k.Fingerprint) }

// Next says what to do about a fault.
func (f Fault) Next() string {
	switch f.Code {
	case integrity.UnknownKey:
		return "add the public key to the ConfigMap slipway-artifact-keys, or sign with a key that is there"
	case integrity.UnallowedKey:
		return "sign with a key that the project allows, or have the project allow this one"
	case Other:
		return "the signature is not of this digest: sign the artifact again, and look who put this signature there"
	}
	return "sign it with a key that the project allows: cosign sign --key KEY ADDRESS@DIGEST"
}
