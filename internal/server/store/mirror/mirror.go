// Package mirror keeps the server's copy of what is in the clusters: it takes in what agents report, and lists, counts and finds
// it.
package mirror

import (
	"github.com/slipway-gitops/slipway/internal/server/census"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// Mirror puts the nouns together.
type Mirror struct {
	*Items
	*Copies
	*Fleet
}

// New is for an open database. Once it is migrated, items are put where this program says that they belong.
func New(d *db.DB) Mirror {
	copies := &Copies{d}
	d.Settle(copies.rejudge)
	return Mirror{&Items{d}, copies, &Fleet{d, census.New()}}
}

// Items reads items one by one and in lists.
type Items struct{ db *db.DB }

// Copies takes in what agents report.
type Copies struct{ db *db.DB }

// Fleet counts and finds applications, by the copy in memory of what they are counted by.
type Fleet struct {
	db     *db.DB
	census *census.Census
}
