// Package store keeps what the control plane knows in a database. It puts the nouns together that are kept: each has a type
// of its own in a package below, and all stand on store/db.
//
// A method that is exported is one transaction. What it calls takes that
// transaction, and so composes. rbac decides the permissions; lists
// compile its Filter into their queries.
package store

import (
	"context"

	"github.com/slipway-gitops/slipway/internal/server/store/access"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/delivery"
	"github.com/slipway-gitops/slipway/internal/server/store/fleet"
	"github.com/slipway-gitops/slipway/internal/server/store/history"
	"github.com/slipway-gitops/slipway/internal/server/store/home"
	"github.com/slipway-gitops/slipway/internal/server/store/mirror"
	"github.com/slipway-gitops/slipway/internal/server/store/notice"
	"github.com/slipway-gitops/slipway/internal/server/store/setting"
	"github.com/slipway-gitops/slipway/internal/server/store/work"
)

// Store is an open database with what is kept in it. It is safe for concurrent use.
type Store struct {
	*db.DB
	access.Access
	fleet.Fleet
	delivery.Delivery
	mirror.Mirror
	history.History
	notice.Notice
	work.Work
	setting.Setting
	home.Home
}

// Open opens the database as db.Open does.
func Open(ctx context.Context, config db.Config) (*Store, error) {
	d, err := db.Open(ctx, config)
	if err != nil {
		return nil, err
	}
	return &Store{
		DB: d, Access: access.New(d), Fleet: fleet.New(d), Delivery: delivery.New(d), Mirror: mirror.New(d), History: history.New(d),
		Notice: notice.New(d), Work: work.New(d), Setting: setting.New(d), Home: home.New(d),
	}, nil
}
