package api

import "time"

// What a rule can be about, in NotificationRule.Events.
const (
	// NotifySyncSucceeded: a sync or rollback ended well.
	NotifySyncSucceeded = "sync.succeeded"
	// NotifySyncFailed: one did not.
	NotifySyncFailed = "sync.failed"
	// NotifyOutOfSync: an application is not what Git says any more.
	NotifyOutOfSync = "out-of-sync"
	// NotifyDegraded: an application became Degraded.
	NotifyDegraded = "degraded"
	// NotifyHealthy: one that was Degraded is Healthy again.
	NotifyHealthy = "healthy"
	// NotifyReverted: what was changed in the cluster was put back.
	NotifyReverted = "drift.reverted"
	// NotifyDeleted: an application was deleted with its objects.
	NotifyDeleted = "deleted"
	// NotifyHeld: the sync or the deletion of an application waits for a person, a window or a date.
	NotifyHeld = "held"
	// NotifyDrift: an application has been out of sync for longer than NotificationRule.After.
	NotifyDrift = "drift"
	// NotifyDisconnected: an agent has been disconnected for longer than NotificationRule.After.
	NotifyDisconnected = "agent.disconnected"
	// NotifyConnected: an agent is connected again that was disconnected for longer than NotificationRule.After.
	NotifyConnected = "agent.connected"
	// NotifyCertificate: a TLS certificate ends within NotificationRule.Before.
	NotifyCertificate = "certificate.expiring"
	// NotifyToken: an API token ends within NotificationRule.Before.
	NotifyToken = "token.expiring"
	// NotifyTest is that of a test of a channel; no rule has it.
	NotifyTest = "test"
)

// NotificationEvents lists what a rule can be about.
func NotificationEvents() []string {
	return []string{
		NotifySyncSucceeded, NotifySyncFailed, NotifyOutOfSync, NotifyDegraded, NotifyHealthy, NotifyHeld, NotifyDrift, NotifyReverted,
		NotifyDeleted, NotifyDisconnected, NotifyConnected, NotifyCertificate, NotifyToken,
	}
}

// ChannelWebhook is the kind of channels that get signed JSON at an address of their own.
const ChannelWebhook = "webhook"

// Bounds of what a rule sends, in bytes. What is longer is cut.
const (
	MaxNotificationTitle = 200
	MaxNotificationText  = 16 << 10
)

// NotificationChannel is where notifications go. It holds no secret: it names a file of the server's --notify-secrets.
type NotificationChannel struct {
	Meta
	Kind string `json:"kind" enum:"slack,teams,email,webhook,pagerduty,opsgenie,discord,telegram,googlechat,mattermost,matrix,rocketchat,zulip,ntfy,gotify,pushover" doc:"Kind of the receiver" example:"slack"`
	// Secret names the file <scope>.<secret> in the server's --notify-secrets, read at each sending. It holds the address of
	// the service, with its token; of a webhook, the key that signs.
	Secret string `json:"secret" maxLength:"63" doc:"Name of the file <scope>.<secret> in the directory of the server's --notify-secrets; it holds the URL of the service, or the signing key of a webhook" example:"slack-prod"`
	// URL is where a webhook goes.
	URL string `json:"url,omitempty" maxLength:"2000" doc:"URL of the webhook; https, without credentials" example:"https://hooks.example.org/slipway"`
	// Options are fields of the kind that are no secret.
	Options map[string]string `json:"options,omitempty" doc:"Fields of the kind that are not secret, such as color, priority or to"`
}

// NotificationRule defines which events are sent to which channel. It is about objects of its scope and inside it, from the time
// on when it was made.
type NotificationRule struct {
	Meta
	Events []string `json:"events" minItems:"1" maxItems:"20" enum:"sync.succeeded,sync.failed,out-of-sync,degraded,healthy,held,drift,drift.reverted,deleted,agent.disconnected,agent.connected,certificate.expiring,token.expiring" doc:"Events of the rule"`
	// Channel is of the same scope or of one around it.
	Channel      string   `json:"channel" maxLength:"210" doc:"Id of the channel, of the same scope or one above it" example:"org.acme.slack"`
	Selector     string   `json:"selector,omitempty" maxLength:"2000" doc:"Only objects with such labels, as Kubernetes selects" example:"team=shop"`
	Services     []string `json:"services,omitempty" maxItems:"100" doc:"Only applications of these services, by id"`
	Environments []string `json:"environments,omitempty" maxItems:"100" doc:"Only applications of these environments, by id"`
	// After is 1 h where it is left out, Before 168 h, Repeat none.
	After  string `json:"after,omitempty" maxLength:"32" doc:"How long an application drifts, or an agent is away, before a message is sent; the return of an agent that was away for less sends none. The default is 1h" example:"4h"`
	Before string `json:"before,omitempty" maxLength:"32" doc:"How long before the expiry of a certificate or token the message is sent; default: 168h" example:"336h"`
	Repeat string `json:"repeat,omitempty" maxLength:"32" doc:"Minimum time between messages about the same event of the same object; default: no limit" example:"1h"`
	// Title and Text are templates of Go's text/template; standard ones where they are left out.
	Title  string `json:"title,omitempty" maxLength:"1000" doc:"Template of the first line; default: the standard one" example:"{{.Name}}: {{.Event}}"`
	Text   string `json:"text,omitempty" maxLength:"8000" doc:"Template of the text; default: the standard one" example:"{{.Message}}"`
	Paused bool   `json:"paused,omitempty" doc:"The rule sends no messages"`
}

