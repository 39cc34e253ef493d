// Package history keeps what was: the ledger of operations, and the audit.
package history

import (
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// History puts the nouns together.
type History struct {
	*Ledger
	*Audit
}

// New is for an open database.
func New(d *db.DB) History { return History{&Ledger{d}, &Audit{d}} }

// Ledger keeps what operations were, and what ran when.
type Ledger struct{ db *db.DB }

// Audit keeps who did what, as one chain.
type Audit struct{ db *db.DB }
