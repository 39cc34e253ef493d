// Package sigstore is a small Sigstore for tests: an authority that certifies identities, a transparency log, a log of certificates and
// a timestamp authority, each with a key of its own. It makes signatures without a key, good ones and bad ones, and the trust root
// that proves the good ones.
package sigstore

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Parts are what an installation has beside its authority.
type Parts uint8

// The parts.
const (
	Log   Parts = 1 << iota // a transparency log
	Certs                   // a log of certificates
	Times                   // a timestamp authority
)

// Sigstore is one installation.
type Sigstore struct {
	t                 testing.TB
	parts             Parts
	root, middle      *x509.Certificate
	rootKey, middleOf *ecdsa.PrivateKey // of the certificates
	log, certs, times *ecdsa.PrivateKey
	stamper           *x509.Certificate
	began             time.Time
}

// New makes an installation.
func New(t testing.TB, parts Parts) *Sigstore {
	t.Helper()
	s := &Sigstore{t: t, parts: parts, began: time.Now().Add(-time.Hour).Truncate(time.Second)}
	s.rootKey, s.middleOf, s.log, s.certs, s.times = s.key(), s.key(), s.key(), s.key(), s.key()
	authority := func(name string) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: serial(), Subject: pkix.Name{CommonName: name, Organization: []string{"example"}},
			NotBefore: s.began, NotAfter: s.began.AddDate(10, 0, 0),
			IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		}
	}
	s.root = s.certify(authority("root"), nil, s.rootKey.Public(), s.rootKey)
	s.middle = s.certify(authority("intermediate"), s.root, s.middleOf.Public(), s.rootKey)
	critical, err := asn1.Marshal([]asn1.ObjectIdentifier{{1, 3, 6, 1, 5, 5, 7, 3, 8}}) // for timestamps, and nothing else
	s.must(err)
	s.stamper = s.certify(&x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "timestamps"}, NotBefore: s.began, NotAfter: s.began.AddDate(10, 0, 0),
		KeyUsage:        x509.KeyUsageDigitalSignature,
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: critical}},
	}, s.root, s.times.Public(), s.rootKey)
	return s
}

func (s *Sigstore) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *Sigstore) key() *ecdsa.PrivateKey {
	s.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	s.must(err)
	return key
}

func serial() *big.Int {
	var raw [8]byte
	_, _ = rand.Read(raw[:]) // it never fails
	return new(big.Int).SetBytes(raw[:])
}

// certify makes a certificate. Without a parent it is signed with its own key.
func (s *Sigstore) certify(template, parent *x509.Certificate, public crypto.PublicKey, by *ecdsa.PrivateKey) *x509.Certificate {
	s.t.Helper()
	if parent == nil {
		parent = template
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, public, by)
	s.must(err)
	cert, err := x509.ParseCertificate(raw)
	s.must(err)
	return cert
}

// object is a document that becomes JSON.
type object = map[string]any

// Root is the trust root, as a trusted_root.json.
func (s *Sigstore) Root() string {
	s.t.Helper()
	since := object{"start": s.began.Format(time.RFC3339)}
	chain := func(certs ...*x509.Certificate) object {
		list := make([]any, 0, len(certs))
		for _, c := range certs {
			list = append(list, object{"rawBytes": c.Raw})
		}
		return object{"subject": object{"commonName": "root"}, "certChain": object{"certificates": list}, "validFor": since}
	}
	log := func(key *ecdsa.PrivateKey, address string) object {
		raw, id := s.public(key)
		return object{
			"baseUrl": address, "hashAlgorithm": "SHA2_256", "logId": object{"keyId": id},
			"publicKey": object{"rawBytes": raw, "keyDetails": "PKIX_ECDSA_P256_SHA_256", "validFor": since},
		}
	}
	out := object{
		"mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1", "certificateAuthorities": []any{chain(s.middle, s.root)},
	}
	if s.parts&Log != 0 {
		out["tlogs"] = []any{log(s.log, "https://rekor.example")}
	}
	if s.parts&Certs != 0 {
		out["ctlogs"] = []any{log(s.certs, "https://ct.example")}
	}
	if s.parts&Times != 0 {
		out["timestampAuthorities"] = []any{chain(s.stamper, s.root)}
	}
	return string(s.json(out))
}

// public returns a public key and its id in a log.
func (s *Sigstore) public(key *ecdsa.PrivateKey) (raw, id []byte) {
	s.t.Helper()
	raw, err := x509.MarshalPKIXPublicKey(key.Public())
	s.must(err)
	sum := sha256.Sum256(raw)
	return raw, sum[:]
}

// json prints a document as logs sign it: names sorted, no blanks.
func (s *Sigstore) json(doc any) []byte {
	s.t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	s.must(e.Encode(doc))
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

func (s *Sigstore) sign(key *ecdsa.PrivateKey, message []byte) []byte {
	s.t.Helper()
	sum := sha256.Sum256(message)
	raw, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
	s.must(err)
	return raw
}

// Signer describes a signer, and when it signs.
type Signer struct {
	Subjects []string // of the certificate: an address of a web page or of mail each
	Issuer   string
	At       time.Time // of the log and the timestamp; zero for 10 minutes ago. The certificate is valid from a minute before on
	For      time.Duration
	Without  Parts // parts that are not asked
	Second   bool  // a bundle has an entry of a log of the second version
}

// Workflow is a signer as a pipeline is one.
func Workflow() Signer {
	const subject = "https://git.example/team/web/.github/workflows/release.yaml@refs/tags/v1"
	return Signer{Subjects: []string{subject}, Issuer: "https://token.example"}
}

// Certificate certifies a signer, and logs the certificate.
func (s *Sigstore) Certificate(who Signer, public crypto.PublicKey, from time.Time, length time.Duration) *x509.Certificate {
	s.t.Helper()
	issuer, err := asn1.MarshalWithParams(who.Issuer, "utf8")
	s.must(err)
	template := &x509.Certificate{
		SerialNumber: serial(), NotBefore: from, NotAfter: from.Add(length), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
		ExtraExtensions: []pkix.Extension{
			{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 1}, Value: []byte(who.Issuer)},
			{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 8}, Value: issuer},
		},
	}
	for _, subject := range who.Subjects {
		if strings.Contains(subject, "://") {
			at, err := url.Parse(subject)
			s.must(err)
			template.URIs = append(template.URIs, at)
		} else {
			template.EmailAddresses = append(template.EmailAddresses, subject)
		}
	}
	cert := s.certify(template, s.middle, public, s.middleOf)
	if s.parts&Certs == 0 || who.Without&Certs != 0 {
		return cert
	}
	template.ExtraExtensions = append(template.ExtraExtensions, s.certified(cert, from))
	return s.certify(template, s.middle, public, s.middleOf)
}

// rekord is the entry of a log about a signature of a text.
func (s *Sigstore) rekord(text, signature, certificate []byte) []byte {
	sum := sha256.Sum256(text)
	return s.json(object{"apiVersion": "0.0.1", "kind": "hashedrekord", "spec": object{
		"data":      object{"hash": object{"algorithm": "sha256", "value": hex.EncodeToString(sum[:])}},
		"signature": object{"content": encoded(signature), "publicKey": object{"content": encoded(certificate)}},
	}})
}

func encoded(raw []byte) string { return base64.StdEncoding.EncodeToString(raw) }
