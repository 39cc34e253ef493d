package gateway_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

const year = 365 * 24 * time.Hour

// jumper is a clock that jumps. Its times have no monotonic part, as those of a store that a server reads after a restart.
type jumper struct{ ahead atomic.Int64 }

func (j *jumper) now() time.Time     { return time.Now().Add(time.Duration(j.ahead.Load())).Round(0) }
func (j *jumper) to(d time.Duration) { j.ahead.Store(int64(d)) }

func (j *jumper) config(c *gateway.Config) { c.Now = j.now }

// beating has an agent say hello and send a heartbeat.
func beating(t *testing.T, g *gateway.Gateway, uid string) int64 {
	t.Helper()
	w := g.HandleHello(t.Context(), uid, hello())
	if w.Error != nil {
		t.Fatal(w.Error)
	}
	if ack := g.HandleHeartbeat(t.Context(), uid, agentapi.Heartbeat{Epoch: w.Epoch}); ack.Error != nil || ack.Time.IsZero() {
		t.Fatalf("%+v", ack)
	}
	return w.Epoch
}

func TestAnAgentIsFoundGoneAlthoughTheClockWentBack(t *testing.T) {
	t.Parallel()
	for _, restart := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			store, clock := gatewaytest.NewMemory(), &jumper{}
			uid := registered(t, store)
			clock.to(year)
			g := bare(t, store, clock.config)
			beating(t, g, uid)
			clock.to(0)
			if restart {
				g.Forget()
				g = bare(t, store, clock.config)
			}
			defer func() { g.Forget() }()
			pass(3 * agentapi.DisconnectedAfter)
			synctest.Wait()
			kept, err := store.AgentByUID(t.Context(), uid)
			if seen, _ := g.Health(uid); err != nil || seen.State != agentapi.StateDisconnected || kept.Health.State != agentapi.StateDisconnected {
				t.Errorf("restart %t: seen %s, kept %s, %v", restart, seen.State, kept.Health.State, err)
			}
		})
	}
}

func TestAnAgentStaysConnectedHoweverTheClockJumps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, clock := gatewaytest.NewMemory(), &jumper{}
		uid := registered(t, store)
		g := bare(t, store, clock.config)
		defer g.Forget()
		epoch := beating(t, g, uid)
		for _, ahead := range []time.Duration{time.Hour, 0, year, 0, -time.Hour, 0, -year, 0} {
			clock.to(ahead)
			for range 5 {
				pass(agentapi.HeartbeatInterval)
				if ack := g.HandleHeartbeat(t.Context(), uid, agentapi.Heartbeat{Epoch: epoch}); ack.Error != nil {
					t.Fatal(ack.Error)
				}
				synctest.Wait()
				if seen, _ := g.Health(uid); seen.State != agentapi.StateConnected {
					t.Errorf("the clock is %s ahead: %s", ahead, seen.State)
				}
			}
		}
	})
}

func TestAnIdentityIsNotHeldForAYearAfterTheClockWentBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, clock := gatewaytest.NewMemory(), &jumper{}
		uid := registered(t, store)
		clock.to(year)
		g := bare(t, store, clock.config)
		beating(t, g, uid)
		g.Forget()
		clock.to(0)
		g = bare(t, store, clock.config)
		defer func() { g.Forget() }()
		other := hello()
		other.ClusterUID = "another"
		if w := g.HandleHello(t.Context(), uid, other); w.Error == nil || w.Error.Code != agentapi.CodeTwin {
			t.Errorf("a twin, while the holder may come back: %+v", w)
		}
		pass(2 * agentapi.HolderAlive)
		if w := g.HandleHello(t.Context(), uid, other); w.Error != nil {
			t.Errorf("the holder has not been heard for %s: %v", 2*agentapi.HolderAlive, w.Error)
		}
	})
}

func TestAResultFromAWrongClockIsKeptAsLongAsAnyOther(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	begun := time.Now()
	for name, c := range map[string]struct {
		finished time.Time
		kept     bool
	}{
		"ahead": {begun.Add(year), false}, "behind": {begun.Add(-year), false}, "none": {time.Time{}, false},
		"an-hour-ago": {begun.Add(-time.Hour), true}, "a-little-ahead": {begun.Add(time.Minute), true},
	} {
		command := sync1(name)
		command.Deadline = begun.Add(time.Hour)
		if err := s.store.AddCommand(t.Context(), gateway.Command{Command: withAgent(command, a.uid)}); err != nil {
			t.Fatal(err)
		}
		if ack := a.report(agentapi.Result{ID: name, Status: agentapi.StatusDone, Finished: c.finished}); ack.Error != nil {
			t.Fatal(ack.Error)
		}
		got, err := s.store.GetCommand(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		at := got.Result.Finished
		if c.kept && !at.Equal(c.finished) || !c.kept && (at.Before(begun.Add(-time.Second)) || at.After(time.Now().Add(time.Second))) {
			t.Errorf("%s: it finished at %s, which is kept as %s", name, c.finished, at)
		}
	}
}

func TestACommandThatWasGivenWhileTheClockWasAheadEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, clock := gatewaytest.NewMemory(), &jumper{}
		uid := registered(t, store)
		ahead := time.Now().Add(year)
		for _, id := range []string{"pending", "sent"} {
			if err := store.AddCommand(t.Context(), gateway.Command{Command: agentapi.Command{ID: id, Agent: uid, Kind: agentapi.KindSync, Deadline: ahead.Add(time.Minute)}}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := store.MarkSent(t.Context(), uid, []string{"sent"}, ahead); err != nil {
			t.Fatal(err)
		}
		g := bare(t, store, clock.config)
		defer g.Forget()
		pass(time.Second)
		synctest.Wait()
		if c, err := store.GetCommand(t.Context(), "pending"); err != nil || c.Result.Status != agentapi.StatusExpired {
			t.Errorf("one that was not sent: %s, %v", c.Result.Status, err)
		}
		if c, err := store.GetCommand(t.Context(), "sent"); err != nil || c.Result.Status != agentapi.StatusSent {
			t.Errorf("one that the agent may have done: %s, %v", c.Result.Status, err) // it has its time to report
		}
	})
}
