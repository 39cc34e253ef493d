// Package notify notifies people of events: which rule is about what, the text that follows, and how it gets to them.
package notify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/outward"
)

const (
	// sendTime bounds one attempt, hold is for how long a message is claimed: longer than an attempt in any case.
	sendTime, hold = 15 * time.Second, 60 * time.Second
	// maxSecret is how long the file of a secret may be.
	maxSecret = 8 << 10
)

// Sender brings a message to its channel. It holds no secret longer than a sending lasts.
type Sender struct {
	secrets  string
	webhook  webhook
	couriers couriers
}

// SenderConfig is what a Sender needs.
type SenderConfig struct {
	// Secrets is a directory with a file <scope>.<secret> for each secret; "" for none, and then nothing can be sent.
	Secrets string
	// Outward is what may be connected to.
	Outward outward.Policy
	// Courier is the program that sends, with its arguments; this one where it is empty.
	Courier []string
	// Now is time.Now where it is nil.
	Now func() time.Time
}

// NewSender makes a Sender.
func NewSender(cfg SenderConfig) (*Sender, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if len(cfg.Courier) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find this program: %w", err)
		}
		cfg.Courier = []string{self, CourierArgument}
	}
	return &Sender{
		secrets:  cfg.Secrets,
		webhook:  webhook{client: &http.Client{Transport: transport(&cfg.Outward), Timeout: sendTime}, now: cfg.Now},
		couriers: couriers{command: cfg.Courier, outward: cfg.Outward},
	}, nil
}

// Close ends connections that wait to be used again.
func (s *Sender) Close() { s.webhook.client.CloseIdleConnections() }

// Send sends, to those receivers of the channel that do not have the message yet, and notes in the message who takes it. An
// error has no secret in it.
func (s *Sender) Send(ctx context.Context, c *api.NotificationChannel, d *api.NotificationDelivery) error {
	secret, err := s.secret(c)
	if err != nil {
		return err
	}
	if c.Kind == api.ChannelWebhook {
		if err := s.webhook.send(ctx, c.URL, []byte(secret), d); err != nil {
			return errors.New(quiet(err, secret))
		}
		return nil
	}
	k, known := kinds[c.Kind]
	if !known {
		return fmt.Errorf("channel %s is of kind %.40q, which this server does not know", c.ID, c.Kind)
	}
	address, err := k.address(secret)
	if err != nil {
		return err
	}
	// The title becomes a header of some kinds.
	p := parcel{Title: strings.Join(strings.Fields(plain(d.Title)), " "), Text: plain(d.Text), Options: c.Options}
	if !k.titled {
		p.Title, p.Text = "", d.Title+"\n"+d.Text
	}
	if c.Kind == "email" { // the receiver can recognize a repetition
		p.Text += "\n\n-- \nDelivery " + d.ID
		// What others wrote is in it: commits, errors, names. It must not become markup.
		address, p.Options = asText(address), with(c.Options, "usehtml", "no")
	}
	if c.Kind == "pagerduty" {
		p.Options = with(c.Options, "dedup_key", d.ID)
	}
	if c.Kind == "opsgenie" {
		p.Options = with(c.Options, "alias", d.ID)
	}
	if receivers := k.receivers.of(address, c.Options); len(receivers) > 0 {
		err = s.sendEach(ctx, k.receivers, p, address, receivers, d)
	} else {
		p.URL = address.String()
		err = s.couriers.send(ctx, p)
	}
	if err != nil {
		return errors.New(quiet(err, secret))
	}
	return nil
}

// asText is the address of a mail server for mails without HTML.
func asText(address *url.URL) *url.URL {
	query := address.Query()
	for name := range query {
		if strings.EqualFold(name, "usehtml") {
			query.Del(name)
		}
	}
	out := *address
	out.RawQuery = query.Encode()
	return &out
}

func with(options map[string]string, name, value string) map[string]string {
	out := maps.Clone(options)
	if out == nil {
		out = map[string]string{}
	}
	out[name] = value
	return out
}

// secret reads the file of a channel's secret. Its name begins with the scope, so no scope uses that of another one.
func (s *Sender) secret(c *api.NotificationChannel) (string, error) {
	if s.secrets == "" {
		return "", errors.New("the server has no directory of secrets: start it with --notify-secrets DIR")
	}
	if err := api.CheckName(c.Secret); err != nil || !c.Scope.Valid() {
		return "", fmt.Errorf("channel %s does not name a secret", c.ID)
	}
	name := c.Scope.ID(c.Secret)
	root, err := os.OpenRoot(s.secrets)
	if err != nil {
		return "", errors.New("the directory of --notify-secrets cannot be read: see the server's log")
	}
	defer root.Close()
	file, err := root.Open(name)
	if err != nil {
		return "", fmt.Errorf("there is no file %s in the directory of --notify-secrets, or it cannot be read: "+
			"ask the operator of the server to put it there", name)
	}
	defer file.Close() //nolint:errcheck // it was only read
	raw, err := io.ReadAll(io.LimitReader(file, maxSecret+1))
	text := strings.TrimSpace(string(raw))
	switch {
	case err != nil:
		return "", fmt.Errorf("the file %s in the directory of --notify-secrets cannot be read", name)
	case len(raw) > maxSecret:
		return "", fmt.Errorf("the file %s in the directory of --notify-secrets is longer than %d bytes", name, maxSecret)
	case text == "":
		return "", fmt.Errorf("the file %s in the directory of --notify-secrets is empty", name)
	}
	return text, nil
}
