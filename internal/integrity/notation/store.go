package notation

import (
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// Bounds of what an operator trusts.
const (
	maxStores    = 1000
	maxStoreText = 256 << 10 // bytes
	maxInStore   = 100       // certificates
	maxRSA       = 8192      // bits
	minRSA       = 2048
)

// The kinds of trust stores, as Notation calls them.
const (
	kindCA        = "ca"               // vouch for signers
	kindAuthority = "signingAuthority" // sign for others, and say when
	kindTSA       = "tsa"              // say when something was signed
)

// Stores are the certificates that an operator trusts, by the name of their store: "ca:acme". They never change.
type Stores struct {
	certs   map[string][]*x509.Certificate
	faults  []string
	edition string
}

// ReadStores reads trust stores. Their entries are named "ca.NAME", "signingAuthority.NAME" or "tsa.NAME", and hold certificates in
// PEM. What cannot be read is left out, and Faults says so.
func ReadStores(data map[string]string) *Stores {
	s := &Stores{certs: map[string][]*x509.Certificate{}}
	sum := sha256.New()
	for i, entry := range slices.Sorted(maps.Keys(data)) {
		if i == maxStores {
			s.faults = append(s.faults, fmt.Sprintf("there are more than %d trust stores: the last ones are not used; delete some", maxStores))
			break
		}
		fmt.Fprintf(sum, "%q %q\n", entry, data[entry])
		kind, name, _ := strings.Cut(entry, ".")
		certs, err := readCertificates(data[entry])
		if err == nil && (!slices.Contains([]string{kindCA, kindAuthority, kindTSA}, kind) || name == "") {
			err = errors.New("its name is none of a trust store: write ca.NAME, signingAuthority.NAME or tsa.NAME")
		}
		if err != nil {
			s.faults = append(s.faults, fmt.Sprintf("trust store %s is not used: %v", legible.Line(entry, maxShown), err))
			continue
		}
		s.certs[kind+":"+name] = certs
	}
	s.edition = hex.EncodeToString(sum.Sum(nil)[:16])
	return s
}

// Faults says what of the stores cannot be used, a sentence each.
func (s *Stores) Faults() []string { return s.faults }

// Edition is equal for equal stores.
func (s *Stores) Edition() string { return s.edition }

// anchor is a certificate of a store.
type anchor struct {
	store string
	cert  *x509.Certificate
}

// of are the certificates of one kind in the stores that a policy names.
func (s *Stores) of(kind string, named []string) []anchor {
	var out []anchor
	for _, store := range named {
		if !strings.HasPrefix(store, kind+":") {
			continue
		}
		for _, cert := range s.certs[store] {
			out = append(out, anchor{store, cert})
		}
	}
	return out
}

// readCertificates reads the certificates of a store: of authorities, or such as vouch for themselves.
func readCertificates(text string) ([]*x509.Certificate, error) {
	switch {
	case len(text) > maxStoreText:
		return nil, fmt.Errorf("it has more than %d KiB", maxStoreText>>10)
	case strings.Contains(text, "PRIVATE KEY"):
		return nil, errors.New("it has a private key: write certificates alone")
	}
	var out []*x509.Certificate
	rest := []byte(text)
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		switch {
		case block.Type != "CERTIFICATE" || err != nil:
			return nil, errors.New("it has what is no certificate: write certificates in PEM")
		case !cert.IsCA && cert.CheckSignature(cert.SignatureAlgorithm, cert.RawTBSCertificate, cert.Signature) != nil:
			return nil, fmt.Errorf("the certificate of %s is neither that of an authority nor self-signed: write that of its root",
				legible.Line(cert.Subject.String(), maxShown))
		}
		if err := measured(cert); err != nil {
			return nil, err
		}
		if out = append(out, cert); len(out) > maxInStore {
			return nil, fmt.Errorf("it has more than %d certificates: divide it", maxInStore)
		}
	}
	if len(out) == 0 || strings.TrimSpace(string(rest)) != "" {
		return nil, errors.New("it is no list of certificates in PEM")
	}
	return out, nil
}

// measured refuses a certificate whose key takes long to verify with, or is weak.
func measured(cert *x509.Certificate) error {
	if key, ok := cert.PublicKey.(*rsa.PublicKey); ok {
		if bits := key.N.BitLen(); bits < minRSA || bits > maxRSA {
			return fmt.Errorf("the certificate of %s has an RSA key of %d bits: use one of %d to %d", legible.Line(cert.Subject.String(), maxShown),
				bits, minRSA, maxRSA)
		}
	}
	return nil
}
