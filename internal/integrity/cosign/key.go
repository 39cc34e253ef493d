package cosign

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// Key is a public key that an operator trusts.
type Key struct {
	Name        string
	Fingerprint string // of SHA-256, 16 hexadecimal digits
	public      crypto.PublicKey
}

const (
	maxKeyText = 16 << 10 // bytes
	minRSA     = 2048     // bits
	maxRSA     = 8192
)

// ReadKey reads a public key as "cosign public-key" prints it. The error quotes nothing of the text.
func ReadKey(name, text string) (Key, error) {
	if len(text) > maxKeyText {
		return Key{}, fmt.Errorf("it has more than %d KiB", maxKeyText>>10)
	}
	if strings.Contains(text, "PRIVATE KEY") {
		return Key{}, errors.New("it is a private one: write the output of cosign public-key")
	}
	block, rest := pem.Decode([]byte(text))
	if block == nil || block.Type != "PUBLIC KEY" || strings.TrimSpace(string(rest)) != "" {
		return Key{}, errors.New("it is not one public key in PEM: write the output of cosign public-key")
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return Key{}, errors.New("it is no public key of a known kind: use ECDSA, RSA or Ed25519")
	}
	switch k := public.(type) {
	case *ecdsa.PublicKey, ed25519.PublicKey:
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits < minRSA || bits > maxRSA {
			return Key{}, fmt.Errorf("it is an RSA key of %d bits: use one of %d to %d", bits, minRSA, maxRSA)
		}
	default:
		return Key{}, errors.New("it is no public key of a known kind: use ECDSA, RSA or Ed25519")
	}
	sum := sha256.Sum256(block.Bytes)
	return Key{Name: name, Fingerprint: hex.EncodeToString(sum[:8]), public: public}, nil
}

// signed reports whether a key made a signature of a message.
func (k Key) signed(message, signature []byte) bool {
	sum := sha256.Sum256(message)
	switch public := k.public.(type) {
	case *ecdsa.PublicKey:
		if ecdsa.VerifyASN1(public, sum[:], signature) {
			return true
		}
		switch public.Params().BitSize { // the hash that fits the curve
		case 384:
			long := sha512.Sum384(message)
			return ecdsa.VerifyASN1(public, long[:], signature)
		case 521:
			long := sha512.Sum512(message)
			return ecdsa.VerifyASN1(public, long[:], signature)
		}
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(public, crypto.SHA256, sum[:], signature) == nil
	case ed25519.PublicKey:
		return ed25519.Verify(public, message, signature)
	}
	return false
}
