package integrity

import (
	"bytes"
	"crypto"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// minRSA is the size of the smallest RSA key that counts, in bits.
const minRSA = 2048

// openPGP verifies a detached signature.
func (k *Keyring) openPGP(payload []byte, text string, policy Policy, now time.Time) (Signer, *Fault) {
	sig, fault := onePGP(text)
	if fault != nil {
		return Signer{}, fault
	}
	return k.checkPGP(payload, sig, policy, now)
}

// onePGP reads the one signature of an armored block.
func onePGP(text string) (*packet.Signature, *Fault) {
	block, err := armor.Decode(strings.NewReader(text))
	if err != nil || block.Type != openpgp.SignatureType {
		return nil, &Fault{Method: OpenPGP, Code: Unreadable, Detail: "its armor cannot be read"}
	}
	packets := packet.NewReader(block.Body)
	first, err := packets.Next()
	sig, ok := first.(*packet.Signature)
	if err != nil || !ok {
		return nil, &Fault{Method: OpenPGP, Code: Unreadable, Detail: "it is no OpenPGP signature of a known version"}
	}
	if _, err := packets.Next(); err == nil {
		return nil, &Fault{Method: OpenPGP, Code: Several}
	} else if !errors.Is(err, io.EOF) {
		return nil, &Fault{Method: OpenPGP, Code: Unreadable, Detail: "something follows it"}
	}
	if sig.IssuerKeyId == nil {
		return nil, &Fault{Method: OpenPGP, Code: Unreadable, Detail: "it does not name its key"}
	}
	return sig, nil
}

// checkPGP verifies a signature that was read.
func (k *Keyring) checkPGP(payload []byte, sig *packet.Signature, policy Policy, now time.Time) (Signer, *Fault) {
	fault := func(code Code, detail string) (Signer, *Fault) {
		return Signer{}, &Fault{Method: OpenPGP, Code: code, Key: keyID(*sig.IssuerKeyId), Detail: detail}
	}
	switch {
	case sig.SigType != packet.SigTypeBinary && sig.SigType != packet.SigTypeText:
		return fault(Unreadable, "it is no signature of a document")
	case !strong(sig.Hash):
		return fault(Weak, fmt.Sprintf("its hash is %v", sig.Hash))
	}
	known := k.pgp.KeysById(*sig.IssuerKeyId)
	if len(known) == 0 {
		return fault(UnknownKey, "")
	}
	signing := k.pgp.KeysByIdUsage(*sig.IssuerKeyId, packet.KeyFlagSign)
	if len(signing) == 0 {
		return fault(Unsuitable, "")
	}
	code, detail := BadSignature, ""
	for _, key := range signing {
		if weak := weakKey(key.PublicKey); weak != "" {
			code, detail = Weak, weak
			continue
		}
		_, _, err := openpgp.VerifyDetachedSignature(
			openpgp.EntityList{key.Entity}, bytes.NewReader(payload), rewind(sig), &packet.Config{Time: func() time.Time { return now }})
		if err != nil {
			code = codeOf(err)
			continue
		}
		if !permits(policy.Keys, key) {
			code, detail = UnallowedKey, ""
			if owner := ownerOf(key.Entity); owner != "" {
				detail = "it is that of " + owner
			}
			continue
		}
		signer := Signer{Method: OpenPGP, Key: keyID(key.PublicKey.KeyId), Owner: ownerOf(key.Entity)}
		if key.PublicKey.KeyId != key.Entity.PrimaryKey.KeyId {
			signer.Under = keyID(key.Entity.PrimaryKey.KeyId)
		}
		return signer, nil
	}
	return fault(code, detail)
}

// rewind writes a signature again, as bytes.
func rewind(sig *packet.Signature) io.Reader {
	var out bytes.Buffer
	_ = sig.Serialize(&out) // it was read: what cannot be written does not verify
	return &out
}

func codeOf(err error) Code {
	switch {
	case errors.Is(err, pgperrors.ErrKeyExpired):
		return ExpiredKey
	case errors.Is(err, pgperrors.ErrSignatureExpired):
		return ExpiredSignature
	case errors.Is(err, pgperrors.ErrKeyRevoked):
		return RevokedKey
	}
	return BadSignature
}

// strong reports whether a hash may be signed.
func strong(h crypto.Hash) bool {
	switch h {
	case crypto.SHA256, crypto.SHA384, crypto.SHA512, crypto.SHA3_256, crypto.SHA3_512:
		return true
	}
	return false
}

// weakKey says why a key is ignored; "" where it does.
func weakKey(key *packet.PublicKey) string {
	switch key.PubKeyAlgo {
	case packet.PubKeyAlgoRSA, packet.PubKeyAlgoRSASignOnly:
		if bits, err := key.BitLength(); err != nil || bits < minRSA {
			return fmt.Sprintf("its RSA key has %d bits, less than %d", bits, minRSA)
		}
	case packet.PubKeyAlgoDSA, packet.PubKeyAlgoElGamal:
		return "keys of DSA and ElGamal are not accepted"
	}
	return ""
}

// permits reports whether a list of ids and fingerprints has a key, or the primary key that it belongs to.
func permits(list []string, key openpgp.Key) bool {
	for _, entry := range list {
		entry = plainID(entry)
		for _, pub := range []*packet.PublicKey{key.PublicKey, key.Entity.PrimaryKey} {
			if len(entry) == 16 && entry == keyID(pub.KeyId) || len(entry) >= 40 && entry == strings.ToUpper(hex.EncodeToString(pub.Fingerprint)) {
				return true
			}
		}
	}
	return false
}

// plainID writes an id as the package does.
func plainID(id string) string {
	return strings.TrimPrefix(strings.ToUpper(strings.ReplaceAll(id, " ", "")), "0X")
}

func keyID(id uint64) string { return fmt.Sprintf("%016X", id) }

// ownerOf is the user id of a key.
func ownerOf(e *openpgp.Entity) string {
	if identity := e.PrimaryIdentity(); identity != nil {
		return legible.Line(identity.Name, maxOwner)
	}
	return ""
}
