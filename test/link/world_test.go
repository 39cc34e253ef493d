// Package link tests the two ends of the link against each other: the agent's, with a real cluster behind it, and the
// server's gateway.
package link

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ktypes "k8s.io/apimachinery/pkg/types"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-gitops/slipway/api/agentapi"
	agentlink "github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// limit bounds every wait of these tests.
const limit = time.Minute

// store counts what reaches the memory of a server.
type store struct {
	*gatewaytest.Memory
	items atomic.Int64

	mu     sync.Mutex
	bodies map[agentapi.Key]string
	beats  map[string]int64 // of which epoch an agent's last heartbeat was, by uid
	all    strings.Builder
}

func newStore() *store {
	return &store{Memory: gatewaytest.NewMemory(), bodies: map[agentapi.Key]string{}, beats: map[string]int64{}}
}

// body returns an item as it came last.
func (s *store) body(key agentapi.Key) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies[key]
}

// everything returns whatever came.
func (s *store) everything() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

func (s *store) keep(what any) {
	raw, err := json.Marshal(what)
	if err != nil {
		raw = []byte(err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all.Write(raw)
}

func (s *store) AgentEvents(ctx context.Context, agent gateway.Agent, events []agentapi.Event) error {
	s.keep(events)
	return s.Memory.AgentEvents(ctx, agent, events)
}

func (s *store) SaveHealth(ctx context.Context, uid string, epoch int64, h gateway.Health) error {
	s.keep(h)
	s.mu.Lock()
	s.beats[uid] = epoch // before the memory tells those who wait
	s.mu.Unlock()
	return s.Memory.SaveHealth(ctx, uid, epoch, h)
}

func (s *store) FinishCommand(ctx context.Context, uid string, r agentapi.Result, pendingOnly bool, now time.Time) (bool, error) {
	s.keep(r)
	return s.Memory.FinishCommand(ctx, uid, r, pendingOnly, now)
}

func (s *store) ApplyItems(ctx context.Context, uid string, epoch, seq int64, items []agentapi.Item, now time.Time) ([]gateway.Changed, error) {
	s.items.Add(int64(len(items)))
	s.keep(items)
	s.mu.Lock()
	for _, i := range items {
		s.bodies[i.Key] = string(i.Body)
	}
	s.mu.Unlock()
	return s.Memory.ApplyItems(ctx, uid, epoch, seq, items, now)
}

// until waits for what the store says.
func (s *store) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if err := s.Until(ctx, holds); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// server is a gateway behind an HTTPS port that stays the same when it is stopped and started.
type server struct {
	t       *testing.T
	store   *store
	key     ed25519.PrivateKey
	address string // over restarts
	gateway *gateway.Gateway
	http    *httptest.Server
	change  []func(*gateway.Config)
	stop    func()
}

func startServer(t *testing.T, s *store, change ...func(*gateway.Config)) *server {
	t.Helper()
	key, err := gateway.LoadKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	srv := &server{t: t, store: s, key: key, address: testenv.Address(t), change: change}
	srv.start()
	t.Cleanup(func() { srv.stop() })
	return srv
}

func (s *server) start() {
	s.t.Helper()
	cfg := gateway.Config{
		Agents: s.store, Copies: s.store, Commands: s.store, Audit: s.store, Key: s.key, Version: "1.0.0", Log: slog.New(slog.DiscardHandler),
	}
	for _, f := range s.change {
		f(&cfg)
	}
	g, err := gateway.New(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	select {
	case <-g.Ready():
	case err := <-ended:
		s.t.Fatal(err)
	}
	mux := http.NewServeMux()
	g.Register(mux)
	h := httptest.NewUnstartedServer(mux)
	h.Listener.Close()
	h.Listener = listen(s.t, s.address)
	h.StartTLS()
	s.gateway, s.http = g, h
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
		h.CloseClientConnections()
		h.Close()
	})
}

func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// ca writes what signed the server's certificate.
func (s *server) ca() string {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pemOf(s.http.Certificate().Raw), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return file
}

// token makes an agent and its one-time token.
func (s *server) token(id string) (uid, token string) {
	s.t.Helper()
	uid = gateway.NewUID()
	token, hash := gateway.NewToken()
	if err := s.store.AddAgent(s.t.Context(), uid, id); err != nil {
		s.t.Fatal(err)
	}
	if err := s.store.AddToken(s.t.Context(), uid, hash, time.Now().Add(time.Hour)); err != nil {
		s.t.Fatal(err)
	}
	return uid, token
}

// settled reports whether the server has exactly what a cluster has.
func (s *server) settled(uid string, c *cluster) func() bool {
	return func() bool {
		entries, err := s.store.Entries(s.t.Context(), uid)
		if err != nil {
			return false
		}
		want := c.hashes()
		if len(entries) != len(want) {
			return false
		}
		for _, e := range entries {
			if e.Stale || want[e.Key] != e.Hash {
				return false
			}
		}
		return true
	}
}

// connected reports whether the server can ask an agent: the first heartbeat of its present session came. What the agent
// has may be settled before that.
func (s *server) connected(uid string) func() bool {
	return func() bool {
		agent, err := s.store.AgentByUID(s.t.Context(), uid)
		s.store.mu.Lock()
		defer s.store.mu.Unlock()
		return err == nil && agent.Health.State == agentapi.StateConnected && s.store.beats[uid] == agent.Epoch
	}
}

// cluster is what an agent works on.
type cluster struct {
	core typed.CoreV1Interface
	ns   string
	uid  string

	mu    sync.Mutex
	items map[agentapi.Key]string
}

// newCluster makes one in a namespace of its own. Clusters with different uids are different ones to everybody.
func newCluster(t *testing.T, uid string, items int) *cluster {
	t.Helper()
	client, err := typed.NewForConfig(testenv.Cluster(t))
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{core: elsewhere{client, uid}, ns: testenv.Namespace(t), uid: uid, items: map[agentapi.Key]string{}}
	for i := range items {
		c.put(i, "first")
	}
	return c
}

func app(i int) agentapi.Key {
	return agentapi.Key{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: "app-" + strconv.Itoa(i)}
}

func (c *cluster) put(i int, what string) agentapi.Key {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items[app(i)] = fmt.Sprintf(`{"metadata":{"name":"app-%d","namespace":"argocd"},"spec":{"project":"default"},"status":{"message":%q}}`, i, what)
	return app(i)
}

func (c *cluster) wipe() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.items)
}

