package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Limits of a session.
const (
	requestTries = 3                      // until the connection counts as dead
	retryPause   = 200 * time.Millisecond // first one, where the server says that it cannot now
	longestPause = 2 * time.Second        // a database that is back is noticed in time
	maxHeartbeat = time.Minute
	gather       = 30 * time.Millisecond // changes come in swarms
	maxSkew      = 5 * time.Minute       // of clocks that is allowed for
)

// errSessionOver says that a session ended without a fault of the agent.
var errSessionOver = errors.New("the connection to the server ended")

// session is one connection and the epoch that the server gave for it.
type session struct {
	link  *Link
	id    *identity
	seed  []byte // of the key that the connection was made with
	conn  *nats.Conn
	epoch int64
	beat  time.Duration
	nudge chan struct{}   // asks for a heartbeat now
	ctx   context.Context //nolint:containedctx // ends with the connection
	// ledger says that the server takes records of operations.
	ledger bool

	owing atomic.Bool // the last heartbeat reported something pending

	mu      sync.Mutex
	over    bool // nothing is begun any more
	streams map[string]*Stream
}

// work runs f beside the session, unless the session is over.
func (s *session) work(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	s.link.worker.under.Go(f)
	return true
}

// finish ends what needs the connection.
func (s *session) finish() {
	s.mu.Lock()
	s.over = true
	open := make([]*Stream, 0, len(s.streams))
	for _, st := range s.streams {
		open = append(open, st)
	}
	s.mu.Unlock()
	for _, st := range open {
		st.close()
	}
}

// connect makes a session and has it until it ends.
func (l *Link) connect(ctx context.Context, id *identity, cluster string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &session{link: l, nudge: make(chan struct{}, 1), streams: map[string]*Stream{}}
	g, ctx := errgroup.WithContext(ctx)
	s.ctx = ctx
	files := l.cfg.Transport.print()
	l.status.shows(l.cfg.Transport.leaf())
	closed, err := l.enter(ctx, s, id, cluster)
	if s.conn != nil {
		defer s.conn.Close()
		defer s.finish()
	}
	if err != nil {
		return err
	}
	defer func() {
		l.mu.Lock()
		l.session = nil
		l.mu.Unlock()
	}()
	g.Go(func() error {
		select {
		case <-closed:
			return errSessionOver
		case <-l.again:
			return errSessionOver // with the next key
		case <-ctx.Done():
			return nil
		}
	})
	g.Go(func() error { return l.renewals(ctx, files) })
	g.Go(func() error { return s.heartbeats(ctx) })
	g.Go(func() error { return s.report(ctx) })
	g.Go(func() error { return s.results(ctx) })
	g.Go(func() error { return s.records(ctx) })
	g.Go(func() error { s.pulse(ctx); return nil })
	g.Go(func() error { l.cfg.Welcomed(ctx); s.refresh(); return nil })
	return g.Wait()
}

// refresh asks for a heartbeat: what it says of the agent may be another thing now.
func (s *session) refresh() {
	select {
	case s.nudge <- struct{}{}:
	default: // one is due
	}
}

// enter connects, says Hello and makes the key that the server took the present one. No rotation comes in between: the key
// that a session begins with would be replaced before it is written that it counts.
func (l *Link) enter(ctx context.Context, s *session, id *identity, cluster string) (closed <-chan struct{}, err error) {
	l.keys.Lock()
	defer l.keys.Unlock()
	if fresh := l.known(); fresh != nil {
		id = fresh // a rotation may have ended just now
	}
	s.id = id
	if s.conn, closed, s.seed, err = l.open(ctx, id); err != nil {
		return nil, err
	}
	if err := s.begin(ctx, cluster); err != nil {
		return nil, err
	}
	if fresh := l.known(); fresh != nil {
		id = fresh // what the Hello was answered with may be kept in it
	}
	l.confirm(ctx, id, s.seed)
	l.mu.Lock()
	l.session = s
	l.mu.Unlock()
	return closed, nil
}

// open connects with the agent's key, and where a next one was announced and the server does not take the present one any
// more, with that.
func (l *Link) open(ctx context.Context, id *identity) (conn *nats.Conn, closed <-chan struct{}, seed []byte, err error) {
	first, second := id.seed, id.next
	if len(id.next) > 0 {
		first, second = id.next, id.seed
	}
	conn, closed, err = l.openWith(ctx, id, first)
	if forbidden(err) && len(second) > 0 {
		first = second
		conn, closed, err = l.openWith(ctx, id, first)
	}
	return conn, closed, first, err
}

