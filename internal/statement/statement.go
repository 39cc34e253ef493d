// Package statement reads, verifies and signs statements of releases: documents that say which image of the agent has which
// version. A statement is a DSSE envelope, signed with Ed25519 or ECDSA keys. It is pure.
package statement

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/slipway-gitops/slipway/internal/strict"
)

// Type is the type of what an envelope holds.
const Type = "application/vnd.slipway.releases+json"

// Bounds of a statement.
const (
	// MaxBytes is the largest envelope.
	MaxBytes = 128 << 10
	// MaxReleases is how many releases a statement has at most.
	MaxReleases = 200
	// maxPlatforms is how many platforms a release names at most.
	maxPlatforms = 16
	// maxKeys is how many keys a file has at most, and how many signatures an envelope.
	maxKeys = 20
)

// Statement says which releases there are.
type Statement struct {
	Releases []Release `json:"releases"`
	// Issued is when it was signed.
	Issued time.Time `json:"issued"`
}

// Release is a version of the agent.
type Release struct {
	// Version is a semantic version, such as 1.4.0.
	Version string `json:"version"`
	// Digest is that of the image, "sha256:…". A mirror of the image has the same.
	Digest string `json:"digest"`
	// Minimum is the oldest version that an agent of this release may be brought back to; "" for any.
	Minimum string `json:"minimum,omitempty"`
	// Platforms are what the image runs on, such as "linux/amd64"; none for every one.
	Platforms []string `json:"platforms,omitempty"`
}

// RunsOn reports whether the image runs on a platform.
func (r *Release) RunsOn(platform string) bool {
	return len(r.Platforms) == 0 || slices.Contains(r.Platforms, platform)
}

// envelope is a DSSE envelope (https://github.com/secure-systems-lab/dsse).
type envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     []byte      `json:"payload"`
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	KeyID string `json:"keyid,omitempty"`
	Sig   []byte `json:"sig"`
}

var (
	digest   = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	platform = regexp.MustCompile(`^[a-z0-9]{1,20}/[a-z0-9]{1,20}$`)
)

// ValidDigest reports whether a text is the digest of an image.
func ValidDigest(text string) bool { return digest.MatchString(text) }

// check refuses a statement that means nothing, or two things.
func (s *Statement) check() error {
	if len(s.Releases) == 0 || len(s.Releases) > MaxReleases {
		return fmt.Errorf("the statement has %d releases: it needs 1 to %d", len(s.Releases), MaxReleases)
	}
	versions, digests := map[string]bool{}, map[string]bool{}
	for _, r := range s.Releases {
		if err := r.check(); err != nil {
			return err
		}
		if versions[r.Version] || digests[r.Digest] {
			return fmt.Errorf("the statement has %s, or its digest, twice", r.Version)
		}
		versions[r.Version], digests[r.Digest] = true, true
	}
	return nil
}

// check refuses a release that means nothing.
func (r *Release) check() error {
	if _, err := semver.StrictNewVersion(r.Version); err != nil {
		return fmt.Errorf("the statement has the version %.40q: write a semantic version such as 1.4.0", r.Version)
	}
	if r.Minimum != "" {
		if _, err := semver.StrictNewVersion(r.Minimum); err != nil {
			return fmt.Errorf("the statement has the minimum %.40q for %s: write a semantic version such as 1.2.0", r.Minimum, r.Version)
		}
		if Older(r.Version, r.Minimum) {
			return fmt.Errorf("the statement has the minimum %s for %s, which is older: write %s or less", r.Minimum, r.Version, r.Version)
		}
	}
	if !ValidDigest(r.Digest) {
		return fmt.Errorf("the statement has the digest %.80q for %s: write sha256: and 64 hexadecimal digits", r.Digest, r.Version)
	}
	if len(r.Platforms) > maxPlatforms {
		return fmt.Errorf("the statement has %d platforms for %s, more than %d", len(r.Platforms), r.Version, maxPlatforms)
	}
	for _, p := range r.Platforms {
		if !platform.MatchString(p) {
			return fmt.Errorf("the statement has the platform %.40q for %s: write one such as linux/amd64", p, r.Version)
		}
	}
	return nil
}

// Find returns the release with a digest.
func (s *Statement) Find(digest string) (Release, bool) {
	for _, r := range s.Releases {
		if r.Digest == digest {
			return r, true
		}
	}
	return Release{}, false
}

// Older reports whether a version is older than another one. What is no semantic version is older than nothing.
func Older(a, b string) bool {
	va, errA := semver.StrictNewVersion(strings.TrimPrefix(a, "v"))
	vb, errB := semver.StrictNewVersion(strings.TrimPrefix(b, "v"))
	return errA == nil && errB == nil && va.LessThan(vb)
}

// open reads an envelope, and the statement in it, without verifying it.
func open(raw []byte) (Statement, error) {
	var e envelope
	var s Statement
	if len(raw) > MaxBytes {
		return s, fmt.Errorf("the statement has %d bytes, more than %d", len(raw), MaxBytes)
	}
	if err := strict.Decode(bytes.TrimSpace(raw), &e); err != nil {
		return s, fmt.Errorf("read the statement: %w: it must be a DSSE envelope in JSON", err)
	}
	if e.PayloadType != Type {
		return s, fmt.Errorf("the statement is of type %.80q, not %s", e.PayloadType, Type)
	}
	if len(e.Signatures) == 0 || len(e.Signatures) > maxKeys {
		return s, fmt.Errorf("the statement has %d signatures: it needs 1 to %d", len(e.Signatures), maxKeys)
	}
	if err := strict.Decode(e.Payload, &s); err != nil {
		return s, fmt.Errorf("read the releases of the statement: %w", err)
	}
	return s, s.check()
}