// NotificationEvent is what happened: what templates and webhooks are given.
type NotificationEvent struct {
	// ID is the same whichever server finds the event, and however often.
	ID          string            `json:"id" doc:"Identifier of the event"`
	Event       string            `json:"event" doc:"Type of the event" example:"sync.failed"`
	At          time.Time         `json:"at" doc:"Time"`
	Object      Ref               `json:"object" doc:"Object of the event"`
	Name        string            `json:"name" doc:"Name of the object" example:"shop"`
	Namespace   string            `json:"namespace,omitempty" doc:"Namespace of an Application" example:"argocd"`
	Agent       string            `json:"agent,omitempty" doc:"Id of the agent" example:"account.prod"`
	Labels      map[string]string `json:"labels,omitempty" doc:"Labels of the object"`
	Service     string            `json:"service,omitempty" doc:"Id of the service"`
	Environment string            `json:"environment,omitempty" doc:"Id of the environment"`
	Sync        string            `json:"sync,omitempty" doc:"Sync status of the application" example:"OutOfSync"`
	Health      string            `json:"health,omitempty" doc:"Health of the application" example:"Degraded"`
	Action      string            `json:"action,omitempty" doc:"Kind of the operation: sync, rollback, restore, partial or delete"`
	Automatic   bool              `json:"automatic,omitempty" doc:"Started by the policy of the application, without a request"`
	Actor       string            `json:"actor,omitempty" doc:"Principal that requested the operation"`
	Revision    string            `json:"revision,omitempty" doc:"Revision that was deployed"`
	Author      string            `json:"author,omitempty" doc:"Author of the commit"`
	Subject     string            `json:"subject,omitempty" doc:"First line of the commit's message"`
	Message     string            `json:"message,omitempty" doc:"Message of the system"`
	Since       time.Time         `json:"since,omitzero" doc:"Time since when an application has drifted, or an agent is or was away"`
	ExpiresAt   time.Time         `json:"expiresAt,omitzero" doc:"Time at which a certificate or token expires"`
	Ledger      string            `json:"ledger,omitempty" doc:"Id of the entry of the ledger"`
}

// States of a NotificationDelivery.
const (
	// DeliveryWaiting is sent at its next attempt.
	DeliveryWaiting = "Waiting"
	// DeliverySent was taken by the receiver.
	DeliverySent = "Sent"
	// DeliveryDead was tried as often as it is tried; a user may send it again.
	DeliveryDead = "Dead"
	// DeliveryQuiet is not sent: the rule sent the same a short time before, or too many wait.
	DeliveryQuiet = "Quiet"
)

// NotificationDelivery is one message and its state. Deliveries are kept for 30 days after they ended.
type NotificationDelivery struct {
	ID       string            `json:"id" doc:"Identifier, which the receiver gets; the same for each attempt"`
	Rule     string            `json:"rule" doc:"Id of the rule" example:"org.acme.failures"`
	Scope    Scope             `json:"scope" doc:"Scope of the rule"`
	Channel  string            `json:"channel" doc:"Id of the channel" example:"org.acme.slack"`
	State    string            `json:"state" doc:"Waiting, Sent, Dead or Quiet" example:"Sent"`
	Event    NotificationEvent `json:"event" doc:"The event that it reports"`
	Title    string            `json:"title" doc:"First line"`
	Text     string            `json:"text" doc:"Text"`
	Attempts int64             `json:"attempts" doc:"Number of attempts"`
	Message  string            `json:"message,omitempty" doc:"Reason for the failure, without secrets"`
	// NextAt is when a waiting one is tried next.
	NextAt     time.Time `json:"nextAt,omitzero" doc:"Time of the next attempt"`
	CreatedAt  time.Time `json:"createdAt" doc:"Time of creation"`
	FinishedAt time.Time `json:"finishedAt,omitzero" doc:"Time at which it was sent, or failed for good"`
	// Taken are marks of the receivers that have it while others of its channel do not. They are the server's own.
	Taken []string `json:"-"`
}

// DeliveryFilter says which deliveries are wanted. The newest come first, unless Sort says otherwise.
type DeliveryFilter struct {
	ListOptions
	Rule, Channel, State, Event string
	// Object is the id of what happened something to.
	Object string
}

// NotificationText is what a rule would send.
type NotificationText struct {
	Event NotificationEvent `json:"event" doc:"The event of the message"`
	Title string            `json:"title" doc:"First line"`
	Text  string            `json:"text" doc:"Text"`
}

// NotificationResult is what came of a message that was sent to try a channel.
type NotificationResult struct {
	Sent    bool   `json:"sent" doc:"The receiver accepted it"`
	Message string `json:"message,omitempty" doc:"Reason for the failure, without secrets"`
}

// WebhookBody is what a webhook is sent.
type WebhookBody struct {
	// Delivery is the same for each attempt: what was seen before is a repetition.
	Delivery string            `json:"delivery"`
	Rule     string            `json:"rule,omitempty"`
	Title    string            `json:"title"`
	Text     string            `json:"text"`
	Event    NotificationEvent `json:"event"`
}
