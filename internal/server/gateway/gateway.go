// Package gateway is where agents connect to: it authenticates them, keeps what they report, and brings commands down to
// them. The link is NATS, embedded, over WebSocket through the server's one HTTPS port; package agentapi says what is
// spoken on it. Whatever an agent sends is taken for hostile: it can reach its own copies and nothing else, has limits for
// all that it makes the server keep in memory, and is one of many.
package gateway

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/trace"
)

// Config is what a Gateway needs.
type Config struct {
	Agents   Agents
	Copies   Copies
	Commands Commands
	Audit    Audit
	// Ledger keeps what operations were; nil: nothing does, and agents do not report it.
	Ledger Ledger
	// Notify is called for changes, including those on other servers. It must not block. Nil: nothing is notified.
	Notify func(Change)
	// Heard is given what other servers broadcast (Peers.Broadcast). Nil: nothing is heard.
	Heard func(data []byte)
	// Key signs what goes down. All servers of a cluster have the same; see LoadKey.
	Key ed25519.PrivateKey
	// Version is that of the server.
	Version string
	// Meter is called for what comes and goes; nil: it is not called.
	Meter Meter
	// Tracer makes spans; nil: there are none.
	Tracer *trace.Tracer
	// ClientIP returns where a request came from; nil: its RemoteAddr.
	ClientIP func(*http.Request) string
	// Reachable says why agents cannot be looked up now; nil: they always can.
	Reachable func(context.Context) error
	// Cluster connects several servers; nil: this is the only one.
	Cluster *Cluster
	Log     *slog.Logger
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Cluster is how several servers reach one another.
type Cluster struct {
	// Bus is where servers meet; nil: they reach each other. The other fields are ignored if it is set.
	Bus *Bus
	// Listen is the address for the others, host:port.
	Listen string
	// Routes are URLs of the others, nats://host:port. The own one may be among them.
	Routes []string
	// Secret is what servers show each other. It must not be empty.
	Secret string
	// TLS is for both directions; nil: none, which is logged loudly.
	TLS *tls.Config
}

// Bus is a NATS server, or several of a cluster, that takes leaf nodes. A client with the same account there is taken for
// a server.
type Bus struct {
	// URLs are where it takes leaf nodes, nats://[USER:PASSWORD@]HOST:PORT, tls:// or wss://.
	URLs []*url.URL
	// Credentials is a file as NATS makes it, with a user's JWT and seed; "" for none.
	Credentials string
	// TLS is for the connection; nil: as the scheme of the URL says, with the authorities of the system.
	TLS *tls.Config
}

// Gateway is the server's end of the links of all agents.
type Gateway struct {
	// Commands gives commands to agents, Peers sends notes to the other servers.
	Commands *Dispatcher
	Peers    *Peers

	cfg   Config
	ready chan struct{} // closed when agents can connect
	// instance distinguishes servers of a cluster.
	instance string
	started  time.Time

	// What the parts share of agents.
	lanes    *lanes
	conns    *connections
	arriving *arrivals
	limits   *limits
	presence *presence
	sessions *sessions

	copies    *copies
	monitor   *monitor
	registrar *registrar
	reception *reception
	// linkRate bounds what one address may try.
	linkRate *addressRate
}

// New puts a Gateway together. It does nothing before Run.
func New(cfg Config) (*Gateway, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Notify == nil {
		cfg.Notify = func(Change) {}
	}
	if cfg.Reachable == nil {
		cfg.Reachable = func(context.Context) error { return nil }
	}
	if cfg.Heard == nil {
		cfg.Heard = func([]byte) {}
	}
	if cfg.Meter == nil {
		cfg.Meter = unmetered{}
	}
	if cfg.ClientIP == nil {
		cfg.ClientIP = remoteIP
	}
	g := &Gateway{
		cfg: cfg, ready: make(chan struct{}), instance: newID(), started: cfg.Now(),
		lanes: newLanes(cfg.Log), conns: newConnections(), arriving: newArrivals(), limits: newLimits(), presence: newPresence(),
		sessions: newSessions(), linkRate: newAddressRate(20, 400),
	}
	g.Peers = &Peers{&g.cfg, g.conns, g.presence, g.sessions}
	g.Commands = &Dispatcher{&g.cfg, g.lanes, g.conns, g.presence, g.sessions, g.Peers, newWaiting(), newOpenCommands(), newStreams()}
	g.copies = &copies{&g.cfg, g.sessions, g.presence, newPace()}
	g.monitor = &monitor{&g.cfg, g.lanes, g.conns, g.limits, g.presence, g.sessions, g.Commands}
	g.registrar = &registrar{&g.cfg, g.lanes, g.conns, g.arriving, g.presence, g.sessions, g.monitor, g.Peers, newAddressRate(1, 20)}
	g.reception = &reception{&g.cfg, g.conns, g.presence, g.sessions, g.copies, g.monitor, g.registrar, g.Commands, g.Peers}
	return g, nil
}

func (c Config) check() error {
	switch {
	case c.Agents == nil || c.Copies == nil || c.Commands == nil || c.Audit == nil:
		return errors.New("the gateway needs stores of agents, copies, commands and the audit log")
	case len(c.Key) != ed25519.PrivateKeySize:
		return errors.New("the gateway needs a key to sign with")
	case c.Log == nil:
		return errors.New("the gateway needs a logger")
	case c.Cluster != nil && c.Cluster.Bus == nil && c.Cluster.Secret == "":
		return errors.New("servers of a cluster need a secret to recognize each other")
	}
	return nil
}

func (c Config) serverKey() ed25519.PublicKey {
	key, _ := c.Key.Public().(ed25519.PublicKey)
	return key
}

// Connections is how many agents are connected to this server.
func (g *Gateway) Connections() int {
	b := g.conns.broker.Load()
	if b == nil {
		return 0
	}
	return max(b.server.NumClients()-1, 0) // one is ours
}

// Run lets agents connect until ctx ends. Then it takes no more messages, finishes those that it has begun, and closes all
// connections. It is called once.
func (g *Gateway) Run(ctx context.Context) error {
	// What was begun is finished after ctx has ended, within the time limit of each.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	if err := g.remember(work); err != nil {
		return err
	}
	defer g.forget()
	b, err := startBroker(g.cfg, func(c connecting) bool { return g.registrar.authenticate(work, c) }, g.instance)
	if err != nil {
		return err
	}
	defer b.stop()
	if err := g.listen(work, b); err != nil {
		return err
	}
	g.conns.broker.Store(b)
	close(g.ready)
	g.cfg.Log.Info("agents can connect", "agents", g.presence.len())
	var pulses sync.WaitGroup
	pulses.Go(func() { g.Commands.pulse(ctx) })
	defer pulses.Wait()
	g.Peers.askAround(ctx)
	<-ctx.Done()
	b.quiet()
	g.lanes.close()
	g.Commands.streams.end("", &agentapi.Error{Code: agentapi.CodeDisconnected, Message: "the server is shutting down"})
	return nil
}

