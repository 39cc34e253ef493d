package cosign

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// Root is a trust root: the authorities and logs of one installation of Sigstore, as an operator gives them.
type Root struct {
	Name        string
	Fingerprint string // of SHA-256, 16 hexadecimal digits
	verifier    *verify.Verifier
}

// Bounds of a trust root.
const (
	maxRootText = 256 << 10 // bytes
	maxParties  = 100       // authorities and logs
	maxChain    = 10        // certificates of an authority
)

// ReadRoot reads a trusted_root.json. What the root has is asked of every signature: an entry of its transparency log, a timestamp
// of it or of its timestamp authority, and proof that a certificate log has the certificate. The error quotes nothing of a text that is
// no trust root.
func ReadRoot(name, text string) (Root, error) {
	if len(text) > maxRootText {
		return Root{}, fmt.Errorf("it has more than %d KiB", maxRootText>>10)
	}
	raw, err := root.NewTrustedRootProtobuf([]byte(text))
	if err != nil {
		return Root{}, errors.New("it is no trust root: write a trusted_root.json, as \"cosign trusted-root create\" makes it")
	}
	if len(raw.GetCertificateAuthorities())+len(raw.GetTlogs())+len(raw.GetCtlogs())+len(raw.GetTimestampAuthorities()) > maxParties {
		return Root{}, fmt.Errorf("it has more than %d authorities and logs", maxParties)
	}
	for _, a := range slices.Concat(raw.GetCertificateAuthorities(), raw.GetTimestampAuthorities()) {
		if len(a.GetCertChain().GetCertificates()) > maxChain {
			return Root{}, fmt.Errorf("an authority has more than %d certificates", maxChain)
		}
	}
	trusted, err := root.NewTrustedRootFromProtobuf(raw)
	if err != nil {
		return Root{}, fmt.Errorf("a part of it cannot be used: %s", legible.Line(err.Error(), maxDetail))
	}
	options, err := asked(trusted)
	if err != nil {
		return Root{}, err
	}
	verifier, err := verify.NewVerifier(trusted, options...)
	if err != nil {
		return Root{}, fmt.Errorf("it cannot be used: %s", legible.Line(err.Error(), maxDetail))
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(text)))
	return Root{Name: name, Fingerprint: hex.EncodeToString(sum[:8]), verifier: verifier}, nil
}

// asked is what a root asks of a signature: what it has a key for.
func asked(trusted *root.TrustedRoot) ([]verify.VerifierOption, error) {
	logs, times := len(trusted.RekorLogs()), len(trusted.TimestampingAuthorities())
	switch {
	case len(trusted.FulcioCertificateAuthorities()) == 0:
		return nil, errors.New("it has no certificate authority: add the one that issues the certificates of signers")
	case logs+times == 0:
		return nil, errors.New("it has neither a transparency log nor a timestamp authority, which prove the time of a signature: add one")
	}
	options := []verify.VerifierOption{verify.WithObserverTimestamps(1), verify.WithoutStatementPredicate()}
	if logs > 0 {
		options = append(options, verify.WithTransparencyLog(1))
	}
	if len(trusted.CTLogs()) > 0 {
		options = append(options, verify.WithSignedCertificateTimestamps(1))
	}
	return options, nil
}
