package notify_test

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/server/notify"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// TestMain is the courier as well: the program that sends is this one.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == notify.CourierArgument {
		if err := notify.Courier(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	testenv.Main(m)
}

// received is a request as a receiver saw it.
type received struct {
	host, path string
	header     http.Header
	body       string
}

// receiver is an HTTPS server that keeps what it gets.
func receiver(t *testing.T, status int) (*httptest.Server, chan received) {
	t.Helper()
	got := make(chan received, 10)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- received{r.Host, r.URL.Path, r.Header, string(body)}
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	return s, got
}

// sender is one with a secret.
func sender(t *testing.T, private bool, secrets map[string]string) *notify.Sender {
	t.Helper()
	dir := t.TempDir()
	for name, text := range secrets {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var reach outward.Policy
	if private { // of this machine, as an operator allows it
		reach = outward.Policy{Private: true, Allow: outward.List{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}}
	}
	s, err := notify.NewSender(notify.SenderConfig{Secrets: dir, Outward: reach})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func message() *api.NotificationDelivery {
	return &api.NotificationDelivery{
		ID: "d3l1v3ry", Rule: "account.failures", Title: "shop: sync failed", Text: "Application account.prod/argocd/shop: sync failed",
		Event: api.NotificationEvent{ID: "e", Event: api.NotifySyncFailed, Name: "shop"},
	}
}

func channel(kind string, options map[string]string) *api.NotificationChannel {
	return &api.NotificationChannel{Meta: api.Meta{ID: "account.c", Name: "c", Scope: api.ScopeAccount}, Kind: kind, Secret: "c", Options: options}
}

// proxied sends all HTTPS of couriers through a real proxy, which leads all names to one server, and has them trust it.
func proxied(t *testing.T, to *httptest.Server) {
	t.Helper()
	ca := filepath.Join(t.TempDir(), "ca.crt")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: to.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HTTPS_PROXY", testenv.Tunnel(t, to.Listener.Addr().String()))
	t.Setenv("SSL_CERT_FILE", ca)
}

// anyName is a TLS server for whatever name a service has: its certificate is for all that the test names.
func anyName(t *testing.T, answer string, status int, names ...string) (*httptest.Server, chan received) {
	t.Helper()
	got := make(chan received, 10)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- received{r.Host, r.URL.Path, r.Header, string(body)}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	s.TLS = testenv.NewAuthority(t).Issue("test", names...).Server()
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, got
}

func next(t *testing.T, got chan received) received {
	t.Helper()
	select {
	case r := <-got:
		return r
	default:
		t.Fatal("nothing was received")
		return received{}
	}
}

func TestChatsAndPagersGetTheirMessageOverHTTPS(t *testing.T) {
	for _, c := range []struct {
		kind, secret, host, path, answer string
		status                           int
		options                          map[string]string
		want                             []string
	}{
		{
			"slack", "https://hooks.slack.com/services/T0AAAAAAA/B0BBBBBBB/cccccccccccccccccccccccc", "hooks.slack.com",
			"/services/T0AAAAAAA/B0BBBBBBB/cccccccccccccccccccccccc", "ok", 200,
			map[string]string{"color": "danger"},
			[]string{"shop: sync failed", "account.prod/argocd/shop", "danger"},
		},
		{
			"teams", "https://acme.webhook.office.com/webhookb2/11111111-4444-4444-8444-cccccccccccc@22222222-4444-4444-8444-cccccccccccc/IncomingWebhook/33333333012222222222333333333344/44444444-4444-4444-8444-cccccccccccc/V2ESyij_gAljSoUQHvZoZYzlpAoAXExyOl26dlf1xHEx05",
			"acme.webhook.office.com", "/webhookb2/11111111-4444-4444-8444-cccccccccccc@22222222-4444-4444-8444-cccccccccccc/IncomingWebhook/33333333012222222222333333333344/44444444-4444-4444-8444-cccccccccccc/V2ESyij_gAljSoUQHvZoZYzlpAoAXExyOl26dlf1xHEx05",
			"1", 200, nil,
			[]string{"shop: sync failed", "account.prod/argocd/shop"},
		},
		{
			"pagerduty", "pagerduty://events.pagerduty.com/0123456789abcdef0123456789abcdef", "events.pagerduty.com", "/v2/enqueue",
			`{"status":"success"}`, 202,
			map[string]string{"severity": "critical"},
			[]string{"0123456789abcdef0123456789abcdef", "shop: sync failed", "critical", "d3l1v3ry"},
		},
		{
			"discord", "https://discord.com/api/webhooks/123456789/t0kent0kent0kent0kent0ken", "discord.com", "/api/webhooks/123456789/t0kent0kent0kent0kent0ken",
			"", 204, nil,
			[]string{"shop: sync failed"},
		},
		{"ntfy", "ntfy://ntfy.example.org/alerts", "ntfy.example.org", "/alerts", "{}", 200, nil, []string{"account.prod/argocd/shop"}},
	} {
		t.Run(c.kind, func(t *testing.T) {
			s, got := anyName(t, c.answer, c.status, c.host)
			proxied(t, s)
			if err := sender(t, true, map[string]string{"account.c": c.secret}).Send(t.Context(), channel(c.kind, c.options), message()); err != nil {
				t.Fatal(err)
			}
			r := next(t, got)
			if host, _, _ := strings.Cut(r.host, ":"); host != c.host || r.path != c.path {
				t.Errorf("received at %s%s, want %s%s", r.host, r.path, c.host, c.path)
			}
			for _, want := range c.want {
				if !strings.Contains(r.body, want) {
					t.Errorf("the body has no %q: %s", want, r.body)
				}
			}
		})
	}
}

func TestAMailIsReceivedOverSMTP(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	mail := make(chan string, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		mail <- smtp(conn)
	}()
	t.Cleanup(func() { _ = l.Close() })
	secret := fmt.Sprintf("smtp://%s/?fromaddress=slipway@example.org&toaddresses=ops@example.org&usestarttls=no", l.Addr())
	err = sender(t, true, map[string]string{"account.c": secret}).Send(t.Context(), channel("email", map[string]string{"to": "ada@example.org"}), message())
	if err != nil {
		t.Fatal(err)
	}
	got := <-mail
	for _, want := range []string{"MAIL FROM:<slipway@example.org>", "RCPT TO:<ada@example.org>", "Subject: shop: sync failed", "account.prod/argocd/shop", "Delivery d3l1v3ry"} {
		if !strings.Contains(got, want) {
			t.Errorf("the mail has no %q:\n%s", want, got)
		}
	}
}

// smtp plays a mail server for one connection, and returns what was said to it.
func smtp(conn net.Conn) string {
	var all strings.Builder
	say := func(line string) { _, _ = io.WriteString(conn, line+"\r\n") }
	say("220 mail.example.org ESMTP")
	in, data := bufio.NewScanner(conn), false
	for in.Scan() {
		line := in.Text()
		all.WriteString(line + "\n")
		switch {
		case data && line == ".":
			data = false
			say("250 taken")
		case data:
		case strings.HasPrefix(line, "EHLO"):
			say("250 mail.example.org")
		case line == "DATA":
			data = true
			say("354 go on")
		case line == "QUIT":
			say("221 bye")
			return all.String()
		default:
			say("250 ok")
		}
	}
	return all.String()
}

func TestAWebhookIsSignedAndNamesItsDelivery(t *testing.T) {
	t.Parallel()
	got := make(chan received, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- received{r.Host, r.URL.Path, r.Header, string(body)}
	}))
	t.Cleanup(s.Close)
	c := channel(api.ChannelWebhook, nil)
	c.URL = s.URL + "/slipway"
	if err := sender(t, true, map[string]string{"account.c": "k3y"}).Send(t.Context(), c, message()); err != nil {
		t.Fatal(err)
	}
	r := next(t, got)
	if want := notify.Sign([]byte("k3y"), r.header.Get(notify.HeaderTimestamp), []byte(r.body)); r.header.Get(notify.HeaderSignature) != want {
		t.Errorf("signature %s, want %s", r.header.Get(notify.HeaderSignature), want)
	}
	var body api.WebhookBody
	if err := json.Unmarshal([]byte(r.body), &body); err != nil || body.Delivery != "d3l1v3ry" || r.header.Get(notify.HeaderDelivery) != "d3l1v3ry" || body.Event.Name != "shop" {
		t.Errorf("%v: %s", err, r.body)
	}
	if strings.Contains(r.body, "k3y") {
		t.Error("the key is in the body")
	}
}

