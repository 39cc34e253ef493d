package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// How long the broker takes for what.
const (
	startTimeout = 10 * time.Second
	authTimeout  = 5 * time.Second
	pingInterval = 20 * time.Second
)

// Subjects that the server listens on.
const (
	requests    = "slipway.*.up.*"
	replies     = "slipway.*.up.reply.*"
	chunks      = "slipway.*.up.stream.*"
	peerSubject = "slipway.server.note"
)

// broker is the embedded NATS server, and the connection of ourselves to it.
type broker struct {
	server *server.Server
	conn   *nats.Conn
	subs   []*nats.Subscription
	// address is that of the WebSocket listener on loopback.
	address   string
	transport *http.Transport // to it
}

// connecting is a client that wants to connect.
type connecting = server.ClientAuthentication

// authFunc decides which clients may connect.
type authFunc func(connecting) bool

// Check implements server.Authentication.
func (f authFunc) Check(c server.ClientAuthentication) bool { return f(c) }

func startBroker(cfg Config, authenticate authFunc, instance string) (*broker, error) {
	own, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("make a key for the server's own connection: %w", err)
	}
	ownKey, err := own.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("make a key for the server's own connection: %w", err)
	}
	options, err := brokerOptions(cfg, instance)
	if err != nil {
		return nil, err
	}
	options.CustomClientAuthentication = authFunc(func(c connecting) bool {
		if c.GetOpts().Nkey == ownKey {
			if !signed(c) {
				return false
			}
			c.RegisterUser(&server.User{Username: "server"})
			return true
		}
		return authenticate(c)
	})
	ns, err := server.NewServer(options)
	if err != nil {
		return nil, fmt.Errorf("prepare the broker of the link: %w", err)
	}
	ns.SetLoggerV2(brokerLog{cfg.Log}, false, false, false)
	b := &broker{server: ns, transport: &http.Transport{
		DialContext: (&net.Dialer{Timeout: authTimeout}).DialContext, ResponseHeaderTimeout: authTimeout, DisableKeepAlives: true,
	}}
	ns.Start()
	if !ns.ReadyForConnections(startTimeout) {
		b.stop()
		return nil, errors.New("the broker of the link does not start: see the log")
	}
	at, err := url.Parse(ns.WebsocketURL())
	if err != nil {
		b.stop()
		return nil, fmt.Errorf("read the address of the broker: %w", err)
	}
	b.address = at.Host
	b.conn, err = nats.Connect("", nats.InProcessServer(ns), nats.Name("server"), nats.NoEcho(),
		nats.Nkey(ownKey, own.Sign), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			cfg.Log.Warn("the server's own connection to the link", "error", err)
		}))
	if err != nil {
		b.stop()
		return nil, fmt.Errorf("connect to the broker of the link: %w", err)
	}
	return b, nil
}

