package gateway_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestAnAgentRegistersAndConnects(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.prod", "cluster")
	if !i.server.Equal(s.gateway.ServerKey()) {
		t.Error("the agent got another key than the server signs with")
	}
	a := s.connect(i)
	if w := a.hello(0); w.Epoch == 0 || w.Inventory || w.Heartbeat != 10 || w.Version != "1.0.0" {
		t.Errorf("welcome %+v", w)
	}
	if h, _ := s.gateway.Health(i.uid); h.State != agentapi.StateNever {
		t.Errorf("state %s before the first heartbeat", h.State)
	}
	if ack := a.beat(agentapi.Heartbeat{}); ack.Error != nil || ack.Inventory {
		t.Errorf("answer to the heartbeat: %+v", ack)
	}
	if h, _ := s.gateway.Health(i.uid); h.State != agentapi.StateConnected {
		t.Errorf("state %s", h.State)
	}
	var types []gateway.LinkEventType
	for _, e := range s.store.Links() {
		types = append(types, e.Type)
		if e.Address != "127.0.0.1" {
			t.Errorf("%s came from %q", e.Type, e.Address)
		}
	}
	if fmt.Sprint(types) != "[agent.registered agent.connected]" {
		t.Errorf("in the audit: %v", types)
	}
}

// refused is true for the error of a connection that the broker did not let in. It closes such a one behind the reason, and
// the end may arrive first.
func refused(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrTLS) &&
		(errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE))
}

func TestWhoCannotProveAnAgentsKeyIsNotLetIn(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.prod", "cluster")
	public, err := i.keys.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	// A signature that was right once: whoever recorded a connection has it.
	var recorded []byte
	conn, err := s.dial(i, nats.Nkey(public, func(nonce []byte) ([]byte, error) {
		signature, err := i.keys.Sign(nonce)
		recorded = signature
		return signature, err
	}))
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	tests := []struct {
		name    string
		options []nats.Option
	}{
		{"replayed nonce", []nats.Option{nats.Nkey(public, func([]byte) ([]byte, error) { return recorded, nil })}},
		{"key of somebody else", []nats.Option{nats.Nkey(public, stranger.Sign)}},
		{"no signature", []nats.Option{nats.Nkey(public, func([]byte) ([]byte, error) { return nil, nil })}},
		{"password instead", []nats.Option{nats.Nkey("", nil), nats.UserInfo(i.uid, "x")}},
		{"token instead", []nats.Option{nats.Nkey("", nil), nats.Token(i.uid)}},
		{"nothing", []nats.Option{nats.Nkey("", nil)}},
	}
	for _, test := range tests {
		conn, err := s.dial(i, test.options...)
		if err == nil {
			conn.Close()
		}
		if !refused(err) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	unknown := i
	unknown.keys = stranger
	if _, err := s.dial(unknown); !refused(err) {
		t.Errorf("a key that nobody registered: %v", err)
	}
}

func TestAnAgentCannotLeaveItsSubjects(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	victim := s.join(s.register("account.victim", "one"))
	i := s.register("account.thief", "two")
	refused := make(chan error, 100)
	thief := s.connect(i, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	thief.hello(0)

	for _, subject := range []string{
		agentapi.DownCommand(victim.uid), agentapi.DownAll(victim.uid), "slipway.*.down.>", "slipway.>", ">", "_INBOX.>", "$SYS.>",
		agentapi.UpAll(victim.uid), agentapi.UpAll(i.uid), "slipway.*.up.*", "slipway.server.note", "*.*.*.*",
	} {
		if _, err := thief.conn.SubscribeSync(subject); err != nil {
			t.Fatal(err)
		}
		if err := wait(t, refused, "the refusal to subscribe to "+subject); !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("subscribe to %s: %v", subject, err)
		}
		if _, err := thief.conn.QueueSubscribeSync(subject, "server"); err != nil {
			t.Fatal(err)
		}
		if err := wait(t, refused, "the refusal to share "+subject); !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("share %s: %v", subject, err)
		}
	}
	beat, err := json.Marshal(agentapi.Heartbeat{Epoch: victim.epoch, Items: 4711})
	if err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{
		agentapi.UpHeartbeat(victim.uid), agentapi.UpHello(victim.uid), agentapi.UpState(victim.uid), agentapi.DownCommand(victim.uid),
		agentapi.DownCommand(i.uid), agentapi.InboxPrefix(victim.uid) + ".x", "_INBOX.x", "$SYS.REQ.SERVER.PING", "slipway.server.note",
	} {
		if err := thief.conn.Publish(subject, beat); err != nil {
			t.Fatal(err)
		}
		if err := wait(t, refused, "the refusal to publish on "+subject); !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("publish on %s: %v", subject, err)
		}
	}
	if h, _ := s.gateway.Health(victim.uid); h.Items != 0 {
		t.Error("the thief's heartbeat counts for the victim")
	}
}

