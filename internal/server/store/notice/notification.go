package notice

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

// Channels describes how channels are kept.
func Channels() *entity.Kind[api.NotificationChannel] {
	return &entity.Kind[api.NotificationChannel]{
		Table: "notification_channel", Noun: "notification channel", Kind: api.TypeNotificationChannel,
		Columns: func(v *api.NotificationChannel) []entity.Column {
			return []entity.Column{
				{Name: "kind", Value: v.Kind, Into: &v.Kind},
				{Name: "secret", Value: v.Secret, Into: &v.Secret},
				{Name: "url", Value: v.URL, Into: &v.URL},
				{Name: "options", Value: db.Encode(v.Options), Into: db.Decode(&v.Options)},
			}
		},
		Sorts: map[string]string{"kind": "notification_channel.kind"},
		References: func(ctx context.Context, t db.Tx, v *api.NotificationChannel) ([]api.Ref, error) {
			return NotificationRules().Refs(ctx, t, "channel = ?", v.ID)
		},
		Release: func(ctx context.Context, t db.Tx, v *api.NotificationChannel) error {
			return NotificationRules().DestroyAll(ctx, t, "channel = ?", v.ID)
		},
	}
}

// NotificationRules describes how rules are kept.
func NotificationRules() *entity.Kind[api.NotificationRule] {
	return &entity.Kind[api.NotificationRule]{
		Table: "notification_rule", Noun: "notification rule", Kind: api.TypeNotificationRule,
		Columns: func(v *api.NotificationRule) []entity.Column {
			return []entity.Column{
				{Name: "channel", Value: v.Channel, Into: &v.Channel},
				{Name: "events", Value: db.Encode(v.Events), Into: db.Decode(&v.Events)},
				{Name: "selector", Value: v.Selector, Into: &v.Selector},
				{Name: "services", Value: db.Encode(v.Services), Into: db.Decode(&v.Services)},
				{Name: "environments", Value: db.Encode(v.Environments), Into: db.Decode(&v.Environments)},
				{Name: "after_time", Value: v.After, Into: &v.After},
				{Name: "before_time", Value: v.Before, Into: &v.Before},
				{Name: "repeat_time", Value: v.Repeat, Into: &v.Repeat},
				{Name: "title", Value: v.Title, Into: &v.Title},
				{Name: "body", Value: v.Text, Into: &v.Text},
				{Name: "paused", Value: v.Paused, Into: &v.Paused},
			}
		},
		Sorts:   map[string]string{"channel": "notification_rule.channel"},
		Prepare: prepareRule,
	}
}

// prepareRule checks that the channel is there and within reach.
func prepareRule(ctx context.Context, t db.Tx, v, _ *api.NotificationRule) error {
	scope, _, err := api.ParseID(v.Channel)
	if err != nil {
		return db.Invalid("channel", "%s", err)
	}
	if !scope.Contains(v.Scope) {
		return db.Invalid("channel", "channel %s is at %s, and the rule at %s: use one of the same scope or of one around it",
			v.Channel, scope, v.Scope)
	}
	return entity.Refers(ctx, t, "channel", "notification_channel", "notification channel", v.Channel)
}
