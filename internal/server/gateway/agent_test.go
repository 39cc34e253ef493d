package gateway_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.Main(m)
}

// server is a gateway behind a real HTTPS port.
type server struct {
	t       *testing.T
	store   *gatewaytest.Memory
	gateway *gateway.Gateway
	http    *httptest.Server
	changes chan gateway.Change
	key     ed25519.PrivateKey
	stop    func()
}

// start starts a server over a store, which may be that of an earlier one.
func start(t *testing.T, store *gatewaytest.Memory, change ...func(*gateway.Config)) *server {
	t.Helper()
	key, err := gateway.LoadKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, store: store, changes: make(chan gateway.Change, 10_000), key: key}
	cfg := gateway.Config{
		Agents: store, Copies: store, Commands: store, Audit: store, Key: key, Version: "1.0.0",
		Log: quiet(),
		Notify: func(c gateway.Change) {
			select {
			case s.changes <- c:
			default:
			}
		},
	}
	for _, c := range change {
		c(&cfg)
	}
	s.key = cfg.Key
	s.gateway, err = gateway.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.gateway.Run(ctx) }()
	select {
	case <-s.gateway.Ready():
	case err := <-ended:
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	s.gateway.Register(mux)
	s.http = httptest.NewTLSServer(mux)
	stopped := false
	s.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s.http.Close()
	}
	t.Cleanup(s.stop)
	return s
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// identity is what an agent keeps in its cluster.
type identity struct {
	uid, id string
	keys    nkeys.KeyPair
	cluster string
	server  ed25519.PublicKey
}

// token adds an agent and returns its one-time token.
func (s *server) token(id string) (uid, token string) {
	s.t.Helper()
	uid = gateway.NewUID()
	if err := s.store.AddAgent(s.t.Context(), uid, id); err != nil {
		s.t.Fatal(err)
	}
	token, hash := gateway.NewToken()
	if err := s.store.AddToken(s.t.Context(), uid, hash, time.Now().Add(time.Hour)); err != nil {
		s.t.Fatal(err)
	}
	return uid, token
}

// registration returns a proper one.
func registration(t *testing.T, token, cluster string) (nkeys.KeyPair, agentapi.Registration) {
	t.Helper()
	keys, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, err := keys.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	seal := make([]byte, 32)
	_, _ = rand.Read(seal)
	r := agentapi.Registration{Token: token, PublicKey: public, SealKey: seal, ClusterUID: cluster, Namespace: "slipway", Version: "1.0.0"}
	if r.Signature, err = keys.Sign(agentapi.RegistrationText(r)); err != nil {
		t.Fatal(err)
	}
	return keys, r
}

