package shard

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/typed/coordination/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/slipway-gitops/slipway/internal/clock"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestALeaderWritesNothingOnceItsLeaseMayBeAnothers(t *testing.T) {
	t.Parallel()
	config, ns := testenv.Cluster(t), testenv.Namespace(t)
	client, err := v1.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	now := clock.Now()
	lock := &fencedLock{times: Times{time.Minute}, held: holding{now: func() clock.Instant { return now }}, LeaseLock: &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: ns, Name: LeaseName}, Client: client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: "a"},
	}}
	passed := 0
	guarded := Fenced(answers(func(*http.Request) (*http.Response, error) {
		passed++
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}))
	lock.held.ctx = t.Context()
	turn := context.WithValue(t.Context(), fenceKey{}, &lock.held)
	ask := func() error {
		req, err := http.NewRequestWithContext(turn, http.MethodPatch, "https://cluster/api/v1/namespaces/a/configmaps/b", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := guarded.RoundTrip(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	record := resourcelock.LeaderElectionRecord{HolderIdentity: "a", LeaseDurationSeconds: 60, AcquireTime: metav1.Now(), RenewTime: metav1.Now()}
	if err := lock.Create(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	if err := ask(); err != nil || passed != 1 {
		t.Fatalf("who has just taken the lease: %v", err)
	}
	now = clock.Now().Add(41 * time.Second) // no other agent may take it within a minute
	if err := ask(); !errors.Is(err, ErrLost) || passed != 1 {
		t.Errorf("whose lease was not renewed for 41 s: %v", err)
	}
	if _, _, err := lock.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := lock.Update(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	now = clock.Now()
	if err := ask(); err != nil {
		t.Errorf("who has renewed it: %v", err)
	}
	was := *lock.held.until.Load()
	record.HolderIdentity = "" // as where it is given up
	if err := lock.Update(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	if *lock.held.until.Load() != was {
		t.Error("giving the lease up makes it last longer")
	}
}

// TestTheLeasesOfAReplicaThatWasKilledAreTaken drops the release of the leader's Lease, and of the Lease of a shard.
func TestTheLeasesOfAReplicaThatWasKilledAreTaken(t *testing.T) {
	t.Parallel()
	killed := func(called string, labels map[string]string) *coordinationv1.Lease {
		who, now, seconds := "killed", metav1.NowMicro(), int32(ShortestDuration/time.Second)
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: called, Labels: labels},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: &who, RenewTime: &now, AcquireTime: &now, LeaseDurationSeconds: &seconds},
		}
	}
	t.Run("the leader", func(t *testing.T) {
		t.Parallel()
		a, leases := alone(t)
		if _, err := leases.Create(t.Context(), killed(LeaseName, nil), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		began, ctx := time.Now(), t.Context()
		err := a.Lead(ctx, func(ctx context.Context) error {
			lease, err := leases.Get(ctx, LeaseName, metav1.GetOptions{})
			if err != nil || holder(lease) != "a" || time.Since(began) < ShortestDuration {
				t.Errorf("it leads after %s, %v", time.Since(began), err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	t.Run("a shard", func(t *testing.T) {
		t.Parallel()
		s := replica(t, testenv.Namespace(t), "a", 2, ShortestDuration)
		labels := map[string]string{labelShards: leaseShard, labelCount: "2"}
		if _, err := s.Leases.Create(t.Context(), killed(shardName(1), labels), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		mustStep(t, s)
		if s.Holds(ofShard(1, 2)) || !s.Holds(ofShard(0, 2)) {
			t.Fatal("it holds what may be another replica's, or not what is free")
		}
		ctx, cancel := context.WithCancel(t.Context())
		took := make(chan []int, 10)
		s.Begun = func(shards []int) { took <- shards }
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		select {
		case shards := <-took:
			if len(shards) != 1 || shards[0] != 1 {
				t.Errorf("it takes %v", shards)
			}
		case <-time.After(time.Minute):
			t.Error("it does not take the shard")
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// alone is an agent that can lead, and what it needs for that.
func alone(t *testing.T) (*Leader, v1.LeaseInterface) {
	t.Helper()
	ns, config := testenv.Namespace(t), rest.CopyConfig(testenv.Cluster(t))
	leases, err := v1.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	config.Wrap(Fenced)
	return &Leader{
		REST: config, Namespace: ns, Identity: "a", Times: Times{ShortestDuration}, Log: slog.New(slog.DiscardHandler),
	}, leases.Leases(ns)
}

func TestAnAgentThatIsStoppedGivesItsLeaseUpAfterItsLastWrite(t *testing.T) {
	t.Parallel()
	a, leases := alone(t)
	core, err := typedcorev1.NewForConfig(a.REST)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	err = a.Lead(ctx, func(ctx context.Context) error {
		stop()
		<-ctx.Done()
		// As the result of a command, of which the journal is written when the agent ends.
		ctx = context.WithoutCancel(ctx)
		for range 20 { // a release that begins with the stop has its turn
			if lease, err := leases.Get(ctx, LeaseName, metav1.GetOptions{}); err != nil || holder(lease) != "a" {
				t.Fatalf("the lease is given up before the last write, %v", err)
			}
		}
		_, err := core.ConfigMaps(a.Namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "journal"}}, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		t.Errorf("what was begun is not written: %v", err)
	}
	if lease, err := leases.Get(t.Context(), LeaseName, metav1.GetOptions{}); err != nil || holder(lease) != "" {
		t.Errorf("the lease is not given up: %v", err)
	}
}

func TestAnAgentThatLostItsLeaseEndsWithAnError(t *testing.T) {
	t.Parallel()
	a, leases := alone(t)
	err := a.Lead(t.Context(), func(ctx context.Context) error {
		_, err := leases.Patch(ctx, LeaseName, types.MergePatchType, []byte(`{"spec":{"holderIdentity":"b"}}`), metav1.PatchOptions{})
		if err != nil {
			return err
		}
		<-ctx.Done()
		return nil // as what ends with its context
	})
	if !errors.Is(err, ErrLost) {
		t.Errorf("another agent leads, and this one ends with %v", err)
	}
}

func TestAnAgentThatIsStoppedWhileItWaitsForTheLeaseEnds(t *testing.T) {
	t.Parallel()
	a, leases := alone(t)
	first, release := context.WithCancel(t.Context())
	defer release()
	began, done := make(chan struct{}), make(chan error, 2)
	go func() {
		done <- a.Lead(first, func(ctx context.Context) error { close(began); <-ctx.Done(); return nil })
	}()
	<-began
	b := *a
	b.Identity = "b"
	waiting, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	if err := b.Lead(waiting, func(context.Context) error { return errors.New("it leads") }); err != nil {
		t.Errorf("a second agent: %v", err)
	}
	lease, err := leases.Get(t.Context(), LeaseName, metav1.GetOptions{})
	if err != nil || holder(lease) != "a" {
		t.Errorf("the lease is of %q, %v", holder(lease), err)
	}
	release()
	if err := <-done; err != nil {
		t.Errorf("the first agent: %v", err)
	}
}

// answers is a server in this process.
type answers func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f answers) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
