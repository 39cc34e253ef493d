package client

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
)

// NotificationChannels are where notifications go.
func (c *Client) NotificationChannels() Entities[api.NotificationChannel] {
	return Entities[api.NotificationChannel]{c, "notification-channels"}
}

// NotificationRules define which events are sent to which channel.
func (c *Client) NotificationRules() Entities[api.NotificationRule] {
	return Entities[api.NotificationRule]{c, "notification-rules"}
}

// TestChannel sends a message to see whether a channel works.
func (c *Client) TestChannel(ctx context.Context, id string) (api.NotificationResult, error) {
	return post[api.NotificationResult](ctx, c, nil, nil, "notification-channels", id, "test")
}

// PreviewRule says what a rule would send, whether or not it is there.
func (c *Client) PreviewRule(ctx context.Context, rule api.NotificationRule) (api.NotificationText, error) {
	return post[api.NotificationText](ctx, c, nil, rule, "notification-rules", "preview")
}

// Deliveries gives a page of messages.
func (c *Client) Deliveries(ctx context.Context, f api.DeliveryFilter) (api.Page[api.NotificationDelivery], error) {
	query := set(listQuery(f.ListOptions), "rule", f.Rule, "channel", f.Channel, "state", f.State, "event", f.Event, "object", f.Object)
	return get[api.Page[api.NotificationDelivery]](ctx, c, query, "notification-deliveries")
}

// Delivery gets a message.
func (c *Client) Delivery(ctx context.Context, id string) (api.NotificationDelivery, error) {
	return get[api.NotificationDelivery](ctx, c, nil, "notification-deliveries", id)
}

// ResendDelivery has a message sent again.
func (c *Client) ResendDelivery(ctx context.Context, id string) (api.NotificationDelivery, error) {
	return post[api.NotificationDelivery](ctx, c, nil, nil, "notification-deliveries", id, "resend")
}
