package agent

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/typed/coordination/v1"
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
	lock := &fencedLock{times: leaseTimes{time.Minute}, held: holding{now: func() clock.Instant { return now }}, LeaseLock: &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: ns, Name: leaseName}, Client: client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: "a"},
	}}
	passed := 0
	guarded := fenced(roundTripper(func(*http.Request) (*http.Response, error) {
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
