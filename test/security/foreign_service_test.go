package security

import (
	"bufio"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// strangers are services of others. Everything that they answer has the mark in it.
type strangers struct {
	t    *testing.T
	mark string
	// url answers below /NAME with the answer of that name.
	url   string
	spans *record // that the server sends

	mu    sync.Mutex
	asked map[string]int
	// kind is how the services of the proxy answer.
	kind string
}

func newStrangers(t *testing.T, mark string) *strangers {
	s := &strangers{t: t, mark: mark, asked: map[string]int{}, spans: newRecord()}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *strangers) note(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[name]++
	return s.asked[name]
}

// answers are what a service of others writes to whoever asks it, whatever it was asked.
func (s *strangers) answers() map[string]string {
	answer := func(first, kind, body string, more ...string) string {
		lines := append([]string{"HTTP/1.1 " + first, "Content-Type: " + kind, fmt.Sprint("Content-Length: ", len(body)), "Server: " + s.mark, "X-" + s.mark + ": " + s.mark, "Connection: close"}, more...)
		return strings.Join(lines, "\r\n") + "\r\n\r\n" + body
	}
	m := s.mark
	said := fmt.Sprintf(`{"error":%[1]q,"error_description":%[1]q,"message":%[1]q,"status":%[1]q,"detail":%[1]q,"errors":[%[1]q]}`, m)
	status := func(code int) string {
		return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"it is refused","reason":"Forbidden","code":%d}`, code)
	}
	advertised := "application/x-git-upload-pack-advertisement"
	return map[string]string{
		"phrase": answer("500 "+m, "text/plain", m), "odd": answer("300 "+m, "text/plain", m), "created": answer("201 "+m, "application/json", said),
		"unknown": answer("599 "+m, "application/json", said), "missing": answer("404 "+m, "text/html", "<html>"+m), "busy": answer("429 "+m, "text/plain", m, "Retry-After: "+m),
		"forbidden": answer("403 "+m, "application/json", said), "realm": answer("401 "+m, "text/plain", m, `WWW-Authenticate: Basic realm="`+m+`"`),
		"away": answer("302 "+m, "text/plain", m, "Location: http://"+m+".invalid/"+m), "nowhere": answer("307 "+m, "text/plain", m, "Location: ://"+m),
		"broken": "HTTP/1.1 " + m + "\r\n\r\n", "header": "HTTP/1.1 200 OK\r\n" + m + "\r\n\r\n", "greeting": "220 " + m + " ready\r\n", "silent": "",
		"text": answer("200 "+m, "text/plain", m), "page": answer("200 "+m, "text/html", "<html>"+m), "json": answer("200 "+m, "application/json", said),
		"kind": answer("200 "+m, "application/json", fmt.Sprintf(`{"kind":%[1]q,"apiVersion":"%[1]s/v1","metadata":{"name":%[1]q},"gitVersion":%[1]q}`, m)),
		"list": answer("200 "+m, "application/json", `[`+said+`]`), "yaml": answer("200 "+m, "text/plain", "apiVersion: "+m+"\nentries: ["+m+": "+m), "cut": strings.Replace(answer("200 "+m, "application/json", said), "Content-Length: ", "Content-Length: 9", 1),
		"warning": answer("403 "+m, "application/json", status(403), `Warning: 299 - "`+m+`"`),
		"git":     answer("200 "+m, advertised, testenv.Packet("# service=git-upload-pack\n")+"0000"+testenv.Packet("ERR "+m+"\n")+"0000"),
		"garbled": answer("200 "+m, advertised, m+m), "lines": answer("200 "+m, advertised, testenv.Packet("# service=git-upload-pack\n")+"0000"+testenv.Packet(m+"\n")+"0000"),
	}
}

// ServeHTTP writes an answer as it is to the connection.
func (s *strangers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	times := s.note(name)
	if name == "collector" {
		_, _ = io.Copy(s.spans, r.Body) // what is missing is looked for
		s.collect(w, times)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body) // it is answered in any case
	text, known := s.answers()[name]
	if !known { // what a proxy is asked for
		text = s.answers()["phrase"]
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(conn, text) // who is gone misses nothing
	_ = conn.Close()
}

// collect answers like a collector of spans that refuses some.
func (s *strangers) collect(w http.ResponseWriter, times int) {
	if times%2 == 0 {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, s.mark)
		return
	}
	partly := append([]byte{0x08, 1, 0x12, byte(len(s.mark))}, s.mark...)
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(append([]byte{0x0a, byte(len(partly))}, partly...))
}

// listens answers every connection by a function, which closes it.
func (s *strangers) listens(serve func(net.Conn)) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(30 * time.Second)) // an error shows at the read
				serve(conn)
			})
		}
	})
	s.t.Cleanup(func() { _ = l.Close(); work.Wait() })
	return l.Addr().String()
}

// mail is a mail server that refuses a command; "" for its greeting.
func (s *strangers) mail(refused string) (address string) {
	return s.listens(func(conn net.Conn) {
		say := func(code int, last string) {
			_, _ = fmt.Fprintf(conn, "%d-%s\r\n%d %s %s\r\n", code, s.mark, code, s.mark, last)
		}
		s.note("mail " + refused)
		if refused == "" {
			say(554, "no")
			return
		}
		say(220, "ready")
		data := false
		for in := bufio.NewScanner(conn); in.Scan(); {
			verb, _, _ := strings.Cut(in.Text(), " ")
			switch {
			case data && in.Text() != ".":
			case verb == refused:
				data = false
				say(554, "no")
			case verb == "DATA":
				data = true
				_, _ = fmt.Fprintf(conn, "354 %s\r\n", s.mark)
			case verb == "QUIT":
				say(221, "bye")
				return
			default:
				data = false
				say(250, "taken")
			}
		}
	})
}

// shell is an SSH server whose banner, and whose words beside the answer of every command, have the mark.
func (s *strangers) shell() (address string) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		s.t.Fatal(err)
	}
	config := &ssh.ServerConfig{NoClientAuth: true, ServerVersion: "SSH-2.0-" + s.mark, BannerCallback: func(ssh.ConnMetadata) string { return s.mark + "\n" }}
	config.AddHostKey(signer)
	return s.listens(func(conn net.Conn) {
		_, channels, requests, err := ssh.NewServerConn(conn, config)
		if err != nil {
			return
		}
		s.note("shell")
		go ssh.DiscardRequests(requests)
		for offered := range channels {
			ch, asked, err := offered.Accept()
			if err != nil {
				return
			}
			for r := range asked {
				_ = r.Reply(true, nil)
				if r.Type == "exec" {
					_, _ = fmt.Fprintf(ch.Stderr(), "remote: %[1]s\nfatal: %[1]s\nERROR: %[1]s: no such repository\n", s.mark)
					_, _ = io.WriteString(ch, testenv.Packet("ERR "+s.mark+"\n"))
					_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{1}))
					_ = ch.Close()
				}
			}
		}
	})
}

// proxied are the services of the internet, behind a proxy that all couriers go through. What it gives is for the environment.
func (s *strangers) proxied(hosts ...string) []string {
	services := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // it is answered in any case
		host, _, _ := strings.Cut(r.Host, ":")
		s.note(host)
		s.mu.Lock()
		text := s.answers()[s.kind]
		s.mu.Unlock()
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, text) // who is gone misses nothing
		_ = conn.Close()
	}))
	certificate := testenv.NewAuthority(s.t).Issue("test", hosts...).TLS
	services.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"http/1.1"}}
	services.StartTLS()
	s.t.Cleanup(services.Close)
	proxy := s.listens(func(conn net.Conn) {
		in := bufio.NewReader(conn)
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		there, err := net.Dial("tcp", services.Listener.Addr().String())
		if err != nil {
			return
		}
		defer there.Close()
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 %s\r\n\r\n", s.mark)
		go func() { _, _ = io.Copy(there, in); _ = there.Close() }() // it ends with either
		_, _ = io.Copy(conn, there)
	})
	file := filepath.Join(s.t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]}), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return []string{"HTTPS_PROXY=http://" + proxy, "SSL_CERT_FILE=" + file}
}
