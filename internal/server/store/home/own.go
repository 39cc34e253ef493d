// Package home keeps organizations and projects. What is in one goes with it, so this stands on all the nouns that are at scopes.
package home

import (
	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

// Home puts the nouns together.
type Home struct {
	Organizations entity.Entities[api.Organization]
	Projects      entity.Entities[api.Project]
}

// New is for an open database.
func New(d *db.DB) Home { return Home{entity.Of(d, organizations()), entity.Of(d, projects())} }
