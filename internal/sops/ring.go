package sops

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/ProtonMail/go-crypto/openpgp"
	pgparmor "github.com/ProtonMail/go-crypto/openpgp/armor"
)

// Bounds of a ring.
const (
	maxKeyFile   = 256 << 10 // bytes of a file with private keys
	maxRing      = 200       // private keys
	maxDataKey   = 1024      // bytes of a data key, or a share of one
	leastKeyName = 16        // characters of a fingerprint that name a key of OpenPGP
)

// Ring holds private keys. It prints none of them.
type Ring struct {
	age   map[string]age.Identity // by recipient
	pgp   openpgp.EntityList
	names []string // of the keys, sorted
}

// String names the keys by what is public.
func (r *Ring) String() string { return "keys for " + strings.Join(r.Names(), ", ") }

// GoString is String: no verb of fmt prints a private key.
func (r *Ring) GoString() string { return r.String() }

// Names are the recipients and fingerprints of the keys, sorted.
func (r *Ring) Names() []string {
	if r == nil {
		return nil
	}
	return slices.Clone(r.names)
}

// Empty reports whether there is no key.
func (r *Ring) Empty() bool { return r == nil || len(r.names) == 0 }

// Identity is a hash that is equal for rings with equal keys. It says nothing about a private key.
func (r *Ring) Identity() string {
	sum := sha256.Sum256([]byte(strings.Join(r.Names(), "\n")))
	return hex.EncodeToString(sum[:8])
}

// Add takes the keys of a file: a list of age identities (name.agekey), or armored private keys of OpenPGP (name.asc). Its errors
// show nothing of the file but its name.
func (r *Ring) Add(name string, data []byte) error {
	if len(data) > maxKeyFile {
		return fmt.Errorf("%s: %w: more than %d KiB of keys", name, ErrLimit, maxKeyFile>>10)
	}
	var err error
	switch {
	case strings.HasSuffix(name, ".agekey"):
		err = r.addAge(string(data))
	case strings.HasSuffix(name, ".asc"):
		err = r.addPGP(data)
	default:
		err = errors.New("keys of age are in files NAME.agekey, those of OpenPGP in files NAME.asc; rename the field")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	slices.Sort(r.names)
	r.names = slices.Compact(r.names)
	return nil
}

func (r *Ring) room() error {
	if len(r.names) >= maxRing {
		return fmt.Errorf("%w: more than %d private keys", ErrLimit, maxRing)
	}
	return nil
}

func (r *Ring) addAge(text string) error {
	if r.age == nil {
		r.age = map[string]age.Identity{}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := r.room(); err != nil {
			return err
		}
		name, id, err := parseAge(line)
		if err != nil {
			return err
		}
		r.age[name] = id
		r.names = append(r.names, name)
	}
	return nil
}

// parseAge reads one identity and finds its recipient.
func parseAge(line string) (string, age.Identity, error) {
	switch {
	case strings.HasPrefix(line, "AGE-PLUGIN-"):
		return "", nil, errors.New("the identity needs a plugin of age, which is a program, and none is run here; use an identity of age-keygen")
	case strings.HasPrefix(line, "AGE-SECRET-KEY-PQ-"):
		if id, err := age.ParseHybridIdentity(line); err == nil {
			return id.Recipient().String(), id, nil
		}
	default:
		if id, err := age.ParseX25519Identity(line); err == nil {
			return id.Recipient().String(), id, nil
		}
	}
	return "", nil, errors.New("a line is no identity of age (AGE-SECRET-KEY-1…); store the file that age-keygen wrote")
}

func (r *Ring) addPGP(data []byte) error {
	list, err := openpgp.ReadArmoredKeyRing(bytes.NewReader(data))
	if err != nil || len(list) == 0 {
		return errors.New("it is no armored key of OpenPGP; export it with gpg --export-secret-keys --armor")
	}
	for _, e := range list {
		if err := r.room(); err != nil {
			return err
		}
		name := fingerprint(e.PrimaryKey.Fingerprint)
		if !private(e) {
			return fmt.Errorf("key %s has no private part; export it with gpg --export-secret-keys --armor", name)
		}
		if locked(e) {
			return fmt.Errorf("key %s is protected by a passphrase, which cannot be entered here; export it without one", name)
		}
		r.pgp = append(r.pgp, e)
		r.names = append(r.names, name)
	}
	return nil
}

func fingerprint(raw []byte) string { return strings.ToUpper(hex.EncodeToString(raw)) }

func private(e *openpgp.Entity) bool {
	return e.PrivateKey != nil || slices.ContainsFunc(e.Subkeys, func(s openpgp.Subkey) bool { return s.PrivateKey != nil })
}

func locked(e *openpgp.Entity) bool {
	return e.PrivateKey != nil && e.PrivateKey.Encrypted ||
		slices.ContainsFunc(e.Subkeys, func(s openpgp.Subkey) bool { return s.PrivateKey != nil && s.PrivateKey.Encrypted })
}

// open opens the data key, or the share of it, that is encrypted for a recipient. ErrNoKey says that the ring has no key for it.
func (r *Ring) open(to Recipient) ([]byte, error) {
	if r == nil {
		return nil, ErrNoKey
	}
	switch to.Kind {
	case KindAge:
		id, ok := r.age[to.Fields["recipient"]]
		if !ok {
			return nil, ErrNoKey
		}
		plain, err := age.Decrypt(armor.NewReader(strings.NewReader(to.Sealed)), id)
		if err != nil {
			return nil, errSealed(to)
		}
		return small(plain, to)
	case KindPGP:
		return r.openPGP(to)
	}
	return nil, ErrNoKey
}

func (r *Ring) openPGP(to Recipient) ([]byte, error) {
	want := strings.ToUpper(strings.ReplaceAll(to.Fields["fp"], " ", ""))
	var keys openpgp.EntityList
	for _, e := range r.pgp {
		match := func(fp []byte) bool { return len(want) >= leastKeyName && strings.HasSuffix(fingerprint(fp), want) }
		if match(e.PrimaryKey.Fingerprint) ||
			slices.ContainsFunc(e.Subkeys, func(s openpgp.Subkey) bool { return match(s.PublicKey.Fingerprint) }) {
			keys = append(keys, e)
		}
	}
	if len(keys) == 0 {
		return nil, ErrNoKey
	}
	block, err := pgparmor.Decode(strings.NewReader(to.Sealed))
	if err != nil {
		return nil, errSealed(to)
	}
	msg, err := openpgp.ReadMessage(block.Body, keys, nil, nil)
	if err != nil {
		return nil, errSealed(to)
	}
	return small(msg.UnverifiedBody, to)
}

// small reads a data key.
func small(in io.Reader, to Recipient) ([]byte, error) {
	key, err := io.ReadAll(io.LimitReader(in, maxDataKey+1))
	if err != nil || len(key) > maxDataKey {
		return nil, errSealed(to)
	}
	return key, nil
}

func errSealed(to Recipient) error {
	return fmt.Errorf("%w: the data key for %s does not open with its private key", ErrDamaged, to)
}
