package notify

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
)

// kind is one kind of channels.
type kind struct {
	// scheme is that of the URL in the secret.
	scheme string
	// titled says that the first line has a place of its own.
	titled bool
	// options are fields that a channel may set. None of them says where something goes that has a token with it.
	options []string
	// convert makes the URL of the address that the service itself shows; nil where there is nothing to make.
	convert func(*url.URL) (string, error)
	// receivers is where several receivers are; nil where a channel has one.
	receivers *list
}

// kinds are those of the library. A webhook is ours.
//
//nolint:gochecknoglobals // a table
var kinds = map[string]kind{
	"slack":     {scheme: "slack", titled: true, options: []string{"botname", "icon", "color"}, convert: slackURL},
	"teams":     {scheme: "teams", titled: true, options: []string{"color"}, convert: teamsURL},
	"email":     {scheme: "smtp", titled: true, options: []string{"to", "fromname"}, receivers: &list{[]string{"toaddresses", "to"}, "to"}},
	"pagerduty": {scheme: "pagerduty", options: []string{"severity", "source", "action"}},
	"opsgenie":  {scheme: "opsgenie", titled: true, options: []string{"tags", "entity", "source", "priority", "responders"}},
	"discord":   {scheme: "discord", titled: true, options: []string{"username", "avatar", "color"}, convert: discordURL},
	"telegram": {
		scheme: "telegram", titled: true, options: []string{"chats", "notification", "preview"},
		receivers: &list{[]string{"chats", "channels"}, "chats"},
	},
	"googlechat": {scheme: "googlechat", convert: googleURL},
	"mattermost": {scheme: "mattermost", options: []string{"icon"}},
	"matrix":     {scheme: "matrix", options: []string{"rooms"}, receivers: &list{[]string{"rooms", "room"}, "rooms"}},
	"rocketchat": {scheme: "rocketchat"},
	"zulip":      {scheme: "zulip", options: []string{"stream", "topic"}},
	"ntfy":       {scheme: "ntfy", titled: true, options: []string{"priority", "tags", "click", "icon"}},
	"gotify":     {scheme: "gotify", titled: true, options: []string{"priority"}},
	"pushover":   {scheme: "pushover", titled: true, options: []string{"devices", "priority"}},
}

const (
	maxOptions = 20
	maxOption  = 1000
)

// CheckChannel says what is wrong with a channel that is to be stored.
func CheckChannel(c *api.NotificationChannel) error {
	invalid := func(field, format string, args ...any) error {
		return &api.Error{Code: api.CodeInvalid, Message: fmt.Sprintf(format, args...), Field: "body." + field}
	}
	if err := api.CheckName(c.Secret); err != nil {
		return invalid("secret", "secret: %s", err)
	}
	if len(c.Options) > maxOptions {
		return invalid("options", "there are %d options: %d are allowed", len(c.Options), maxOptions)
	}
	k, known := kinds[c.Kind]
	if c.Kind == api.ChannelWebhook {
		if err := checkWebhookURL(c.URL); err != nil {
			return invalid("url", "%s", err)
		}
	} else if !known {
		return invalid("kind", "kind %.40q is not known: see the description of the API", c.Kind)
	} else if c.URL != "" {
		return invalid("url", "a channel of kind %s has no url: its address is in the file of its secret", c.Kind)
	}
	for name, value := range c.Options {
		if !slices.Contains(k.options, name) {
			return invalid("options", "option %.40q is none of kind %s, which has %s", name, c.Kind, orNone(k.options))
		}
		if len(value) > maxOption || strings.ContainsAny(value, "\r\n\x00") {
			return invalid("options", "option %s is longer than %d bytes or has line breaks", name, maxOption)
		}
	}
	return nil
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

func checkWebhookURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("a webhook needs a url: write https://HOST/PATH")
	case u.User != nil || u.Fragment != "":
		return errors.New("the url of a webhook has credentials or a fragment: the receiver knows the server by the signature")
	}
	return nil
}

// errSecret says that a secret is not what its kind needs. It does not show it.
var errSecret = errors.New("the file of the secret does not hold an address of this kind")

// address is the library's URL of a secret: as it is, or made of the address that the service shows.
func (k *kind) address(secret string) (*url.URL, error) {
	u, err := url.Parse(secret)
	if err != nil || u.Scheme == "" {
		return nil, fmt.Errorf("%w: write %s://… or the https address that the service shows", errSecret, k.scheme)
	}
	if u.Scheme == "https" && k.convert != nil {
		text, err := k.convert(u)
		if err != nil {
			return nil, err
		}
		if u, err = url.Parse(text); err != nil {
			return nil, errSecret
		}
	}
	if u.Scheme != k.scheme {
		return nil, fmt.Errorf("%w: write %s://… or the https address that the service shows", errSecret, k.scheme)
	}
	return u, nil
}

// slackURL is of https://hooks.slack.com/services/T…/B…/….
func slackURL(u *url.URL) (string, error) {
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if u.Host != "hooks.slack.com" || len(parts) != 4 || parts[0] != "services" {
		return "", fmt.Errorf("%w: the address of Slack is https://hooks.slack.com/services/…/…/…", errSecret)
	}
	return "slack://hook:" + strings.Join(parts[1:], "-") + "@webhook", nil
}

// discordURL is of https://discord.com/api/webhooks/ID/TOKEN.
func discordURL(u *url.URL) (string, error) {
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if len(parts) != 4 || parts[0] != "api" || parts[1] != "webhooks" {
		return "", fmt.Errorf("%w: the address of Discord is https://discord.com/api/webhooks/…/…", errSecret)
	}
	return "discord://" + url.PathEscape(parts[3]) + "@" + parts[2], nil
}

// teamsURL is of https://ORG.webhook.office.com/webhookb2/GROUP@TENANT/IncomingWebhook/ID/OWNER/EXTRA.
func teamsURL(u *url.URL) (string, error) {
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if !strings.HasSuffix(u.Host, ".webhook.office.com") || len(parts) != 6 || parts[0] != "webhookb2" || parts[2] != "IncomingWebhook" {
		return "", fmt.Errorf("%w: the address of Teams is https://….webhook.office.com/webhookb2/…@…/IncomingWebhook/…/…/…", errSecret)
	}
	return "teams://" + parts[1] + "/" + strings.Join(parts[3:], "/") + "?host=" + url.QueryEscape(u.Host), nil
}

// googleURL is of https://chat.googleapis.com/v1/spaces/….
func googleURL(u *url.URL) (string, error) {
	u.Scheme = "googlechat"
	return u.String(), nil
}
