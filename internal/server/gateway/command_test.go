package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

// outcome is what Do returned.
type outcome struct {
	result agentapi.Result
	err    error
}

// do gives a command and returns where its outcome comes.
func (s *server) do(ctx context.Context, uid string, c agentapi.Command) <-chan outcome {
	came := make(chan outcome, 1)
	go func() {
		r, err := s.gateway.Commands.Do(ctx, uid, c)
		came <- outcome{r, err}
	}()
	return came
}

func sync1(id string) agentapi.Command {
	return agentapi.Command{
		ID: id, Kind: agentapi.KindSync, User: "user:anna", Reason: "r",
		Target: agentapi.Target{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: "shop"}, Body: json.RawMessage(`{"prune":true}`),
	}
}

func TestACommandComesDownAndItsResultUp(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	came := s.do(t.Context(), a.uid, sync1("one"))
	c := a.command()
	if c.ID != "one" || c.Agent != a.uid || c.Epoch != a.epoch || c.User != "user:anna" || c.Reason != "r" || string(c.Body) != `{"prune":true}` {
		t.Errorf("command %+v", c)
	}
	if c.Deadline.Sub(c.Issued) != 5*time.Minute {
		t.Errorf("deadline %s after it was issued", c.Deadline.Sub(c.Issued))
	}
	for range 2 { // the answer to the first was lost
		if ack := a.report(agentapi.Result{ID: "one", Status: agentapi.StatusDone, Message: "synced"}); ack.Error != nil {
			t.Fatal(ack.Error)
		}
	}
	// Nobody can change it later.
	a.report(agentapi.Result{ID: "one", Status: agentapi.StatusFailed, Message: "no"})
	if got := wait(t, came, "the result"); got.err != nil || got.result.Status != agentapi.StatusDone || got.result.Message != "synced" {
		t.Errorf("result %+v", got)
	}
	finished := s.store.Finished()
	if len(finished) != 1 || finished[0].Result.Status != agentapi.StatusDone || finished[0].User != "user:anna" {
		t.Errorf("told to the audit: %+v", finished)
	}
	// The same id again is the same command.
	if r, err := s.gateway.Commands.Do(t.Context(), a.uid, sync1("one")); err != nil || r.Message != "synced" {
		t.Errorf("the same again: %+v, %v", r, err)
	}
	other := sync1("one")
	other.Target.Name = "other"
	if _, err := s.gateway.Commands.Do(t.Context(), a.uid, other); code(err) != agentapi.CodeConflict {
		t.Errorf("another command with the id: %v", err)
	}
	if len(a.commands) > 0 {
		t.Error("the command was sent again")
	}
}

func TestAnAgentReportsOnlyItsOwnCommands(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	thief := s.join(s.register("account.thief", "other"))
	came := s.do(t.Context(), a.uid, sync1("one"))
	asked := s.do(t.Context(), a.uid, agentapi.Command{ID: "two", Kind: agentapi.KindTree, User: "user:anna"})
	got := map[string]agentapi.Command{}
	for range 2 {
		c := a.command()
		got[c.ID] = c
	}
	thief.report(agentapi.Result{ID: "one", Status: agentapi.StatusDone, Message: "stolen"})
	thief.epoch = a.epoch
	thief.reply(got["two"], agentapi.Result{Status: agentapi.StatusDone, Message: "stolen"})
	if err := thief.conn.Flush(); err != nil {
		t.Fatal(err)
	}
	a.report(agentapi.Result{ID: "one", Status: agentapi.StatusDone, Message: "mine"})
	a.reply(got["two"], agentapi.Result{Status: agentapi.StatusDone, Message: "mine"})
	for _, c := range []<-chan outcome{came, asked} {
		if got := wait(t, c, "the result"); got.err != nil || got.result.Message != "mine" {
			t.Errorf("result %+v", got)
		}
	}
}

