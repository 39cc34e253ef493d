//go:build !unix

package db

import "errors"

// ErrHeld means that another process has the database for itself.
var ErrHeld = errors.New("the database is in use")

// Hold does nothing: servers run on Unix.
func (s *DB) Hold() error { return nil }
