package record

import (
	"context"
	"net/http"
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// Notifications notifies people of events.
type Notifications interface {
	// CheckChannel and CheckRule say what is wrong with what is to be stored.
	CheckChannel(*api.NotificationChannel) error
	CheckRule(*api.NotificationRule) error
	// Preview makes what a rule would send.
	Preview(*api.NotificationRule) (api.NotificationText, error)
	// Try sends a message to see whether a channel works.
	Try(context.Context, *api.NotificationChannel) api.NotificationResult
	ListNotifications(context.Context, rbac.Filter, api.DeliveryFilter) (api.Page[api.NotificationDelivery], error)
	GetNotification(ctx context.Context, id string) (api.NotificationDelivery, error)
	// Resend has a message sent again immediately.
	Resend(ctx context.Context, id string) (api.NotificationDelivery, error)
}

// NotificationRoutes are the routes of channels, rules and messages.
type NotificationRoutes struct {
	NotificationChannels core.Entities[api.NotificationChannel]
	NotificationRules    core.Entities[api.NotificationRule]
	Notifications        Notifications
}

// Routes are its rows of the table.
func (h *NotificationRoutes) Routes() []core.Route {
	return slices.Concat(h.notificationChannels().Routes(), h.notificationRules().Routes(), h.notificationRoutes())
}

func (h *NotificationRoutes) notificationChannels() *core.Noun[api.NotificationChannel, *api.NotificationChannel] {
	return &core.Noun[api.NotificationChannel, *api.NotificationChannel]{
		Store: h.NotificationChannels, Kind: api.TypeNotificationChannel, Many: "notification-channels", Called: "notification channel",
		Example: `{"name":"hooks","scope":"org.acme","kind":"webhook","secret":"hooks","url":"https://hooks.example.org/slipway"}`,
		Check: func(_ context.Context, _ *core.Call, _, after *api.NotificationChannel) error {
			if after == nil {
				return nil
			}
			return h.Notifications.CheckChannel(after)
		},
	}
}

func (h *NotificationRoutes) notificationRules() *core.Noun[api.NotificationRule, *api.NotificationRule] {
	return &core.Noun[api.NotificationRule, *api.NotificationRule]{
		Store: h.NotificationRules, Kind: api.TypeNotificationRule, Many: "notification-rules", Called: "notification rule",
		Example: `{"name":"failures","scope":"org.acme","events":["sync.failed","degraded"],"channel":"org.acme.ops","repeat":"1h"}`,
		Check:   h.checkRule,
	}
}

// seen are the permissions for the objects of events.
//
//nolint:gochecknoglobals // a table
var seen = map[string]struct {
	permission api.Permission
	kind       string
}{
	api.NotifyDisconnected: {api.PermAgentView, api.TypeAgent},
	api.NotifyCertificate:  {api.PermCertView, api.TypeCert},
	api.NotifyToken:        {api.PermTokenView, api.TypeToken},
}

// checkRule requires the right to see the channel, and all that the rule reports: every reader of the channel learns of it.
func (h *NotificationRoutes) checkRule(ctx context.Context, c *core.Call, _, after *api.NotificationRule) error {
	if after == nil {
		return nil
	}
	if err := h.Notifications.CheckRule(after); err != nil {
		return err
	}
	channel, err := h.notificationChannels().Find(ctx, after.Channel)
	if err == nil {
		err = c.May(api.PermNotificationChannelView, channel)
	}
	if err != nil {
		return err
	}
	for _, event := range after.Events {
		takes, other := seen[event]
		if !other {
			takes.permission, takes.kind = api.PermApplicationView, api.TypeApplication
		}
		if err := c.May(takes.permission, core.Target{Object: rbac.Object{Type: takes.kind, Scope: after.Scope, Asserted: true}}); err != nil {
			return err
		}
	}
	return nil
}

type deliveryList struct {
	core.ListInput
	Rule    string `query:"rule" maxLength:"210" doc:"Only those of this rule" example:"org.acme.failures"`
	Channel string `query:"channel" maxLength:"210" doc:"Only those to this channel" example:"org.acme.ops"`
	State   string `query:"state" enum:"Waiting,Sent,Dead,Quiet" doc:"Only those in this state"`
	Event   string `query:"event" maxLength:"64" doc:"Only those about this event" example:"sync.failed"`
	Object  string `query:"object" maxLength:"540" doc:"Only those about this object" example:"account.prod/argocd/shop"`
}

type previewInput struct{ Body api.NotificationRule }

type (
	previewOutput  struct{ Body api.NotificationText }
	tryOutput      struct{ Body api.NotificationResult }
	deliveryOutput struct{ Body api.NotificationDelivery }
)

// findDelivery finds the message of a rule, which rights go by.
func (h *NotificationRoutes) findDelivery(ctx context.Context, id string) (core.Target, error) {
	unseen := core.NotFound("delivery", id)
	d, err := h.Notifications.GetNotification(ctx, id)
	if api.CodeOf(err) == api.CodeNotFound {
		return core.Target{}, unseen
	}
	if err != nil {
		return core.Target{}, err
	}
	t, err := h.notificationRules().Find(ctx, d.Rule)
	t.Value, t.Unseen = &d, unseen
	return t, err
}

// notificationRoutes try channels and rules, and say what became of messages.
func (h *NotificationRoutes) notificationRoutes() []core.Route {
	try := core.Route{
		Method: http.MethodPost, Path: "/api/v1/notification-channels/{id}/test", Permission: api.PermNotificationChannelEdit,
		Audit: "notification-channel.test", ID: "test-notification-channel", Tag: "notification-channels",
		Summary: "Send a test message to a channel",
	}
	try.Mount = core.Mount(core.Answer[core.IDTryInput, tryOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *core.IDTryInput) (core.Target, error) {
			return h.notificationChannels().Find(ctx, in.ID)
		},
		Do: func(ctx context.Context, c *core.Call, in *core.IDTryInput) (*tryOutput, error) {
			channel, _ := c.Before.(*api.NotificationChannel)
			c.Before = nil
			if in.DryRun {
				c.Quiet = true
				return &tryOutput{api.NotificationResult{Message: "nothing was sent: it was a dry run"}}, nil
			}
			return &tryOutput{h.Notifications.Try(ctx, channel)}, nil
		},
	})
	preview := core.Route{
		Method: http.MethodPost, Path: "/api/v1/notification-rules/preview", Permission: api.PermNotificationRuleEdit, Reads: true,
		ID: "preview-notification-rule", Tag: "notification-rules", Summary: "Check a rule, and show its message for an example event",
		Example: h.notificationRules().Example,
	}
	preview.Mount = core.Mount(core.Answer[previewInput, previewOutput]{
		Find: func(_ context.Context, _ *core.Call, in *previewInput) (core.Target, error) {
			return h.notificationRules().Fresh(&in.Body)
		},
		Do: func(_ context.Context, _ *core.Call, in *previewInput) (*previewOutput, error) {
			text, err := h.Notifications.Preview(&in.Body)
			return &previewOutput{text}, err
		},
	})
	list := core.Route{
		Method: http.MethodGet, Path: "/api/v1/notification-deliveries", Permission: api.PermNotificationRuleView, Access: core.Listed,
		ID: "list-notification-deliveries", Tag: "notification-deliveries",
		Summary: "List messages of rules: those that wait, were sent, or are dead",
	}
	list.Mount = core.Mount(core.Answer[deliveryList, core.PageOutput[api.NotificationDelivery]]{
		Do: func(ctx context.Context, c *core.Call, in *deliveryList) (*core.PageOutput[api.NotificationDelivery], error) {
			options, err := in.Options()
			if err != nil {
				return nil, err
			}
			page, err := h.Notifications.ListNotifications(ctx, c.Visible, api.DeliveryFilter{
				ListOptions: options, Rule: in.Rule, Channel: in.Channel, State: in.State, Event: in.Event, Object: in.Object,
			})
			return core.PageOf(page), err
		},
	})
	get := core.Route{
		Method: http.MethodGet, Path: "/api/v1/notification-deliveries/{id}", Permission: api.PermNotificationRuleView,
		ID: "get-notification-delivery", Tag: "notification-deliveries", Summary: "Get a message",
	}
	get.Mount = core.Mount(core.Answer[core.IDInput, deliveryOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *core.IDInput) (core.Target, error) {
			return h.findDelivery(ctx, in.ID)
		},
		Do: func(_ context.Context, c *core.Call, _ *core.IDInput) (*deliveryOutput, error) {
			d, _ := c.Before.(*api.NotificationDelivery)
			return &deliveryOutput{*d}, nil
		},
	})
	resend := core.Route{
		Method: http.MethodPost, Path: "/api/v1/notification-deliveries/{id}/resend", Permission: api.PermNotificationRuleEdit,
		Audit: "notification-delivery.resend", ID: "resend-notification-delivery", Tag: "notification-deliveries",
		Summary: "Send a message again, with all attempts",
	}
	resend.Mount = core.Mount(core.Answer[core.IDTryInput, deliveryOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *core.IDTryInput) (core.Target, error) {
			return h.findDelivery(ctx, in.ID)
		},
		Do: func(ctx context.Context, c *core.Call, in *core.IDTryInput) (*deliveryOutput, error) {
			d, _ := c.Before.(*api.NotificationDelivery)
			c.Before = nil
			if in.DryRun {
				c.Quiet = true
				return &deliveryOutput{*d}, nil
			}
			again, err := h.Notifications.Resend(ctx, in.ID)
			return &deliveryOutput{again}, err
		},
	})
	return []core.Route{try, preview, list, get, resend}
}
