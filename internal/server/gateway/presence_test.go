package gateway_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

// bare returns a gateway without a broker, which knows what the store knows.
func bare(t testing.TB, store *gatewaytest.Memory, change ...func(*gateway.Config)) *gateway.Gateway {
	t.Helper()
	cfg := gateway.Config{
		Agents: store, Copies: store, Commands: store, Audit: store, Key: make(ed25519.PrivateKey, ed25519.PrivateKeySize),
		Log: quiet(),
	}
	for _, c := range change {
		c(&cfg)
	}
	g, err := gateway.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Remember(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g
}

// registered adds an agent that has a key.
func registered(t testing.TB, store *gatewaytest.Memory) string {
	t.Helper()
	uid := gateway.NewUID()
	token, hash := gateway.NewToken()
	if err := errors.Join(store.AddAgent(t.Context(), uid, "account.prod"), store.AddToken(t.Context(), uid, hash, time.Now().Add(time.Hour))); err != nil {
		t.Fatal(err)
	}
	_, err := store.RegisterAgent(t.Context(), gateway.TokenHash(token), gateway.Registration{PublicKey: uid, ClusterUID: "c", Namespace: "n"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return uid
}

// pass lets time pass in a bubble, where it costs none.
func pass(d time.Duration) { <-time.After(d) }

func hello() agentapi.Hello {
	return agentapi.Hello{Protocol: agentapi.Protocol, ClusterUID: "c", Namespace: "n"}
}

func TestAnAgentIsDisconnectedTwentyFiveSecondsAfterItsLastHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := gatewaytest.NewMemory()
		uid := registered(t, store)
		g := bare(t, store)
		defer g.Forget()
		state := func() (agentapi.State, time.Duration) {
			synctest.Wait()
			kept, err := store.AgentByUID(t.Context(), uid)
			if err != nil {
				t.Fatal(err)
			}
			seen, _ := g.Health(uid)
			if kept.Health.State != seen.State {
				t.Errorf("kept as %s, seen as %s", kept.Health.State, seen.State)
			}
			return seen.State, time.Since(seen.Since)
		}
		if s, _ := state(); s != agentapi.StateNever {
			t.Errorf("%s before it connected", s)
		}
		// What a message began outlives it.
		message, over := context.WithCancel(t.Context())
		w := g.HandleHello(message, uid, hello())
		over()
		beat := func(h agentapi.Heartbeat) {
			message, over := context.WithCancel(t.Context())
			defer over()
			h.Epoch = w.Epoch
			if ack := g.HandleHeartbeat(message, uid, h); ack.Error != nil {
				t.Fatal(ack.Error)
			}
		}
		for range 20 {
			beat(agentapi.Heartbeat{})
			pass(10 * time.Second)
		}
		if s, since := state(); s != agentapi.StateConnected || since != 200*time.Second {
			t.Errorf("%s since %s", s, since)
		}
		pass(15*time.Second - 1)
		if s, _ := state(); s != agentapi.StateConnected {
			t.Errorf("%s just before 25 s", s)
		}
		pass(1)
		if s, since := state(); s != agentapi.StateDisconnected || since != 0 {
			t.Errorf("%s since %s", s, since)
		}
		_, err := g.Commands.Do(t.Context(), uid, agentapi.Command{Kind: agentapi.KindTree, User: "u"})
		if code(err) != agentapi.CodeDisconnected {
			t.Errorf("a question: %v", err)
		}
		beat(agentapi.Heartbeat{Components: []agentapi.Component{{Name: "git", Status: agentapi.ComponentDegraded, Message: "no git"}}})
		if s, _ := state(); s != agentapi.StateDegraded {
			t.Errorf("%s with a component that is not well", s)
		}
		if h, _ := g.Health(uid); h.Message != "git: no git" {
			t.Errorf("message %q", h.Message)
		}
		beat(agentapi.Heartbeat{Lag: 31_000})
		if s, _ := state(); s != agentapi.StateDegraded {
			t.Errorf("%s with a lag of 31 s", s)
		}
		pass(time.Second)
		beat(agentapi.Heartbeat{Lag: 30_000})
		if s, since := state(); s != agentapi.StateConnected || since != 0 {
			t.Errorf("%s since %s with a lag of 30 s", s, since)
		}
	})
}

