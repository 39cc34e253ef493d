//go:build !unix

package store

import "errors"

// ErrHeld means that another process has the database for itself.
var ErrHeld = errors.New("the database is in use")

// Hold does nothing: servers run on Unix.
func (s *Store) Hold() error { return nil }
