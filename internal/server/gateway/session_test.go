package gateway_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

func TestATwinIsFencedAsLongAsTheHolderLives(t *testing.T) {
	t.Parallel()
	now := atomic.Int64{}
	now.Store(time.Now().UnixNano())
	s := start(t, gatewaytest.NewMemory(), func(c *gateway.Config) {
		c.Now = func() time.Time { return time.Unix(0, now.Load()) }
	})
	i := s.register("account.prod", "holder")
	holder := s.join(i)
	copied := i
	copied.cluster = "copy"
	twin := s.connect(copied)
	for range 2 {
		if w := twin.tryHello(0); w.Error == nil || w.Error.Code != agentapi.CodeTwin || w.Error.RetryAfter != 60 {
			t.Fatalf("the twin is told %+v", w)
		}
	}
	if ack := holder.beat(agentapi.Heartbeat{}); ack.Error != nil {
		t.Errorf("the holder is told %v", ack.Error)
	}
	kept, err := s.store.AgentByUID(t.Context(), i.uid)
	if err != nil {
		t.Fatal(err)
	}
	if kept.Health.Twin == nil || kept.Health.Twin.ClusterUID != "copy" {
		t.Errorf("the status of the agent does not tell of the twin: %+v", kept.Health)
	}
	told := 0
	for _, e := range s.store.Links() {
		if e.Type == gateway.LinkTwin {
			told++
		}
	}
	if told != 1 {
		t.Errorf("the audit has %d entries of the twin", told)
	}
	now.Add(int64(46 * time.Second))
	if w := twin.tryHello(0); w.Error != nil {
		t.Fatalf("45 s after the holder's last heartbeat: %v", w.Error)
	}
	if ack := holder.beat(agentapi.Heartbeat{}); ack.Error == nil || ack.Error.Code != agentapi.CodeFenced {
		t.Errorf("the old holder is told %+v", ack)
	}
}

func TestATwinDoesNotWinBecauseTheServerWasAway(t *testing.T) {
	t.Parallel()
	store := gatewaytest.NewMemory()
	s := start(t, store)
	i := s.register("account.prod", "holder")
	s.join(i)
	s.stop()
	later := func(c *gateway.Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Hour) }
	}
	again := start(t, store, later)
	copied := i
	copied.cluster = "copy"
	if w := again.connect(copied).tryHello(0); w.Error == nil || w.Error.Code != agentapi.CodeTwin {
		t.Errorf("the twin that came first is told %+v", w)
	}
	holder := again.connect(i)
	if w := holder.tryHello(0); w.Error != nil {
		t.Errorf("the holder is told %v", w.Error)
	}
}

func TestTheNextLeaderOfTheSameClusterTakesOver(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.prod", "cluster")
	old, next := s.join(i), s.join(i)
	if next.epoch <= old.epoch {
		t.Errorf("epoch %d after %d", next.epoch, old.epoch)
	}
	if ack := old.batch(agentapi.Batch{Seq: 1, Items: []agentapi.Item{item("a")}}); ack.Error == nil || ack.Error.Code != agentapi.CodeFenced {
		t.Errorf("the old leader's batch: %+v", ack)
	}
	if ack := old.report(agentapi.Result{ID: "c", Status: agentapi.StatusDone}); ack.Error == nil || ack.Error.Code != agentapi.CodeFenced {
		t.Errorf("the old leader's result: %+v", ack)
	}
	if ack := next.batch(agentapi.Batch{Seq: 1, Items: []agentapi.Item{item("a")}}); ack.Error != nil {
		t.Errorf("the new leader's batch: %v", ack.Error)
	}
}

