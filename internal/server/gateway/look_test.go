package gateway_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

// misses is a Meter that keeps what was missed.
type misses struct {
	mu   sync.Mutex
	all  []string
	more chan struct{} // closed when something is missed; nil where nothing waits for that
}

func (m *misses) Batch(int, time.Duration, *agentapi.Error)             {}
func (m *misses) Command(agentapi.Kind, agentapi.Status, time.Duration) {}
func (m *misses) Rejected(int, int)                                     {}

// Missed implements gateway.Meter.
func (m *misses) Missed(wait string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, wait)
	if m.more != nil {
		close(m.more)
		m.more = nil
	}
}

// await waits until something was missed, and compares it. The meter is read after a connection was cut, which an agent sees first.
func (m *misses) await(t *testing.T, want string) {
	t.Helper()
	m.mu.Lock()
	if len(m.all) == 0 {
		more := make(chan struct{})
		m.more = more
		m.mu.Unlock()
		wait(t, more, "what is missed")
		m.mu.Lock()
	}
	defer m.mu.Unlock()
	if len(m.all) != 1 || m.all[0] != want {
		t.Errorf("missed %v", m.all)
	}
}

func (m *misses) list() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string{}, m.all...)
}

// unheard returns a gateway that has other servers and hears nothing of them, and what it missed.
func unheard(t *testing.T, store *gatewaytest.Memory) (*gateway.Gateway, *misses) {
	t.Helper()
	m := &misses{}
	g, err := gateway.New(gateway.Config{
		Agents: store, Copies: store, Commands: store, Audit: store, Key: make(ed25519.PrivateKey, ed25519.PrivateKeySize), Log: quiet(),
		Cluster: &gateway.Cluster{Secret: "s"}, Meter: m,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Remember(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g, m
}

// hear gives a server the word of another one.
func hear(t *testing.T, g *gateway.Gateway, note map[string]any) {
	t.Helper()
	data, err := json.Marshal(note)
	if err != nil {
		t.Fatal(err)
	}
	g.Hear(t.Context(), data)
}

// TestAResultOfWhichTheReportWasLostIsFoundByTheSlowLook has a command ordered at one server and answered at another one.
func TestAResultOfWhichTheReportWasLostIsFoundByTheSlowLook(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answered, reported time.Duration // after the order; no report for 0
		want               []string
	}{
		"the report is lost":                    {answered: 3 * time.Second, want: []string{gateway.WaitResult}},
		"the report comes right after the look": {answered: 11 * time.Second, reported: 16 * time.Second},
		"the report comes":                      {answered: time.Second, reported: 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := gatewaytest.NewMemory()
				uid := registered(t, store)
				one, itsOwn := unheard(t, store)
				defer one.Forget()
				two, missed := unheard(t, store)
				defer two.Forget()
				w := one.HandleHello(t.Context(), uid, hello())
				type outcome struct {
					result agentapi.Result
					err    error
				}
				came := make(chan outcome, 1)
				go func() {
					r, err := two.Commands.Do(t.Context(), uid, sync1("c"))
					came <- outcome{r, err}
				}()
				pass(test.answered)
				result := agentapi.Result{ID: "c", Status: agentapi.StatusDone, Message: "synced"}
				report, err := json.Marshal(agentapi.ResultReport{Epoch: w.Epoch, Result: result})
				if err != nil {
					t.Fatal(err)
				}
				if err := one.Handle(t.Context(), uid, "result", report); err != nil {
					t.Fatal(err)
				}
				if test.reported > 0 {
					pass(test.reported - test.answered)
					hear(t, two, map[string]any{"type": "result", "uid": uid, "result": result})
				}
				pass(time.Minute)
				synctest.Wait()
				select {
				case got := <-came:
					if got.err != nil || got.result.Status != agentapi.StatusDone || got.result.Message != "synced" {
						t.Errorf("got %+v", got)
					}
				default:
					t.Error("the wait goes on although the result is kept")
				}
				if diff := cmp.Diff(append([]string{}, test.want...), missed.list()); diff != "" {
					t.Errorf("missed (-want +got):\n%s", diff)
				}
				if n := itsOwn.list(); len(n) > 0 {
					t.Errorf("the server of the agent missed %q", n)
				}
			})
		})
	}
}

func TestAWaitForACommandThatIsGoneEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := gatewaytest.NewMemory()
		uid := registered(t, store)
		lost := &forgetful{Memory: store}
		g, err := gateway.New(gateway.Config{
			Agents: store, Copies: store, Commands: lost, Audit: store, Key: make(ed25519.PrivateKey, ed25519.PrivateKeySize), Log: quiet(),
		})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Forget()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		lost.gone.Store(true)
		if _, err := g.Commands.Do(ctx, uid, sync1("c")); code(err) != agentapi.CodeNotFound {
			t.Errorf("got %v", err)
		}
	})
}

// forgetful is a store whose commands may be gone.
type forgetful struct {
	*gatewaytest.Memory
	gone atomic.Bool
}

// GetCommand implements gateway.Commands.
func (f *forgetful) GetCommand(ctx context.Context, id string) (gateway.Command, error) {
	if f.gone.Load() {
		return gateway.Command{}, gateway.ErrUnknown
	}
	return f.Memory.GetCommand(ctx, id)
}

