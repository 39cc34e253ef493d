package notify_test

import (
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/notify"
)

func TestATemplateThatCouldTakeLongIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"counts":            `{{range 1000000000}}{{end}}`,
		"counts a variable": `{{$n := 1000000000}}{{range $n}}{{end}}`,
		"nested":            `{{range .Labels}}{{range $.Labels}}{{end}}{{end}}`,
		"calls itself":      `{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`,
		"pads":              `{{printf "%999999d" 1}}`,
		"escapes":           `{{.Message | js | js}}{{js "x"}}`,
		"no such field":     `{{.Secret}}`,
		"no such function":  `{{env "HOME"}}`,
		"not closed":        `{{if .Name}}`,
		"many steps":        strings.Repeat(`{{.Name}}`, 600),
	} {
		if _, err := notify.ReadTemplate("", text); api.CodeOf(err) != api.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestATemplateWithAFieldThatThereIsNoneOfSaysWhichThereAre(t *testing.T) {
	t.Parallel()
	_, err := notify.ReadTemplate("", "{{.Foo}}")
	if err == nil || !strings.Contains(err.Error(), "no field .Foo") || !strings.Contains(err.Error(), ".ExpiresAt") || strings.Contains(err.Error(), "notify.Fields") {
		t.Error(err)
	}
}

func TestATemplateIsGivenTheEventAndCutAtItsBounds(t *testing.T) {
	t.Parallel()
	tmpl, err := notify.ReadTemplate("{{upper .Name}}\nx{{.Message}}", `{{range $k, $v := .Labels}}{{$k}}={{$v}} {{end}}{{short .Revision}} {{default "nobody" .Actor}}`+strings.Repeat("{{.Message}}", 8))
	if err != nil {
		t.Fatal(err)
	}
	e := &api.NotificationEvent{Name: "shop", Revision: "0123456789abcdef", Labels: map[string]string{"team": "a", "tier": "b"}, Message: strings.Repeat("é\x00\r\n", 4000)}
	title, text, err := tmpl.Render(e)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(title, "SHOP xé é") || len(title) > api.MaxNotificationTitle || strings.ContainsAny(title, "\r\n\x00") {
		t.Errorf("title %q", title)
	}
	if !strings.HasPrefix(text, "team=a tier=b 01234567 nobody") || len(text) > api.MaxNotificationText || strings.ContainsAny(text, "\r\x00") {
		t.Errorf("text of %d bytes %.60q", len(text), text)
	}
}

func TestTheStandardTemplatesSayWhatHappened(t *testing.T) {
	t.Parallel()
	for _, event := range api.NotificationEvents() {
		rule := &api.NotificationRule{Meta: api.Meta{ID: "account.r", Scope: "account"}, Events: []string{event}}
		title, text, ok := notify.Tell(rule, notify.Sample(rule, time.Date(2030, 6, 1, 0, 0, 0, 0, time.UTC)))
		if !ok || !strings.Contains(title, ": ") || len(text) < 20 || strings.Contains(text, "could not be used") || strings.Contains(text, "<no value>") {
			t.Errorf("%s: %v %q %q", event, ok, title, text)
		}
	}
}

func TestARuleIsAboutObjectsOfItsScope(t *testing.T) {
	t.Parallel()
	e := &api.NotificationEvent{
		Event: api.NotifyDegraded, Object: api.Ref{Type: api.TypeApplication, Scope: "project.acme.shop"}, Labels: map[string]string{"team": "shop"},
		Service: "org.acme.checkout", Environment: "org.acme.live",
	}
	for name, c := range map[string]struct {
		rule api.NotificationRule
		want bool
	}{
		"account":       {api.NotificationRule{Meta: api.Meta{Scope: "account"}}, true},
		"organization":  {api.NotificationRule{Meta: api.Meta{Scope: "org.acme"}}, true},
		"another":       {api.NotificationRule{Meta: api.Meta{Scope: "org.other"}}, false},
		"inside":        {api.NotificationRule{Meta: api.Meta{Scope: "project.acme.web"}}, false},
		"label":         {api.NotificationRule{Meta: api.Meta{Scope: "account"}, Selector: "team in (shop)"}, true},
		"other label":   {api.NotificationRule{Meta: api.Meta{Scope: "account"}, Selector: "team!=shop"}, false},
		"service":       {api.NotificationRule{Meta: api.Meta{Scope: "account"}, Services: []string{"org.acme.checkout"}}, true},
		"other service": {api.NotificationRule{Meta: api.Meta{Scope: "account"}, Services: []string{"org.acme.basket"}}, false},
		"environment":   {api.NotificationRule{Meta: api.Meta{Scope: "account"}, Environments: []string{"org.acme.test"}}, false},
		"paused":        {api.NotificationRule{Meta: api.Meta{Scope: "account"}, Paused: true}, false},
	} {
		c.rule.Events = []string{api.NotifyDegraded}
		if got := notify.Matches(&c.rule, e); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestAnOptionThatSaysWhereATokenGoesIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, option string }{
		{"teams", "host"}, {"email", "skiptlsverify"}, {"email", "auth"}, {"ntfy", "scheme"}, {"ntfy", "disabletls"}, {"mattermost", "disabletls"}, {"gotify", "insecureskipverify"}, {"webhook", "x"},
	} {
		channel := &api.NotificationChannel{Kind: c.kind, Secret: "s", Options: map[string]string{c.option: "evil.example.org"}}
		if c.kind == api.ChannelWebhook {
			channel.URL = "https://hooks.example.org/"
		}
		if err := notify.CheckChannel(channel); api.CodeOf(err) != api.CodeInvalid {
			t.Errorf("%s with option %s: %v", c.kind, c.option, err)
		}
	}
}
