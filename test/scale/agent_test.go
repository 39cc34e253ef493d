package scale

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	typed "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	agentlink "github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/record"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// place is the namespace that all Applications say to be in.
const place = "argocd"

// agent is the agents' end of a link, with Applications that exist here only. Its identity and journal are in a cluster.
type agent struct {
	*agentlink.Link
	id   string
	log  *testenv.Record
	book *record.Book

	mu   sync.Mutex
	apps map[agentapi.Key]bool
}

func (w *world) newAgent(n int) *agent {
	w.t.Helper()
	made, err := w.admin.CreateAgent(w.t.Context(), api.Agent{Meta: api.Meta{Name: fmt.Sprintf("a%02d", n)}}, false)
	if err != nil {
		w.t.Fatal(err)
	}
	core, err := typed.NewForConfig(testenv.Cluster(w.t))
	if err != nil {
		w.t.Fatal(err)
	}
	a := &agent{id: made.Agent.ID, log: testenv.NewRecord(), apps: map[agentapi.Key]bool{}}
	a.put(0)
	if a.book, err = record.Open(record.Config{Dir: w.t.TempDir(), Key: func() []byte { return nil }, Log: slog.New(slog.DiscardHandler)}); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := a.book.Close(); err != nil {
			w.t.Error(err)
		}
	})
	cfg := agentlink.Config{
		Server:    &url.URL{Scheme: "http", Host: w.balancer.address},
		Transport: agentlink.Transport{Proxy: func(*url.URL) (*url.URL, error) { return nil, nil }},
		Token:     func() (string, error) { return made.Token, nil }, Core: core, Namespace: testenv.Namespace(w.t),
		Instance: made.Agent.ID, Source: a, Records: a.book,
		Versions:   func() agentapi.Versions { return agentapi.Versions{Agent: "1.0.0"} },
		Components: func() []agentapi.Component { return nil },
		Policy:     func() map[string]string { return nil }, Manages: func(string) bool { return true },
		Executors: map[agentapi.Kind]agentlink.Executor{
			agentapi.KindSync: func(_ context.Context, c agentapi.Command) (any, error) {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.ran[c.ID]++
				a.synced(c, w.ran[c.ID])
				return nil, nil
			},
			agentapi.KindTree: func(context.Context, agentapi.Command) (any, error) { return map[string]any{}, nil },
		},
		Log: slog.New(slog.NewTextHandler(a.log, nil)),
	}
	a.Link = agentlink.New(cfg)
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
	return a
}

// synced has the ledger told of an operation. A second one of the same command is an entry of its own.
func (a *agent) synced(c agentapi.Command, n int) {
	id := sha256.Sum256(fmt.Appendf(nil, "%s %d", c.ID, n))
	a.book.Add(hex.EncodeToString(id[:16]), &api.LedgerDetail{LedgerEntry: api.LedgerEntry{
		Namespace: place, Name: "app-0", ApplicationUID: a.id, ArgoProject: "default", Command: c.ID, Action: api.LedgerSync,
		Phase: "Succeeded", StartedAt: time.Now(), FinishedAt: time.Now(),
	}})
}

func (a *agent) put(n int) agentapi.Key {
	key := agentapi.Key{Kind: agentapi.ItemApplication, Namespace: place, Name: fmt.Sprintf("app-%d", n)}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.apps[key] = true
	return key
}

func (a *agent) names() (keys []agentapi.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key := range a.apps {
		keys = append(keys, key)
	}
	return keys
}

// Keys implements agentlink.Source.
func (a *agent) Keys(kind agentapi.ItemKind) ([]agentapi.Key, bool) {
	if kind != agentapi.ItemApplication {
		return nil, true
	}
	return a.names(), true
}

// Has implements agentlink.Source.
func (a *agent) Has(key agentapi.Key) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.apps[key]
}

// Body implements agentlink.Source.
func (a *agent) Body(key agentapi.Key) []byte {
	if !a.Has(key) {
		return nil
	}
	return fmt.Appendf(nil, `{"metadata":{"name":%q,"namespace":%q},"spec":{"project":"default"}}`, key.Name, key.Namespace)
}

// balancer gives each connection to the next server that takes it.
type balancer struct {
	address string
	to      []string

	mu    sync.Mutex
	next  int
	conns map[net.Conn]bool
}

func newBalancer(t *testing.T, to []string) *balancer {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{address: l.Addr().String(), to: to, conns: map[net.Conn]bool{}}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() { b.pass(near) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		b.mu.Lock()
		for conn := range b.conns {
			_ = conn.Close()
		}
		b.mu.Unlock()
		work.Wait()
	})
	return b
}

func (b *balancer) pass(near net.Conn) {
	defer near.Close()
	far := b.dial()
	if far == nil {
		return
	}
	defer far.Close()
	b.mu.Lock()
	b.conns[near], b.conns[far] = true, true
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.conns, near)
		delete(b.conns, far)
	}()
	var both sync.WaitGroup
	copyTo := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		_ = to.Close()
		_ = from.Close()
	}
	both.Go(func() { copyTo(far, near) })
	both.Go(func() { copyTo(near, far) })
	both.Wait()
}

func (b *balancer) dial() net.Conn {
	for range b.to {
		b.mu.Lock()
		at := b.to[b.next%len(b.to)]
		b.next++
		b.mu.Unlock()
		if conn, err := net.Dial("tcp", at); err == nil { //nolint:noctx // on loopback it is there or not
			return conn
		}
	}
	return nil
}