// openWith connects with one key. The channel closes with the connection.
func (l *Link) openWith(ctx context.Context, id *identity, seed []byte) (*nats.Conn, <-chan struct{}, error) {
	// First the network alone: without a server, an attempt costs no more than that.
	wire, err := l.cfg.Transport.dial(ctx, l.cfg.Server)
	if err != nil {
		return nil, nil, err
	}
	d := &natsDialer{server: l.cfg.Server}
	d.conn = &listening{Conn: wire, off: context.AfterFunc(ctx, func() { _ = wire.Close() })}
	public, err := publicKey(seed)
	if err != nil {
		_ = d.conn.Close()
		return nil, nil, err
	}
	closed := make(chan struct{})
	var once sync.Once
	at := *l.cfg.Server
	at.Scheme, at.Path = "ws", "" // the dialer does TLS
	at.Host = address(l.cfg.Server)
	conn, err := nats.Connect(at.String(),
		nats.Name("slipway-agent "+id.agent), nats.Nkey(public, func(nonce []byte) ([]byte, error) { return sign(seed, nonce) }),
		nats.SetCustomDialer(d), nats.ProxyPath(l.cfg.Server.JoinPath(agentapi.PathLink).Path), nats.SkipHostLookup(),
		nats.CustomInboxPrefix(agentapi.InboxPrefix(id.uid)), nats.NoReconnect(), nats.Timeout(handshakeLimit),
		nats.IgnoreDiscoveredServers(),
		nats.WebSocketConnectionHeaders(http.Header{"User-Agent": {"slipway-agent"}}),
		nats.ClosedHandler(func(*nats.Conn) { once.Do(func() { close(closed) }) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { l.log.Debug("link", "err", err) }),
	)
	if err == nil {
		return conn, closed, nil
	}
	_ = d.conn.Close()
	return nil, nil, d.explain(err)
}

// natsDialer hands over a connection that was made, and listens to how the server answers the upgrade on it.
type natsDialer struct {
	server *url.URL
	conn   *listening
	taken  bool
}

// Dial implements nats.CustomDialer.
func (d *natsDialer) Dial(string, string) (net.Conn, error) {
	if d.taken {
		return nil, errSessionOver // there is one connection, and no second one
	}
	d.taken = true
	return d.conn, nil
}

// listening is a connection that remembers its first line.
type listening struct {
	net.Conn
	off  func() bool
	head []byte
	// refusal is why the other side ended the connection because of the agent's certificate; nil for none.
	refusal *undialled
}

// Read implements net.Conn.
func (c *listening) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		_ = errors.As(err, &c.refusal)
	}
	if len(c.head) < 64 {
		c.head = append(c.head, p[:min(n, 64-len(c.head))]...)
	}
	return n, err
}

// Close implements net.Conn.
func (c *listening) Close() error {
	c.off()
	return c.Conn.Close()
}

var statusLine = regexp.MustCompile(`^HTTP/1\.[01] (\d{3})`)

// explain says why there is no connection.
func (d *natsDialer) explain(err error) error {
	if d.conn.refusal != nil {
		return fmt.Errorf("open the link: %w", d.conn.refusal)
	}
	if m := statusLine.FindSubmatch(d.conn.head); m != nil && string(m[1]) != "101" {
		err := fmt.Errorf("open %s: the answer was HTTP %s instead of a WebSocket: check --server, "+
			"and that proxies in between let WebSockets pass",
			d.server.JoinPath(agentapi.PathLink), m[1])
		if string(m[1]) == "403" {
			err = fmt.Errorf("%w; a server that asks agents for a certificate needs --client-cert and --client-key", err)
		}
		if code := string(m[1]); code == "502" || code == "503" || code == "504" {
			return &unreachable{err}
		}
		return err
	}
	if forbidden(err) {
		return fmt.Errorf("the server does not take this agent's key: it was revoked, or the server lost what it knew; "+
			"make a new token (slipway agent register ID): %w", err)
	}
	return hungUp(fmt.Errorf("open the link: %w", err))
}

// request asks and waits. What gets no answer is asked again, as is what the server could not take right then.
func request[T any](ctx context.Context, s *session, subject string, in any, fault func(T) *agentapi.Error) (answer T, err error) {
	body, err := encode(in)
	if err != nil {
		return answer, fmt.Errorf("write a message: %w", err)
	}
	if len(body) > agentapi.MaxMessage {
		return answer, &agentapi.Error{Code: agentapi.CodeTooLarge, Message: fmt.Sprintf("a message has %d bytes", len(body))}
	}
	pause, failures := retryPause, 0
	for {
		answer, err := ask[T](ctx, s.conn, subject, body)
		if ctx.Err() != nil {
			return answer, ctx.Err()
		}
		wait := pause
		if err == nil {
			said := fault(answer)
			if said == nil {
				return answer, nil
			}
			if said.Code != agentapi.CodeBusy && said.Code != agentapi.CodeInternal {
				return answer, said
			}
			if said.RetryAfter > 0 {
				wait = time.Duration(min(said.RetryAfter, 60)) * time.Second
			}
		} else if failures++; failures == requestTries || s.conn.IsClosed() {
			return answer, fmt.Errorf("%w: %w", errSessionOver, err)
		}
		pause = min(2*pause, longestPause)
		timer := time.NewTimer(wait/2 + spread(wait))
		select {
		case <-ctx.Done():
			timer.Stop()
			return answer, ctx.Err()
		case <-timer.C:
		}
	}
}