func TestACommandWaitsForItsAgent(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.prod", "cluster")
	ctx, cancel := context.WithCancel(t.Context())
	came := s.do(ctx, i.uid, sync1("one"))
	if err := s.store.Until(t.Context(), func() bool { _, err := s.store.GetCommand(t.Context(), "one"); return err == nil }); err != nil {
		t.Fatal(err)
	}
	cancel()
	if got := wait(t, came, "the end"); !errors.Is(got.err, context.Canceled) || got.result.Status != agentapi.StatusPending || got.result.ID != "one" {
		t.Errorf("who did not wait got %+v", got)
	}
	a := s.join(i)
	if c := a.command(); c.ID != "one" || c.Epoch != a.epoch {
		t.Errorf("command %+v", c)
	}
	a.report(agentapi.Result{ID: "one", Status: agentapi.StatusDone})
	if kept, err := s.store.GetCommand(t.Context(), "one"); err != nil || kept.Result.Status != agentapi.StatusDone || kept.Body != nil {
		t.Errorf("kept: %+v, %v", kept, err)
	}
}

// slow has a database that takes its time to keep a command.
type slow struct {
	*gatewaytest.Memory
	asked, answers chan struct{}
}

func (s slow) AddCommand(ctx context.Context, c gateway.Command) error {
	close(s.asked)
	<-s.answers
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.Memory.AddCommand(ctx, c)
}

func TestACommandIsKeptHoweverShortSomebodyWaits(t *testing.T) {
	t.Parallel()
	store := slow{gatewaytest.NewMemory(), make(chan struct{}), make(chan struct{})}
	s := start(t, store.Memory, func(c *gateway.Config) { c.Commands = store })
	i := s.register("account.prod", "cluster")
	ctx, cancel := context.WithCancel(t.Context())
	came := s.do(ctx, i.uid, sync1("one"))
	wait(t, store.asked, "the command at the database")
	cancel()
	close(store.answers)
	if got := wait(t, came, "the end"); !errors.Is(got.err, context.Canceled) || got.result.Status != agentapi.StatusPending {
		t.Errorf("who did not wait got %+v", got)
	}
	if _, err := store.GetCommand(t.Context(), "one"); err != nil {
		t.Errorf("the command was not kept: %v", err)
	}
}

func TestACommandExpiresWhenItsAgentDoesNotCome(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.prod", "cluster")
	c := sync1("one")
	c.Deadline = time.Now().Add(50 * time.Millisecond)
	if got := wait(t, s.do(t.Context(), i.uid, c), "the result"); got.err != nil || got.result.Status != agentapi.StatusExpired {
		t.Errorf("result %+v", got)
	}
	a := s.join(i)
	a.beat(agentapi.Heartbeat{})
	if len(a.commands) > 0 {
		t.Error("it was sent all the same")
	}
}

func TestStoredCommandsSurviveARestartOfTheServer(t *testing.T) {
	t.Parallel()
	store := gatewaytest.NewMemory()
	s := start(t, store)
	i := s.register("account.prod", "cluster")
	a := s.join(i)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, id := range []string{"one", "two"} {
		s.do(ctx, i.uid, sync1(id))
		a.command()
	}
	a.report(agentapi.Result{ID: "one", Status: agentapi.StatusDone})
	s.stop()
	wait(t, a.closed, "the end of the connection")

	again := start(t, store, func(c *gateway.Config) { c.Key = s.key })
	b := again.join(i)
	if c := b.command(); c.ID != "two" || c.Epoch != b.epoch {
		t.Errorf("command %+v", c)
	}
	came := again.do(t.Context(), i.uid, sync1("two"))
	b.report(agentapi.Result{ID: "two", Status: agentapi.StatusUnknown, Code: agentapi.CodeInterrupted})
	if got := wait(t, came, "the result"); got.err != nil || got.result.Status != agentapi.StatusUnknown {
		t.Errorf("result %+v", got)
	}
	c := again.connect(i)
	c.hello(0)
	c.beat(agentapi.Heartbeat{})
	if len(c.commands) > 0 {
		t.Error("a command with a result was sent again")
	}
}

