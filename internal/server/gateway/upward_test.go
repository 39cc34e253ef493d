package gateway_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

// keeper counts the batches of records that are kept.
type keeper struct{ batches atomic.Int32 }

func (k *keeper) KeepRecords(context.Context, string, int64, gateway.RecordBatch, time.Time) (gateway.RecordAnswer, error) {
	k.batches.Add(1)
	return gateway.RecordAnswer{}, nil
}

// spoken is what an agent can say in a session, recorded as it was sent.
type spoken struct{ subject, verb, text string }

// speech is one message of each kind that an epoch goes with. Each says something else than the server has.
func (a *agent) speech(epoch int64, command string) []spoken {
	a.t.Helper()
	var all []spoken
	add := func(verb, subject string, message any) {
		raw, err := json.Marshal(message)
		if err != nil {
			a.t.Fatal(err)
		}
		all = append(all, spoken{subject, verb, string(raw)})
	}
	add("heartbeat", agentapi.UpHeartbeat(a.uid), agentapi.Heartbeat{
		Epoch: epoch, Items: 99, Components: []agentapi.Component{{Name: "engine", Status: agentapi.ComponentDegraded, Message: "as it was once"}},
	})
	add("state", agentapi.UpState(a.uid), agentapi.Batch{
		Epoch: epoch, Seq: 9, Items: []agentapi.Item{item("ghost"), {Key: item("kept").Key, Deleted: true}},
		Events: []agentapi.Event{{ID: "ghost", At: time.Now(), Type: agentapi.EventSyncStarted, Target: item("ghost").Key}},
	})
	add("inventory", agentapi.UpState(a.uid), agentapi.Batch{Epoch: epoch, Seq: 10, Inventory: &agentapi.Inventory{Last: true}})
	add("result", agentapi.UpResult(a.uid), agentapi.ResultReport{Epoch: epoch, Result: agentapi.Result{ID: command, Status: agentapi.StatusFailed}})
	add("record", agentapi.UpRecord(a.uid), agentapi.Records{Epoch: epoch})
	next, _ := registration(a.t, "", "")
	public, err := next.PublicKey()
	if err != nil {
		a.t.Fatal(err)
	}
	rotation := agentapi.Rotation{Epoch: epoch, PublicKey: public}
	text := agentapi.RotationText(a.uid, epoch, public)
	if rotation.Signature, err = a.keys.Sign(text); err != nil {
		a.t.Fatal(err)
	}
	if rotation.Proof, err = next.Sign(text); err != nil {
		a.t.Fatal(err)
	}
	add("rotate", agentapi.UpRotate(a.uid), rotation)
	return all
}

