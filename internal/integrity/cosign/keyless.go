package cosign

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/slipway-gitops/slipway/internal/integrity"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// Identity is a signer without a key: an authority certified the subject, as the issuer that signed it in names it.
type Identity struct {
	Subject string // an address of a workflow or of a person
	Issuer  string // address of the identity provider
	Root    Root   // that proves it
}

// Keyless asks about one artifact and the identities that may sign it.
type Keyless struct {
	Digest string
	Proofs []Proof
	Roots  []Root   // that the agent has
	Named  []string // roots that the project trusts
	// Allows reports whether the project allows what a root proves.
	Allows func(Identity) bool
}

// Codes of signatures without a key.
const (
	Uncertified       integrity.Code = "signed with a key, not by an identity"
	Unproved          integrity.Code = "signature that no trust root proves"
	UnknownRoot       integrity.Code = "unknown trust root"
	UnallowedIdentity integrity.Code = "signed by unallowed identity"
)

const (
	maxDetail  = 200 // bytes of what a library says
	maxSubject = 230 // bytes of what is shown
	maxIssuer  = 100
	maxName    = 60

	maxEvidence      = 4        // entries of logs, and timestamps, of one signature
	maxEvidenceBytes = 16 << 10 // of each of them
)

// JudgeKeyless returns the identity that signed an artifact. One good signature is enough, also beside others that are ignored. Of
// several faults it returns the one that is nearest to a good signature.
func JudgeKeyless(q Keyless) (Identity, *Fault) {
	var roots []Root
	var missing string
	for _, name := range q.Named {
		if at := slices.IndexFunc(q.Roots, func(r Root) bool { return r.Name == name }); at >= 0 {
			roots = append(roots, q.Roots[at])
		} else if missing == "" {
			missing = name
		}
	}
	if len(roots) == 0 {
		return Identity{}, &Fault{Code: UnknownRoot, Root: missing, keyless: true}
	}
	worst := Fault{Code: integrity.Unsigned}
	for _, p := range q.Proofs[:min(len(q.Proofs), MaxProofs)] {
		who, fault := q.judge(p, roots)
		if fault == nil {
			return who, nil
		}
		if nearness(fault.Code) > nearness(worst.Code) {
			worst = *fault
		}
	}
	if worst.Code == Unproved && missing != "" { // it may be what proves it
		worst = Fault{Code: UnknownRoot, Root: missing}
	}
	worst.keyless = true
	return Identity{}, &worst
}

func nearness(c integrity.Code) int {
	order := []integrity.Code{integrity.Unsigned, integrity.Unreadable, Other, Uncertified, Unproved, UnallowedIdentity}
	return slices.Index(order, c)
}

func (q Keyless) judge(p Proof, roots []Root) (Identity, *Fault) {
	claim, ok := read(p)
	switch {
	case !ok:
		return Identity{}, &Fault{Code: integrity.Unreadable}
	case !slices.Contains(claim.digests, q.Digest):
		return Identity{}, &Fault{Code: Other}
	}
	found, cert, fault := open(p)
	if fault != nil {
		return Identity{}, fault
	}
	var worst *Fault
	for _, r := range roots {
		who, err := r.identity(found, cert, p, q.Digest)
		switch {
		case err == nil && q.Allows(who):
			return who, nil
		case err == nil:
			worst = &Fault{Code: UnallowedIdentity, By: &who}
		case worst == nil:
			worst = &Fault{Code: Unproved, Detail: "root " + legible.Line(r.Name, maxName) + ": " + legible.Line(err.Error(), maxDetail)}
		}
	}
	return Identity{}, worst
}

