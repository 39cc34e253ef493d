// Package scale runs several servers as the programs that they are, over one PostgreSQL and behind a balancer that spreads
// connections, kills each of them, and stops and kills the database, while agents report, people ask for syncs, and what
// came of those is told to a webhook.
//
//   - SLIPWAY_SOAK_ROUNDS: how often each of them is ended. Where it is set, promised times are checked.
//   - SLIPWAY_SOAK_AGENTS: how many agents there are.
package scale

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const (
	// settled bounds the waits for what has no bound of its own.
	settled = 2 * time.Minute
	// backIn is the promise: how long after a server was killed every agent is connected again.
	backIn = 5 * time.Second
	// lookEvery is the time between two looks.
	lookEvery = 50 * time.Millisecond
)

// answerIn is how long one question may take before it is asked again. An answer counts from the first question on, so that
// where promised times are checked, one that was lost must not cost more than it takes to ask again.
func answerIn() time.Duration {
	if os.Getenv("SLIPWAY_SOAK_ROUNDS") != "" {
		return 2 * time.Second
	}
	return 10 * time.Second
}

// choose returns a number of the environment, else one for a soak or one for other runs.
func choose(t *testing.T, name string, soaking, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	switch {
	case text == "" && os.Getenv("SLIPWAY_SOAK_ROUNDS") != "":
		return soaking
	case text == "":
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	return n
}

// await looks again and again until nothing is wrong any more.
func await(t *testing.T, what string, wrong func(context.Context) string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), settled)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		problem := wrong(ctx)
		if problem == "" {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: %s", what, problem)
		}
	}
}

