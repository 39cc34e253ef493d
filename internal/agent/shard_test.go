package agent

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	coordination "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestSharesAddUpAndDifferByOneAtMost(t *testing.T) {
	t.Parallel()
	for n := 1; n <= maxShards; n++ {
		for m := 1; m < 12; m++ {
			var members []string
			for i := range m {
				members = append(members, fmt.Sprint("replica", m-1-i)) // in another order
			}
			sum := 0
			for i := range m {
				got := share(n, append([]string(nil), members...), fmt.Sprint("replica", i))
				if got < n/m || got > n/m+1 {
					t.Errorf("%d shards, %d replicas: one holds %d", n, m, got)
				}
				sum += got
			}
			if sum != n {
				t.Errorf("%d shards, %d replicas: %d are held", n, m, sum)
			}
		}
	}
}

func TestTheShardOfAnApplicationNeverChanges(t *testing.T) {
	t.Parallel()
	// FNV-1a as published: replicas of different versions must agree.
	for id, want := range map[name]int{
		{Namespace: "argocd", Name: "web"}: 6, {Namespace: "argocd", Name: "api"}: 0, {Namespace: "team", Name: "web"}: 13,
	} {
		if got := shardOf(id, 16); got != want {
			t.Errorf("%s is in shard %d, not %d", id, got, want)
		}
	}
}

// newShards are those of a replica on a cluster, which nobody runs.
func newShards(t *testing.T, ns, identity string, n int, d time.Duration) *shards {
	t.Helper()
	client, err := kubernetes.NewForConfig(testenv.Cluster(t))
	if err != nil {
		t.Fatal(err)
	}
	return &shards{
		n: n, identity: identity, times: leaseTimes{d}, leases: client.CoordinationV1().Leases(ns), log: slog.New(slog.DiscardHandler),
		taken: func(context.Context, []int) error { return nil }, begun: func([]int) {}, given: func(int) {},
		held: map[int]*holding{}, wake: make(chan struct{}, 1),
	}
}

func mustStep(t *testing.T, s *shards) {
	t.Helper()
	if err := s.step(t.Context()); err != nil {
		t.Fatalf("%s: %v", s.identity, err)
	}
}

// ofShard is an Application in a shard.
func ofShard(shard, n int) name {
	for i := 0; ; i++ {
		if id := (name{Namespace: "a", Name: fmt.Sprint("app", i)}); shardOf(id, n) == shard {
			return id
		}
	}
}

func TestAShardIsGivenUpAfterItsLastTurnAndNotBefore(t *testing.T) {
	t.Parallel()
	ns := testenv.Namespace(t)
	a, b := newShards(t, ns, "a", 2, time.Hour), newShards(t, ns, "b", 2, time.Hour)
	mustStep(t, a)
	if a.count() != 2 {
		t.Fatalf("one alone holds %d shards of 2", a.count())
	}
	id := ofShard(1, 2)
	turn, leave, ok := a.enter(t.Context(), id)
	if !ok {
		t.Fatal("who holds the shard has no turn")
	}
	mustStep(t, b) // says that it is there
	mustStep(t, a) // has to give one up, and has a turn in it
	mustStep(t, b)
	if b.count() != 0 || turn.Err() != nil {
		t.Fatalf("another one holds %d shards while a turn runs (%v)", b.count(), turn.Err())
	}
	if _, _, ok := a.enter(t.Context(), id); ok {
		t.Error("a turn begins in a shard that is given up")
	}
	leave()
	select {
	case <-a.wake:
	default:
		t.Error("the end of the last turn wakes nobody")
	}
	mustStep(t, a)
	mustStep(t, b)
	_, left, ok := b.enter(t.Context(), id)
	if !ok || a.count() != 1 || b.count() != 1 {
		t.Fatalf("they hold %d and %d, and the new one has turns: %t", a.count(), b.count(), ok)
	}
	left()
	a.end(t.Context())
	mustStep(t, b)
	if b.count() != 2 {
		t.Errorf("the other one stopped in order, and this one holds %d", b.count())
	}
	b.end(t.Context())
}

func TestTurnsEndBeforeALeaseThatIsNotRenewedIsAnothers(t *testing.T) {
	t.Parallel()
	ns := testenv.Namespace(t)
	const lease = 12 * time.Second // long enough for a first turn on a busy machine
	a := newShards(t, ns, "a", 2, lease)
	mustStep(t, a)
	began := time.Now()
	turn, leave, ok := a.enter(t.Context(), ofShard(0, 2))
	if !ok {
		t.Fatal("who holds the shard has no turn")
	}
	defer leave()
	select {
	case <-turn.Done():
		if took := time.Since(began); took > lease {
			t.Logf("the machine is slow: the fence fell after %s", took)
		}
	case <-time.After(time.Minute):
		t.Fatal("a turn goes on although nothing was renewed for a minute")
	}
	if _, _, ok := a.enter(t.Context(), ofShard(0, 2)); ok {
		t.Error("a turn begins under a lease that may be another's")
	}
	if err := a.step(t.Context()); err == nil {
		t.Error("a replica that lost its shards goes on")
	}
}

func TestNobodyBeginsBesideAReplicaThatSharesInAnotherWay(t *testing.T) {
	t.Parallel()
	ns := testenv.Namespace(t)
	a, b := newShards(t, ns, "a", 2, time.Hour), newShards(t, ns, "b", 4, time.Hour)
	mustStep(t, a)
	mustStep(t, b)
	if a.count() != 2 || b.count() != 0 {
		t.Errorf("the first holds %d of 2, and one that counts 4 holds %d", a.count(), b.count())
	}
	a.end(t.Context())
	mustStep(t, b)
	if b.count() != 4 {
		t.Errorf("the other one has ended, and this one holds %d of 4", b.count())
	}
	b.end(t.Context())

	// One that works on everything holds the leader's Lease alone.
	who, now, seconds := "alone", metav1.NowMicro(), int32(3600)
	_, err := a.leases.Create(t.Context(), &coordination.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: leaseName},
		Spec:       coordination.LeaseSpec{HolderIdentity: &who, RenewTime: &now, LeaseDurationSeconds: &seconds},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := newShards(t, ns, "c", 2, time.Hour)
	mustStep(t, c)
	if c.count() != 0 {
		t.Errorf("one replica works on everything, and another one holds %d shards", c.count())
	}
	c.end(t.Context())
}
