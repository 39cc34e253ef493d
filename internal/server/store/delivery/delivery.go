// Package delivery keeps services and environments, which Argo projects belong to which project, and says of applications what
// they are of and where they belong. A transaction that changes one of these has the lock of links.
package delivery

import (
	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

// Delivery puts the nouns together.
type Delivery struct {
	*Links
	*Mapped
	Services     entity.Entities[api.Service]
	Environments entity.Entities[api.Environment]
}

// New is for an open database.
func New(d *db.DB) Delivery {
	return Delivery{Links: &Links{d}, Mapped: &Mapped{d}, Services: entity.Of(d, Services()), Environments: entity.Of(d, Environments())}
}

// Links keeps which services and environments applications were given by hand, and finds them for those that have none.
type Links struct{ db *db.DB }

// Mapped keeps which Argo projects of an agent belong to which project.
type Mapped struct{ db *db.DB }
