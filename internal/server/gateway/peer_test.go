package gateway_test

import (
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

// pair starts two servers over one store that have found each other.
func pair(t *testing.T) (one, two *server) {
	t.Helper()
	return meet(t, func(first *server) *gateway.Cluster {
		c := &gateway.Cluster{Listen: "127.0.0.1:0", Secret: "s"}
		if first != nil {
			c.Routes = []string{"nats://" + first.gateway.ClusterAddress()}
		}
		return c
	})
}

// meet starts two servers over one store, which find each other as cluster says for the second, given the first.
func meet(t *testing.T, cluster func(first *server) *gateway.Cluster) (one, two *server) {
	t.Helper()
	store := gatewaytest.NewMemory()
	heard := make(chan string, 1000)
	one = start(t, store, func(c *gateway.Config) {
		c.Cluster = cluster(nil)
		c.Heard = func(data []byte) { heard <- string(data) }
	})
	two = start(t, store, func(c *gateway.Config) {
		c.Cluster = cluster(one)
		c.Key = one.key
	})
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		two.gateway.Peers.Broadcast([]byte("hello"))
		select {
		case data := <-heard:
			if data != "hello" {
				t.Fatalf("heard %q", data)
			}
			return one, two
		case <-again.C:
		case <-t.Context().Done():
			t.Fatal("the servers do not find each other")
		}
	}
}

// until waits until a server has heard of changes that make a condition hold.
func (s *server) until(what string, holds func() bool) {
	s.t.Helper()
	for !holds() {
		wait(s.t, s.changes, what)
	}
}

func TestAnAgentOfOneServerServesTheOther(t *testing.T) {
	t.Parallel()
	for name, find := range map[string]func(*testing.T) (one, two *server){"routes": pair, "a NATS server": busPair} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, two := find(t)
			serveEachOther(t, one, two)
		})
	}
}

func serveEachOther(t *testing.T, one, two *server) {
	t.Helper()
	a := one.join(one.register("account.prod", "cluster"))
	two.until("the agent", func() bool { h, _ := two.gateway.Health(a.uid); return h.State == agentapi.StateConnected })

	came := two.do(t.Context(), a.uid, sync1("one"))
	a.command()
	a.report(agentapi.Result{ID: "one", Status: agentapi.StatusDone})
	if got := wait(t, came, "the result"); got.err != nil || got.result.Status != agentapi.StatusDone {
		t.Errorf("result %+v", got)
	}
	came = two.do(t.Context(), a.uid, agentapi.Command{Kind: agentapi.KindTree, User: "user:anna"})
	a.reply(a.command(), agentapi.Result{Status: agentapi.StatusDone, Message: "tree"})
	if got := wait(t, came, "the answer"); got.err != nil || got.result.Message != "tree" {
		t.Errorf("answer %+v", got)
	}
	stream, c := two.stream(a, 0)
	a.chunk(c, agentapi.Chunk{Seq: 1, Data: []byte("x")})
	if chunk, err := stream.Recv(t.Context()); err != nil || string(chunk.Data) != "x" {
		t.Errorf("chunk %+v, %v", chunk, err)
	}
	// What was asked of a session that is over is refused when another server has the next one: nobody will answer it.
	came = two.do(t.Context(), a.uid, agentapi.Command{Kind: agentapi.KindTree, User: "user:anna", Deadline: time.Now().Add(time.Hour)})
	a.command()
	a = one.join(a.identity)
	if got := wait(t, came, "the refusal"); code(got.err) != agentapi.CodeDisconnected {
		t.Errorf("a question to the session before got %+v", got)
	}
	// The agent goes over to the other server, which is the one that counts from then on.
	b := two.join(a.identity)
	if ack := a.beat(agentapi.Heartbeat{}); ack.Error == nil || ack.Error.Code != agentapi.CodeFenced {
		t.Errorf("the session before: %+v", ack)
	}
	if err := one.store.RevokeAgent(t.Context(), a.uid); err != nil {
		t.Fatal(err)
	}
	one.gateway.Revoke(a.uid)
	wait(t, a.closed, "the end of the connection to the first")
	wait(t, b.closed, "the end of the connection to the second")
}

