// Package work keeps what is to be done and by whom: commands for agents, bulk jobs, the servers that share the database, and the
// events that they send each other.
package work

import (
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// Work puts the nouns together.
type Work struct {
	*Commands
	*Jobs
	*Servers
	*Events
	*Upgrades
}

// New is for an open database.
func New(d *db.DB) Work { return Work{&Commands{d}, &Jobs{d}, &Servers{d}, &Events{d}, &Upgrades{d}} }

// Commands keeps commands for agents until their results are there, and for a while after that.
type Commands struct{ db *db.DB }

// Jobs keeps bulk jobs, each of which one server has at a time.
type Jobs struct{ db *db.DB }

// Servers keeps which servers there are, and which of them does what only one does at a time.
type Servers struct{ db *db.DB }

// Events keeps what servers send each other, in one order.
type Events struct{ db *db.DB }