func TestAnAgentIsKnownToBeHeardBetweenHeartbeatsThatAreKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := gatewaytest.NewMemory()
		uid := registered(t, store)
		g := bare(t, store)
		w := g.HandleHello(t.Context(), uid, hello())
		beat := func() {
			t.Helper()
			if ack := g.HandleHeartbeat(t.Context(), uid, agentapi.Heartbeat{Epoch: w.Epoch}); ack.Error != nil {
				t.Fatal(ack.Error)
			}
		}
		// ago is how long before now it was heard, as kept and as known.
		ago := func(g *gateway.Gateway) [2]time.Duration {
			t.Helper()
			kept, err := store.AgentByUID(t.Context(), uid)
			if err != nil {
				t.Fatal(err)
			}
			seen, _ := g.Health(uid)
			return [2]time.Duration{time.Since(kept.Health.LastHeartbeat), time.Since(seen.LastHeartbeat)}
		}
		beat()
		pass(10 * time.Second)
		beat()
		pass(5 * time.Second)
		if got, want := ago(g), [2]time.Duration{15 * time.Second, 5 * time.Second}; got != want {
			t.Errorf("heard before %s, want %s", got, want)
		}
		g.Forget()
		// A server that begins gives agents time to be heard, and has heard nothing of them yet.
		next := bare(t, store)
		defer next.Forget()
		if got, want := ago(next), [2]time.Duration{15 * time.Second, 15 * time.Second}; got != want {
			t.Errorf("after a restart heard before %s, want %s", got, want)
		}
	})
}

func TestThatNothingIsPendingAnyMoreIsToldWithTheHeartbeatThatSaysSo(t *testing.T) {
	t.Parallel()
	store := gatewaytest.NewMemory()
	uid := registered(t, store)
	told := 0
	g := bare(t, store, func(c *gateway.Config) { c.Notify = func(gateway.Change) { told++ } })
	defer g.Forget()
	w := g.HandleHello(t.Context(), uid, hello())
	for _, beat := range []struct{ pending, kept, told int }{
		{pending: 2, kept: 2, told: 1},
		{pending: 0, kept: 0, told: 1},
		{pending: 1, kept: 0}, // less than half a minute after the one that was kept
		{pending: 0, kept: 0},
	} {
		told = 0
		g.HandleHeartbeat(t.Context(), uid, agentapi.Heartbeat{Epoch: w.Epoch, Pending: beat.pending})
		kept, err := store.AgentByUID(t.Context(), uid)
		if err != nil || kept.Health.Pending != beat.kept || told != beat.told {
			t.Errorf("with %d pending, %d are kept and it is told %d times, want %d and %d: %v",
				beat.pending, kept.Health.Pending, told, beat.kept, beat.told, err)
		}
	}
}

func TestARestartOfTheServerDisconnectsNobodyWhoComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := gatewaytest.NewMemory()
		back, gone := registered(t, store), registered(t, store)
		g := bare(t, store)
		for _, uid := range []string{back, gone} {
			w := g.HandleHello(t.Context(), uid, hello())
			g.HandleHeartbeat(t.Context(), uid, agentapi.Heartbeat{Epoch: w.Epoch})
		}
		g.Forget()
		pass(time.Hour)
		g = bare(t, store)
		defer g.Forget()
		pass(20 * time.Second)
		w := g.HandleHello(t.Context(), back, hello())
		g.HandleHeartbeat(t.Context(), back, agentapi.Heartbeat{Epoch: w.Epoch})
		pass(20 * time.Second)
		synctest.Wait()
		if h, _ := g.Health(back); h.State != agentapi.StateConnected || time.Since(h.Since) < time.Hour {
			t.Errorf("who came back: %s since %s", h.State, time.Since(h.Since))
		}
		if h, _ := g.Health(gone); h.State != agentapi.StateDisconnected || time.Since(h.LastHeartbeat) < time.Hour {
			t.Errorf("who did not: %s, heard %s ago, but nothing was heard since the restart", h.State, time.Since(h.LastHeartbeat))
		}
		if kept, err := store.AgentByUID(t.Context(), gone); err != nil || time.Since(kept.Health.LastHeartbeat) < time.Hour {
			t.Errorf("it is kept as heard %s ago: %v", time.Since(kept.Health.LastHeartbeat), err)
		}
		var lost []string
		for _, e := range store.Links() {
			if e.Type == gateway.LinkLost {
				lost = append(lost, e.UID)
			}
		}
		if len(lost) != 1 || lost[0] != gone {
			t.Errorf("the audit says that %v were lost", lost)
		}
	})
}