// open reads what proves the identity of a signature.
func open(p Proof) (*bundle.Bundle, *x509.Certificate, *Fault) {
	raw, fault := p.bundled()
	if fault != nil {
		return nil, nil, fault
	}
	pb := &protobundle.Bundle{}
	if err := protojson.Unmarshal(raw, pb); err != nil {
		return nil, nil, &Fault{Code: integrity.Unreadable, Detail: legible.Line(err.Error(), maxDetail)}
	}
	if err := bounded(pb.GetVerificationMaterial()); err != nil {
		return nil, nil, &Fault{Code: integrity.Unreadable, Detail: err.Error()}
	}
	b, err := bundle.NewBundle(pb)
	if err != nil {
		return nil, nil, &Fault{Code: integrity.Unreadable, Detail: legible.Line(err.Error(), maxDetail)}
	}
	material, err := b.VerificationContent()
	if err != nil {
		return nil, nil, &Fault{Code: integrity.Unreadable, Detail: legible.Line(err.Error(), maxDetail)}
	}
	cert := material.Certificate()
	if cert == nil {
		return nil, nil, &Fault{Code: Uncertified}
	}
	if key, ok := cert.PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() > maxRSA {
		return nil, nil, &Fault{Code: integrity.Unreadable, Detail: fmt.Sprintf("its certificate has a key of more than %d bits", maxRSA)}
	}
	if !oneSubject(cert) {
		return nil, nil, &Fault{Code: integrity.Unreadable, Detail: "its certificate is not for exactly one subject"}
	}
	return b, cert, nil
}

// bounded refuses what takes long to verify. A library verifies entries of logs and timestamps with the keys that are in them before it
// asks whether anyone trusts these.
func bounded(m *protobundle.VerificationMaterial) error {
	stamps := m.GetTimestampVerificationData().GetRfc3161Timestamps()
	if len(m.GetTlogEntries()) > maxEvidence || len(stamps) > maxEvidence {
		return fmt.Errorf("it has too many entries of logs or timestamps: %d are read", maxEvidence)
	}
	for _, e := range m.GetTlogEntries() {
		if len(e.GetCanonicalizedBody()) > maxEvidenceBytes {
			return fmt.Errorf("an entry of a log has more than %d KiB", maxEvidenceBytes>>10)
		}
	}
	for _, s := range stamps {
		if len(s.GetSignedTimestamp()) > maxEvidenceBytes {
			return fmt.Errorf("a timestamp has more than %d KiB", maxEvidenceBytes>>10)
		}
	}
	return nil
}

// oneSubject reports whether a certificate is for one subject: of several, a policy could match one while a person reads another.
func oneSubject(cert *x509.Certificate) bool {
	subjects := 0
	for _, e := range cert.Extensions {
		if !e.Id.Equal(asn1.ObjectIdentifier{2, 5, 29, 17}) {
			continue
		}
		var names []asn1.RawValue
		if rest, err := asn1.Unmarshal(e.Value, &names); err != nil || len(rest) > 0 {
			return false
		}
		subjects += len(names)
	}
	return subjects == 1
}

// identity returns who signed an artifact, if the root proves it: certificate, times and log, all by keys of the root.
func (r Root) identity(b *bundle.Bundle, cert *x509.Certificate, p Proof, digest string) (Identity, error) {
	artifact := verify.WithArtifact(bytes.NewReader(p.Payload))
	if p.Signature == "" {
		algorithm, digits, _ := strings.Cut(digest, ":")
		sum, err := hex.DecodeString(digits)
		if err != nil {
			return Identity{}, fmt.Errorf("read digest: %w", err)
		}
		artifact = verify.WithArtifactDigest(algorithm, sum)
	}
	anyone, err := verify.NewShortCertificateIdentity("", "(?s)^.+$", "", "(?s)^.+$") // the project judges who it is, below
	if err != nil {
		return Identity{}, err
	}
	result, err := r.verifier.Verify(b, verify.NewPolicy(artifact, verify.WithCertificateIdentity(anyone)))
	switch {
	case err != nil:
		return Identity{}, err
	case result.Signature == nil || result.Signature.Certificate == nil || len(result.VerifiedTimestamps) == 0:
		return Identity{}, fmt.Errorf("the certificate of %s is not proved", legible.Line(cert.Issuer.String(), maxName))
	case p.Signature == "" && result.Statement.GetPredicateType() != predicateSign:
		return Identity{}, fmt.Errorf("the bundle is no signature of an artifact")
	}
	who := result.Signature.Certificate
	return Identity{Subject: who.SubjectAlternativeName, Issuer: who.Issuer, Root: r}, nil
}

// String names an identity for people.
func (i Identity) String() string {
	return fmt.Sprintf("cosign identity %s of issuer %s (root %s, %s)", legible.Line(i.Subject, maxSubject), legible.Line(i.Issuer, maxIssuer),
		legible.Line(i.Root.Name, maxName), i.Root.Fingerprint)
}
