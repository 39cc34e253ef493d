package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/slipway-gitops/slipway/internal/clock"
)

const leaseName = "slipway-agent"

// leaseTimes follow from how long a lease counts that is not renewed: a holder that dies without a word is replaced after
// that, one that stops in order at once. It is long because renewing is all that an idle agent does.
type leaseTimes struct{ duration time.Duration }

const (
	leaseDuration         = 60 * time.Second
	shortestLeaseDuration = 6 * time.Second
)

// deadline is after what time without an answer a holder stops working, before anybody else may begin.
func (t leaseTimes) deadline() time.Duration { return t.duration * 2 / 3 }

// retry is how often a lease is renewed, or tried to be had.
func (t leaseTimes) retry() time.Duration { return t.duration / 6 }

// windUp is how long an agent that is stopped keeps a Lease for what it has begun, at most.
func (t leaseTimes) windUp() time.Duration { return t.deadline() / 2 }

// look is how often replicas that share Applications look at each other.
func (t leaseTimes) look() time.Duration { return t.duration / 12 }

// times are those of the leases.
func (c *Config) times() leaseTimes { return leaseTimes{cmp.Or(c.LeaseDuration, leaseDuration)} }

var errLeaseLost = errors.New("the leader lease was lost: another agent took over, or the API server was away too long")

// led is how what was done while the lease was held came to its end.
type led struct {
	err  error
	lost bool // the lease was lost before
}

// lead runs f while this agent holds the lease, and returns when f or the lease ends. The identity is kept in the
// data directory, so that an agent which was killed goes on at once after its restart.
func (a *Agent) lead(ctx context.Context, f func(context.Context) error) error {
	if err := a.awaitServer(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // stopped while waiting
		}
		return err
	}
	if a.cfg.Shadow {
		return f(ctx) // a lease is written, and whoever writes nothing is in nobody's way
	}
	if err := a.persist(ctx, namespaceMade, a.ensureNamespace); err != nil {
		return err
	}
	client, err := v1.NewForConfig(a.cfg.REST)
	if err != nil {
		return fmt.Errorf("make client for leases: %w", err)
	}
	times := a.cfg.times()
	lock := &fencedLock{times: times, held: holding{now: clock.Now}, LeaseLock: &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: a.cfg.Namespace, Name: leaseName},
		Client:     client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: a.cfg.Identity}, Labels: a.leaseLabels(),
	}}
	// An agent that is stopped gives the Lease up after its last write: until then no other one may begin.
	holds, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	var leads atomic.Bool
	defer context.AfterFunc(ctx, func() {
		if leads.Load() {
			time.AfterFunc(times.windUp(), release)
		} else {
			release()
		}
	})()
	done := make(chan led, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          lock,
		LeaseDuration: times.duration, RenewDeadline: times.deadline(), RetryPeriod: times.retry(), ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				leads.Store(true)
				lock.held.ctx = leading
				work, stop := context.WithCancel(context.WithValue(leading, fenceKey{}, &lock.held))
				defer stop()
				defer context.AfterFunc(ctx, stop)()
				err := f(work)
				done <- led{err, leading.Err() != nil && ctx.Err() == nil}
				release()
			},
			OnStoppedLeading: func() {},
			OnNewLeader: func(identity string) {
				if identity != a.cfg.Identity {
					a.log.Info("another agent leads; waiting", "leader", identity)
				}
			},
		},
	})
	if err != nil {
		return fmt.Errorf("prepare leader lease: %w", err)
	}
	elector.Run(holds)
	if lock.held.until.Load() == nil {
		return nil // stopped before it had the Lease
	}
	end := <-done
	if end.err == nil && end.lost {
		return errLeaseLost
	}
	return end.err
}

// fencedLock is a Lease that notes until when it is ours. A process that was stopped for a while, and whose Lease is
// another's by now, goes on in the middle of a request: what it does next must know.
type fencedLock struct {
	*resourcelock.LeaseLock
	times leaseTimes
	held  holding
}

// Create makes the Lease.
func (l *fencedLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.LeaseLock.Create)
}

// Update takes, renews or gives up the Lease.
func (l *fencedLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.LeaseLock.Update)
}

func (l *fencedLock) write(
	ctx context.Context, record resourcelock.LeaderElectionRecord, write func(context.Context, resourcelock.LeaderElectionRecord) error,
) error {
	until := clock.Now().Add(l.times.deadline())
	err := write(ctx, record)
	if err == nil && record.HolderIdentity == l.Identity() {
		l.held.until.Store(&until)
	}
	return err
}

// leaseLabels tell other agents on the cluster that objects of this one have more in their mark than a name.
func (a *Agent) leaseLabels() map[string]string {
	if a.cfg.Installation == "" {
		return map[string]string{labelInstallation: ""} // there may have been one
	}
	return map[string]string{labelInstallation: strconv.FormatUint(hashOf([]byte(a.cfg.Installation)), 16)}
}

// awaitServer waits until the API server answers. The election would find that out too, but asks only now and then.
func (a *Agent) awaitServer(ctx context.Context) error {
	client, err := discovery.NewDiscoveryClientForConfig(a.cfg.REST)
	if err != nil {
		return fmt.Errorf("make discovery client: %w", err)
	}
	backoff := wait.Backoff{Duration: 100 * time.Millisecond, Factor: 1.5, Jitter: 0.1, Steps: math.MaxInt32, Cap: 2 * time.Second}
	// Not by ExponentialBackoffWithContext, which gives up when the pause reaches its cap.
	return backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := client.RESTClient().Get().AbsPath("/readyz").Timeout(5 * time.Second).Do(ctx).Error()
		if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
			a.log.Debug("the API server is not ready", "err", err)
			return false, nil
		}
		return true, nil
	})
}