func (c *cluster) hashes() map[agentapi.Key]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[agentapi.Key]string{}
	for k, text := range c.items {
		out[k] = agentapi.Hash([]byte(text))
	}
	return out
}

// Keys implements agentlink.Source.
func (c *cluster) Keys(kind agentapi.ItemKind) ([]agentapi.Key, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []agentapi.Key
	for k := range c.items {
		if k.Kind == kind {
			out = append(out, k)
		}
	}
	return out, true
}

// Has implements agentlink.Source.
func (c *cluster) Has(key agentapi.Key) bool { return c.Body(key) != nil }

// Body implements agentlink.Source.
func (c *cluster) Body(key agentapi.Key) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text, ok := c.items[key]; ok {
		return []byte(text)
	}
	return nil
}

// elsewhere is a cluster that says to be another one.
type elsewhere struct {
	typed.CoreV1Interface
	uid string
}

func (e elsewhere) Namespaces() typed.NamespaceInterface {
	return system{e.CoreV1Interface.Namespaces(), e.uid}
}

type system struct {
	typed.NamespaceInterface
	uid string
}

func (s system) Get(context.Context, string, metav1.GetOptions) (*corev1.Namespace, error) {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{UID: ktypes.UID(s.uid)}}, nil
}

// agent is a process with a link.
type agent struct {
	*agentlink.Link

	log  *testenv.Record
	stop func()
}

var processes atomic.Int64

// startAgent starts a process of the agent of a cluster. at is where it believes the server to be.
func startAgent(t *testing.T, at, token string, c *cluster, change ...func(*agentlink.Config)) *agent {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	log := testenv.NewRecord()
	cfg := agentlink.Config{
		Server: u, Transport: agentlink.Transport{Insecure: true, Proxy: func(*url.URL) (*url.URL, error) { return nil, nil }},
		Token: func() (string, error) { return token, nil }, Core: c.core, Namespace: c.ns,
		Instance: "process-" + strconv.FormatInt(processes.Add(1), 10), Source: c,
		Versions:   func() agentapi.Versions { return agentapi.Versions{Agent: "1.0.0"} },
		Components: func() []agentapi.Component { return nil },
		Policy:     func() map[string]string { return nil }, Manages: func(string) bool { return true },
		Log: slog.New(slog.NewJSONHandler(log, nil)),
	}
	for _, f := range change {
		f(&cfg)
	}
	a := &agent{Link: agentlink.New(cfg), log: log}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	a.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		a.stop()
		if t.Failed() {
			t.Logf("the log of %s:\n%s", cfg.Instance, log)
		}
	})
	return a
}

// command is one about an Application, due within the time of the whole test.
func command(kind agentapi.Kind) agentapi.Command {
	return agentapi.Command{
		Kind: kind, Target: agentapi.Target{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: "app-0"},
		User: "user:ann", Issued: time.Now(), Deadline: time.Now().Add(10 * limit),
	}
}