// post sends a registration and returns the answer.
func (s *server) post(body []byte) (int, []byte) {
	s.t.Helper()
	response, err := s.http.Client().Post(s.http.URL+agentapi.PathRegister, "application/json", bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, data
}

// register makes an agent known.
func (s *server) register(id, cluster string) identity {
	s.t.Helper()
	uid, token := s.token(id)
	return s.registerWith(uid, token, id, cluster)
}

func (s *server) registerWith(uid, token, id, cluster string) identity {
	s.t.Helper()
	keys, r := registration(s.t, token, cluster)
	body, err := json.Marshal(r)
	if err != nil {
		s.t.Fatal(err)
	}
	status, data := s.post(body)
	var registered agentapi.Registered
	if err := json.Unmarshal(data, &registered); err != nil || status != http.StatusOK {
		s.t.Fatalf("registration: %d %s", status, data)
	}
	if registered.UID != uid || registered.Agent != id || registered.Heartbeat != 10 {
		s.t.Fatalf("registered %+v", registered)
	}
	return identity{uid: uid, id: id, keys: keys, cluster: cluster, server: registered.ServerKey}
}

// options are those of a client with an identity.
func (s *server) options(i identity) []nats.Option {
	s.t.Helper()
	public, err := i.keys.PublicKey()
	if err != nil {
		s.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(s.http.Certificate())
	return []nats.Option{
		nats.ProxyPath(agentapi.PathLink), nats.Secure(&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}),
		nats.CustomInboxPrefix(agentapi.InboxPrefix(i.uid)), nats.Nkey(public, i.keys.Sign), nats.NoReconnect(),
		nats.Timeout(time.Minute), // twenty of them shake hands at a time, on a machine that is busy
	}
}

func (s *server) address() string { return strings.Replace(s.http.URL, "https://", "wss://", 1) }

// dial connects without saying anything.
func (s *server) dial(i identity, more ...nats.Option) (*nats.Conn, error) {
	s.t.Helper()
	return nats.Connect(s.address(), append(s.options(i), more...)...)
}

// agent is an agent as the contract wants it, whose behaviour the test decides.
type agent struct {
	t *testing.T
	identity
	conn     *nats.Conn
	epoch    int64
	closed   chan struct{}
	commands chan agentapi.Command
	chunks   chan agentapi.Chunk
}

// connect connects, and says Hello and sends a heartbeat where items is not nil.
func (s *server) connect(i identity, more ...nats.Option) *agent {
	s.t.Helper()
	a := &agent{
		t: s.t, identity: i, closed: make(chan struct{}), commands: make(chan agentapi.Command, 2000), chunks: make(chan agentapi.Chunk, 2000),
	}
	conn, err := s.dial(i, append(more, nats.ClosedHandler(func(*nats.Conn) { close(a.closed) }))...)
	if err != nil {
		s.t.Fatal(err)
	}
	a.conn = conn
	s.t.Cleanup(conn.Close)
	a.subscribe(agentapi.DownCommand(i.uid), func(m *nats.Msg) {
		var c agentapi.Command
		if err := agentapi.Open(i.server, agentapi.PurposeCommand, i.uid, m.Data, &c); err != nil {
			s.t.Error(err)
		}
		a.commands <- c
	})
	a.subscribe(agentapi.DownStreams(i.uid), func(m *nats.Msg) {
		var c agentapi.Chunk
		if err := agentapi.Open(i.server, agentapi.PurposeStream, i.uid, m.Data, &c); err != nil {
			s.t.Error(err)
		}
		a.chunks <- c
	})
	return a
}

// join connects an agent that has nothing and is well.
func (s *server) join(i identity) *agent {
	s.t.Helper()
	a := s.connect(i)
	a.hello(0)
	if ack := a.beat(agentapi.Heartbeat{}); ack.Error != nil {
		s.t.Fatal(ack.Error)
	}
	return a
}

func (a *agent) subscribe(subject string, handle func(*nats.Msg)) {
	a.t.Helper()
	if _, err := a.conn.Subscribe(subject, handle); err != nil {
		a.t.Fatal(err)
	}
}

// ask sends a request and reads the answer into answer.
func (a *agent) ask(subject string, message, answer any) {
	a.t.Helper()
	data, err := json.Marshal(message)
	if err != nil {
		a.t.Fatal(err)
	}
	a.askRaw(subject, data, answer)
}

func (a *agent) askRaw(subject string, data []byte, answer any) {
	a.t.Helper()
	reply, err := a.conn.Request(subject, data, time.Minute)
	if err != nil {
		a.t.Fatalf("request %s: %v (last error of the connection: %v)", subject, err, a.conn.LastError())
	}
	if err := json.Unmarshal(reply.Data, answer); err != nil {
		a.t.Fatalf("answer to %s: %v: %s", subject, err, reply.Data)
	}
}

func (a *agent) hello(digest agentapi.Digest) agentapi.Welcome {
	a.t.Helper()
	w := a.tryHello(digest)
	if w.Error != nil {
		a.t.Fatal(w.Error)
	}
	a.epoch = w.Epoch
	return w
}

func (a *agent) tryHello(digest agentapi.Digest) agentapi.Welcome {
	a.t.Helper()
	return a.sayHello(digest, agentapi.Versions{Agent: "1.0.0"})
}

// tryHelloOf says Hello as an agent that runs an engine.
func (a *agent) tryHelloOf(engine agentapi.Engine) agentapi.Welcome {
	a.t.Helper()
	return a.sayHello(0, agentapi.Versions{Agent: "1.0.0", Engine: engine})
}

// unsure says Hello as an agent that does not know whether its last batch has arrived.
func (a *agent) unsure(digest agentapi.Digest) agentapi.Welcome {
	a.t.Helper()
	var w agentapi.Welcome
	a.ask(agentapi.UpHello(a.uid), agentapi.Hello{
		Protocol: agentapi.Protocol, ClusterUID: a.cluster, Namespace: "slipway", Instance: "i", Digest: digest, Unsure: true,
		Versions: agentapi.Versions{Agent: "1.0.0"},
	}, &w)
	a.epoch = w.Epoch
	return w
}

func (a *agent) sayHello(digest agentapi.Digest, versions agentapi.Versions) agentapi.Welcome {
	a.t.Helper()
	var w agentapi.Welcome
	a.ask(agentapi.UpHello(a.uid), agentapi.Hello{
		Protocol: agentapi.Protocol, ClusterUID: a.cluster, Namespace: "slipway", Instance: "i", Digest: digest, Versions: versions,
	}, &w)
	return w
}

func (a *agent) beat(h agentapi.Heartbeat) agentapi.HeartbeatAck {
	a.t.Helper()
	h.Epoch = a.epoch
	var ack agentapi.HeartbeatAck
	a.ask(agentapi.UpHeartbeat(a.uid), h, &ack)
	return ack
}

func (a *agent) batch(b agentapi.Batch) agentapi.Ack {
	a.t.Helper()
	b.Epoch = a.epoch
	var ack agentapi.Ack
	a.ask(agentapi.UpState(a.uid), b, &ack)
	return ack
}

func (a *agent) report(r agentapi.Result) agentapi.ResultAck {
	a.t.Helper()
	var ack agentapi.ResultAck
	a.ask(agentapi.UpResult(a.uid), agentapi.ResultReport{Epoch: a.epoch, Result: r}, &ack)
	return ack
}

// reply answers a command that only reads.
func (a *agent) reply(c agentapi.Command, r agentapi.Result) {
	a.t.Helper()
	r.ID = c.ID
	parts, err := agentapi.Split(a.epoch, r)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, part := range parts {
		a.publish(agentapi.UpReply(a.uid, c.ID), part)
	}
}

func (a *agent) publish(subject string, message any) {
	a.t.Helper()
	data, err := json.Marshal(message)
	if err != nil {
		a.t.Fatal(err)
	}
	if err := a.conn.Publish(subject, data); err != nil {
		a.t.Fatal(err)
	}
}

// command waits for the next command.
func (a *agent) command() agentapi.Command {
	a.t.Helper()
	return wait(a.t, a.commands, "a command")
}

// wait waits for something to come.
func wait[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatalf("%s does not come", what)
	case <-t.Context().Done():
		t.Fatalf("%s does not come before the end of the test", what)
	}
	panic("not reached")
}

// item returns an application.
func item(name string) agentapi.Item {
	body := fmt.Sprintf(`{"kind":"Application","metadata":{"name":%q}}`, name)
	return agentapi.Item{
		Key:  agentapi.Key{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: name},
		Hash: agentapi.Hash([]byte(body)), Body: json.RawMessage(body),
	}
}

func digest(items ...agentapi.Item) agentapi.Digest {
	var d agentapi.Digest
	for _, i := range items {
		d = d.Toggle(i.Key, i.Hash)
	}
	return d
}

// code returns the code of an error that an agent, or the gateway in its place, has said.
func code(err error) agentapi.Code {
	var said *agentapi.Error
	if errors.As(err, &said) {
		return said.Code
	}
	return ""
}
