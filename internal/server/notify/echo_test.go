package notify_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestNoWordOfAReceiverIsShown(t *testing.T) {
	t.Parallel()
	const marker = "Zaubernuss"
	mail, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mail.Close() })
	go func() {
		for {
			conn, err := mail.Accept()
			if err != nil {
				return
			}
			_, _ = fmt.Fprintf(conn, "554 5.7.1 %s says no\r\n", marker)
			_ = conn.Close()
		}
	}()
	body := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTeapot)
		_, _ = fmt.Fprintf(w, `{"error":%[1]q,"errorDescription":%[1]q,"message":%[1]q,"status":%[1]q}`, marker)
	}))
	t.Cleanup(body.Close)
	plain := strings.TrimPrefix(body.URL, "http://")
	for _, c := range []struct{ name, kind, secret, want string }{
		{"a webhook with a phrase of its own", "webhook", "", "status 418 I'm a teapot"},
		{"a webhook that speaks no HTTP", "webhook", "", "not what was expected"},
		{"a webhook that redirects", "webhook", "", "redirects"},
		{"gotify", "gotify", "gotify://" + plain + "/AAAAAAAAAAAAAAA?disableTLS=yes", ""},
		{"ntfy", "ntfy", "ntfy://" + plain + "/topic?scheme=http", ""},
		{"mattermost", "mattermost", "mattermost://" + plain + "/token?disableTLS=yes", ""},
		{"rocketchat", "rocketchat", "rocketchat://" + plain + "/tokenA/tokenB", ""},
		{"mail", "email", "smtp://" + mail.Addr().String() + "/?from=a@example.org&to=b@example.org&encryption=None&useStartTLS=no", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			channel := channel(c.kind, nil)
			secret := c.secret
			if c.kind == "webhook" {
				secret = "k3y"
				answer := map[string]string{
					"a webhook with a phrase of its own": "HTTP/1.1 418 " + marker + "\r\nContent-Length: 10\r\n\r\n" + marker,
					"a webhook that speaks no HTTP":      marker + "\r\n", "a webhook that redirects": "HTTP/1.1 302 " + marker + "\r\nLocation: http://" + marker + "/\r\nContent-Length: 0\r\n\r\n",
				}[c.name]
				channel.URL = "http://" + testenv.Says(t, answer)
			}
			err := sender(t, true, map[string]string{"account.c": secret}).Send(t.Context(), channel, message())
			if err == nil {
				t.Fatal("it was sent")
			}
			if strings.Contains(err.Error(), marker) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err = %v, want %q", err, c.want)
			}
		})
	}
}

// A library says that a message was sent although the receiver refused it, or panics over an answer that it did not expect.
func TestWhatALibraryMakesOfARefusalIsReported(t *testing.T) {
	for _, c := range []struct{ kind, secret, host, answer, want string }{
		{"telegram", "telegram://110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawX@telegram?chats=@ops", "api.telegram.org", "HTTP/1.1 403 no\r\nContent-Length: 0\r\n\r\n", "status 403 Forbidden"},
		{"zulip", "zulip://bot%40example.org:" + strings.Repeat("0a", 16) + "@zulip.example.org/?stream=ops&topic=ops", "zulip.example.org", "HTTP/1.1 no\r\n\r\n", "not what was expected"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // it is refused in any case
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					return
				}
				_, _ = io.WriteString(conn, c.answer) // the test sees what is missing
				_ = conn.Close()
			}))
			s.TLS = testenv.NewAuthority(t).Issue("test", c.host).Server()
			s.StartTLS()
			t.Cleanup(s.Close)
			proxied(t, s)
			err := sender(t, true, map[string]string{"account.c": c.secret}).Send(t.Context(), channel(c.kind, nil), message())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err = %v, want %q", err, c.want)
			}
		})
	}
}