func TestAServerThatBeginsReachesTheAgentsOfTheOthersBeforeTheirNextHeartbeat(t *testing.T) {
	t.Parallel()
	one, _ := pair(t)
	a := one.join(one.register("account.prod", "cluster"))
	late := start(t, one.store, func(c *gateway.Config) {
		c.Cluster = &gateway.Cluster{Listen: "127.0.0.1:0", Secret: "s", Routes: []string{"nats://" + one.gateway.ClusterAddress()}}
		c.Key = one.key
	})
	tick, limit := time.NewTicker(20*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for {
		came := late.do(t.Context(), a.uid, agentapi.Command{Kind: agentapi.KindTree, User: "user:anna"})
		select {
		case c := <-a.commands:
			a.reply(c, agentapi.Result{Status: agentapi.StatusDone, Message: "tree"})
			if got := wait(t, came, "the answer"); got.err != nil || got.result.Message != "tree" {
				t.Errorf("answer %+v", got)
			}
			return
		case got := <-came:
			if code(got.err) != agentapi.CodeDisconnected {
				t.Fatalf("asked before it is known: %+v", got)
			}
		case <-limit:
			t.Fatal("the agent is not reached")
		}
		<-tick.C
	}
}

func TestAnAgentWhoseNewSessionWasNotHeardOfIsReachedBeforeItsNextHeartbeat(t *testing.T) {
	t.Parallel()
	for name, heard := range map[string]struct {
		behind int64 // sessions
		ready  bool
	}{"of nothing": {1, true}, "of its beginning only": {0, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, two := pair(t)
			a := one.join(one.register("account.prod", "cluster"))
			two.until("the agent", func() bool { h, _ := two.gateway.Health(a.uid); return h.State == agentapi.StateConnected })
			two.gateway.Unhear(a.uid, a.epoch-heard.behind, heard.ready)
			tick, limit := time.NewTicker(20*time.Millisecond), time.After(agentapi.HeartbeatInterval)
			defer tick.Stop()
			for {
				came := two.do(t.Context(), a.uid, agentapi.Command{Kind: agentapi.KindTree, User: "user:anna"})
				var got outcome
				for asked := true; asked; {
					select {
					case c := <-a.commands:
						if c.Epoch == a.epoch { // an agent does nothing for another session
							a.reply(c, agentapi.Result{Status: agentapi.StatusDone, Message: "tree"})
						}
					case got = <-came:
						asked = false
					case <-limit:
						t.Fatal("the agent is not reached")
					}
				}
				if got.err == nil && got.result.Message == "tree" {
					return
				}
				if code(got.err) != agentapi.CodeDisconnected {
					t.Fatalf("asked before it is known: %+v", got)
				}
				<-tick.C
			}
		})
	}
}

func TestAWordOfASessionBeforeThatComesLateEndsNothing(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	s.gateway.HearBegun(t.Context(), a.uid, "account.prod", a.epoch-1)
	if ack := a.beat(agentapi.Heartbeat{}); ack.Error != nil { // in the lane of the agent, after the word
		t.Errorf("the present session: %v", ack.Error)
	}
	s.gateway.HearBegun(t.Context(), a.uid, "account.prod", a.epoch+1)
	if ack := a.beat(agentapi.Heartbeat{}); ack.Error == nil || ack.Error.Code != agentapi.CodeFenced {
		t.Errorf("the session before a later one: %v", ack.Error)
	}
}

func TestAServerWithoutTheSecretIsNoneOfThem(t *testing.T) {
	t.Parallel()
	one, _ := pair(t)
	stranger := start(t, gatewaytest.NewMemory(), func(c *gateway.Config) {
		c.Cluster = &gateway.Cluster{Listen: "127.0.0.1:0", Secret: "other", Routes: []string{"nats://" + one.gateway.ClusterAddress()}}
	})
	a := one.join(one.register("account.prod", "cluster"))
	stranger.gateway.Peers.Broadcast([]byte("intruder")) // pair would fail the test: it hears nothing but its own word
	if _, known := stranger.gateway.Health(a.uid); known {
		t.Error("a stranger hears of agents")
	}
	for _, listen := range []string{"", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999"} {
		if err := runs(t, &gateway.Cluster{Listen: listen, Secret: "s"}); err == nil || !strings.Contains(err.Error(), "address") {
			t.Errorf("address %q: %v", listen, err)
		}
	}
	if err := runs(t, &gateway.Cluster{Listen: "127.0.0.1:0", Secret: "s", Routes: []string{"http://x"}}); err == nil {
		t.Error("a route that is none")
	}
	if err := runs(t, &gateway.Cluster{Listen: "127.0.0.1:0"}); err == nil {
		t.Error("no secret")
	}
}

func TestACommandThatAKilledServerKeptAndDidNotSendIsSent(t *testing.T) {
	t.Parallel()
	one, _ := pair(t)
	a := one.join(one.register("account.prod", "cluster"))
	a.beat(agentapi.Heartbeat{})
	c := sync1("kept")
	c.Agent, c.Issued, c.Deadline = a.uid, time.Now(), time.Now().Add(time.Minute)
	if err := one.store.AddCommand(t.Context(), gateway.Command{Command: c}); err != nil {
		t.Fatal(err)
	}
	a.beat(agentapi.Heartbeat{})
	if got := a.command(); got.ID != "kept" {
		t.Errorf("got %+v", got)
	}
}

// runs returns why a server does not start.
func runs(t *testing.T, cluster *gateway.Cluster) error {
	t.Helper()
	store := gatewaytest.NewMemory()
	cfg := gateway.Config{
		Agents: store, Copies: store, Commands: store, Audit: store, Key: make([]byte, 64), Log: quiet(), Cluster: cluster,
	}
	g, err := gateway.New(cfg)
	if err != nil {
		return err
	}
	return g.Run(t.Context())
}