// Ready is closed when agents can connect.
func (g *Gateway) Ready() <-chan struct{} { return g.ready }

// ServerKey is the public key that agents pin.
func (g *Gateway) ServerKey() ed25519.PublicKey { return g.cfg.serverKey() }

// Register adds the paths of the link to a mux: GET /link and POST /link/register. Both authenticate on their own.
func (g *Gateway) Register(mux *http.ServeMux) {
	mux.HandleFunc("GET "+agentapi.PathLink, g.serveLink)
	mux.HandleFunc("POST "+agentapi.PathRegister, g.registrar.serveRegister)
}

// Revoke ends all that an agent has going: its connections are cut, its streams end, and waiters are notified. The
// caller has revoked or deleted the agent in the store before.
func (g *Gateway) Revoke(uid string) {
	id := g.monitor.cut(uid, "its identity was revoked")
	g.monitor.forgetLater(uid)
	g.Peers.tell(peerNote{Type: noteCut, UID: uid})
	g.cfg.Audit.LinkEvent(context.Background(), LinkEvent{
		Type: LinkCut, UID: uid, ID: id, At: g.cfg.Now(), Message: "its identity was revoked: all its connections were cut",
	})
}

// Health returns how an agent is, as far as this server has heard of it. Its last heartbeat may be one that was not kept.
func (g *Gateway) Health(uid string) (Health, bool) {
	at, ok := g.presence.get(uid)
	return at.health, ok
}

// remember reads what the store knows from before: connected agents, and waiting commands.
func (g *Gateway) remember(ctx context.Context) error {
	agents, err := g.cfg.Agents.LinkedAgents(ctx)
	if err != nil {
		return fmt.Errorf("list agents: %w", err)
	}
	for _, agent := range agents {
		if g.presence.load(agent, g.started) {
			g.monitor.watch(ctx, agent.UID)
		}
	}
	open, err := g.cfg.Commands.OpenCommands(ctx, "")
	if err != nil {
		return fmt.Errorf("list commands that wait: %w", err)
	}
	for _, command := range open {
		g.Commands.settleAt(ctx, command.Command)
	}
	return nil
}

// forget stops all timers.
func (g *Gateway) forget() {
	g.presence.stop()
	g.Commands.open.stop()
}
