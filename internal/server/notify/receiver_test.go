package notify_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// crowd are receivers of one channel, of which one refuses what it gets for a while.
type crowd struct {
	mu     sync.Mutex
	closed string // the receiver that refuses
	got    []string
}

// offer reports whether a receiver takes a message, and notes it.
func (c *crowd) offer(receiver string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if receiver == c.closed {
		return false
	}
	c.got = append(c.got, receiver)
	return true
}

// taken returns who took a message since it was asked last, and lets all take the next one.
func (c *crowd) taken() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := slices.Sorted(slices.Values(c.got))
	c.got, c.closed = nil, ""
	return got
}

// telegram serves the API of Telegram for chats.
func telegram(t *testing.T, c *crowd) (secret string) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var message struct {
			Chat string `json:"chat_id"`
		}
		if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
			t.Error(err)
		}
		if !c.offer(message.Chat) {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = io.WriteString(w, `{"ok":true,"result":{}}`)
	}))
	s.TLS = testenv.NewAuthority(t).Issue("test", "api.telegram.org").Server()
	s.StartTLS()
	t.Cleanup(s.Close)
	proxied(t, s)
	return "telegram://110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawX@telegram?chats=a@example.org,b@example.org&Channels=c@example.org"
}

// post is a mail server for mailboxes.
func post(t *testing.T, c *crowd) (secret string) {
	t.Helper()
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
			go deliver(conn, c)
		}
	}()
	return fmt.Sprintf("smtp://%s/?fromaddress=slipway@example.org&toaddresses=a@example.org,b@example.org,c@example.org&usestarttls=no", l.Addr())
}

// deliver takes the mails of one connection.
func deliver(conn net.Conn, c *crowd) {
	defer func() { _ = conn.Close() }()
	say := func(line string) { _, _ = io.WriteString(conn, line+"\r\n") }
	say("220 mail.example.org ESMTP")
	for in, data := bufio.NewScanner(conn), false; in.Scan(); {
		line := in.Text()
		to, mailbox := strings.CutPrefix(line, "RCPT TO:")
		switch {
		case data && line != ".":
		case mailbox && !c.offer(strings.Trim(to, "<>")):
			say("550 no")
		case line == "DATA":
			data = true
			say("354 go on")
		case line == "QUIT":
			say("221 bye")
			return
		default:
			data = false
			say("250 ok")
		}
	}
}

func TestAMessageIsSentOnceAllReceiversOfItsChannelHaveIt(t *testing.T) {
	for kind, open := range map[string]func(*testing.T, *crowd) string{"telegram": telegram, "email": post} {
		t.Run(kind, func(t *testing.T) {
			const first, second, third = "a@example.org", "b@example.org", "c@example.org"
			for _, closed := range []string{first, third} { // the library says nothing of one that is not the last
				c := &crowd{closed: closed}
				s, to := sender(t, true, map[string]string{"account.c": open(t, c)}), channel(kind, nil)
				d := message()
				err := s.Send(t.Context(), to, d)
				if err == nil || !strings.Contains(err.Error(), "2 of 3 receivers have it") {
					t.Errorf("%s refuses it: %v", closed, err)
				}
				all := []string{first, second, third}
				others := slices.DeleteFunc(slices.Clone(all), func(r string) bool { return r == closed })
				if diff := cmp.Diff(others, c.taken()); diff != "" {
					t.Errorf("%s refuses it, and who has it (-want +got):\n%s", closed, diff)
				}
				d.Attempts = 2
				if err := s.Send(t.Context(), to, d); err != nil {
					t.Errorf("the next attempt: %v", err)
				}
				if diff := cmp.Diff([]string{closed}, c.taken()); diff != "" {
					t.Errorf("who gets it at the next attempt (-want +got):\n%s", diff)
				}
				if err := s.Send(t.Context(), to, message()); err != nil {
					t.Errorf("a message that all take: %v", err)
				}
				if diff := cmp.Diff(all, c.taken()); diff != "" {
					t.Errorf("who gets a message that all take (-want +got):\n%s", diff)
				}
				option := map[string]string{"telegram": "chats", "email": "to"}[kind]
				if err := s.Send(t.Context(), channel(kind, map[string]string{option: "d@example.org, d@example.org"}), message()); err != nil {
					t.Errorf("receivers of the option: %v", err)
				}
				if diff := cmp.Diff([]string{"d@example.org"}, c.taken()); diff != "" {
					t.Errorf("the receivers of the option (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestNoReceiverIsNamedInWhatIsKeptOfAMessage(t *testing.T) {
	t.Parallel()
	c := &crowd{closed: "a@example.org"}
	d := message()
	err := sender(t, true, map[string]string{"account.c": post(t, c)}).Send(t.Context(), channel("email", nil), d)
	if kept := fmt.Sprint(err, d.Taken); err == nil || strings.Contains(kept, "example.org") || len(d.Taken) != 2 {
		t.Errorf("kept is %s", kept)
	}
	shown, err := json.Marshal(d)
	if err != nil || strings.Contains(string(shown), d.Taken[0]) {
		t.Errorf("the API shows %s, %v", shown, err)
	}
}