// say sends what was recorded and returns the code of the refusal; "" for none.
func say(t *testing.T, conn *nats.Conn, what spoken) agentapi.Code {
	t.Helper()
	reply, err := conn.Request(what.subject, []byte(what.text), time.Minute)
	if err != nil {
		t.Fatalf("%s: %v", what.verb, err)
	}
	var answer struct{ Error *agentapi.Error }
	if err := json.Unmarshal(reply.Data, &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Error == nil {
		return ""
	}
	return answer.Error.Code
}

// untouched fails where something has come of messages that count for nothing.
func (s *server) untouched(a *agent, k *keeper, command string) {
	s.t.Helper()
	if got := s.names(a.uid); got != "kept" || s.store.Events() != 0 || k.batches.Load() != 0 {
		s.t.Errorf("kept are %q, %d events, %d batches of records", got, s.store.Events(), k.batches.Load())
	}
	if h, ok := s.gateway.Health(a.uid); !ok || h.State != agentapi.StateConnected || h.Items == 99 {
		s.t.Errorf("the agent is %+v", h)
	}
	if kept, err := s.store.GetCommand(s.t.Context(), command); err != nil || kept.Result.Status.Final() {
		s.t.Errorf("the command ended: %+v, %v", kept.Result, err)
	}
	if known, err := s.store.AgentByUID(s.t.Context(), a.uid); err != nil || known.NextKey != "" {
		s.t.Errorf("a key was announced: %q, %v", known.NextKey, err)
	}
}

// upward is an agent with one item and one command that it has, and whatever counts records.
func upward(t *testing.T) (*server, *agent, *keeper, string) {
	t.Helper()
	k := &keeper{}
	s := start(t, gatewaytest.NewMemory(), func(c *gateway.Config) { c.Ledger = k })
	a := s.join(s.register("account.prod", "cluster"))
	if ack := a.batch(agentapi.Batch{Seq: 1, Items: []agentapi.Item{item("kept")}}); ack.Error != nil {
		t.Fatal(ack.Error)
	}
	command := sync1("open")
	command.Deadline = time.Now().Add(time.Hour)
	if err := s.store.AddCommand(t.Context(), gateway.Command{Command: withAgent(command, a.uid)}); err != nil {
		t.Fatal(err)
	}
	return s, a, k, command.ID
}

func TestWhatWasRecordedInAnEarlierSessionCountsForNothing(t *testing.T) {
	t.Parallel()
	s, a, k, command := upward(t)
	recorded := a.speech(a.epoch, command)
	a.hello(digest(item("kept")))
	if ack := a.beat(agentapi.Heartbeat{Digest: digest(item("kept")), Items: 1}); ack.Error != nil {
		t.Fatal(ack.Error)
	}
	// By the same connection, and by one that was made with the same key.
	for name, conn := range map[string]*nats.Conn{"its own connection": a.conn, "another connection": s.connect(a.identity).conn} {
		for _, what := range recorded {
			if got := say(t, conn, what); got != agentapi.CodeFenced {
				t.Errorf("%s by %s: %q, want %q", what.verb, name, got, agentapi.CodeFenced)
			}
		}
	}
	// With the number of the present session, which anybody in between can write, a rotation is not what was signed.
	last := recorded[len(recorded)-1]
	var rotation agentapi.Rotation
	if err := json.Unmarshal([]byte(last.text), &rotation); err != nil {
		t.Fatal(err)
	}
	rotation.Epoch = a.epoch
	raw, err := json.Marshal(rotation)
	if err != nil {
		t.Fatal(err)
	}
	if got := say(t, a.conn, spoken{last.subject, last.verb, string(raw)}); got != agentapi.CodeSignature {
		t.Errorf("a rotation of an earlier session under the number of this one: %q, want %q", got, agentapi.CodeSignature)
	}
	s.untouched(a, k, command)
	// A Hello that is repeated begins a session that the agent knows nothing of. It is told so and says Hello again.
	if w := a.tryHello(0); w.Error != nil {
		t.Fatal(w.Error)
	}
	if ack := a.beat(agentapi.Heartbeat{}); ack.Error == nil || ack.Error.Code != agentapi.CodeFenced {
		t.Errorf("a session that another one followed: %+v", ack)
	}
	a.hello(digest(item("kept")))
	if ack := a.beat(agentapi.Heartbeat{Digest: digest(item("kept"))}); ack.Error != nil {
		t.Error(ack.Error)
	}
}

func TestATwinWithTheSameKeySaysNothingThatCounts(t *testing.T) {
	t.Parallel()
	s, a, k, command := upward(t)
	copied := a.identity
	copied.cluster = "copied"
	twin := s.connect(copied)
	if w := twin.tryHello(0); w.Error == nil || w.Error.Code != agentapi.CodeTwin || w.Epoch != 0 {
		t.Fatalf("a twin says Hello: %+v", w)
	}
	// It has no session, and knows of none but those that it had before it was copied.
	for _, epoch := range []int64{0, a.epoch - 1} {
		for _, what := range twin.speech(epoch, command) {
			if got := say(t, twin.conn, what); got != agentapi.CodeFenced {
				t.Errorf("%s of a twin in session %d: %q, want %q", what.verb, epoch, got, agentapi.CodeFenced)
			}
		}
	}
	s.untouched(a, k, command)
	if ack := a.beat(agentapi.Heartbeat{Digest: digest(item("kept"))}); ack.Error != nil {
		t.Errorf("the holder of the identity, beside its twin: %v", ack.Error)
	}
}

func TestWhatTheKeyBeforeARotationSaidCountsForNothing(t *testing.T) {
	t.Parallel()
	s, a, k, command := upward(t)
	recorded := a.speech(a.epoch, command)
	fresh := a.identity
	fresh.keys = a.announce()
	b := s.connect(fresh)
	wait(t, a.closed, "the end of the connection with the key before")
	b.hello(digest(item("kept")))
	if ack := b.beat(agentapi.Heartbeat{Digest: digest(item("kept")), Items: 1}); ack.Error != nil {
		t.Fatal(ack.Error)
	}
	if _, err := s.dial(a.identity); !refused(err) {
		t.Errorf("the key before: %v", err)
	}
	for _, what := range recorded {
		if got := say(t, b.conn, what); got != agentapi.CodeFenced {
			t.Errorf("%s: %q, want %q", what.verb, got, agentapi.CodeFenced)
		}
	}
	// Nor does the present session number make a rotation that the key before has signed one of this key.
	for _, what := range a.speech(b.epoch, command) {
		if what.verb == "rotate" {
			if got := say(t, b.conn, what); got != agentapi.CodeSignature {
				t.Errorf("a rotation by the key before: %q, want %q", got, agentapi.CodeSignature)
			}
		}
	}
	s.untouched(b, k, command)
}

func TestAPartOfAnAnswerOrOfAStreamOfAnEarlierSessionIsNotTaken(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	ask := func() <-chan agentapi.Result {
		came := make(chan agentapi.Result, 1)
		go func() {
			r, _ := s.gateway.Commands.Do(t.Context(), a.uid, agentapi.Command{Kind: agentapi.KindDiff, User: "user:anna"})
			came <- r
		}()
		return came
	}
	first := ask()
	a.command()
	stream, opened := s.stream(a, 0)
	before := a.epoch
	a.hello(0)
	if ack := a.beat(agentapi.Heartbeat{}); ack.Error != nil {
		t.Fatal(ack.Error)
	}
	if r := wait(t, first, "the end of what was asked in the session before"); r.Status.Final() {
		t.Errorf("a question of the session before is answered %+v", r)
	}
	a.chunk(opened, agentapi.Chunk{Seq: 1, Data: []byte("late")})
	if chunk, err := stream.Recv(t.Context()); err == nil && (!chunk.End || chunk.Error == nil || len(chunk.Data) > 0) {
		t.Errorf("a stream of the session before goes on: %+v", chunk)
	}
	// What is asked in this session takes no part that says another one.
	second := ask()
	c := a.command()
	for _, r := range []struct {
		epoch int64
		text  string
	}{{before, "of the session before"}, {a.epoch, "of this one"}} {
		parts, err := agentapi.Split(r.epoch, agentapi.Result{ID: c.ID, Status: agentapi.StatusDone, Message: r.text})
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			a.publish(agentapi.UpReply(a.uid, c.ID), part)
		}
	}
	if r := wait(t, second, "the answer"); r.Message != "of this one" {
		t.Errorf("the answer is %+v", r)
	}
}

