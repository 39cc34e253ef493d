package store

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// NotificationChannels keeps where notifications go.
func (s *Store) NotificationChannels() Entities[api.NotificationChannel] {
	return Entities[api.NotificationChannel]{s.DB, channels()}
}

func channels() *entity[api.NotificationChannel] {
	sorts := entitySorts("notification_channel")
	sorts["kind"] = "notification_channel.kind"
	return &entity[api.NotificationChannel]{
		table: "notification_channel", noun: "notification channel", kind: api.TypeNotificationChannel,
		meta: func(v *api.NotificationChannel) *api.Meta { return &v.Meta },
		id:   func(v *api.NotificationChannel) string { return v.Scope.ID(v.Name) },
		columns: func(v *api.NotificationChannel) []column {
			return []column{
				{"kind", v.Kind, &v.Kind},
				{"secret", v.Secret, &v.Secret},
				{"url", v.URL, &v.URL},
				{"options", db.Encode(v.Options), db.Decode(&v.Options)},
			}
		},
		sorts: sorts,
		references: func(ctx context.Context, t db.Tx, v *api.NotificationChannel) ([]api.Ref, error) {
			return notificationRules().refs(ctx, t, "channel = ?", v.ID)
		},
		release: func(ctx context.Context, t db.Tx, v *api.NotificationChannel) error {
			return notificationRules().destroyAll(ctx, t, "channel = ?", v.ID)
		},
	}
}

// NotificationRules keeps what is told to whom.
func (s *Store) NotificationRules() Entities[api.NotificationRule] {
	return Entities[api.NotificationRule]{s.DB, notificationRules()}
}

func notificationRules() *entity[api.NotificationRule] {
	sorts := entitySorts("notification_rule")
	sorts["channel"] = "notification_rule.channel"
	return &entity[api.NotificationRule]{
		table: "notification_rule", noun: "notification rule", kind: api.TypeNotificationRule,
		meta: func(v *api.NotificationRule) *api.Meta { return &v.Meta },
		id:   func(v *api.NotificationRule) string { return v.Scope.ID(v.Name) },
		columns: func(v *api.NotificationRule) []column {
			return []column{
				{"channel", v.Channel, &v.Channel},
				{"events", db.Encode(v.Events), db.Decode(&v.Events)},
				{"selector", v.Selector, &v.Selector},
				{"services", db.Encode(v.Services), db.Decode(&v.Services)},
				{"environments", db.Encode(v.Environments), db.Decode(&v.Environments)},
				{"after_time", v.After, &v.After},
				{"before_time", v.Before, &v.Before},
				{"repeat_time", v.Repeat, &v.Repeat},
				{"title", v.Title, &v.Title},
				{"body", v.Text, &v.Text},
				{"paused", v.Paused, &v.Paused},
			}
		},
		sorts:   sorts,
		prepare: prepareRule,
	}
}

// prepareRule checks that the channel is there and within reach.
func prepareRule(ctx context.Context, t db.Tx, v, _ *api.NotificationRule) error {
	scope, _, err := api.ParseID(v.Channel)
	if err != nil {
		return db.Invalid("channel", "%s", err)
	}
	if !scope.Contains(v.Scope) {
		return db.Invalid("channel", "channel %s is at %s, and the rule at %s: use one of the same scope or of one around it", v.Channel, scope, v.Scope)
	}
	return refers(ctx, t, "channel", "notification_channel", "notification channel", v.Channel)
}