// ask asks once. Each answer is a value of its own: what one says is not left over in the next.
func ask[T any](ctx context.Context, conn *nats.Conn, subject string, body []byte) (answer T, err error) {
	ctx, cancel := context.WithTimeout(ctx, agentapi.RequestTimeout)
	defer cancel()
	msg, err := conn.RequestWithContext(ctx, subject, body)
	if err != nil {
		return answer, err
	}
	if err := strict.Decode(msg.Data, &answer, strict.Unknown, strict.Envelope); err != nil {
		return answer, fmt.Errorf("read an answer: %w", err)
	}
	return answer, nil
}

// begin subscribes and says Hello.
func (s *session) begin(ctx context.Context, cluster string) error {
	l := s.link
	if _, err := s.conn.Subscribe(agentapi.DownCommand(s.id.uid), s.command); err != nil {
		return fmt.Errorf("subscribe to commands: %w", err)
	}
	if _, err := s.conn.Subscribe(agentapi.DownStreams(s.id.uid), s.chunk); err != nil {
		return fmt.Errorf("subscribe to streams: %w", err)
	}
	digest, items, doubt := l.buffer.begin()
	hello := agentapi.Hello{
		Protocol: agentapi.Protocol, ClusterUID: cluster, Namespace: l.cfg.Namespace, Instance: l.cfg.Instance,
		Digest: digest, Items: items, Versions: l.cfg.Versions(), SealKey: s.id.seal[0].Public[:], Namespaced: l.isNarrow(),
		Generation: l.cfg.Generation(), Unsure: doubt,
	}
	asked := l.now()
	welcome, err := request(ctx, s, agentapi.UpHello(s.id.uid), hello, func(w agentapi.Welcome) *agentapi.Error { return w.Error })
	if superseded(err) {
		l.cfg.Superseded(ctx, "the server knows a later promotion", welcome.Generation)
	}
	if err == nil || wrongEngine(err) {
		l.learn(ctx, welcome.Engine)
	}
	select {
	case l.welcome <- struct{}{}:
	default:
	}
	if err != nil {
		return fmt.Errorf("send hello: %w", err)
	}
	s.epochs(welcome.Epoch)
	s.ledger = welcome.Ledger
	s.beat = agentapi.HeartbeatInterval
	if welcome.Heartbeat > 0 {
		s.beat = min(time.Duration(welcome.Heartbeat)*time.Second, maxHeartbeat)
	}
	l.server.compare(welcome.Time, asked)
	if welcome.Inventory && !doubt { // in doubt, a heartbeat reports when nothing is pending any more
		l.buffer.inventory()
	}
	l.status.set(StateConnected, "")
	l.log.Info("connected to the server", "agent", s.id.agent, "server", l.cfg.Server.String(), "epoch", s.epoch,
		"server_version", legible.Cut(welcome.Version, 64), "items", items)
	return nil
}

func (s *session) epochs(n int64) {
	s.mu.Lock()
	s.epoch = n
	s.mu.Unlock()
}

func (s *session) currentEpoch() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch
}

// report sends what changed, one batch after the other.
func (s *session) report(ctx context.Context) error {
	b := s.link.buffer
	seq := int64(1)
	for {
		batch := b.next()
		if batch == nil {
			s.settled()
			select {
			case <-ctx.Done():
				return nil
			case <-b.wake:
			}
			timer := time.NewTimer(gather)
			select {
			case <-ctx.Done():
			case <-timer.C:
			}
			timer.Stop()
			continue
		}
		batch.Epoch, batch.Seq = s.epoch, seq
		start := time.Now()
		ack, err := request(ctx, s, agentapi.UpState(s.id.uid), batch, func(a agentapi.Ack) *agentapi.Error { return a.Error })
		var refused *agentapi.Error
		if errors.As(err, &refused) {
			s.link.cfg.Meter.Batch(len(batch.Items), time.Since(start), refused.Code)
		}
		switch {
		case err == nil:
			seq++
			s.link.cfg.Meter.Batch(len(batch.Items), time.Since(start), "")
			b.acknowledged(ack)
		case refused != nil && (refused.Code == agentapi.CodeMalformed || refused.Code == agentapi.CodeTooLarge):
			b.refused(refused.Message)
		default:
			return s.end(ctx, err)
		}
	}
}

// results sends what came of commands.
func (s *session) results(ctx context.Context) error {
	w := s.link.worker
	for {
		for _, r := range w.outbox.all() {
			report := agentapi.ResultReport{Epoch: s.epoch, Result: r}
			_, err := request(ctx, s, agentapi.UpResult(s.id.uid), report, func(a agentapi.ResultAck) *agentapi.Error { return a.Error })
			var refused *agentapi.Error
			switch {
			case err == nil:
			case errors.As(err, &refused) && (refused.Code == agentapi.CodeMalformed || refused.Code == agentapi.CodeTooLarge):
				w.log.Warn("the server does not take a result", "command", r.ID, "err", err)
			default:
				return s.end(ctx, err)
			}
			w.outbox.drop(r.ID)
			if w.journal != nil {
				w.journal.told(r.ID)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-w.outbox.wake:
		}
	}
}

// end is why a session ends: nothing where it was to.
func (s *session) end(ctx context.Context, err error) error {
	select {
	case <-ctx.Done():
		return nil
	default:
		return err
	}
}
