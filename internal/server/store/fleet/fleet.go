// Package fleet keeps agents: their identity, their keys, their state, and which of them servers run.
package fleet

import (
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// Fleet puts the nouns together.
type Fleet struct {
	*Agents
	*Hosted
}

// New is for an open database.
func New(d *db.DB) Fleet { return Fleet{newAgents(d), &Hosted{d}} }

// Hosted keeps which agents servers run, each of them one server at a time.
type Hosted struct{ db *db.DB }
