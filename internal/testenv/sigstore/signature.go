package sigstore

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"strings"
	"time"
)

// What cosign's bundles are about.
const (
	PredicateSign = "https://sigstore.dev/cosign/sign/v1"
	typeInToto    = "application/vnd.in-toto+json"
)

// Annotations of a signature under a tag.
const (
	AnnotationSignature   = "dev.cosignproject.cosign/signature"
	AnnotationCertificate = "dev.sigstore.cosign/certificate"
	AnnotationChain       = "dev.sigstore.cosign/chain"
	AnnotationLog         = "dev.sigstore.cosign/bundle"
	AnnotationTimestamp   = "dev.sigstore.cosign/rfc3161timestamp"
)

// begun is a certified key, ready to sign.
type begun struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	at   time.Time
}

func (s *Sigstore) begin(who Signer) begun {
	s.t.Helper()
	b := begun{key: s.key(), at: who.At}
	if b.at.IsZero() {
		b.at = time.Now().Add(-10 * time.Minute)
	}
	length := who.For
	if length == 0 {
		length = 5 * time.Minute
	}
	b.cert = s.Certificate(who, b.key.Public(), b.at.Add(-time.Minute).Truncate(time.Second), length)
	return b
}

func inPEM(cert *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
}

// Payload is what a signature under a tag is of.
func Payload(digest string) []byte {
	return []byte(`{"critical":{"identity":{"docker-reference":"registry.example/a"},"image":{"docker-manifest-digest":"` + digest +
		`"},"type":"cosign container image signature"},"optional":null}`)
}

// Tagged signs a digest as it is done for a signature under a tag: it returns the text and the annotations.
func (s *Sigstore) Tagged(who Signer, digest string) (payload []byte, annotations map[string]string) {
	s.t.Helper()
	b := s.begin(who)
	payload = Payload(digest)
	signature := s.sign(b.key, payload)
	annotations = map[string]string{
		AnnotationSignature: encoded(signature), AnnotationCertificate: string(inPEM(b.cert)),
		AnnotationChain: string(inPEM(s.middle)) + string(inPEM(s.root)),
	}
	parts := s.parts &^ who.Without
	if parts&Log != 0 {
		annotations[AnnotationLog] = string(s.json(s.Log(s.rekord(payload, signature, inPEM(b.cert)), b.at).annotated()))
	}
	if parts&Times != 0 {
		annotations[AnnotationTimestamp] = string(s.json(object{"SignedRFC3161Timestamp": s.Stamp(signature, b.at)}))
	}
	return payload, annotations
}

// Bundle signs a digest as it is done for a bundle. Version is 0.1 to 0.3; predicate says what it states, PredicateSign for a signature.
func (s *Sigstore) Bundle(who Signer, version, digest, predicate string) map[string]any {
	s.t.Helper()
	b := s.begin(who)
	algorithm, digits, _ := strings.Cut(digest, ":")
	payload := s.json(object{
		"_type": "https://in-toto.io/Statement/v1", "predicateType": predicate, "predicate": object{},
		"subject": []any{object{"digest": object{algorithm: digits}}},
	})
	text := fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(typeInToto), typeInToto, len(payload), payload)
	signature := s.sign(b.key, text)
	material := object{"certificate": object{"rawBytes": b.cert.Raw}}
	media := "application/vnd.dev.sigstore.bundle.v0.3+json"
	if version != "0.3" {
		material = object{"x509CertificateChain": object{"certificates": []any{object{"rawBytes": b.cert.Raw}, object{"rawBytes": s.middle.Raw}}}}
		media = "application/vnd.dev.sigstore.bundle+json;version=" + version
	}
	parts := s.parts &^ who.Without
	switch {
	case parts&Log == 0:
	case who.Second:
		material["tlogEntries"] = []any{s.second(text, signature, b.cert.Raw)}
	default:
		material["tlogEntries"] = []any{s.Log(s.dsse(payload, signature, inPEM(b.cert)), b.at).bundled("dsse")}
	}
	if parts&Times != 0 {
		material["timestampVerificationData"] = object{"rfc3161Timestamps": []any{object{"signedTimestamp": s.Stamp(signature, b.at)}}}
	}
	return object{"mediaType": media, "verificationMaterial": material, "dsseEnvelope": object{
		"payload": encoded(payload), "payloadType": typeInToto, "signatures": []any{object{"sig": encoded(signature)}},
	}}
}

// JSON prints a bundle, also one that was changed.
func (s *Sigstore) JSON(bundle map[string]any) []byte {
	s.t.Helper()
	return s.json(bundle)
}

// dsse is the entry of a log about an envelope.
func (s *Sigstore) dsse(payload, signature, certificate []byte) []byte {
	envelope := s.json(object{
		"payload": encoded(payload), "payloadType": typeInToto, "signatures": []any{object{"sig": encoded(signature)}},
	})
	sum := func(raw []byte) object {
		hash := sha256.Sum256(raw)
		return object{"algorithm": "sha256", "value": hex.EncodeToString(hash[:])}
	}
	return s.json(object{"apiVersion": "0.0.1", "kind": "dsse", "spec": object{
		"envelopeHash": sum(envelope), "payloadHash": sum(payload),
		"signatures": []any{object{"signature": encoded(signature), "verifier": encoded(certificate)}},
	}})
}