// The server publishes answers with its own rights, so an agent must not choose where they go.
func TestAnAnswerGoesToTheAgentThatAskedOnly(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	victim := s.connect(s.register("account.victim", "one"))
	inbox := make(chan *nats.Msg, 100)
	victim.subscribe(agentapi.InboxPrefix(victim.uid)+".>", func(m *nats.Msg) { inbox <- m })
	if err := victim.conn.Flush(); err != nil {
		t.Fatal(err)
	}
	thief := s.join(s.register("account.thief", "two"))
	for _, reply := range []string{
		agentapi.DownCommand(victim.uid), agentapi.InboxPrefix(victim.uid) + ".x", agentapi.DownCommand(thief.uid), "slipway.server.note",
		agentapi.UpHello(victim.uid), agentapi.InboxPrefix(thief.uid) + ".>",
	} {
		if err := thief.conn.PublishRequest(agentapi.UpHeartbeat(thief.uid), reply, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	// This one comes after all others in the lane of the thief.
	thief.beat(agentapi.Heartbeat{})
	if err := victim.conn.Flush(); err != nil {
		t.Fatal(err)
	}
	if len(inbox)+len(victim.commands)+len(thief.commands) > 0 {
		t.Error("an answer went where the agent wanted it")
	}
}

func TestHeadersCannotMakeTheBrokerTalk(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	if a.conn.HeadersSupported() {
		t.Error("the broker takes headers")
	}
}

func TestRevocationCutsAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.prod", "cluster")
	a, second := s.join(i), s.connect(i)
	other := s.join(s.register("account.other", "other"))
	asked := make(chan error, 1)
	go func() {
		_, err := s.gateway.Commands.Do(t.Context(), i.uid, agentapi.Command{Kind: agentapi.KindTree, User: "user:anna"})
		asked <- err
	}()
	a.command()
	if err := s.store.RevokeAgent(t.Context(), i.uid); err != nil {
		t.Fatal(err)
	}
	s.gateway.Revoke(i.uid)
	wait(t, a.closed, "the end of the connection")
	wait(t, second.closed, "the end of the second connection")
	if err := wait(t, asked, "the answer"); code(err) != agentapi.CodeDisconnected {
		t.Errorf("who waited got %v", err)
	}
	if _, err := s.dial(i); !refused(err) {
		t.Errorf("it connects again: %v", err)
	}
	if ack := other.beat(agentapi.Heartbeat{}); ack.Error != nil {
		t.Errorf("another agent: %v", ack.Error)
	}
	if _, err := s.gateway.Commands.Do(t.Context(), i.uid, agentapi.Command{Kind: agentapi.KindTree, User: "user:anna"}); code(err) != agentapi.CodeDisconnected {
		t.Errorf("a question afterwards: %v", err)
	}
}

// viaProxy dials through an HTTP proxy.
type viaProxy struct{ proxy *testenv.Proxy }

func (p viaProxy) Dial(network, address string) (net.Conn, error) {
	conn, err := net.Dial(network, p.proxy.Address())
	if err != nil {
		return nil, err
	}
	tunnel, _, err := outward.Connect(context.Background(), conn, p.proxy.URL(), address)
	return tunnel, err
}

func TestTheLinkWorksThroughAProxy(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	proxy := testenv.NewProxy(t, "a", "b")
	a := s.connect(s.register("account.prod", "cluster"), nats.SetCustomDialer(viaProxy{proxy}))
	a.hello(0)
	if ack := a.batch(agentapi.Batch{Seq: 1, Items: []agentapi.Item{item("a")}}); ack.Error != nil {
		t.Error(ack.Error)
	}
	if proxy.Used() != 1 {
		t.Errorf("%d connections went through the proxy", proxy.Used())
	}
}

func TestOneWhoDoesNotTrustTheServerDoesNotConnect(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.prod", "cluster")
	_, err := s.dial(i, nats.Secure(&tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}))
	var unknown x509.UnknownAuthorityError
	if !errors.As(err, &unknown) {
		t.Errorf("error %v", err)
	}
}

func TestWhatIsNoWebSocketIsToldSo(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	for _, path := range []string{"/link", "/link?x=y"} {
		response, err := s.http.Client().Get(s.http.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusUpgradeRequired || response.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %s, %s", path, response.Status, response.Header.Get("Content-Type"))
		}
	}
}

func TestAnAgentThatCannotBeLookedUpIsNotToldThatItsKeyIsNotTaken(t *testing.T) {
	t.Parallel()
	var away atomic.Bool
	s := start(t, gatewaytest.NewMemory(), func(c *gateway.Config) {
		c.Reachable = func(context.Context) error {
			if away.Load() {
				return errors.New("no database")
			}
			return nil
		}
	})
	i := s.register("account.prod", "cluster")
	away.Store(true)
	conn, err := s.dial(i)
	if err == nil {
		conn.Close()
	}
	if err == nil || refused(err) {
		t.Errorf("without a database: %v", err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.http.URL+agentapi.PathLink, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	answer, err := s.http.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%s, %v", answer.Status, err)
	}
	away.Store(false)
	s.connect(i).hello(0)
}

// absent has a database that may be away when an agent is looked up.
type absent struct {
	*gatewaytest.Memory
	away atomic.Bool
}

func (a *absent) AgentByKey(ctx context.Context, key string) (gateway.Agent, error) {
	if a.away.Load() {
		return gateway.Agent{}, errors.New("no database")
	}
	return a.Memory.AgentByKey(ctx, key)
}

func TestAnAgentIsCutOffAndNotRefusedWhereTheDatabaseGoesAwayJustThen(t *testing.T) {
	t.Parallel()
	store := &absent{Memory: gatewaytest.NewMemory()}
	s := start(t, store.Memory, func(c *gateway.Config) { c.Agents = store })
	i := s.register("account.prod", "cluster")
	store.away.Store(true)
	conn, err := s.dial(i)
	if err == nil {
		conn.Close()
	}
	if err == nil || errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("without a database: %v", err)
	}
	store.away.Store(false)
	s.connect(i).hello(0)
}
