package authn

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
)

// Params are how much work the hash of a password is. They stand in the hash, so that a change counts for new ones, and
// for an old one once its owner signs in.
type Params struct {
	Memory  uint32 // KiB
	Time    uint32
	Threads uint8
}

// DefaultParams take 32 MiB and a tenth of a second or two: more than OWASP asks for, and little enough for a small machine.
func DefaultParams() Params { return Params{Memory: 32 << 10, Time: 3, Threads: 1} }

// Bounds of what a stored hash may ask for: it could come from a backup of another origin.
const (
	maxMemory  = 1 << 20 // KiB
	maxTime    = 32
	maxThreads = 32
	saltSize   = 16
	keySize    = 32
	maxHash    = 256
)

func (p Params) valid() bool {
	return p.Time >= 1 && p.Time <= maxTime && p.Threads >= 1 && p.Threads <= maxThreads &&
		p.Memory >= 8*uint32(p.Threads) && p.Memory <= maxMemory
}

// passwordHash is a hash of a password, read.
type passwordHash struct {
	params    Params
	salt, key []byte
}

// String writes the hash as other programs do that use argon2: $argon2id$v=19$m=65536,t=3,p=2$salt$key.
func (h passwordHash) String() string {
	enc := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.params.Memory, h.params.Time, h.params.Threads,
		enc(h.salt), enc(h.key))
}

// parseHash reads a hash. Its parameters are within bounds.
func parseHash(text string) (passwordHash, error) {
	wrong := errors.New("the hash of a password cannot be read: set the password again")
	var h passwordHash
	parts := strings.Split(text, "$")
	if len(text) > maxHash || len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != "v="+strconv.Itoa(argon2.Version) {
		return h, wrong
	}
	for i, field := range strings.Split(parts[3], ",") {
		name, number, _ := strings.Cut(field, "=")
		n, err := strconv.ParseUint(number, 10, 32)
		if err != nil || i > 2 || name != "mtp"[i:i+1] || name == "p" && n > maxThreads {
			return h, wrong
		}
		switch name {
		case "m":
			h.params.Memory = uint32(n)
		case "t":
			h.params.Time = uint32(n)
		default:
			h.params.Threads = uint8(n)
		}
	}
	var errSalt, errKey error
	h.salt, errSalt = base64.RawStdEncoding.Strict().DecodeString(parts[4])
	h.key, errKey = base64.RawStdEncoding.Strict().DecodeString(parts[5])
	if errSalt != nil || errKey != nil || !h.params.valid() || len(h.salt) < 8 || len(h.key) < 16 {
		return passwordHash{}, wrong
	}
	return h, nil
}

// hasher makes hashes, so many at a time as memory is set aside for.
type hasher struct {
	params Params
	slots  chan struct{}
	dummy  passwordHash // the hash for users that do not exist
}

// newHasher makes a hasher that works at two hashes at most at a time.
func newHasher(params Params) (*hasher, error) {
	if !params.valid() {
		return nil, fmt.Errorf("parameters of password hashes %+v: memory is 8 KiB a thread to 1 GiB, time 1 to %d, threads 1 to %d",
			params, maxTime, maxThreads)
	}
	h := &hasher{params: params, slots: make(chan struct{}, 2)}
	h.dummy = passwordHash{params: params, salt: random(saltSize), key: random(keySize)}
	return h, nil
}

// hash waits for its turn, till the context ends.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	out := passwordHash{params: h.params, salt: random(saltSize)}
	var err error
	out.key, err = h.derive(ctx, password, out.params, out.salt, keySize)
	return out.String(), err
}

func (h *hasher) derive(ctx context.Context, password string, p Params, salt []byte, size int) ([]byte, error) {
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-h.slots }()
	return argon2.IDKey([]byte(normal(password)), salt, p.Time, p.Memory, p.Threads, uint32(size)), nil
}

// verify compares a password with a stored hash. Without a hash it takes as long and says no. Old says that the hash was
// made with other parameters than those of now.
func (h *hasher) verify(ctx context.Context, stored, password string) (ok, old bool, err error) {
	want, real := h.dummy, false
	if stored != "" {
		if want, err = parseHash(stored); err != nil {
			return false, false, err
		}
		real = true
	}
	key, err := h.derive(ctx, password, want.params, want.salt, len(want.key))
	if err != nil {
		return false, false, err
	}
	return subtle.ConstantTimeCompare(key, want.key) == 1 && real, want.params != h.params, nil
}

// random gives so many random bytes; crypto/rand ends the program where there are none.
func random(size int) []byte {
	b := make([]byte, size)
	_, _ = rand.Read(b) // never fails
	return b
}

// secret is a new secret of 256 bits.
func secret() string { return lower32(random(32)) }

// lower32 writes bytes in lower-case letters and digits.
func lower32(b []byte) string {
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b))
}

// digest is how a secret is kept: it is random, so that it cannot be found by trying.
func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// same compares in constant time.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
