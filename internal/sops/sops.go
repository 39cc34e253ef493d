// Package sops reads files that SOPS has encrypted: it finds out whom a file is for, opens its data key with private keys that
// are given as bytes, decrypts its values and verifies that none was changed, added or moved. It never encrypts. Pure.
package sops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
)

// Bounds of a file. More is refused.
const (
	maxFile   = 16 << 20  // bytes
	maxValues = 200_000   // values and comments
	maxDepth  = 100       // of mappings and lists in each other
	maxGroups = 64        // of keys
	maxKeys   = 200       // in all groups together
	maxSealed = 256 << 10 // bytes of an encrypted data key
)

// Errors that the errors of Open wrap.
var (
	// ErrDamaged is a file that is not as SOPS wrote it.
	ErrDamaged = errors.New("the file is not as SOPS wrote it")
	// ErrLimit is a file beyond what is read.
	ErrLimit = errors.New("the file is beyond the limits of encrypted files")
)

// Format is how a file is written.
type Format string

// The formats of SOPS.
const (
	YAML   Format = "YAML"
	JSON   Format = "JSON"
	Dotenv Format = "dotenv"
	INI    Format = "INI"
	Binary Format = "binary"
)

// File is an encrypted file that was read, not decrypted.
type File struct {
	Format Format
	// Kind is the kind of the Kubernetes object that the file is, where that is not encrypted.
	Kind string

	doc  document
	meta metadata
}

// document is the content of a file without its metadata.
type document interface {
	// walk calls leaf for every value and comment, in the order in which SOPS authenticates them, and puts what leaf returns in
	// its place.
	walk(leaf leafFunc) error
	// encode writes the document as SOPS does.
	encode() ([]byte, error)
}

// leafFunc takes a value (string, int, float64, bool, time.Time) or a comment. path are the keys that lead to it, above the
// comments before it at each level.
type leafFunc func(value any, path []string, above [][]string) (any, error)

// comment is a comment, without the character that begins it.
type comment string

// Looks reports whether data may be an encrypted file. It costs a search and is wrong for texts that quote one.
func Looks(data []byte) bool {
	return bytes.Contains(data, []byte(prefix)) && bytes.Contains(data, []byte(blockKey))
}

// Read reads a file that SOPS has encrypted. It returns nil for any other file. The name gives a hint of the format.
func Read(name string, data []byte) (*File, error) {
	if !Looks(data) {
		return nil, nil
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%w: more than %d MiB; split it", ErrLimit, maxFile>>20)
	}
	f, err := read(name, data)
	if f == nil || err != nil {
		return nil, err
	}
	if err := f.meta.check(); err != nil {
		return nil, err
	}
	return f, nil
}

// read finds the format by content. The name distinguishes only what content cannot: a JSON file whose one field is data.
func read(name string, data []byte) (*File, error) {
	trimmed := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
	switch {
	case bytes.HasPrefix(trimmed, []byte("{")):
		f, err := readJSON(trimmed)
		if f == nil {
			return nil, err
		}
		if doc, is := f.doc.(*jsonDocument); is && doc.isBinary() && !hasSuffix(name, ".json", ".yaml", ".yml") {
			f.Format, f.doc = Binary, binaryDocument{doc}
		}
		return f, nil
	case hasLine(data, "sops_mac=") || hasLine(data, "sops_lastmodified="):
		return readDotenv(data)
	case hasLine(data, "[sops]"):
		return readINI(data)
	}
	return readYAML(data)
}

func hasSuffix(name string, suffixes ...string) bool {
	for _, s := range suffixes {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return false
}

// hasLine reports whether a line begins with a text.
func hasLine(data []byte, text string) bool {
	return bytes.HasPrefix(data, []byte(text)) || bytes.Contains(data, []byte("\n"+text))
}

// Plain is a decrypted file.
type Plain struct {
	Data []byte
	// Values are the texts that were encrypted, in the order of the file, the shortest left out.
	Values []string
}

// Opener opens data keys that no key of a Ring opens, for example by asking the key service of a cloud. It returns
// ErrNoKey where the key is none of its.
type Opener interface {
	OpenKey(ctx context.Context, key Recipient) ([]byte, error)
}

// Open decrypts the file. It fails with a *KeyError where neither ring nor other, which can be nil, opens enough of its keys, and
// with an error that wraps ErrDamaged where the file was changed after it was encrypted. No error has content of the file.
func (f *File) Open(ctx context.Context, ring *Ring, other Opener) (Plain, error) {
	key, err := f.meta.dataKey(ctx, ring, other)
	if err != nil {
		return Plain{}, err
	}
	defer clear(key)
	cipher, err := newCipher(key)
	if err != nil {
		return Plain{}, fmt.Errorf("%w: its data key has %d bytes, not 32", ErrDamaged, len(key))
	}
	o := opening{cipher: cipher, rules: f.meta.rules, mac: newMAC(f.meta.macOnlyEncrypted), onlyEncrypted: f.meta.macOnlyEncrypted}
	if err := f.doc.walk(o.leaf); err != nil {
		return Plain{}, err
	}
	if err := f.meta.verify(cipher, o.mac); err != nil {
		return Plain{}, err
	}
	data, err := f.doc.encode()
	if err != nil {
		return Plain{}, err
	}
	return Plain{Data: data, Values: o.values}, nil
}

// Recipients are those that the file is for.
func (f *File) Recipients() []Recipient {
	var out []Recipient
	for _, g := range f.meta.groups {
		out = append(out, g...)
	}
	return out
}
