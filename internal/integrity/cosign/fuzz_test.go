package cosign_test

import (
	"testing"

	"github.com/slipway-gitops/slipway/internal/integrity/cosign"
	"github.com/slipway-gitops/slipway/internal/testenv/sigstore"
)

// FuzzProof judges whatever a registry has as a signature. Nothing that differs from what was signed is ever trusted.
func FuzzProof(f *testing.F) {
	s := sigstore.New(f, sigstore.Log|sigstore.Certs|sigstore.Times)
	root, err := cosign.ReadRoot("ours", s.Root())
	if err != nil {
		f.Fatal(err)
	}
	who := sigstore.Workflow()
	payload, a := s.Tagged(who, other)
	f.Add(payload, a[sigstore.AnnotationSignature], a[sigstore.AnnotationCertificate], a[sigstore.AnnotationLog], a[sigstore.AnnotationTimestamp])
	for _, version := range []string{"0.1", "0.2", "0.3"} {
		f.Add(s.JSON(s.Bundle(who, version, other, sign)), "", "", "", "")
	}
	f.Fuzz(func(t *testing.T, payload []byte, signature, certificate, log, timestamp string) {
		p := cosign.Proof{Payload: payload, Signature: signature, Certificate: certificate, Log: log, Timestamp: timestamp}
		q := cosign.Keyless{
			Digest: signed, Proofs: []cosign.Proof{p}, Roots: []cosign.Root{root}, Named: []string{"ours"},
			Allows: func(cosign.Identity) bool { return true },
		}
		if who, fault := cosign.JudgeKeyless(q); fault == nil {
			t.Fatalf("%s is trusted, and nothing of this digest was signed", who)
		}
		q.Digest = other // what is good is still read
		if _, fault := cosign.JudgeKeyless(q); fault != nil && fault.String() == "" {
			t.Fatal("a fault says nothing")
		}
	})
}

// FuzzRoot reads whatever an operator gives as a trust root.
func FuzzRoot(f *testing.F) {
	for _, parts := range []sigstore.Parts{sigstore.Log, sigstore.Times, sigstore.Log | sigstore.Certs | sigstore.Times} {
		f.Add(sigstore.New(f, parts).Root())
	}
	f.Fuzz(func(t *testing.T, text string) {
		if root, err := cosign.ReadRoot("x", text); err == nil && len(root.Fingerprint) != 16 {
			t.Fatalf("%+v", root)
		}
	})
}
