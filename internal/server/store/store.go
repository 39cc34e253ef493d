// Package store keeps what the control plane knows in a database. It puts the nouns together that are kept: each has a type
// of its own in a package below, and all stand on store/db.
//
// A method that is exported is one transaction. What it calls takes that
// transaction, and so composes. Who may see what is decided by rbac; lists
// compile its Filter into their queries.
package store

import (
	"context"

	"github.com/slipway-gitops/slipway/internal/server/census"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// Store is an open database with what is kept in it. It is safe for concurrent use.
type Store struct {
	*db.DB
	census *census.Census
}

// Open opens the database as db.Open does.
func Open(ctx context.Context, config db.Config) (*Store, error) {
	opened, err := db.Open(ctx, config)
	if err != nil {
		return nil, err
	}
	s := &Store{DB: opened, census: census.New()}
	s.Settle(s.rejudge, s.writeBuiltins)
	return s, nil
}