func TestAnAgentThatGoesAwayAndComesBackTurnsOnceEach(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := gatewaytest.NewMemory()
		uid := registered(t, store)
		turns := make(chan gateway.Turn, 100)
		heed := func(c *gateway.Config) {
			c.Notify = func(c gateway.Change) {
				if c.Turn != "" {
					turns <- c.Turn
				}
			}
		}
		g := bare(t, store, heed)
		turned := func(when string, want ...gateway.Turn) {
			t.Helper()
			synctest.Wait()
			var got []gateway.Turn
			for len(turns) > 0 {
				got = append(got, <-turns)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", when, got, want)
			}
		}
		connect := func() int64 {
			t.Helper()
			w := g.HandleHello(t.Context(), uid, hello())
			if w.Error != nil {
				t.Fatal(w.Error)
			}
			return w.Epoch
		}
		beat := func(epoch int64) {
			t.Helper()
			if ack := g.HandleHeartbeat(t.Context(), uid, agentapi.Heartbeat{Epoch: epoch}); ack.Error != nil {
				t.Fatal(ack.Error)
			}
		}
		epoch := connect()
		turned("a hello is no heartbeat")
		beat(epoch)
		turned("it connects", gateway.TurnBack)
		pass(20 * time.Second)
		epoch = connect()
		beat(epoch)
		turned("a short reconnect")
		pass(time.Minute)
		turned("it is silent", gateway.TurnAway)
		pass(time.Hour)
		turned("once")
		beat(connect())
		turned("it is heard again", gateway.TurnBack)
		g.Forget()
		g = bare(t, store, heed)
		pass(20 * time.Second)
		beat(connect())
		pass(20 * time.Second)
		turned("the server was restarted")
		g.Forget()
		g = bare(t, store, heed)
		defer g.Forget()
		pass(25 * time.Second)
		turned("it is not heard after a restart", gateway.TurnAway)
	})
}

func TestACommandThatWasSentIsGivenUpAfterADay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := gatewaytest.NewMemory()
		uid := registered(t, store)
		now := time.Now()
		for _, id := range []string{"sent", "pending"} {
			if err := store.AddCommand(t.Context(), gateway.Command{Command: agentapi.Command{ID: id, Agent: uid, Kind: agentapi.KindSync, Deadline: now.Add(time.Minute)}}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := store.MarkSent(t.Context(), uid, []string{"sent"}, now); err != nil {
			t.Fatal(err)
		}
		g := bare(t, store)
		defer g.Forget()
		check := func(after time.Duration, sent, pending agentapi.Status) {
			t.Helper()
			pass(time.Until(now.Add(after)))
			synctest.Wait()
			for id, want := range map[string]agentapi.Status{"sent": sent, "pending": pending} {
				if c, err := store.GetCommand(t.Context(), id); err != nil || c.Result.Status != want {
					t.Errorf("%s after %s: %s, %v", id, after, c.Result.Status, err)
				}
			}
		}
		check(59*time.Second, agentapi.StatusSent, agentapi.StatusPending)
		check(time.Minute, agentapi.StatusSent, agentapi.StatusExpired)
		check(24*time.Hour, agentapi.StatusSent, agentapi.StatusExpired)
		check(24*time.Hour+time.Minute, agentapi.StatusUnknown, agentapi.StatusExpired)
	})
}
