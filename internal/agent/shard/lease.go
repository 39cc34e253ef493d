package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/slipway-gitops/slipway/internal/clock"
)

// LeaseName is that of the lease of the agent that leads.
const LeaseName = "slipway-agent"

// Times follow from how long a lease counts that is not renewed: a holder that dies without notice is replaced after
// that, one that stops in order immediately. It is long because renewing is all that an idle agent does.
type Times struct{ duration time.Duration }

// Duration is how long a lease is valid by default.
// ShortestDuration is the shortest that a lease may count.
const (
	Duration         = 60 * time.Second
	ShortestDuration = 6 * time.Second
)

// deadline is after what time without an answer a holder stops working, before another replica may begin.
func (t Times) deadline() time.Duration { return t.duration * 2 / 3 }

// retry is how often a lease is renewed, or tried to be had.
func (t Times) retry() time.Duration { return t.duration / 6 }

// windUp is how long an agent that is stopped keeps a Lease for what it has begun, at most.
func (t Times) windUp() time.Duration { return t.deadline() / 2 }

// look is how often replicas that share Applications look at each other.
func (t Times) look() time.Duration { return t.duration / 12 }

// TimesOf are those of leases that count so long; 0 for a minute.
func TimesOf(lasts time.Duration) Times { return Times{cmp.Or(lasts, Duration)} }

// ErrLost is what ends because the lease is, or may be, another's.
var ErrLost = errors.New("the leader lease was lost: another agent took over, or the API server was away too long")

// led is how what was done while the lease was held came to its end.
type led struct {
	err  error
	lost bool // the lease was lost before
}

// Leader is an agent that works alone, or speaks for several, as long as it holds the lease.
type Leader struct {
	REST                *rest.Config
	Namespace, Identity string
	Labels              map[string]string // of the lease
	Times               Times
	Log                 *slog.Logger
}

// Lead runs f while this agent holds the lease, and returns when f or the lease ends. The identity is kept in the
// data directory, so that an agent which was killed continues immediately after its restart.
func (a *Leader) Lead(ctx context.Context, f func(context.Context) error) error {
	client, err := v1.NewForConfig(a.REST)
	if err != nil {
		return fmt.Errorf("make client for leases: %w", err)
	}
	times := a.Times
	lock := &fencedLock{times: times, held: holding{now: clock.Now}, LeaseLock: &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: a.Namespace, Name: LeaseName},
		Client:     client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: a.Identity}, Labels: a.Labels,
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
				if identity != a.Identity {
					a.Log.Info("another agent leads; waiting", "leader", identity)
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
		return ErrLost
	}
	return end.err
}

// fencedLock is a Lease that notes until when it is ours. A process that was stopped for a while, and whose Lease is
// another's by now, goes on in the middle of a request: what it does next must know.
type fencedLock struct {
	*resourcelock.LeaseLock
	times Times
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
