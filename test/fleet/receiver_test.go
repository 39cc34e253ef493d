package fleet

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// token is in every secret of a receiver, and must be nowhere else.
const token = "ccccccccccccccccccccccccpl4nt3d"

// posted is a message as a receiver got it.
type posted struct {
	header http.Header
	body   string
}

// receivers are the services that messages go to: chats and pagers over HTTPS under their own names, a mail server, and
// webhooks over HTTP.
type receivers struct {
	// proxy leads all names to the one server that answers for them, ca is the file with its certificate.
	proxy, ca string
	// plain is the address of the webhooks, mail that of the mail server.
	plain, mail string

	mu      sync.Mutex
	got     map[string][]posted // by host and path of where they were taken, or "mail"
	mended  bool                // what is sent to /down is taken
	refused bool                // an attempt to tell that a sync is held was refused
}

// startReceivers starts services with some names.
func startReceivers(t *testing.T, names ...string) *receivers {
	t.Helper()
	r := &receivers{got: map[string][]posted{}}
	chats := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		host, _, _ := strings.Cut(q.Host, ":")
		r.take(w, q, host)
	}))
	authority := testenv.NewAuthority(t)
	chats.TLS = authority.Issue("receiver", names...).Server()
	chats.StartTLS()
	t.Cleanup(chats.Close)
	r.ca = filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(r.ca, authority.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { r.take(w, q, "") }))
	t.Cleanup(plain.Close)
	r.proxy, r.plain, r.mail = testenv.Tunnel(t, chats.Listener.Addr().String()), plain.URL, r.startMail(t)
	return r
}

// answers are what services say that are asked for more than a status.
func answers(path string) string {
	switch {
	case strings.Contains(path, "/services/T"): // Slack
		return "ok"
	case strings.Contains(path, "/webhookb2/"): // Teams
		return "1"
	case strings.HasSuffix(path, "/joined_rooms"): // Matrix
		return `{"joined_rooms":["!one:matrix.example.org"]}`
	}
	return `{"ok":true,"status":"success","status_code":200,"result":{"message_id":1},"id":1}`
}

func (r *receivers) take(w http.ResponseWriter, q *http.Request, host string) {
	body, err := io.ReadAll(io.LimitReader(q.Body, 1<<20))
	if err != nil {
		return
	}
	text := string(body)
	if form, err := url.ParseQuery(text); err == nil && strings.Contains(q.Header.Get("Content-Type"), "form-urlencoded") {
		text = strings.Join([]string{form.Get("title"), form.Get("message"), form.Get("content")}, "\n")
	}
	at, p := host+q.URL.Path, posted{q.Header.Clone(), text}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuses(at, p) {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if q.Method == http.MethodPost || q.Method == http.MethodPut {
		r.got[at] = append(r.got[at], p)
	}
	if strings.HasPrefix(host, "events.pagerduty.com") || strings.HasPrefix(host, "api.opsgenie.com") {
		w.WriteHeader(http.StatusAccepted)
	}
	_, _ = io.WriteString(w, answers(q.URL.Path))
}

// at are the messages that were taken somewhere.
func (r *receivers) at(where string) []posted {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]posted(nil), r.got[where]...)
}

// refuses reports whether something is not taken: all at /down until it is mended, and the first webhook that says "held".
func (r *receivers) refuses(at string, p posted) bool {
	if at == "/hook" && !r.refused && strings.Contains(p.body, `"event":"held"`) {
		r.refused = true
		return true
	}
	return at == "/down" && !r.mended
}

// mend has /down take what is sent there.
func (r *receivers) mend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mended = true
}

// startMail starts a mail server, and returns its address.
func (r *receivers) startMail(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				defer func() { _ = conn.Close() }()
				_ = conn.SetDeadline(time.Now().Add(settled))
				r.smtp(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		work.Wait()
	})
	return l.Addr().String()
}

// smtp receives the mails of one connection.
func (r *receivers) smtp(conn net.Conn) {
	say := func(line string) { _, _ = io.WriteString(conn, line+"\r\n") }
	say("220 mail.example.org ESMTP")
	in, data, mail := bufio.NewScanner(conn), false, ""
	for in.Scan() {
		line := in.Text()
		switch {
		case data && line == ".":
			data = false
			r.mu.Lock()
			r.got["mail"] = append(r.got["mail"], posted{body: mail})
			r.mu.Unlock()
			say("250 taken")
		case data:
			mail += line + "\n"
		case strings.HasPrefix(line, "EHLO"):
			say("250-mail.example.org")
			say("250 AUTH PLAIN")
		case strings.HasPrefix(line, "AUTH"):
			say("235 welcome")
		case line == "DATA":
			data, mail = true, ""
			say("354 go on")
		case line == "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}
