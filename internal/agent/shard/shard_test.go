package shard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	coordination "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	leaseclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/clock"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestSharesAddUpAndDifferByOneAtMost(t *testing.T) {
	t.Parallel()
	for n := 1; n <= Max; n++ {
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
	for id, want := range map[registry.Name]int{
		{Namespace: "argocd", Name: "web"}: 6, {Namespace: "argocd", Name: "api"}: 0, {Namespace: "team", Name: "web"}: 13,
	} {
		if got := shardOf(id, 16); got != want {
			t.Errorf("%s is in shard %d, not %d", id, got, want)
		}
	}
}

// replica are those of a replica on a cluster, which nobody runs.
func replica(t *testing.T, ns, identity string, n int, d time.Duration) *Shards {
	t.Helper()
	client, err := kubernetes.NewForConfig(testenv.Cluster(t))
	if err != nil {
		t.Fatal(err)
	}
	return New(Config{
		N: n, Identity: identity, Times: Times{d}, Leases: client.CoordinationV1().Leases(ns), Log: slog.New(slog.DiscardHandler),
		Taken: func(context.Context, []int) error { return nil }, Begun: func([]int) {}, Given: func(int) {},
	})
}

func mustStep(t *testing.T, s *Shards) {
	t.Helper()
	if err := s.step(t.Context()); err != nil {
		t.Fatalf("%s: %v", s.Identity, err)
	}
}

// ofShard is an Application in a shard.
func ofShard(shard, n int) registry.Name {
	for i := 0; ; i++ {
		if id := (registry.Name{Namespace: "a", Name: fmt.Sprint("app", i)}); shardOf(id, n) == shard {
			return id
		}
	}
}

func TestAShardIsGivenUpAfterItsLastTurnAndNotBefore(t *testing.T) {
	t.Parallel()
	ns := testenv.Namespace(t)
	a, b := replica(t, ns, "a", 2, time.Hour), replica(t, ns, "b", 2, time.Hour)
	mustStep(t, a)
	if a.count() != 2 {
		t.Fatalf("one alone holds %d shards of 2", a.count())
	}
	id := ofShard(1, 2)
	turn, leave, ok := a.Enter(t.Context(), id)
	if !ok {
		t.Fatal("who holds the shard has no turn")
	}
	mustStep(t, b) // says that it is there
	mustStep(t, a) // has to give one up, and has a turn in it
	mustStep(t, b)
	if b.count() != 0 || turn.Err() != nil {
		t.Fatalf("another one holds %d shards while a turn runs (%v)", b.count(), turn.Err())
	}
	if _, _, ok := a.Enter(t.Context(), id); ok {
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
	_, left, ok := b.Enter(t.Context(), id)
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
	a := replica(t, ns, "a", 2, lease)
	mustStep(t, a)
	began := time.Now()
	turn, leave, ok := a.Enter(t.Context(), ofShard(0, 2))
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
	if _, _, ok := a.Enter(t.Context(), ofShard(0, 2)); ok {
		t.Error("a turn begins under a lease that may be another's")
	}
	if err := a.step(t.Context()); err == nil {
		t.Error("a replica that lost its shards goes on")
	}
}

func TestAProcessThatWasStoppedWritesNothingWhenItGoesOn(t *testing.T) {
	t.Parallel()
	passed := 0
	guarded := Fenced(answers(func(*http.Request) (*http.Response, error) {
		passed++
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}))
	s := replica(t, testenv.Namespace(t), "a", 1, time.Hour)
	mustStep(t, s)
	t.Cleanup(func() { s.end(context.WithoutCancel(t.Context())) })
	id := ofShard(0, 1)
	turn, leave, ok := s.Enter(t.Context(), id)
	if !ok {
		t.Fatal("who holds the shard has no turn")
	}
	defer leave()
	ask := func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPatch, "https://cluster/api/v1/namespaces/a/configmaps/b", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := guarded.RoundTrip(req)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	if err := ask(turn); err != nil || passed != 1 {
		t.Fatalf("a turn that holds its shard: %v", err)
	}
	// As after a stop: time has gone by, and no timer has had its turn yet.
	s.held[0].until.Store(new(clock.Instant{Wall: clock.Now().Wall.Add(time.Hour), Ran: clock.Ran() - time.Millisecond}))
	if err := ask(turn); !errors.Is(err, ErrLost) || passed != 1 || turn.Err() != nil {
		t.Errorf("a turn of which the lease may be another's: %v, %d requests", err, passed)
	}
	if _, _, ok := s.Enter(t.Context(), id); ok {
		t.Error("a turn begins")
	}
	if err := ask(t.Context()); err != nil || passed != 2 {
		t.Errorf("what is of no turn: %v", err)
	}
	// A virtual machine that stood still: the clock of the process has not gone on.
	s.held[0].until.Store(new(clock.Instant{Wall: clock.Now().Wall.Add(-time.Millisecond), Ran: clock.Ran() + time.Hour}))
	if err := ask(turn); !errors.Is(err, ErrLost) {
		t.Errorf("by the clock of the machine: %v", err)
	}
	s.held[0].until.Store(new(clock.Now().Add(time.Hour)))
}

// interrupted has something else happen before the first Lease is made.
type interrupted struct {
	leaseclient.LeaseInterface
	before func()
}

func (i *interrupted) Create(ctx context.Context, l *coordination.Lease, o metav1.CreateOptions) (*coordination.Lease, error) {
	if before := i.before; before != nil {
		i.before = nil
		before()
	}
	return i.LeaseInterface.Create(ctx, l, o)
}

func TestOfTwoThatBeginAtATimeAndShareInDifferentWaysOneBegins(t *testing.T) {
	t.Parallel()
	for _, names := range [][2]string{{"a", "b"}, {"b", "a"}} {
		t.Run(names[0], func(t *testing.T) {
			t.Parallel()
			ns := testenv.Namespace(t)
			one, other := replica(t, ns, names[0], 2, time.Hour), replica(t, ns, names[1], 4, time.Hour)
			// The other one begins when this one has seen that nobody is there, and has not said yet that it is.
			one.Leases = &interrupted{LeaseInterface: one.Leases, before: func() { mustStep(t, other) }}
			mustStep(t, one)
			if one.count() != 0 || other.count() != 4 {
				t.Fatalf("one holds %d of 2, the other %d of 4", one.count(), other.count())
			}
			mustStep(t, other)
			mustStep(t, one)
			if one.count() != 0 || other.count() != 4 {
				t.Fatalf("later one holds %d of 2, the other %d of 4", one.count(), other.count())
			}
			other.end(t.Context())
			mustStep(t, one)
			if one.count() != 2 {
				t.Errorf("the other one has ended, and this one holds %d of 2", one.count())
			}
			one.end(t.Context())
		})
	}
}

func TestTwoThatSeeEachOtherDoNotWaitForEachOtherForEver(t *testing.T) {
	t.Parallel()
	ns := testenv.Namespace(t)
	a, b := replica(t, ns, "a", 2, time.Hour), replica(t, ns, "b", 4, time.Hour)
	for _, s := range []*Shards{a, b} { // both have said that they are there, and have looked no further
		if _, err := s.survey(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		mustStep(t, b)
		mustStep(t, a)
		if a.count() > 0 && b.count() > 0 {
			t.Fatalf("one holds %d of 2, the other %d of 4", a.count(), b.count())
		}
	}
	if a.count() != 2 || b.count() != 0 {
		t.Errorf("the first by name holds %d of 2, the other %d of 4", a.count(), b.count())
	}
	a.end(t.Context())
	b.end(t.Context())
}

func TestOneThatWorksOnEverythingWaitsForThoseWhoWorkOnAPart(t *testing.T) {
	t.Parallel()
	ns := testenv.Namespace(t)
	s := replica(t, ns, "a", 2, 6*time.Second)
	mustStep(t, s)
	said := testenv.NewRecord()
	alone := &Leader{REST: testenv.Cluster(t), Namespace: ns, Identity: "alone", Times: Times{6 * time.Second}, Log: slog.New(slog.NewTextHandler(said, nil))}
	done := make(chan error, 1)
	go func() { done <- alone.AwaitShards(t.Context()) }()
	said.Await(t, time.Minute, "a replica with --shards works on the Applications")
	select {
	case err := <-done:
		t.Fatalf("it does not wait: %v", err)
	default:
	}
	s.end(t.Context())
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the one before has ended, and it still waits")
	}
}

func TestNobodyBeginsBesideAReplicaThatSharesInAnotherWay(t *testing.T) {
	t.Parallel()
	ns := testenv.Namespace(t)
	a, b := replica(t, ns, "a", 2, time.Hour), replica(t, ns, "b", 4, time.Hour)
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
	_, err := a.Leases.Create(t.Context(), &coordination.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: LeaseName},
		Spec:       coordination.LeaseSpec{HolderIdentity: &who, RenewTime: &now, LeaseDurationSeconds: &seconds},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := replica(t, ns, "c", 2, time.Hour)
	mustStep(t, c)
	if c.count() != 0 {
		t.Errorf("one replica works on everything, and another one holds %d shards", c.count())
	}
	c.end(t.Context())
}

// refusing fails writes of one Lease.
type refusing struct {
	leaseclient.LeaseInterface
	lease string
}

var errNoAnswer = errors.New("no answer")

func (r *refusing) Create(ctx context.Context, l *coordination.Lease, o metav1.CreateOptions) (*coordination.Lease, error) {
	if l.Name == r.lease {
		return nil, errNoAnswer
	}
	return r.LeaseInterface.Create(ctx, l, o)
}

func TestAShardIsWorkedOnAlthoughTheNextOneCouldNotBeTaken(t *testing.T) {
	t.Parallel()
	s := replica(t, testenv.Namespace(t), "a", 3, time.Hour)
	var begun []int
	s.Begun = func(shards []int) { begun = append(begun, shards...) }
	whole := s.Leases
	s.Leases = &refusing{LeaseInterface: whole, lease: shardName(1)}
	if err := s.step(t.Context()); !errors.Is(err, errNoAnswer) {
		t.Fatalf("the error is %v", err)
	}
	if _, leave, ok := s.Enter(t.Context(), ofShard(0, 3)); !ok {
		t.Error("the shard that was taken first has no turns")
	} else {
		leave()
	}
	s.Leases = whole
	mustStep(t, s)
	for shard := range 3 {
		if !s.Holds(ofShard(shard, 3)) || !slices.Contains(begun, shard) {
			t.Errorf("shard %d has no turns; begun are %v", shard, begun)
		}
	}
}

func TestAShardWhoseApplicationsCannotBeReadIsGivenBack(t *testing.T) {
	t.Parallel()
	s := replica(t, testenv.Namespace(t), "a", 2, time.Hour)
	s.Taken = func(context.Context, []int) error { return errNoAnswer }
	var said bytes.Buffer
	s.Log = slog.New(slog.NewTextHandler(&said, nil))
	if err := s.step(t.Context()); !errors.Is(err, errNoAnswer) || s.count() != 0 {
		t.Fatalf("it holds %d shards, and the error is %v", s.count(), err)
	}
	if text := said.String(); strings.Contains(text, "shards taken") || strings.Contains(text, "shard given up") {
		t.Errorf("the log has work on shards that never began:\n%s", text)
	}
	s.Taken = func(context.Context, []int) error { return nil }
	mustStep(t, s)
	if s.count() != 2 || !s.Holds(ofShard(0, 2)) || !s.Holds(ofShard(1, 2)) {
		t.Errorf("it holds %d shards of 2 afterwards", s.count())
	}
}