// Read reads a statement without verifying it, for those who only show it.
func Read(raw []byte) (Statement, error) {
	return open(raw)
}

// ErrUnsigned says that no key of those that are trusted signed a statement.
var ErrUnsigned = errors.New("no trusted key signed the statement of releases")

// Verify reads a statement that one of some keys has signed.
func Verify(raw []byte, keys []crypto.PublicKey) (Statement, error) {
	if len(raw) > MaxBytes {
		return Statement{}, fmt.Errorf("the statement has %d bytes, more than %d", len(raw), MaxBytes)
	}
	var e envelope
	if err := strict.Decode(bytes.TrimSpace(raw), &e); err != nil {
		return Statement{}, fmt.Errorf("read the statement: %w: it must be a DSSE envelope in JSON", err)
	}
	if len(e.Signatures) > maxKeys {
		return Statement{}, fmt.Errorf("the statement has %d signatures, more than %d", len(e.Signatures), maxKeys)
	}
	text := encoding(e.PayloadType, e.Payload)
	for _, s := range e.Signatures {
		for _, key := range keys {
			if signed(key, text, s.Sig) {
				// Nothing of it was used before.
				return open(raw)
			}
		}
	}
	return Statement{}, ErrUnsigned
}

// signed verifies a signature.
func signed(key crypto.PublicKey, text, sig []byte) bool {
	switch key := key.(type) {
	case ed25519.PublicKey:
		return ed25519.Verify(key, text, sig)
	case *ecdsa.PublicKey:
		sum := sha256.Sum256(text)
		return ecdsa.VerifyASN1(key, sum[:], sig)
	}
	return false
}

// encoding is what is signed: DSSE's pre-authentication encoding, which binds the type to the content.
func encoding(kind string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(payload), payload)
}

// Sign signs a statement with a key.
func Sign(s Statement, key crypto.Signer) ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	payload, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write the statement: %w", err)
	}
	text := encoding(Type, payload)
	input, options := text, crypto.SignerOpts(crypto.Hash(0))
	if _, isECDSA := key.Public().(*ecdsa.PublicKey); isECDSA {
		sum := sha256.Sum256(text)
		input, options = sum[:], crypto.SHA256
	}
	sig, err := key.Sign(rand.Reader, input, options)
	if err != nil {
		return nil, fmt.Errorf("sign the statement: %w", err)
	}
	raw, err := json.Marshal(envelope{PayloadType: Type, Payload: payload, Signatures: []signature{{KeyID: KeyID(key.Public()), Sig: sig}}})
	if err != nil {
		return nil, fmt.Errorf("write the statement: %w", err)
	}
	return append(raw, '\n'), nil
}

// KeyID names a key: the first 16 hexadecimal digits of the hash of its public half.
func KeyID(key crypto.PublicKey) string {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:8])
}

// ParseKeys reads public keys in PEM: Ed25519, or ECDSA on P-256.
func ParseKeys(text []byte) ([]crypto.PublicKey, error) {
	var keys []crypto.PublicKey
	for rest := bytes.TrimSpace(text); len(rest) > 0; rest = bytes.TrimSpace(rest) {
		block, after := pem.Decode(rest)
		if block == nil || block.Type != "PUBLIC KEY" {
			return nil, errors.New("the keys for releases are not PEM: write BEGIN PUBLIC KEY, as `openssl pkey -pubout` does")
		}
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("read a key for releases: %w", err)
		}
		if err := known(key); err != nil {
			return nil, err
		}
		if keys = append(keys, key); len(keys) > maxKeys {
			return nil, fmt.Errorf("there are more than %d keys for releases", maxKeys)
		}
		rest = after
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no key for releases: give a public key in PEM")
	}
	return keys, nil
}

func known(key crypto.PublicKey) error {
	switch key := key.(type) {
	case ed25519.PublicKey:
		return nil
	case *ecdsa.PublicKey:
		if key.Curve == elliptic.P256() {
			return nil
		}
	}
	return errors.New("a key for releases is neither Ed25519 nor ECDSA on P-256: make one with `openssl genpkey -algorithm ed25519`")
}

// ParseSigner reads a private key in PEM (PKCS #8).
func ParseSigner(text []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, errors.New("the key is not PEM of PKCS #8: make one with `openssl genpkey -algorithm ed25519 -out release.key`")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("the private key cannot be read") // the cause may hold parts of it
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("the private key cannot sign")
	}
	return signer, known(signer.Public())
}

// Text is a statement as a field of text: standard base64 keeps it as it was signed.
func Text(raw []byte) string { return base64.StdEncoding.EncodeToString(raw) }

// Floor is the older of two minima that must not be gone below, which is the newer version; "" for none.
func Floor(a, b string) string {
	if Older(a, b) {
		return b
	}
	return cmp.Or(a, b)
}