func TestAKeyEndsWhenTheNextOneHasConnected(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.prod", "cluster")
	a := s.join(i)
	next, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, err := next.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	rotation := func(by, proof nkeys.KeyPair) agentapi.Rotation {
		text := agentapi.RotationText(i.uid, a.epoch, public)
		signature, err := by.Sign(text)
		if err != nil {
			t.Fatal(err)
		}
		proven, err := proof.Sign(text)
		if err != nil {
			t.Fatal(err)
		}
		return agentapi.Rotation{Epoch: a.epoch, PublicKey: public, Signature: signature, Proof: proven}
	}
	var ack agentapi.RotationAck
	for _, forged := range []agentapi.Rotation{rotation(stranger, next), rotation(i.keys, stranger)} {
		if a.ask(agentapi.UpRotate(i.uid), forged, &ack); ack.Error == nil || ack.Error.Code != agentapi.CodeSignature {
			t.Errorf("a forged rotation: %+v", ack)
		}
	}
	ack = agentapi.RotationAck{}
	if a.ask(agentapi.UpRotate(i.uid), rotation(i.keys, next), &ack); ack.Error != nil {
		t.Fatal(ack.Error)
	}
	// Until the next one has connected the present one goes on.
	if ack := a.beat(agentapi.Heartbeat{}); ack.Error != nil {
		t.Fatal(ack.Error)
	}
	fresh := i
	fresh.keys = next
	b := s.connect(fresh)
	wait(t, a.closed, "the end of the connection with the key before")
	if _, err := s.dial(i); !refused(err) {
		t.Errorf("the key before: %v", err)
	}
	b.hello(0)
	if ack := b.beat(agentapi.Heartbeat{}); ack.Error != nil {
		t.Error(ack.Error)
	}
}

// announce has an agent announce a next key, and returns it.
func (a *agent) announce() nkeys.KeyPair {
	a.t.Helper()
	next, err := nkeys.CreateUser()
	if err != nil {
		a.t.Fatal(err)
	}
	public, err := next.PublicKey()
	if err != nil {
		a.t.Fatal(err)
	}
	text := agentapi.RotationText(a.uid, a.epoch, public)
	signature, err := a.keys.Sign(text)
	if err != nil {
		a.t.Fatal(err)
	}
	proof, err := next.Sign(text)
	if err != nil {
		a.t.Fatal(err)
	}
	var ack agentapi.RotationAck
	if a.ask(agentapi.UpRotate(a.uid), agentapi.Rotation{Epoch: a.epoch, PublicKey: public, Signature: signature, Proof: proof}, &ack); ack.Error != nil {
		a.t.Fatal(ack.Error)
	}
	return next
}

func TestAKeyThatWasAnnouncedAndNotUsedEndsWithTheNextSession(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.prod", "cluster")
	a := s.join(i)
	copied := i
	copied.keys = a.announce()
	a.hello(0) // it was restarted, and knows nothing of that key
	if _, err := s.dial(copied); !refused(err) {
		t.Errorf("the key of a rotation that was interrupted: %v", err)
	}
	if ack := a.beat(agentapi.Heartbeat{}); ack.Error != nil {
		t.Error(ack.Error)
	}
}

// stubborn is a store that cannot end a key a few times.
type stubborn struct {
	*gatewaytest.Memory
	left atomic.Int32
}

func (s *stubborn) PromoteKey(ctx context.Context, uid, key string) error {
	if s.left.Add(-1) >= 0 {
		return errors.New("the database is away")
	}
	return s.Memory.PromoteKey(ctx, uid, key)
}

func TestAKeyEndsAlsoWhereThatCouldNotBeKeptAtFirst(t *testing.T) {
	t.Parallel()
	store := &stubborn{Memory: gatewaytest.NewMemory()}
	store.left.Store(2)
	s := start(t, store.Memory, func(c *gateway.Config) { c.Agents = store })
	i := s.register("account.prod", "cluster")
	thief := s.connect(i) // with the key that is to end
	fresh := i
	fresh.keys = s.join(i).announce()
	next := s.join(fresh)
	wait(t, thief.closed, "the end of the key before")
	if _, err := s.dial(i); !refused(err) {
		t.Errorf("the key before: %v", err)
	}
	if ack := next.beat(agentapi.Heartbeat{}); ack.Error != nil {
		t.Error(ack.Error)
	}
}