func TestAPrivateAddressIsRefused(t *testing.T) {
	t.Parallel()
	s, got := receiver(t, http.StatusOK)
	c := channel(api.ChannelWebhook, nil)
	for _, url := range []string{s.URL, "http://localhost:1/", "http://169.254.169.254/latest", "http://[::1]:1/", "http://[::ffff:10.0.0.1]:1/", "http://0.0.0.0:1/", "http://10.1.2.3/"} {
		c.URL = url
		if err := sender(t, false, map[string]string{"account.c": "k3y"}).Send(t.Context(), c, message()); err == nil || !strings.Contains(err.Error(), "--outbound-allow") {
			t.Errorf("%s: %v", url, err)
		}
	}
	mail := sender(t, false, map[string]string{"account.c": "smtp://localhost:1/?fromaddress=a@example.org&toaddresses=b@example.org"})
	if err := mail.Send(t.Context(), channel("email", nil), message()); err == nil || !strings.Contains(err.Error(), "--outbound-allow") {
		t.Errorf("mail to localhost: %v", err)
	}
	if len(got) > 0 {
		t.Error("a private address was reached")
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere, got := receiver(t, http.StatusOK)
	s := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(s.Close)
	c := channel(api.ChannelWebhook, nil)
	c.URL = s.URL
	if err := sender(t, true, map[string]string{"account.c": "k3y"}).Send(t.Context(), c, message()); err == nil || !strings.Contains(err.Error(), "redirects") {
		t.Errorf("a redirect: %v", err)
	}
	if len(got) > 0 {
		t.Error("the redirect was followed")
	}
}

func TestNoErrorHasASecret(t *testing.T) {
	s, _ := anyName(t, "invalid_token cccccccccccccccccccccccc", http.StatusForbidden, "hooks.slack.com", "discord.com", "events.pagerduty.com")
	proxied(t, s)
	for kind, secret := range map[string]string{
		"slack":     "https://hooks.slack.com/services/T0AAAAAAA/B0BBBBBBB/cccccccccccccccccccccccc",
		"discord":   "discord://cccccccccccccccccccccccc@123456789",
		"pagerduty": "pagerduty://events.pagerduty.com/cccccccccccccccccccccccc",
		"email":     "smtp://user:p%40ssw0rdcccccccccccccccccccccccc@localhost:1/?fromaddress=a@example.org&toaddresses=b@example.org",
		"telegram":  "telegram://cccccccccccccccccccccccc@telegram",
		"teams":     "teams://cccccccccccccccccccccccc",
		"ntfy":      "cccccccccccccccccccccccc",
	} {
		err := sender(t, true, map[string]string{"account.c": secret}).Send(t.Context(), channel(kind, nil), message())
		if err == nil {
			t.Errorf("%s: sent", kind)
		} else if strings.Contains(err.Error(), "cccccccc") || strings.Contains(err.Error(), "ssw0rd") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestASecretIsOfItsScope(t *testing.T) {
	t.Parallel()
	s := sender(t, true, map[string]string{"org.acme.c": "k3y", "c": "k3y"})
	for _, scope := range []api.Scope{"account", "org.other", "project.acme.shop"} {
		c := channel(api.ChannelWebhook, nil)
		c.Scope, c.URL = scope, "http://localhost:1/"
		if err := s.Send(t.Context(), c, message()); err == nil || !strings.Contains(err.Error(), "there is no file") {
			t.Errorf("at %s: %v", scope, err)
		}
	}
	c := channel(api.ChannelWebhook, nil)
	for _, name := range []string{"../c", "", "a/b", ".."} {
		c.Secret = name
		if err := s.Send(t.Context(), c, message()); err == nil || !strings.Contains(err.Error(), "does not name a secret") {
			t.Errorf("secret %q: %v", name, err)
		}
	}
}

func TestAReceiverThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(func() { close(release); s.Close() })
	c := channel(api.ChannelWebhook, nil)
	c.URL = s.URL
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := sender(t, true, map[string]string{"account.c": "k3y"}).Send(ctx, c, message()); err == nil {
		t.Error("a receiver that says nothing has taken it")
	}
}
