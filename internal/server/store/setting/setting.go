// Package setting keeps the settings of the server, saved views, and the answers to idempotent requests.
package setting

import (
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// Setting puts the nouns together.
type Setting struct {
	*Keeper
	*Claims
	*Views
}

// New is for an open database.
func New(d *db.DB) Setting { return Setting{&Keeper{d}, &Claims{d}, &Views{d}} }

// Keeper keeps the settings of the server.
type Keeper struct{ db *db.DB }

// Claims keeps idempotency keys with the answers to their requests.
type Claims struct{ db *db.DB }

// Views keeps the filters that people saved.
type Views struct{ db *db.DB }
