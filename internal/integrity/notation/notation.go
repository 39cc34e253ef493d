// Package notation judges signatures of artifacts in registries by the rules of the Notary Project: envelopes in JWS and COSE with a
// chain of certificates. A digest, the signatures, trust stores and trusted identities go in; a verdict comes out.
package notation

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/notaryproject/notation-core-go/signature"

	"github.com/slipway-gitops/slipway/internal/integrity"
	"github.com/slipway-gitops/slipway/internal/integrity/subject"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// Proof is a signature as a registry has it. Nothing of it is trusted.
type Proof struct {
	MediaType string // of the envelope
	Envelope  []byte // empty for one that is too large
}

// MaxProofs bounds the signatures of one artifact.
const MaxProofs = 50

const (
	maxShown  = 200 // bytes of a name in a message
	maxDetail = 500
)

// The codes of faults that only signatures with certificates have.
const (
	Untrusted          integrity.Code = "signed under no trusted certificate"
	OtherSubject       integrity.Code = "signed by a subject that is not trusted"
	ExpiredCertificate integrity.Code = "signed with a certificate that is not valid"
	Critical           integrity.Code = "signature with a critical attribute that is not known"
)

// Question asks about one artifact.
type Question struct {
	Digest     string // of the manifest that is deployed
	Proofs     []Proof
	Stores     *Stores
	Trusted    []string // names of the stores that the project trusts
	Identities []string // "x509.subject: …", or "*" for all that the stores vouch for
	Now        time.Time
}

// Verdict is what was found about an artifact that may be deployed.
type Verdict struct {
	Subject     string
	Fingerprint string    // of the certificate, by SHA-256: 16 hexadecimal digits
	Store       string    // that vouches for it
	Until       time.Time // when a further look is due: the signature or a certificate expires; zero for never
}

// String names a signer for people.
func (v Verdict) String() string {
	return fmt.Sprintf("Notation certificate %s (%s) under %s", v.Subject, v.Fingerprint, v.Store)
}

// Fault is why an artifact is not trusted.
type Fault struct {
	Code    integrity.Code
	Subject string // of the certificate; "" where it is not known
	Detail  string // more, where the code does not say enough
}

// Judge returns who signed an artifact. One good signature is enough, also beside others that are ignored. Of several faults it returns
// the one that is nearest to a good signature.
func Judge(q Question) (Verdict, *Fault) {
	worst := Fault{Code: integrity.Unsigned}
	for _, p := range q.Proofs[:min(len(q.Proofs), MaxProofs)] {
		v, fault := q.judge(p)
		if fault == nil {
			return v, nil
		}
		if rank(fault.Code) > rank(worst.Code) {
			worst = *fault
		}
	}
	return Verdict{}, &worst
}

func rank(c integrity.Code) int {
	return slices.Index([]integrity.Code{
		integrity.Unsigned, integrity.Unreadable, Untrusted, integrity.OtherContent, OtherSubject, Critical, ExpiredCertificate,
		integrity.ExpiredSignature,
	}, c)
}

func (q Question) judge(p Proof) (Verdict, *Fault) {
	s, err := open(p)
	if err != nil {
		return Verdict{}, &Fault{Code: integrity.Unreadable, Detail: legible.Line(err.Error(), maxDetail)}
	}
	leaf := s.CertificateChain[0]
	fault := func(code integrity.Code, detail string) (Verdict, *Fault) {
		return Verdict{}, &Fault{Code: code, Subject: named(leaf), Detail: legible.Line(detail, maxDetail)}
	}
	store, ok := q.vouches(s)
	if !ok {
		return fault(Untrusted, "")
	}
	if s.digest != q.Digest {
		return fault(integrity.OtherContent, "it is of "+s.digest)
	}
	if detail := q.identified(leaf); detail != "" {
		return fault(OtherSubject, detail)
	}
	if name := s.critical(); name != "" {
		return fault(Critical, name)
	}
	until, late := q.timely(s)
	if late != nil {
		return fault(late.Code, late.Detail)
	}
	sum := sha256.Sum256(leaf.Raw)
	return Verdict{Subject: named(leaf), Fingerprint: hex.EncodeToString(sum[:8]), Store: store, Until: until}, nil
}

// vouches finds the store with a certificate of the chain. The kind of store depends on how it was signed: an authority that signs for
// others also says when.
func (q Question) vouches(s signed) (store string, ok bool) {
	kind := ""
	switch s.SignedAttributes.SigningScheme {
	case signature.SigningSchemeX509:
		kind = kindCA
	case signature.SigningSchemeX509SigningAuthority:
		kind = kindAuthority
	default:
		return "", false
	}
	for _, a := range q.Stores.of(kind, q.Trusted) {
		if slices.ContainsFunc(s.CertificateChain, a.cert.Equal) {
			return a.store, true
		}
	}
	return "", false
}

// identified says why a certificate is of no trusted identity; "" where it is of one.
func (q Question) identified(leaf *x509.Certificate) string {
	if slices.Equal(q.Identities, []string{"*"}) {
		return ""
	}
	have, err := subject.Of(leaf.Subject)
	if err != nil {
		return err.Error()
	}
	for _, identity := range q.Identities {
		text, ok := strings.CutPrefix(identity, "x509.subject:")
		if !ok {
			continue
		}
		if want, err := subject.Parse(text); err == nil && want.Within(have) {
			return ""
		}
	}
	return "the policy trusts " + strings.Join(q.Identities, ", ")
}

// named is the subject of a certificate in one line.
func named(cert *x509.Certificate) string { return legible.Line(cert.Subject.String(), maxShown) }

// String states a fault, with what to do about it.
func (f Fault) String() string {
	out := fmt.Sprintf("%s (subject=%s)", f.Code, f.Subject)
	if f.Detail != "" {
		out += ": " + f.Detail
	}
	return out + "; " + f.next()
}

func (f Fault) next() string {
	switch f.Code {
	case Untrusted:
		return "add the certificate of the authority to a trust store that the project names, or sign with one that is there"
	case OtherSubject:
		return "sign with a certificate that the project trusts, or have the project trust this one"
	case integrity.OtherContent:
		return "sign the artifact again, and look who put this signature there"
	case Critical:
		return "sign it without plugins for verification: what they verify is not known here"
	case ExpiredCertificate, integrity.ExpiredSignature:
		return "sign it again with a certificate that is valid"
	}
	return "sign it with a certificate that the project trusts: notation sign ADDRESS@DIGEST"
}