// pass lets a moment pass in which work goes on, so that what comes next hits any moment of it.
func pass(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func TestServersAndTheDatabaseAreKilledAndNothingIsLostOrDoneTwice(t *testing.T) {
	w := newWorld(t, 3, choose(t, "SLIPWAY_SOAK_AGENTS", 20, 6))
	defer w.logWhyFailed()
	watch := w.watch()
	busy := w.work()
	killed, database, both := &times{}, &times{}, &times{}
	rounds := choose(t, "SLIPWAY_SOAK_ROUNDS", 20, 1)
	for round := range rounds {
		for _, s := range w.servers {
			pass(t.Context(), 500*time.Millisecond)
			t.Logf("round %d of %d, %s killed: %s", round+1, rounds, s.Name, killed.add(w.kill(s)))
		}
		// A short time without a database and a long one are different: what is asked in vain is asked less and less often.
		away := 200*time.Millisecond + time.Duration(round%4)*4*time.Second
		pass(t.Context(), 500*time.Millisecond)
		t.Logf("round %d of %d, PostgreSQL stopped for %s: %s", round+1, rounds, away, database.add(w.restartDatabase(w.database.Stop, nil, away)))
		pass(t.Context(), 500*time.Millisecond)
		t.Logf("round %d of %d, PostgreSQL killed for %s: %s", round+1, rounds, away, database.add(w.restartDatabase(w.database.Kill, nil, away)))
		pass(t.Context(), 500*time.Millisecond)
		s := w.servers[round%len(w.servers)]
		t.Logf("round %d of %d, PostgreSQL killed for %s, and %s while it was away: %s", round+1, rounds, away, s.Name, both.add(w.restartDatabase(w.database.Kill, s, away)))
	}
	pass(t.Context(), 500*time.Millisecond)
	busy()
	t.Logf("%d servers, %d agents, after %d kills of a server: %s", len(w.servers), len(w.agents), rounds*len(w.servers), killed)
	t.Logf("after %d restarts of PostgreSQL: %s", 2*rounds, database)
	t.Logf("after %d more, while which a server was killed: %s", rounds, both)
	for what, took := range map[string]*times{
		"a server was killed": killed, "PostgreSQL was back": database, "PostgreSQL was back, without a server": both,
	} {
		if slowest := slices.Max(took.answers); os.Getenv("SLIPWAY_SOAK_ROUNDS") != "" && slowest > backIn {
			t.Errorf("an agent was back %s after %s; promised are %s", slowest, what, backIn)
		}
	}
	w.checkCommands()
	w.checkLedger()
	w.checkNotifications(rounds * (len(w.servers) + 1))
	w.checkState()
	watch.check()
	for _, s := range w.servers {
		v, err := s.admin.VerifyAudit(t.Context())
		if err != nil || !v.OK {
			t.Errorf("the audit, as %s sees it: %+v %v", s.Name, v, err)
		} else {
			t.Logf("%s: %s", s.Name, v.Message)
		}
	}
}

// logWhyFailed shows what the servers said last, also where a wait ended the test.
func (w *world) logWhyFailed() {
	if !w.t.Failed() {
		return
	}
	for _, s := range w.servers {
		w.t.Logf("the end of the log of %s:\n%s", s.Name, s.Tail())
	}
}

// times are how long agents took to be back: until the session was made, for those that had to make one, and until each
// answered what it was asked through a server.
type times struct{ sessions, answers []time.Duration }

func (ts *times) add(more times) string {
	ts.sessions, ts.answers = append(ts.sessions, more.sessions...), append(ts.answers, more.answers...)
	return more.String()
}

// String says how they are spread.
func (ts times) String() string {
	spread := func(list []time.Duration) string {
		if len(list) == 0 {
			return "none"
		}
		list = slices.Sorted(slices.Values(list))
		short := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
		return fmt.Sprintf("%d, p50 %s, p99 %s, at most %s", len(list), short(list[len(list)/2]), short(list[len(list)*99/100]), short(list[len(list)-1]))
	}
	return fmt.Sprintf("agents answer again: %s; sessions made: %s", spread(ts.answers), spread(ts.sessions))
}

// restartDatabase ends PostgreSQL, kills a server if one is named, starts PostgreSQL after a while, and returns how long the
// agents took to be back once it answered.
func (w *world) restartDatabase(end func(), also *server, away time.Duration) times {
	w.t.Helper()
	before := w.sessions()
	end()
	if also != nil {
		also.Kill()
	}
	pass(w.t.Context(), away)
	w.database.Start()
	took := w.awaitAgents(time.Now(), before)
	if also != nil {
		also.Start()
		also.awaitReady()
	}
	return took
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// checkCommands looks for commands that were lost or executed twice.
func (w *world) checkCommands() {
	w.t.Helper()
	byMark, status, refused := map[string]api.Command{}, map[string]int{}, map[string]int{}
	for _, a := range w.agents {
		await(w.t, "commands without an outcome", func(ctx context.Context) string {
			all, err := w.commands(ctx, a)
			for _, c := range all {
				if c.Status == api.CommandPending || c.Status == api.CommandSent {
					return fmt.Sprintf("%s %s (%s) is %s", c.Kind, c.ID, c.Reason, c.Status)
				}
				byMark[c.Reason] = c
			}
			return errText(err)
		})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for mark, err := range w.asked {
		c, kept := byMark[mark]
		ran := w.ran[c.ID]
		status[c.Status]++
		if kept && c.Status == api.CommandDone {
			w.done[c.ID] = true
		}
		if !kept && err != nil {
			refused[string(api.CodeOf(err))]++
		}
		switch {
		case !kept && err == nil:
			w.t.Errorf("%s was acknowledged, and there is no command", mark)
		case kept && (c.Status != api.CommandDone || ran != 1):
			w.t.Errorf("%s is %s (%s), and was executed %d times; asking gave %v", mark, c.Status, c.Message, ran, err)
		}
	}
	for id, n := range w.ran {
		if n > 1 {
			w.t.Errorf("command %s was executed %d times", id, n)
		}
	}
	w.t.Logf("%d requests, their commands: %v; what became none was answered: %v", len(w.asked), status, refused)
	if status[api.CommandDone] == 0 {
		w.t.Error("no command was done")
	}
}

// checkState compares what the servers have with what the agents have.
func (w *world) checkState() {
	w.t.Helper()
	for _, a := range w.agents {
		await(w.t, "the state of "+a.id, func(ctx context.Context) string {
			kept, err := w.servers[0].admin.AllApplications(ctx, api.ApplicationFilter{ItemFilter: api.ItemFilter{Agent: a.id}})
			if err != nil {
				return err.Error()
			}
			if have := len(a.names()); len(kept) != have {
				return fmt.Sprintf("the servers have %d applications, the agent %d", len(kept), have)
			}
			for _, app := range kept {
				if !app.StaleSince.IsZero() {
					return app.Name + " is stale"
				}
			}
			return ""
		})
	}
}
