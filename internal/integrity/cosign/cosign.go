// Package cosign judges signatures of artifacts in registries that cosign made: those of a tag beside the artifact, and the bundles
// that refer to it. A digest, the signatures and what the operator trusts go in; a verdict comes out. Judge asks for a signature by a
// key, JudgeKeyless for one by an identity. Neither is satisfied by what the other one asks for.
package cosign

import (
	"fmt"
	"slices"

	"github.com/slipway-gitops/slipway/internal/integrity"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// Proof is a signature as a registry has it. Nothing of it is trusted.
type Proof struct {
	// Payload is the text that is signed, or the bundle with text and signature.
	Payload   []byte
	Signature string // in base64; "" for a bundle

	// What proves the identity of a signature under a tag, as the annotations of cosign have it. A bundle has it inside.
	Certificate string // in PEM
	Log         string // what the transparency log answered
	Timestamp   string // of a timestamp authority
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
	Code   integrity.Code
	Key    string    // name of the key; "" where it is not known
	By     *Identity // who signed without a key; nil where it is not proved
	Root   string    // name of a trust root that the agent does not have
	Detail string    // more, where the code does not say enough

	keyless bool // the question was for an identity
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
	case Uncertified:
		return "the project asks for an identity: sign it without a key, with the services of a root that the project trusts"
	case Unproved:
		return "sign it again with the services of a root that the project trusts, or update this root on the agent"
	case UnknownRoot:
		return "add the root to the agent, or correct its name in the project"
	case UnallowedIdentity:
		return "sign it by an identity that the project allows, or have the project allow this one"
	}
	if f.keyless {
		return "sign it by an identity that the project allows: cosign sign ADDRESS@DIGEST"
	}
	return "sign it with a key that the project allows: cosign sign --key KEY ADDRESS@DIGEST"
}

// String states a fault in one line, with what to do about it.
func (f Fault) String() string {
	about := "key_id=" + f.Key
	switch {
	case f.By != nil:
		about = fmt.Sprintf("identity=%s, issuer=%s, root=%s", legible.Line(f.By.Subject, maxSubject), legible.Line(f.By.Issuer, maxIssuer),
			legible.Line(f.By.Root.Name, maxName))
	case f.Root != "":
		about = "root=" + legible.Line(f.Root, maxName)
	case f.keyless:
		about = "identity="
	}
	out := fmt.Sprintf("%s (%s)", f.Code, about)
	if f.Detail != "" {
		out += ": " + f.Detail
	}
	return out + "; " + f.Next()
}
