package notify

import (
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/slipway-gitops/slipway/api"
)

// A template ends soon, whatever it says and whatever comes into it, and gives texts that can be sent.
func FuzzTemplate(f *testing.F) {
	f.Add("{{.What}}", "{{range .Labels}}{{.}}{{end}}", "shop")
	f.Add("{{upper .Name}}\r\nBcc: x", `{{printf "%1000000d" 1}}`, "a\x00b\u202e\xff")
	f.Add(`{{define "x"}}{{template "x"}}{{end}}`, `{{with $x := .Labels}}{{index $x "team"}}{{end}}`, "{{.Name}}")
	f.Add("", `{{range $i, $e := .Labels}}{{range $.Labels}}{{end}}{{end}}{{call .What}}`, "")
	f.Fuzz(func(t *testing.T, title, text, value string) {
		if len(title)+len(text) > 4<<10 {
			return
		}
		begun := time.Now()
		tpl, err := ReadTemplate(title, text)
		if err == nil {
			var a, b string
			a, b, err = tpl.Render(&api.NotificationEvent{
				Event: api.NotifyTest, Name: value, Message: value, Subject: value, Labels: map[string]string{"team": value, value: "x"},
			})
			if err == nil && (len(a) > api.MaxNotificationTitle || len(b) > api.MaxNotificationText) {
				t.Errorf("a message of %d and %d bytes", len(a), len(b))
			}
			if strings.ContainsAny(a, "\r\n\x00") || strings.ContainsRune(b, 0) || !utf8.ValidString(a+b) {
				t.Errorf("a message that cannot be sent: %q, %q", a, b)
			}
		}
		if d := time.Since(begun); d > 5*time.Second {
			t.Errorf("it took %v", d)
		}
	})
}

// The address of a channel is one of its kind, or refused without being shown.
func FuzzChannelAddress(f *testing.F) {
	f.Add("slack", "https://hooks.slack.com/services/T/B/planted")
	f.Add("teams", "https://x.webhook.office.com/webhookb2/planted@b/IncomingWebhook/c/d/e")
	f.Add("discord", "https://discord.com/api/webhooks/1/%2fplanted")
	f.Add("webhook", "https://planted@host/x")
	f.Add("email", "smtp://a:planted@host:25/?from=a&to=b")
	f.Fuzz(func(t *testing.T, kind, secret string) {
		if err := checkWebhookURL(secret); err == nil {
			if u, err := url.Parse(secret); err != nil || u.User != nil || u.Host == "" {
				t.Errorf("%q is taken as the address of a webhook", secret)
			}
		}
		k, known := kinds[kind]
		if !known {
			return
		}
		u, err := k.address(secret)
		if err != nil {
			if strings.Contains(err.Error(), "planted") {
				t.Errorf("the error shows the secret: %v", err)
			}
			return
		}
		if u.Scheme != k.scheme {
			t.Errorf("%q became %q, which is none of %s", secret, u, kind)
		}
	})
}
