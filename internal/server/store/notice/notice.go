// Package notice keeps rules and channels of notifications, finds what is news by them, and keeps the messages to send.
package notice

import (
	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

// Notice puts the nouns together.
type Notice struct {
	*Notices
	*Outbox
	NotificationChannels entity.Entities[api.NotificationChannel]
	NotificationRules    entity.Entities[api.NotificationRule]
}

// New is for an open database.
func New(d *db.DB) Notice {
	return Notice{
		Notices: &Notices{d}, Outbox: &Outbox{d}, NotificationChannels: entity.Of(d, Channels()),
		NotificationRules: entity.Of(d, NotificationRules()),
	}
}

// Notices finds the events of rules.
type Notices struct{ db *db.DB }

// Outbox keeps messages, each of which one server sends at a time.
type Outbox struct{ db *db.DB }