func TestAnAgentWhoseHeartbeatsAtAnotherServerAreNotReportedIsFoundAlive(t *testing.T) {
	t.Parallel()
	for name, reported := range map[string]bool{"the reports are lost": false, "the reports come": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := gatewaytest.NewMemory()
				uid := registered(t, store)
				one, itsOwn := unheard(t, store)
				defer one.Forget()
				w := one.HandleHello(t.Context(), uid, hello())
				one.HandleHeartbeat(t.Context(), uid, agentapi.Heartbeat{Epoch: w.Epoch})
				two, missed := unheard(t, store)
				defer two.Forget()
				for range 6 {
					pass(agentapi.HeartbeatInterval)
					one.HandleHeartbeat(t.Context(), uid, agentapi.Heartbeat{Epoch: w.Epoch})
					if h, _ := one.Health(uid); reported {
						hear(t, two, map[string]any{"type": "alive", "uid": uid, "id": "account.prod", "epoch": w.Epoch, "at": time.Now(), "health": h})
					}
				}
				synctest.Wait()
				if h, _ := two.Health(uid); h.State != agentapi.StateConnected {
					t.Errorf("the other server says %s", h.State)
				}
				got := missed.list()
				if reported && len(got) > 0 || !reported && (len(got) == 0 || got[0] != gateway.WaitAgent) {
					t.Errorf("missed %q", got)
				}
				if n := itsOwn.list(); len(n) > 0 {
					t.Errorf("the server of the agent missed %q", n)
				}
			})
		})
	}
}

// apart starts two servers over one store that do not find each other, and returns what the second one missed. The clock of
// the second one is ahead by what is stored.
func apart(t *testing.T) (one, two *server, missed *misses, ahead *atomic.Int64) {
	t.Helper()
	store := gatewaytest.NewMemory()
	missed, ahead = &misses{}, &atomic.Int64{}
	one = start(t, store, func(c *gateway.Config) { c.Cluster = &gateway.Cluster{Listen: "127.0.0.1:0", Secret: "s"} })
	two = start(t, store, func(c *gateway.Config) {
		c.Cluster, c.Key, c.Meter = &gateway.Cluster{Listen: "127.0.0.1:0", Secret: "s"}, one.key, missed
		c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	return one, two, missed, ahead
}

func TestAnAgentThatAnotherServerHasCutWithoutAReportIsCut(t *testing.T) {
	t.Parallel()
	one, two, missed, _ := apart(t)
	a := two.join(two.register("account.prod", "cluster"))
	if err := one.store.RevokeAgent(t.Context(), a.uid); err != nil {
		t.Fatal(err)
	}
	one.gateway.Revoke(a.uid)
	if ack := a.beat(agentapi.Heartbeat{}); ack.Error == nil || ack.Error.Code != agentapi.CodeFenced {
		t.Errorf("a heartbeat of an agent that is none any more: %+v", ack)
	}
	beats, late := time.NewTicker(100*time.Millisecond), time.After(time.Minute)
	defer beats.Stop()
	for open := true; open; {
		select {
		case <-a.closed:
			open = false
		case <-beats.C: // whatever it is answered
			beat, err := json.Marshal(agentapi.Heartbeat{Epoch: a.epoch})
			if err != nil {
				t.Fatal(err)
			}
			_ = a.conn.Publish(agentapi.UpHeartbeat(a.uid), beat)
		case <-late:
			t.Fatal("it keeps its connection for as long as it says something")
		}
	}
	missed.await(t, gateway.WaitRevoked)
}

// TestAnAgentThatSaysNothingAndWasCutElsewhereWithoutAReportIsCut drops the report of an agent of which no heartbeat is refused.
func TestAnAgentThatSaysNothingAndWasCutElsewhereWithoutAReportIsCut(t *testing.T) {
	t.Parallel()
	one, two, missed, ahead := apart(t)
	a := two.join(two.register("account.prod", "cluster"))
	if ack := a.beat(agentapi.Heartbeat{}); ack.Error != nil {
		t.Fatalf("its heartbeat is refused: %+v", ack)
	}
	if err := one.store.RevokeAgent(t.Context(), a.uid); err != nil {
		t.Fatal(err)
	}
	one.gateway.Revoke(a.uid)
	ahead.Add(int64(agentapi.DisconnectedAfter))
	two.gateway.Silent(t.Context(), a.uid)
	wait(t, a.closed, "the end of the connection")
	missed.await(t, gateway.WaitRevoked)
}

func TestAConnectionWithAKeyThatWasReplacedAtAnotherServerIsCut(t *testing.T) {
	t.Parallel()
	_, two, missed, ahead := apart(t)
	i := two.register("account.prod", "cluster")
	a := two.connect(i) // with a key that somebody has copied, and says nothing
	alive := func() {
		hear(t, two.gateway, map[string]any{
			"type": "alive", "uid": i.uid, "id": i.id, "epoch": 7, "at": time.Now(), "health": map[string]any{}, "changed": true,
		})
		for !wait(t, two.changes, "that the word was taken").Heard {
		}
	}
	alive()
	ahead.Add(int64(time.Hour))
	alive()
	if got := a.conn.IsClosed(); got || len(missed.list()) > 0 {
		t.Fatalf("with the present key: closed %t, missed %q", got, missed.list())
	}
	kept, err := two.store.AgentByUID(t.Context(), i.uid)
	if err == nil {
		err = two.store.SetNextKey(t.Context(), i.uid, kept.Epoch, "UNEXT")
	}
	if err == nil {
		err = two.store.PromoteKey(t.Context(), i.uid, "UNEXT")
	}
	if err != nil {
		t.Fatal(err)
	}
	ahead.Add(int64(time.Hour))
	alive()
	wait(t, a.closed, "the end of the connection")
	missed.await(t, gateway.WaitKey)
}
