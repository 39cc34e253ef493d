package sops

import (
	"crypto/sha512"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// opening is a decryption under way.
type opening struct {
	cipher        valueCipher
	rules         rules
	mac           hash.Hash
	onlyEncrypted bool
	values        []string
	count         int
}

// shortestValue is how long a text is at least that is kept as a value of the file, in bytes.
const shortestValue = 4

// leaf decrypts one value or comment, if the rules of the file say that it is encrypted, and authenticates it.
func (o *opening) leaf(value any, path []string, above [][]string) (any, error) {
	if o.count++; o.count > maxValues {
		return nil, fmt.Errorf("%w: more than %d values; split it", ErrLimit, maxValues)
	}
	note, isComment := value.(comment)
	encrypted := o.rules.encrypted(path, above, isComment)
	if encrypted {
		var err error
		if value, err = o.open(value, note, isComment, path); err != nil {
			return nil, fmt.Errorf("%s: %w", shown(path), err)
		}
	}
	if _, is := value.(comment); is || o.onlyEncrypted && !encrypted {
		return value, nil
	}
	text, err := canonical(value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown(path), err)
	}
	_, _ = o.mac.Write([]byte(text)) // a hash takes all
	return value, nil
}

func (o *opening) open(value any, note comment, isComment bool, path []string) (any, error) {
	place := strings.Join(path, ":") + ":"
	if isComment {
		plain, err := o.cipher.open(string(note), place)
		if err != nil {
			return note, nil //nolint:nilerr // comments of old versions of SOPS are not encrypted, and nothing depends on them
		}
		if text, ok := plain.(string); ok {
			return comment(text), nil
		}
		return plain, nil
	}
	text, ok := value.(string)
	if !ok {
		return nil, fmt.Errorf("%w: a value that must be encrypted is not", ErrDamaged)
	}
	plain, err := o.cipher.open(text, place)
	if err != nil {
		return nil, err
	}
	if s, ok := plain.(string); ok && len(s) >= shortestValue {
		o.values = append(o.values, s)
	}
	return plain, nil
}

// shown names a place in an error: its keys, which SOPS does not encrypt.
func shown(path []string) string {
	if len(path) == 0 {
		return "the document"
	}
	return strconv.Quote(legible.Cut(strings.Join(path, "."), 200))
}

// canonical is a value as it is authenticated.
func canonical(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case int:
		return strconv.Itoa(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case uint64:
		return strconv.FormatUint(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case bool:
		if v {
			return "True", nil
		}
		return "False", nil
	case time.Time:
		text, err := v.MarshalText()
		if err != nil {
			return "", fmt.Errorf("%w: a time is out of range", ErrDamaged)
		}
		return string(text), nil
	}
	return "", fmt.Errorf("%w: a value has a type that SOPS does not write", ErrDamaged)
}

// onlyEncryptedSeed is SHA-256 of "sops": what a code begins with that covers only what is encrypted, so that it is never that
// of a whole file.
const onlyEncryptedSeed = "8a3fd2ad54ce66527b1034f3d147be0b0b975b3bf44f72c6fdadec8176f27d69"

func newMAC(onlyEncrypted bool) hash.Hash {
	h := sha512.New()
	if onlyEncrypted {
		seed, _ := hex.DecodeString(onlyEncryptedSeed) // a constant
		_, _ = h.Write(seed)
	}
	return h
}

// verify compares what was authenticated with the code in the metadata, which is bound to the time of the last change.
func (m *metadata) verify(c valueCipher, h hash.Hash) error {
	stored, err := c.open(m.mac, m.modified.Format(time.RFC3339))
	want, ok := stored.(string)
	if err != nil || !ok {
		return fmt.Errorf("%w: its message authentication code cannot be read: sops.mac or sops.lastmodified was changed", ErrDamaged)
	}
	have := strings.ToUpper(hex.EncodeToString(h.Sum(nil)))
	if subtle.ConstantTimeCompare([]byte(want), []byte(have)) != 1 {
		return fmt.Errorf("%w: its message authentication code is of other content: a value was changed, added, removed or moved; "+
			"restore the file, or edit it with sops", ErrDamaged)
	}
	return nil
}