func brokerOptions(cfg Config, instance string) (*server.Options, error) {
	options := &server.Options{
		ServerName: instance,
		DontListen: true,
		NoSigs:     true,
		NoLog:      false,
		// Headers can ask the broker to send traces to any subject, and they are not needed here.
		NoHeaderSupport:       true,
		AlwaysEnableNonce:     true,
		AuthTimeout:           authTimeout.Seconds(),
		MaxPayload:            agentapi.MaxMessage,
		MaxControlLine:        1024,
		MaxSubs:               128,
		MaxConn:               20_000,
		PingInterval:          pingInterval,
		MaxPingsOut:           2,
		WriteDeadline:         10 * time.Second,
		MaxTracedMsgLen:       1,
		DisableShortFirstPing: true,
		Websocket: server.WebsocketOpts{
			Host: "127.0.0.1", Port: server.RANDOM_PORT, NoTLS: true, AuthTimeout: authTimeout.Seconds(),
			HandshakeTimeout: authTimeout, PingInterval: pingInterval,
		},
	}
	if cfg.Cluster == nil {
		return options, nil
	}
	if bus := cfg.Cluster.Bus; bus != nil {
		// Requests stay here, as below.
		options.LeafNode = server.LeafNodeOpts{ReconnectInterval: time.Second, Remotes: []*server.RemoteLeafOpts{{
			URLs: bus.URLs, Credentials: bus.Credentials, TLS: bus.TLS != nil, TLSConfig: bus.TLS, TLSTimeout: authTimeout.Seconds(),
			DenyImports: []string{requests}, DenyExports: []string{requests}, DialTimeout: authTimeout,
		}}}
		return options, nil
	}
	host, port, err := net.SplitHostPort(cfg.Cluster.Listen)
	if err != nil {
		return nil, fmt.Errorf("read address %q for other servers: %w", cfg.Cluster.Listen, err)
	}
	number, err := strconv.Atoi(port)
	if err != nil || number < 0 || number > 65535 {
		return nil, fmt.Errorf("read address %q for other servers: the port is no number", cfg.Cluster.Listen)
	}
	if number == 0 {
		number = server.RANDOM_PORT
	}
	// A broker without a listener for clients starts no routes. A client that finds this one must authenticate as well.
	options.DontListen, options.Host, options.Port = false, "127.0.0.1", server.RANDOM_PORT
	// Requests stay at the server that the agent is connected to: it has the session. All else goes wherever it is wanted.
	here := &server.SubjectPermission{Deny: []string{requests}}
	options.Cluster = server.ClusterOpts{
		Permissions: &server.RoutePermissions{Import: here, Export: here},
		NoAdvertise: true, // agents know one address, and the others here are on loopback
		Name:        "slipway", Host: host, Port: number, Username: "slipway", Password: cfg.Cluster.Secret,
		AuthTimeout: authTimeout.Seconds(), TLSConfig: cfg.Cluster.TLS, TLSTimeout: authTimeout.Seconds(), PoolSize: -1,
	}
	for _, route := range cfg.Cluster.Routes {
		u, err := url.Parse(route)
		if err != nil || u.Scheme != "nats" || u.Host == "" {
			return nil, fmt.Errorf("read address of another server: want nats://host:port, not %q", route)
		}
		u.User = url.UserPassword("slipway", cfg.Cluster.Secret)
		options.Routes = append(options.Routes, u)
	}
	if cfg.Cluster.TLS == nil {
		cfg.Log.Warn("THE CONNECTIONS BETWEEN SERVERS ARE NOT ENCRYPTED: give them a certificate, unless the network is your own")
	}
	return options, nil
}

// subscribe has messages delivered.
func (b *broker) subscribe(subject string, handle func(*nats.Msg)) error {
	sub, err := b.conn.Subscribe(subject, handle)
	if err != nil {
		return fmt.Errorf("subscribe to %s: %w", subject, err)
	}
	b.subs = append(b.subs, sub)
	return nil
}

// quiet has no more messages delivered.
func (b *broker) quiet() {
	for _, sub := range b.subs {
		_ = sub.Unsubscribe() // the connection closes next
	}
}

func (b *broker) stop() {
	if b.conn != nil {
		b.conn.Close()
	}
	b.server.Shutdown()
	b.server.WaitForShutdown()
}

// brokerLog passes on what the broker logs. What it calls a notice is a detail here.
type brokerLog struct{ log *slog.Logger }

func (l brokerLog) line(level slog.Level, format string, values ...any) {
	if ctx := context.Background(); l.log.Enabled(ctx, level) {
		l.log.Log(ctx, level, "link broker: "+fmt.Sprintf(format, values...))
	}
}

// Noticef implements server.Logger.
func (l brokerLog) Noticef(format string, v ...any) { l.line(slog.LevelDebug, format, v...) }

// Warnf implements server.Logger. A broker without TLS on loopback is as it should be.
func (l brokerLog) Warnf(format string, v ...any) { l.line(slog.LevelDebug, format, v...) }

// Errorf implements server.Logger. Most of its errors are clients that do not know the protocol.
func (l brokerLog) Errorf(format string, v ...any) { l.line(slog.LevelDebug, format, v...) }

// Fatalf implements server.Logger.
func (l brokerLog) Fatalf(format string, v ...any) { l.line(slog.LevelError, format, v...) }

// Debugf implements server.Logger.
func (l brokerLog) Debugf(format string, v ...any) { l.line(slog.LevelDebug, format, v...) }

// Tracef implements server.Logger. Messages are never logged.
func (l brokerLog) Tracef(string, ...any) {}
