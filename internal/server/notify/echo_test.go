package notify_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestNoWordOfAReceiverIsShown(t *testing.T) {
	t.Parallel()
	const marker = "Zaubernuss"
	raw := func(text string) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer conn.Close()
					for in := bufio.NewReader(conn); ; {
						line, err := in.ReadString('\n')
						if err != nil || strings.TrimSpace(line) == "" {
							break
						}
					}
					_, _ = fmt.Fprint(conn, text)
				}()
			}
		}()
		return l.Addr().String()
	}
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
				channel.URL = "http://" + raw(answer)
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
