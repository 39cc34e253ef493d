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
	"maps"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/nacl/box"

	"github.com/slipway-gitops/slipway/internal/strict"
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

// Bytes returns the key, to be kept where only the agent reads it.
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

// Version is that of what is inside of a seal.
const Version = 2

// Lasts is how far the time of a seal may be from that of the agent that opens it.
const Lasts = 30 * time.Minute

// Purpose is what a secret is sealed for: it is inside of the seal, and the agent compares all of it with the command that the
// seal came with. So a blob cannot be used for something else, for another user, or later.
type Purpose struct {
	Agent   string // uid
	Verb    string // kind of the command, "settings.apply"
	Type    string // of the setting, "repository"
	Name    string // of the setting
	Project string // AppProject of the setting as it is to be; "" for all
	Actor   string // the caller, "user:ada"
	// Open are the fields that are sent beside the seal.
	Open map[string]string
	// Labels are those that the setting is to have, by which rights to it are judged; empty where the request says none.
	Labels map[string]string
	// At is when it was sealed.
	At time.Time
}

// letter is what is inside of a seal.
type letter struct {
	Version int               `json:"version"`
	Agent   string            `json:"agent"`
	Verb    string            `json:"verb"`
	Type    string            `json:"type"`
	Name    string            `json:"name"`
	Project string            `json:"project"`
	Actor   string            `json:"actor"`
	At      string            `json:"at"`
	Open    map[string]string `json:"open"`
	Labels  map[string]string `json:"labels,omitempty"`
	Fields  map[string]string `json:"fields"`
}

// differs names what of a purpose is another in a letter; "" for nothing. Nothing of the letter is shown.
func (l *letter) differs(what Purpose) string {
	for _, part := range []struct{ name, sealed, asked string }{
		{"agent", l.Agent, what.Agent},
		{"verb", l.Verb, what.Verb},
		{"type", l.Type, what.Type},
		{"name", l.Name, what.Name},
		{"project", l.Project, what.Project},
		{"actor", l.Actor, what.Actor},
	} {
		if part.sealed != part.asked {
			return part.name
		}
	}
	if !maps.Equal(l.Open, what.Open) {
		return "open field"
	}
	if !maps.Equal(l.Labels, what.Labels) {
		return "label"
	}
	return ""
}

// Seal seals the secret fields of a setting.
func Seal(to PublicKey, fields map[string]string, what Purpose) ([]byte, error) {
	switch {
	case what.Agent == "" || what.Verb == "" || what.Type == "" || what.Name == "" || what.Actor == "" || what.At.IsZero():
		return nil, errors.New("seal secret: agent, verb, type, name, author and time are required")
	case to == (PublicKey{}):
		return nil, errors.New("seal secret: the agent has no key yet; it gets one when it registers")
	}
	open := maps.Clone(what.Open)
	if open == nil {
		open = map[string]string{}
	}
	for name, value := range fields {
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return nil, fmt.Errorf("seal secret: field %q is no text; keys and certificates are given as PEM", name)
		}
	}
	raw, err := json.Marshal(letter{
		Version: Version, Agent: what.Agent, Verb: what.Verb, Type: what.Type, Name: what.Name, Project: what.Project, Actor: what.Actor,
		At: what.At.UTC().Format(time.RFC3339), Open: open, Labels: what.Labels, Fields: fields,
	})
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

// Open opens what was sealed for a purpose; its time is that of the agent now. The error says nothing of what is inside.
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
		return nil, errors.New("open secret: it was not sealed to this agent's key, or was changed in transit; " +
			"read the agent's key again and seal it again")
	}
	l, err := read(raw)
	if err != nil {
		return nil, err
	}
	if part := l.differs(what); part != "" {
		return nil, fmt.Errorf("open secret: it was sealed for another %s than the request has; seal it again for this request", part)
	}
	at, err := time.Parse(time.RFC3339, l.At)
	if err != nil || at.Sub(what.At).Abs() > Lasts {
		return nil, fmt.Errorf("open secret: the time at which it was sealed is not within %s of the agent's; check the clock, and seal it again",
			Lasts)
	}
	if l.Fields == nil {
		l.Fields = map[string]string{}
	}
	return l.Fields, nil
}

// read reads what is inside of a seal.
func read(raw []byte) (*letter, error) {
	var form struct {
		Version int `json:"version"`
	}
	if json.Unmarshal(raw, &form) == nil && form.Version < Version && bytes.HasPrefix(raw, []byte("{")) {
		return nil, errors.New("open secret: it was sealed in the form of an earlier version; update the command line, " +
			"or reload the page, and seal it again")
	}
	var l letter
	if strict.Decode(raw, &l, strict.Envelope) != nil || l.Version != Version {
		return nil, errors.New("open secret: its content cannot be read; seal it with `slipway`, or as described in docs/guide/api.md")
	}
	return &l, nil
}
