package client

import (
	"context"
	"net/http"

	"github.com/slipway-gitops/slipway/api"
)

// NotificationChannels are where notifications go.
func (c *Client) NotificationChannels() Entities[api.NotificationChannel] {
	return Entities[api.NotificationChannel]{c, "notification-channels"}
}

// NotificationRules are what is told to whom.
func (c *Client) NotificationRules() Entities[api.NotificationRule] {
	return Entities[api.NotificationRule]{c, "notification-rules"}
}

// TestChannel sends a message to see whether a channel works.
func (c *Client) TestChannel(ctx context.Context, id string) (api.NotificationResult, error) {
	return ask[api.NotificationResult](ctx, c, call{method: http.MethodPost, path: at("notification-channels", id, "test")})
}

// PreviewRule says what a rule would send, whether or not it is there.
func (c *Client) PreviewRule(ctx context.Context, rule api.NotificationRule) (api.NotificationText, error) {
	return ask[api.NotificationText](ctx, c, call{method: http.MethodPost, path: at("notification-rules", "preview"), body: rule})
}

// Deliveries gives a page of messages.
func (c *Client) Deliveries(ctx context.Context, f api.DeliveryFilter) (api.Page[api.NotificationDelivery], error) {
	query := listQuery(f.ListOptions)
	set(query, "rule", f.Rule)
	set(query, "channel", f.Channel)
	set(query, "state", f.State)
	set(query, "event", f.Event)
	set(query, "object", f.Object)
	return ask[api.Page[api.NotificationDelivery]](ctx, c, call{method: http.MethodGet, path: at("notification-deliveries"), query: query})
}

// Delivery gets a message.
func (c *Client) Delivery(ctx context.Context, id string) (api.NotificationDelivery, error) {
	return ask[api.NotificationDelivery](ctx, c, call{method: http.MethodGet, path: at("notification-deliveries", id)})
}

// ResendDelivery has a message sent again.
func (c *Client) ResendDelivery(ctx context.Context, id string) (api.NotificationDelivery, error) {
	return ask[api.NotificationDelivery](ctx, c, call{method: http.MethodPost, path: at("notification-deliveries", id, "resend")})
}
