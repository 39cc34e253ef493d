package server

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi"
	"github.com/slipway-gitops/slipway/internal/server/notify"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

// notificationsKept is how long messages are kept after they ended.
const notificationsKept = 30 * 24 * time.Hour

// notifications is what the interface asks of notifications.
type notifications struct {
	*store.Store
	notifier *notify.Notifier
	now      func() time.Time
	told     func(ctx context.Context, rule api.Ref)
}

// eventTold says that a rule has messages which are new, or in another state than before.
const eventTold = api.TypeNotificationRule + ".told"

// told notifies readers of the messages of a rule.
func (s *Server) told(ctx context.Context, rule api.Ref) {
	s.publish(ctx, api.Event{Type: eventTold, At: s.cfg.Now().UTC(), Object: rule})
}

// newNotifier makes the sender of notifications.
func (s *Server) newNotifier() error {
	reach := *s.cfg.Outbound
	reach.Private = s.cfg.NotifyAllowPrivate
	sender, err := notify.NewSender(notify.SenderConfig{
		Secrets: s.cfg.NotifySecrets, Outward: reach, Courier: s.cfg.courier, Now: s.cfg.Now,
	})
	if err != nil {
		return err
	}
	s.sender = sender
	s.notifier = notify.New(notify.Config{
		Storage: outbox{s.store}, Send: sender.Send, Holder: s.member.me.ID, Tried: s.metrics.notified, Told: s.told, Alone: s.member.alone,
		Missed: func() { s.metrics.Missed(notify.WaitNews) }, Log: s.log,
	})
	return nil
}

// outbox is the store under the names of the notifier.
type outbox struct{ *store.Store }

// NotificationChannel reads a channel.
func (o outbox) NotificationChannel(ctx context.Context, id string) (api.NotificationChannel, error) {
	return o.NotificationChannels.Get(ctx, id)
}

// CheckChannel says what is wrong with a channel.
func (n *notifications) CheckChannel(c *api.NotificationChannel) error { return notify.CheckChannel(c) }

// CheckRule says what is wrong with a rule.
func (n *notifications) CheckRule(r *api.NotificationRule) error { return notify.CheckRule(r) }

// Preview makes what a rule would send.
func (n *notifications) Preview(r *api.NotificationRule) (api.NotificationText, error) {
	if err := notify.CheckRule(r); err != nil {
		return api.NotificationText{}, err
	}
	e := notify.Sample(r, n.now())
	t, err := notify.ReadTemplate(r.Title, r.Text)
	if err != nil {
		return api.NotificationText{}, err
	}
	title, text, err := t.Render(e)
	return api.NotificationText{Event: *e, Title: title, Text: text}, err
}

// Try sends a message to see whether a channel works.
func (n *notifications) Try(ctx context.Context, c *api.NotificationChannel) api.NotificationResult {
	return n.notifier.Try(ctx, c, n.now())
}

// Resend has a message sent again immediately.
func (n *notifications) Resend(ctx context.Context, id string) (api.NotificationDelivery, error) {
	d, err := n.ResendNotification(ctx, id)
	if err == nil {
		n.told(ctx, notify.Of(&d))
		n.notifier.Flush()
	}
	return d, err
}

// rules keeps rules. One that is new gets events from then on.
type rules struct {
	entity.Entities[api.NotificationRule]
	notifier *notify.Notifier
}

// Create makes a rule.
func (r rules) Create(ctx context.Context, v api.NotificationRule) (api.NotificationRule, error) {
	made, err := r.Entities.Create(ctx, v)
	if err == nil {
		err = r.notifier.Learn(ctx)
	}
	return made, err
}

// Update changes a rule.
func (r rules) Update(ctx context.Context, v api.NotificationRule) (api.NotificationRule, error) {
	changed, err := r.Entities.Update(ctx, v)
	if err == nil {
		err = r.notifier.Learn(ctx)
	}
	return changed, err
}

// notifying hands in what the interface needs of notifications.
func (s *Server) notifying(cfg httpapi.Config) httpapi.Config {
	cfg.NotificationChannels = s.store.NotificationChannels
	cfg.NotificationRules = rules{s.store.NotificationRules, s.notifier}
	cfg.Notifications = &notifications{s.store, s.notifier, s.cfg.Now, s.told}
	return cfg
}

// dropNotifications forgets messages that ended long ago.
func (s *Server) dropNotifications(ctx context.Context) error {
	return s.store.DropNotifications(ctx, s.cfg.Now().Add(-notificationsKept))
}

// courierCommand sends one notification: the server starts it for each.
func courierCommand() *cobra.Command {
	return &cobra.Command{
		Use: notify.CourierArgument, Short: "Send one notification; the server calls this automatically", Hidden: true, Args: cobra.NoArgs,
		SilenceUsage: true, SilenceErrors: true,
		// Flags of the environment are those of the server.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, _ []string) error {
			return notify.Courier(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}
