package agent

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/slipway-gitops/slipway/internal/agent/place"
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
	lock := &fencedLock{times: leaseTimes{time.Minute}, held: holding{now: func() clock.Instant { return now }}, LeaseLock: &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: ns, Name: leaseName}, Client: client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: "a"},
	}}
	passed := 0
	guarded := fenced(place.RoundTripper(func(*http.Request) (*http.Response, error) {
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
	if err := ask(); !errors.Is(err, errLeaseLost) || passed != 1 {
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
		who, now, seconds := "killed", metav1.NowMicro(), int32(shortestLeaseDuration/time.Second)
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: called, Labels: labels},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: &who, RenewTime: &now, AcquireTime: &now, LeaseDurationSeconds: &seconds},
		}
	}
	t.Run("the leader", func(t *testing.T) {
		t.Parallel()
		a, leases := leader(t)
		if _, err := leases.Create(t.Context(), killed(leaseName, nil), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		began, ctx := time.Now(), t.Context()
		err := a.lead(ctx, func(ctx context.Context) error {
			lease, err := leases.Get(ctx, leaseName, metav1.GetOptions{})
			if err != nil || holder(lease) != "a" || time.Since(began) < shortestLeaseDuration {
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
		s := newShards(t, testenv.Namespace(t), "a", 2, shortestLeaseDuration)
		labels := map[string]string{labelShards: leaseShard, labelCount: "2"}
		if _, err := s.leases.Create(t.Context(), killed(shardName(1), labels), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		mustStep(t, s)
		if s.holds(ofShard(1, 2)) || !s.holds(ofShard(0, 2)) {
			t.Fatal("it holds what may be another replica's, or not what is free")
		}
		ctx, cancel := context.WithCancel(t.Context())
		took := make(chan []int, 10)
		s.begun = func(shards []int) { took <- shards }
		done := make(chan error, 1)
		go func() { done <- s.run(ctx) }()
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
