package integrity

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// Bounds of what an operator trusts.
const (
	maxKeys    = 2000
	maxKeyText = 256 << 10 // bytes of one key, or of all allowed signers
	maxSubkeys = 100
)

// Keyring is the public keys that an operator trusts. It never changes.
type Keyring struct {
	pgp     openpgp.EntityList
	signers []allowed
	faults  []string
	edition string
}

// NewKeyring reads OpenPGP keys, by name, and lines of an allowed signers file of OpenSSH. What cannot be read is left out, and
// Faults says so.
func NewKeyring(keys map[string]string, signers string) *Keyring {
	k := &Keyring{}
	sum := sha256.New()
	names := slices.Sorted(maps.Keys(keys))
	if len(names) > maxKeys {
		k.faults = append(k.faults, fmt.Sprintf("there are more than %d OpenPGP keys: the last ones are not used; delete some", maxKeys))
		names = names[:maxKeys]
	}
	for _, name := range names {
		fmt.Fprintf(sum, "%q %q\n", name, keys[name])
		list, err := readKeys(keys[name])
		if err != nil {
			k.faults = append(k.faults, fmt.Sprintf("OpenPGP key %s is not used: %v", legible.Line(name, maxOwner), err))
			continue
		}
		k.pgp = append(k.pgp, list...)
	}
	fmt.Fprintf(sum, "%q", signers)
	k.readSigners(signers)
	k.edition = hex.EncodeToString(sum.Sum(nil)[:16])
	return k
}

// Faults says what of the keys cannot be used, a sentence each.
func (k *Keyring) Faults() []string { return k.faults }

// Edition is equal for equal keys.
func (k *Keyring) Edition() string { return k.edition }

// readKeys reads the keys of an armored block. Private ones are refused.
func readKeys(text string) (openpgp.EntityList, error) {
	switch {
	case len(text) > maxKeyText:
		return nil, fmt.Errorf("it has more than %d KiB", maxKeyText>>10)
	case strings.Contains(text, "PRIVATE KEY"):
		return nil, errors.New("it is a private one")
	case strings.Count(text, "-----BEGIN ") > 1:
		return nil, errors.New("it is several blocks; give them one by one")
	}
	list, err := openpgp.ReadArmoredKeyRing(strings.NewReader(text))
	if err != nil || len(list) == 0 {
		return nil, errors.New("it is no armored public key of a known version")
	}
	for _, e := range list {
		if e.PrivateKey != nil || slices.ContainsFunc(e.Subkeys, func(s openpgp.Subkey) bool { return s.PrivateKey != nil }) {
			return nil, errors.New("it is a private one")
		}
		if len(e.Subkeys) > maxSubkeys {
			return nil, fmt.Errorf("it has more than %d subkeys", maxSubkeys)
		}
	}
	return list, nil
}

// Key describes an OpenPGP key.
type Key struct {
	ID          string // 16 hexadecimal digits
	Fingerprint string
	Owner       string
	Algorithm   string // such as rsa4096 or ed25519
	Created     time.Time
	Expires     time.Time // zero for never
	Revoked     bool
	Subkeys     []string // ids of those that sign
}

// ReadKey describes the one key of an armored block. The error says what is wrong with the text, and quotes none of it.
func ReadKey(text string, now time.Time) (Key, error) {
	list, err := readKeys(text)
	if err != nil {
		return Key{}, err
	}
	if len(list) > 1 {
		return Key{}, errors.New("it is several; give them one by one")
	}
	e := list[0]
	out := Key{
		ID: keyID(e.PrimaryKey.KeyId), Fingerprint: strings.ToUpper(hex.EncodeToString(e.PrimaryKey.Fingerprint)), Owner: ownerOf(e),
		Algorithm: algorithm(e.PrimaryKey), Created: e.PrimaryKey.CreationTime.UTC(), Revoked: e.Revoked(now),
	}
	if self, _ := e.PrimarySelfSignature(); self != nil && self.KeyLifetimeSecs != nil && *self.KeyLifetimeSecs > 0 {
		out.Expires = out.Created.Add(time.Duration(*self.KeyLifetimeSecs) * time.Second)
	}
	for _, s := range e.Subkeys {
		if s.Sig != nil && s.Sig.FlagsValid && s.Sig.FlagSign {
			out.Subkeys = append(out.Subkeys, keyID(s.PublicKey.KeyId))
		}
	}
	return out, nil
}

func algorithm(key *packet.PublicKey) string {
	bits, _ := key.BitLength() // 0 where it has none
	switch key.PubKeyAlgo {
	case packet.PubKeyAlgoRSA, packet.PubKeyAlgoRSASignOnly:
		return fmt.Sprintf("rsa%d", bits)
	case packet.PubKeyAlgoDSA:
		return fmt.Sprintf("dsa%d", bits)
	case packet.PubKeyAlgoECDSA:
		return fmt.Sprintf("ecdsa%d", bits)
	case packet.PubKeyAlgoEdDSA, packet.PubKeyAlgoEd25519:
		return "ed25519"
	case packet.PubKeyAlgoEd448:
		return "ed448"
	}
	return "other"
}