func TestWhatIsRepeatedOrLateInItsSessionUndoesNothing(t *testing.T) {
	t.Parallel()
	s, a, _, _ := upward(t)
	event := func(id string) []agentapi.Event {
		return []agentapi.Event{{ID: id, At: time.Now(), Type: agentapi.EventSyncStarted, Target: item("kept").Key}}
	}
	gone := agentapi.Item{Key: item("kept").Key, Deleted: true}
	second := agentapi.Batch{Seq: 2, Items: []agentapi.Item{item("two")}, Events: event("two")}
	third := agentapi.Batch{Seq: 3, Items: []agentapi.Item{gone, item("three")}, Events: event("three")}
	for _, b := range []agentapi.Batch{second, third} {
		if ack := a.batch(b); ack.Error != nil {
			t.Fatal(ack.Error)
		}
	}
	for _, c := range []struct {
		name string
		b    agentapi.Batch
		want agentapi.Code
	}{
		{"the last one", third, ""},
		{"the last one, with something else in it", agentapi.Batch{Seq: 3, Items: []agentapi.Item{item("ghost")}, Events: event("ghost")}, ""},
		{"the one before", second, agentapi.CodeStale},
		{"the first one", agentapi.Batch{Seq: 1, Items: []agentapi.Item{item("kept")}}, agentapi.CodeStale},
		{"none", agentapi.Batch{Seq: 0, Items: []agentapi.Item{item("ghost")}}, agentapi.CodeMalformed},
		{"one before all", agentapi.Batch{Seq: -1, Items: []agentapi.Item{item("ghost")}}, agentapi.CodeMalformed},
	} {
		ack := a.batch(c.b)
		got := agentapi.Code("")
		if ack.Error != nil {
			got = ack.Error.Code
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := s.names(a.uid); got != "three two" || s.store.Events() != 2 {
		t.Errorf("kept are %q and %d events", got, s.store.Events())
	}
}
