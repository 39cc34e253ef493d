package notify_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/notify"
)

// TestNoTextOfAnEventBecomesAHeader sends a mail of an event whose texts were written by somebody who wants more than a text.
func TestNoTextOfAnEventBecomesAHeader(t *testing.T) {
	t.Parallel()
	const header = "x\r\nBcc: evil@example.org\r\nContent-Type: text/html\r\n\r\n<script>"
	template, err := notify.ReadTemplate("{{.Name}} {{.Subject}}", "{{.Message}}")
	if err != nil {
		t.Fatal(err)
	}
	title, text, err := template.Render(&api.NotificationEvent{Event: api.NotifySyncFailed, Name: header, Subject: header, Message: "a\r\n.\r\nMAIL FROM:<evil@example.org>\r\n" + header})
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(title, "\r\n") {
		t.Errorf("the title has lines: %q", title)
	}
	for _, d := range []*api.NotificationDelivery{{ID: "one", Title: title, Text: text}, {ID: "two", Title: header, Text: header + "\r\n.\r\nRCPT TO:<evil@example.org>"}} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		mail := make(chan string, 1)
		go func() {
			conn, err := l.Accept()
			if err != nil {
				mail <- err.Error()
				return
			}
			defer func() { _ = conn.Close() }()
			mail <- smtp(conn)
		}()
		// Somebody wrote HTML into the address, and into the channel of an earlier version.
		secret := fmt.Sprintf("smtp://%s/?fromaddress=slipway@example.org&toaddresses=ops@example.org&usestarttls=no&usehtml=yes", l.Addr())
		err = sender(t, true, map[string]string{"account.c": secret}).Send(t.Context(), channel("email", map[string]string{"usehtml": "yes"}), d)
		_ = l.Close()
		if err != nil {
			t.Fatal(err)
		}
		said := <-mail
		head, _, _ := strings.Cut(said[strings.Index(said, "\nDATA\n")+6:], "\n\n")
		if strings.Contains(head, "\nBcc:") || strings.Contains(head, "\nContent-Type: text/html") || strings.Contains(head, "multipart") {
			t.Errorf("the headers are\n%s", head)
		}
		if strings.Count(said, "MAIL FROM:") > 1+strings.Count(d.Text, "MAIL FROM:") || strings.Contains(said, "\nRCPT TO:<evil@example.org>\nQUIT") || strings.Count(said, "\n.\n") != 1 {
			t.Errorf("the mail ends too early:\n%s", said)
		}
	}
	for name, value := range map[string]string{"to": "a@example.org\r\nBcc: b@example.org", "fromname": "x\nBcc: y", "usehtml": "yes"} {
		c := channel("email", map[string]string{name: value})
		if err := notify.CheckChannel(c); err == nil {
			t.Errorf("option %s may be %q", name, value)
		}
	}
}

// TestATextOfOthersCallsNobodyAndLinksToNothing is about chats, which read some texts as more than that.
func TestATextOfOthersCallsNobodyAndLinksToNothing(t *testing.T) {
	t.Parallel()
	template, err := notify.ReadTemplate("", "<!here> {{.Subject}} {{.Message}} {{.Author}} {{range $k, $v := .Labels}}{{$v}}{{end}}")
	if err != nil {
		t.Fatal(err)
	}
	_, text, err := template.Render(&api.NotificationEvent{
		Event: api.NotifySyncFailed, Subject: "<!channel> <https://evil.example|Sign in again>", Message: "@everyone @Here <@U123> <#C1|x> <javascript:x|y>",
		Author: "Ann Example <ann@example.org>", Labels: map[string]string{"a": "<!everyone>"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<!channel", "<https:", "@everyone", "@Here", "<@U", "<#C", "<javascript:", "<!everyone"} {
		if strings.Contains(text, bad) {
			t.Errorf("%s is in %q", bad, text)
		}
	}
	// The template is the rule's own, and an address stays one.
	if !strings.HasPrefix(text, "<!here> ") || !strings.Contains(text, "Ann Example <ann@example.org>") {
		t.Errorf("%q", text)
	}
}

// TestATemplateReachesNothingOfTheServer tries what templates of Go can reach: methods, functions, other templates, files.
func TestATemplateReachesNothingOfTheServer(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{{env "HOME"}}`, `{{getenv "HOME"}}`, `{{readFile "/etc/passwd"}}`, `{{include "x"}}`, `{{template "title"}}`, `{{define "x"}}{{end}}`, `{{block "x" .}}{{end}}`,
		`{{call .Name}}`, `{{printf "%1000000d" 1}}`, `{{html .}}`, `{{js .}}`, `{{slice .Name 1}}`, `{{.Secret}}`, `{{.Labels.x.y}}`, `{{range .Name}}{{end}}`,
		`{{range $.Labels}}{{range $.Labels}}{{end}}{{end}}`, `{{with $x := .}}{{$x.Token}}{{end}}`, `{{.URL}}`, `{{.Name.String}}`, strings.Repeat(`{{.Name}}`, 600),
		`{{range 1000000000}}x{{end}}`,
	} {
		if _, err := notify.ReadTemplate("", text); err == nil {
			t.Errorf("%.60s is taken", text)
		}
	}
}
