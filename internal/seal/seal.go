// Package seal seals secrets to an agent: only the agent opens them, and only for the setting that they were sealed for.
package seal

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"golang.org/x/crypto/nacl/box"
)

// KeySize is how long a key is, in bytes: X25519.
const KeySize = 32

// MaxSize bounds what is sealed, and a sealed blob, in bytes.
const MaxSize = 1 << 20

// PublicKey is what secrets for an agent are sealed to.
type PublicKey [KeySize]byte

// PrivateKey opens what was sealed. It hides itself when it is printed.
type PrivateKey struct{ key [KeySize]byte }

// String says that it is a key, and not which.
func (PrivateKey) String() string { return "(private key)" }

// GoString says that it is a key, and not which.
func (PrivateKey) GoString() string { return "(private key)" }

// Bytes returns the key, to be kept where nobody else reads it.
func (k *PrivateKey) Bytes() []byte { return bytes.Clone(k.key[:]) }

// Public returns the key that fits.
func (k *PrivateKey) Public() (PublicKey, error) {
	public, _, err := box.GenerateKey(bytes.NewReader(k.key[:]))
	if err != nil {
		return PublicKey{}, fmt.Errorf("make public key: %w", err)
	}
	return *public, nil
}

// NewKey makes a key; random is crypto/rand.Reader where it is nil.
func NewKey(random io.Reader) (PrivateKey, error) {
	if random == nil {
		random = rand.Reader
	}
	_, private, err := box.GenerateKey(random)
	if err != nil {
		return PrivateKey{}, fmt.Errorf("make key to seal to: %w", err)
	}
	return PrivateKey{key: *private}, nil
}

// PrivateKeyFrom takes a key that was kept.
func PrivateKeyFrom(raw []byte) (PrivateKey, error) {
	if len(raw) != KeySize {
		return PrivateKey{}, fmt.Errorf("private key has %d bytes instead of %d", len(raw), KeySize)
	}
	return PrivateKey{key: [KeySize]byte(raw)}, nil
}

// PublicKeyFrom takes the bytes of a key.
func PublicKeyFrom(raw []byte) (PublicKey, error) {
	if len(raw) != KeySize {
		return PublicKey{}, fmt.Errorf("public key has %d bytes instead of %d", len(raw), KeySize)
	}
	key := PublicKey(raw)
	if key == (PublicKey{}) {
		return key, errors.New("public key is all zeros: it is none")
	}
	return key, nil
}

// ParsePublicKey reads a key as text: standard base64.
func ParsePublicKey(text string) (PublicKey, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return PublicKey{}, fmt.Errorf("read public key: %w; it is %d bytes as standard base64", err, KeySize)
	}
	return PublicKeyFrom(raw)
}

// String is the key as text: standard base64.
func (k PublicKey) String() string { return base64.StdEncoding.EncodeToString(k[:]) }

// Purpose is what a secret is sealed for: it is inside of the seal, so that nobody can use a blob for something else.
type Purpose struct {
	Agent string // uid
	Type  string // of the setting, "repository"
	Name  string // of the setting
}

// letter is what is inside of a seal.
type letter struct {
	Agent  string            `json:"agent"`
	Type   string            `json:"type"`
	Name   string            `json:"name"`
	Fields map[string]string `json:"fields"`
}

// Seal seals the secret fields of a setting.
func Seal(to PublicKey, fields map[string]string, what Purpose) ([]byte, error) {
	switch {
	case what.Agent == "" || what.Type == "" || what.Name == "":
		return nil, errors.New("seal secret: say for which agent, type and name it is")
	case to == (PublicKey{}):
		return nil, errors.New("seal secret: the agent has no key yet; it gets one when it registers")
	}
	for name, value := range fields {
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return nil, fmt.Errorf("seal secret: field %q is no text; keys and certificates are given as PEM", name)
		}
	}
	raw, err := json.Marshal(letter{Agent: what.Agent, Type: what.Type, Name: what.Name, Fields: fields})
	if err != nil {
		return nil, fmt.Errorf("seal secret: %w", err)
	}
	if len(raw)+box.AnonymousOverhead > MaxSize {
		return nil, fmt.Errorf("seal secret: it has more than %d KiB", MaxSize>>10)
	}
	key := [KeySize]byte(to)
	sealed, err := box.SealAnonymous(nil, raw, &key, rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("seal secret: %w", err)
	}
	return sealed, nil
}

// Open opens what was sealed for a purpose. The error says nothing of what is inside.
func Open(key *PrivateKey, sealed []byte, what Purpose) (map[string]string, error) {
	if len(sealed) > MaxSize {
		return nil, fmt.Errorf("open secret: it has more than %d KiB", MaxSize>>10)
	}
	public, err := key.Public()
	if err != nil {
		return nil, err
	}
	mine := [KeySize]byte(public)
	raw, ok := box.OpenAnonymous(nil, sealed, &mine, &key.key)
	if !ok {
		return nil, errors.New("open secret: it was not sealed to this agent's key, or was changed on its way; read the agent's key again and seal it anew")
	}
	var l letter
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if dec.Decode(&l) != nil || dec.More() {
		return nil, errors.New("open secret: what is inside cannot be read; seal it with `slipway`, or as docs/guide/api.md says")
	}
	if (Purpose{l.Agent, l.Type, l.Name}) != what {
		return nil, errors.New("open secret: it was sealed for another agent or setting; seal it anew for this one")
	}
	if l.Fields == nil {
		l.Fields = map[string]string{}
	}
	return l.Fields, nil
}