func TestAnOutcomeIsInTheAuditAlthoughTheServerEndedBeforeItToldIt(t *testing.T) {
	t.Parallel()
	store := gatewaytest.NewMemory()
	s := start(t, store)
	a := s.join(s.register("account.prod", "cluster"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.do(ctx, a.uid, sync1("one"))
	a.command()
	result := agentapi.Result{ID: "one", Status: agentapi.StatusDone, Finished: time.Now()}
	if _, err := store.FinishCommand(ctx, a.uid, result, false, time.Now()); err != nil { // and then it was killed
		t.Fatal(err)
	}
	a.report(result) // nobody has acknowledged it
	a.report(result)
	if finished := store.Finished(); len(finished) != 1 || finished[0].ID != "one" {
		t.Errorf("told to the audit: %+v", finished)
	}
}

func TestACommandThatWasLostIsSentAgain(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var ahead time.Duration
	s := start(t, gatewaytest.NewMemory(), func(c *gateway.Config) {
		c.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return time.Now().Add(ahead)
		}
	})
	a := s.join(s.register("account.prod", "cluster"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.do(ctx, a.uid, sync1("one"))
	a.command()
	mu.Lock()
	ahead = 11 * time.Second
	mu.Unlock()
	a.beat(agentapi.Heartbeat{Running: []string{"one"}})
	if len(a.commands) > 0 {
		t.Error("a command that the agent has was sent again")
	}
	a.beat(agentapi.Heartbeat{})
	if c := a.command(); c.ID != "one" {
		t.Errorf("command %+v", c)
	}
}

func TestAQuestionNeedsTheAgent(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.prod", "cluster")
	tree := agentapi.Command{Kind: agentapi.KindTree, User: "user:anna"}
	_, err := s.gateway.Commands.Do(t.Context(), i.uid, tree)
	if code(err) != agentapi.CodeDisconnected || !strings.Contains(err.Error(), "account.prod") {
		t.Errorf("before it connected: %v", err)
	}
	a := s.join(i)
	want, err := json.Marshal(strings.Repeat("x", 3_000_000))
	if err != nil {
		t.Fatal(err)
	}
	came := s.do(t.Context(), i.uid, tree)
	a.reply(a.command(), agentapi.Result{Status: agentapi.StatusDone, Body: want})
	if got := wait(t, came, "the result"); got.err != nil || string(got.result.Body) != string(want) {
		t.Errorf("error %v, %d bytes", got.err, len(got.result.Body))
	}
	if _, err := s.store.GetCommand(t.Context(), a.uid); err == nil {
		t.Error("a question was kept")
	}
	// An agent that begins a new session has forgotten the questions of the one before.
	came = s.do(t.Context(), i.uid, tree)
	a.command()
	b := s.join(i)
	if got := wait(t, came, "the answer"); code(got.err) != agentapi.CodeDisconnected {
		t.Errorf("after the session: %+v", got)
	}
	for name, data := range map[string]string{
		"no JSON": "x", "another command": `{"epoch":EPOCH,"index":0,"last":true,"data":"eyJpZCI6IngifQ=="}`,
		"out of order": `{"epoch":EPOCH,"index":1,"last":true,"data":"e30="}`, "no result": `{"epoch":EPOCH,"index":0,"last":true,"data":"eA=="}`,
	} {
		came := s.do(t.Context(), i.uid, tree)
		c := b.command()
		if err := b.conn.Publish(agentapi.UpReply(i.uid, c.ID), []byte(strings.ReplaceAll(data, "EPOCH", fmt.Sprint(b.epoch)))); err != nil {
			t.Fatal(err)
		}
		if got := wait(t, came, "the answer"); code(got.err) != agentapi.CodeMalformed {
			t.Errorf("%s: %+v", name, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	came = s.do(ctx, i.uid, tree)
	b.command()
	cancel()
	if got := wait(t, came, "the end"); !errors.Is(got.err, context.Canceled) {
		t.Errorf("who did not wait got %+v", got)
	}
}

func TestACommandThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.prod", "cluster")
	s.join(i)
	for name, change := range map[string]func(*agentapi.Command){
		"kind":   func(c *agentapi.Command) { c.Kind = "application.explode" },
		"stream": func(c *agentapi.Command) { c.Kind = agentapi.KindResourceLogs },
		"id":     func(c *agentapi.Command) { c.ID = "a.b" },
		"user":   func(c *agentapi.Command) { c.User = "" },
		"body":   func(c *agentapi.Command) { c.Body = json.RawMessage("{") },
		"large": func(c *agentapi.Command) {
			c.Body = json.RawMessage(`"` + strings.Repeat("x", agentapi.MaxCommand) + `"`)
		},
		"deadline": func(c *agentapi.Command) { c.Deadline = time.Now().Add(48 * time.Hour) },
		"reason":   func(c *agentapi.Command) { c.Reason = strings.Repeat("x", agentapi.MaxText+1) },
	} {
		c := sync1("one")
		change(&c)
		if _, err := s.gateway.Commands.Do(t.Context(), i.uid, c); code(err) != agentapi.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.gateway.Commands.Do(t.Context(), gateway.NewUID(), sync1("one")); code(err) != agentapi.CodeNotFound {
		t.Errorf("an agent that nobody knows: %v", err)
	}
}

func TestOnlySoManyCommandsWaitForAnAgent(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.prod", "cluster")
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // give and go
	for n := range 1000 {
		if _, err := s.gateway.Commands.Do(ctx, i.uid, sync1(fmt.Sprint(n))); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if _, err := s.gateway.Commands.Do(ctx, i.uid, sync1("more")); code(err) != agentapi.CodeBusy {
		t.Errorf("one more: %v", err)
	}
	a := s.join(i)
	for n := range 1000 {
		if c := a.command(); c.ID != fmt.Sprint(n) {
			t.Fatalf("command %s where %d was due", c.ID, n)
		}
	}
}

// Twenty agents work at the same time while the server is restarted; each must get all of its commands, and what it tells
// must be kept.
func TestTwentyAgentsLoseNothingOverRestarts(t *testing.T) {
	t.Parallel()
	store := gatewaytest.NewMemory()
	s := start(t, store)
	key := func(c *gateway.Config) { c.Key = s.key }
	var agents []identity
	for n := range 20 {
		agents = append(agents, s.registerQuietly(fmt.Sprintf("account.agent-%d", n)))
	}
	const rounds = 3
	for round := range rounds {
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for n, i := range agents {
			wg.Go(func() {
				id := fmt.Sprintf("%d-%d", round, n)
				came := s.do(ctx, i.uid, sync1(id))
				a := s.join(i)
				c := a.command()
				if n%2 == 0 { // the others do not come to it before the server is gone
					a.report(agentapi.Result{ID: c.ID, Status: agentapi.StatusDone})
				}
				if c.ID == id && n%2 == 0 {
					wait(t, came, "the result of "+id)
				}
				if ack := a.batch(agentapi.Batch{Seq: 1, Items: []agentapi.Item{item(id)}}); ack.Error != nil {
					t.Error(ack.Error)
				}
			})
		}
		wg.Wait()
		cancel()
		s.stop()
		s = start(t, store, key)
	}
	for n, i := range agents {
		a := s.join(i)
		for round := range rounds {
			if n%2 == 1 {
				if c := a.command(); c.ID != fmt.Sprintf("%d-%d", round, n) {
					t.Errorf("command %s of agent %d where round %d was due", c.ID, n, round)
				}
			}
		}
		if got := s.names(i.uid); len(strings.Fields(got)) != rounds {
			t.Errorf("kept of agent %d: %s", n, got)
		}
	}
	if n := len(store.Finished()); n != 10*rounds {
		t.Errorf("%d commands have a result", n)
	}
}

// registerQuietly makes an agent known without the limit of registrations from one address.
func (s *server) registerQuietly(id string) identity {
	s.t.Helper()
	uid, token := s.token(id)
	keys, r := registration(s.t, token, id)
	if _, err := s.store.RegisterAgent(s.t.Context(), gateway.TokenHash(token), gateway.Registration{
		PublicKey: r.PublicKey, SealKey: r.SealKey, ClusterUID: r.ClusterUID, Namespace: r.Namespace, Version: r.Version,
	}, time.Now()); err != nil {
		s.t.Fatal(err)
	}
	return identity{uid: uid, id: id, keys: keys, cluster: id, server: s.gateway.ServerKey()}
}
