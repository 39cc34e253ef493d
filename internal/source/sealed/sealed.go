// Package sealed decrypts the files of a Tree that SOPS has encrypted, as they are read.
package sealed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/internal/sops"
	"github.com/slipway-gitops/slipway/internal/source"
)

// Keys are what files are decrypted with.
type Keys struct {
	Ring  *sops.Ring
	Other sops.Opener // opens keys that Ring has none for; it can be nil
	// Holder is whose keys they are, for errors: "project shop".
	Holder string
	// Advice says how to add a key.
	Advice string
	// Note takes what was decrypted before it is returned, so that it can be hidden elsewhere; nil for none.
	Note func(values []string)
}

// openLimit is how long opening one file may take: other services may be asked.
const openLimit = 30 * time.Second

// inCluster is the kind of objects that an operator in the cluster decrypts. They are deployed as they are.
const inCluster = "SopsSecret"

// Tree is a source.Tree with decrypted files.
type Tree struct {
	source.Tree
	keys Keys
}

var (
	_ source.Opened    = (*Tree)(nil)
	_ source.Explained = (*Tree)(nil)
	_ source.Whole     = (*Tree)(nil)
)

// New returns t with its files decrypted.
func New(t source.Tree, k Keys) *Tree { return &Tree{Tree: t, keys: k} }

// ReadFile returns the content of a file, decrypted if SOPS has encrypted it.
func (t *Tree) ReadFile(name string) ([]byte, error) {
	raw, file, err := encrypted(t.Tree, name)
	if file == nil || err != nil {
		return raw, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), openLimit)
	defer cancel()
	plain, err := file.Open(ctx, t.keys.Ring, t.keys.Other)
	var missing *sops.KeyError
	switch {
	case errors.As(err, &missing):
		return nil, &sealedError{fmt.Errorf("decrypt %s: %w; %s has other keys: %s", name, err, t.keys.Holder, t.keys.Advice)}
	case err != nil:
		return nil, &sealedError{fmt.Errorf("decrypt %s: %w", name, err)}
	}
	if t.keys.Note != nil {
		t.keys.Note(plain.Values)
	}
	return plain.Data, nil
}

// encrypted reads a file, and finds out whether it is to be decrypted.
func encrypted(t source.Tree, name string) ([]byte, *sops.File, error) {
	raw, err := t.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	file, err := sops.Read(name, raw)
	if err != nil {
		return nil, nil, &sealedError{fmt.Errorf("decrypt %s: %w", name, err)}
	}
	if file != nil && file.Kind == inCluster {
		file = nil
	}
	return raw, file, nil
}

// Change is that of the tree below, if it knows one.
func (t *Tree) Change() (source.Change, error) {
	if e, ok := t.Tree.(source.Explained); ok {
		return e.Change()
	}
	return source.Change{}, errors.New("the author of the revision is not known")
}

// Whole is the tree with its files as they are stored: what gets all files decrypts those that it uses.
func (t *Tree) Whole() (source.Tree, error) { return source.WholeOf(t.Tree) }

// Sealed is the tree with encrypted files that cannot be read.
func (t *Tree) Sealed() source.Tree { return shut{t.Tree} }

// shut is a Tree that gives out no encrypted file.
type shut struct{ source.Tree }

// ReadFile returns the content of a file that is not encrypted.
func (t shut) ReadFile(name string) ([]byte, error) {
	raw, file, err := encrypted(t.Tree, name)
	if file != nil {
		return nil, &sealedError{fmt.Errorf("%s is encrypted, and a preview of what is not saved decrypts nothing; save the "+
			"application to see what it gives", name)}
	}
	return raw, err
}

// sealedError is an error that wraps source.ErrSealed and does not repeat it.
type sealedError struct{ error }

func (e *sealedError) Unwrap() []error { return []error{e.error, source.ErrSealed} }
