package gateway_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/nats-io/nats.go"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

// raw is a connection of somebody who writes the protocol by hand.
type raw struct {
	extensions string
	t          *testing.T
	conn       *websocket.Conn
	nonce      string
}

// raw connects and reads what the broker says first.
func (s *server) raw(header http.Header) *raw {
	s.t.Helper()
	dialer := websocket.Dialer{TLSClientConfig: s.http.Client().Transport.(*http.Transport).TLSClientConfig, HandshakeTimeout: time.Minute, EnableCompression: true}
	conn, response, err := dialer.DialContext(s.t.Context(), s.address()+agentapi.PathLink, header)
	if err != nil {
		s.t.Fatal(err)
	}
	response.Body.Close()
	s.t.Cleanup(func() { conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		s.t.Fatal(err)
	}
	_, data, err := conn.ReadMessage()
	if err != nil {
		s.t.Fatal(err)
	}
	var info struct {
		Nonce       string   `json:"nonce"`
		MaxPayload  int      `json:"max_payload"`
		ConnectURLs []string `json:"connect_urls"`
		ClientIP    string   `json:"client_ip"`
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(string(data), "INFO ")), &info); err != nil {
		s.t.Fatalf("%v: %s", err, data)
	}
	if info.MaxPayload != agentapi.MaxMessage || info.Nonce == "" || len(info.ConnectURLs) > 0 || info.ClientIP != "127.0.0.1" {
		s.t.Errorf("the broker says %s", data)
	}
	return &raw{t: s.t, conn: conn, nonce: info.Nonce, extensions: response.Header.Get("Sec-WebSocket-Extensions")}
}

func (r *raw) write(text string) {
	r.t.Helper()
	_ = r.conn.WriteMessage(websocket.BinaryMessage, []byte(text)) // it may be closed already
}

// connect proves an identity.
func (r *raw) connect(i identity) {
	r.t.Helper()
	public, err := i.keys.PublicKey()
	if err != nil {
		r.t.Fatal(err)
	}
	signature, err := i.keys.Sign([]byte(r.nonce))
	if err != nil {
		r.t.Fatal(err)
	}
	r.write(fmt.Sprintf("CONNECT {\"nkey\":%q,\"sig\":%q,\"protocol\":1}\r\nPING\r\n", public, base64.RawURLEncoding.EncodeToString(signature)))
}

// untilClosed reads until the connection is closed, and returns all that was said.
func (r *raw) untilClosed() string {
	r.t.Helper()
	var all strings.Builder
	for {
		_, data, err := r.conn.ReadMessage()
		if err != nil {
			if strings.Contains(err.Error(), "timeout") {
				r.t.Errorf("the connection stays open: %q", all.String())
			}
			return all.String()
		}
		all.Write(data)
	}
}

func TestWhoBreaksTheProtocolIsClosed(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.prod", "cluster")
	other := s.join(s.register("account.other", "other"))
	tests := []struct {
		name      string
		connected bool
		text      string
		want      string
	}{
		{"says nothing", false, "", "Authentication Timeout"},
		{"publishes first", false, "PUB slipway.x 1\r\nx\r\n", "Authorization Violation"},
		{"subscribes first", false, "SUB > 1\r\n", "Authorization Violation"},
		{"connects as a route", false, "INFO {\"server_id\":\"x\"}\r\n", "Authorization Violation"},
		{"no protocol", false, strings.Repeat("\xff", 4096), ""},
		{"a long line", false, "CONNECT {\"user\":\"" + strings.Repeat("x", 8192) + "\"}\r\n", "maximum control line"},
		{"a large message", true, fmt.Sprintf("PUB %s %d\r\n", agentapi.UpState(i.uid), agentapi.MaxMessage+1), "Maximum Payload Violation"},
		{"a message without end", true, fmt.Sprintf("PUB %s 99999999999999999999\r\n", agentapi.UpState(i.uid)), ""},
		{"headers", true, fmt.Sprintf("HPUB %s 12 12\r\nNATS/1.0\r\n\r\n\r\n", agentapi.UpState(i.uid)), ""},
	}
	for _, test := range tests {
		r := s.raw(http.Header{"X-Forwarded-For": {"10.9.9.9"}, "Cookie": {"a=b"}})
		if test.connected {
			r.connect(i)
		}
		if test.text != "" {
			r.write(test.text)
		}
		if got := r.untilClosed(); !strings.Contains(got, test.want) {
			t.Errorf("%s: the broker says %q", test.name, got)
		}
	}
	if ack := other.beat(agentapi.Heartbeat{}); ack.Error != nil {
		t.Error(ack.Error)
	}
}

func TestOneConnectionHasOnlySoManySubscriptions(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	refused := make(chan error, 1000)
	a := s.connect(s.register("account.prod", "cluster"), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	for n := range 200 {
		a.subscribe(fmt.Sprintf("slipway.%s.down.%d", a.uid, n), func(*nats.Msg) {})
	}
	if err := wait(t, refused, "the refusal"); !errors.Is(err, nats.ErrMaxSubscriptionsExceeded) {
		t.Error(err)
	}
}

func TestOnlySoManyConnectionsOfAnAgentStay(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.prod", "cluster")
	first := s.connect(i)
	for range 8 {
		s.connect(i)
	}
	wait(t, first.closed, "the end of the oldest")
}
