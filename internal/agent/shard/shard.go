// Package shard divides the Applications among replicas, by Leases, and keeps a replica from writing what goes by a Lease that may be
// another's.
package shard

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	leaseclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/clock"
)

const (
	// labelShards is on all Leases of shards, with what they are about: a shard or a member.
	labelShards             = "slipway.io/agent-shards"
	leaseShard, leaseMember = "shard", "member"
	// labelCount says of how many shards a Lease is one: two replicas that count differently must not work at a time.
	labelCount = "slipway.io/agent-shard-count"
	// labelWaits is on the Lease of a member that takes no shard, since another one shares the Applications in another way.
	labelWaits = "slipway.io/agent-shards-waits"
	// Max bounds the requests that renewing takes.
	Max = 64
)

// shardOf is the shard of an Application among n: by FNV-1a of "namespace/name", so that it is the same in each replica.
func shardOf(id registry.Name, n int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id.String())) // never fails
	return int(h.Sum32() % uint32(n))
}

// Shards are the parts of the Applications that this replica works on: those whose Leases it holds. All replicas look at all
// Leases, so each knows how many replicas there are, and holds its share.
type Shards struct {
	Config
	now func() clock.Instant

	seen map[string]sighting // Leases, by name; of run
	crew crew                // the replicas; of run
	// waits means that this replica takes no shard, and has announced that; of run.
	waits bool

	mu   sync.Mutex
	held map[int]*holding
	wake chan struct{} // a shard that is given up has no turn any more
}

// Config is how replicas share the Applications.
type Config struct {
	N        int    // how many shards there are
	Identity string // of this replica
	Times    Times
	Leases   leaseclient.LeaseInterface
	Log      *slog.Logger
	// Taken is called once this replica holds shards, before their Applications have turns, begun when these may have them, and
	// given after the last turn, while it still holds them.
	Taken func(context.Context, []int) error
	Begun func([]int)
	Given func(int)
}

// New holds no shard yet.
func New(c Config) *Shards {
	return &Shards{Config: c, now: clock.Now, held: map[int]*holding{}, wake: make(chan struct{}, 1)}
}

// Has reports whether an Application is in one of some shards, regardless of their holders.
func (s *Shards) Has(some []int, id registry.Name) bool {
	return slices.Contains(some, shardOf(id, s.N))
}

// sighting is when a Lease was first seen as it is.
type sighting struct {
	version string
	at      clock.Instant
}

// holding is a Lease that this replica holds: that of a shard, or the leader's, of which ctx and until are all there is.
type holding struct {
	lease   *coordination.Lease
	renewed clock.Instant   // when the request was made that renewed it last
	ctx     context.Context //nolint:containedctx // of turns: it ends before the Lease may be another's
	cancel  context.CancelFunc
	fence   *time.Timer
	now     func() clock.Instant
	until   atomic.Pointer[clock.Instant] // when ctx ends
	active  bool                          // its Applications have turns
	giving  bool                          // no turn begins any more
	away    map[registry.Name]func()      // ends the turns that wait for a render worker
	turns   int
}

// Enter begins a turn of an Application, if this replica holds its shard. The context ends before another replica may have
// it. A nil shards holds everything.
func (s *Shards) Enter(ctx context.Context, id registry.Name) (turn context.Context, leave func(), ok bool) {
	if s == nil {
		return ctx, func() {}, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[shardOf(id, s.N)]
	if h == nil || !h.active || h.giving || h.over() {
		return nil, nil, false
	}
	h.turns++
	return h.ctx, func() {
		s.mu.Lock()
		h.turns--
		idle := h.turns == 0 && h.giving
		s.mu.Unlock()
		if idle {
			s.poke()
		}
	}, true
}

// Away notes how to end the turn of an Application while it waits for a render worker: it has changed nothing yet, and must
// not keep its shard from another replica.
func (s *Shards) Away(id registry.Name, end func()) (back func()) {
	if s == nil {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[shardOf(id, s.N)]
	if h == nil || h.giving {
		end()
		return func() {}
	}
	if h.away == nil {
		h.away = map[registry.Name]func(){}
	}
	h.away[id] = end
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(h.away, id)
	}
}

// Holds reports whether this replica works on an Application.
func (s *Shards) Holds(id registry.Name) bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[shardOf(id, s.N)]
	return h != nil && h.active && !h.giving
}

// count is how many shards this replica holds.
func (s *Shards) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

func (s *Shards) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run takes and gives shards until ctx ends, and gives all back then. It fails where a Lease was lost: another replica may
// work on what this one knows.
func (s *Shards) Run(ctx context.Context) error {
	defer s.end(ctx)
	ticker := time.NewTicker(s.Times.look())
	defer ticker.Stop()
	for {
		err := s.step(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrLost):
			return err
		case err != nil:
			s.Log.Warn("leases of shards", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case <-s.wake:
		}
	}
}

// step renews what is held, and takes or gives a shard where the replicas do not have their shares.
func (s *Shards) step(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.Times.retry())
	defer cancel()
	if err := s.renew(ctx); err != nil {
		return err
	}
	list, err := s.survey(ctx)
	if err != nil {
		return err
	}
	if err := s.giveIdle(ctx); err != nil {
		return err
	}
	s.GiveUp(share(s.N, s.crew.members, s.Identity))
	for {
		mine, waited := share(s.N, s.crew.members, s.Identity), s.waits
		if mine <= s.count() {
			return nil
		}
		clear, err := s.cleared(ctx)
		if err != nil {
			return err
		}
		if clear {
			return s.take(ctx, mine, list)
		}
		if s.waits == waited {
			return nil
		}
		if list, err = s.survey(ctx); err != nil { // after it has announced that it waits, or waits no more
			return err
		}
	}
}

// renew says of what is held that it goes on being held. What another one has by now is lost.
func (s *Shards) renew(ctx context.Context) error {
	for shard, h := range s.all() {
		if h.over() {
			h.cancel()
			return fmt.Errorf("shard %d: %w", shard, ErrLost)
		}
		now := s.now()
		if now.Since(h.renewed) < s.Times.retry() {
			continue
		}
		fresh, err := s.write(ctx, h.lease, s.Identity)
		switch {
		case apierrors.IsConflict(err), apierrors.IsNotFound(err):
			h.cancel()
			return fmt.Errorf("shard %d: %w", shard, ErrLost)
		case err != nil:
			return fmt.Errorf("renew lease of shard %d: %w", shard, err) // the fence ends it where that goes on
		}
		s.mu.Lock()
		h.lease, h.renewed = fresh, now
		h.until.Store(new(now.Add(s.Times.deadline())))
		h.fence.Reset(s.Times.deadline() - s.now().Since(now))
		s.mu.Unlock()
	}
	return nil
}

func (s *Shards) all() map[int]*holding {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[int]*holding{}
	for shard, h := range s.held {
		out[shard] = h
	}
	return out
}

// GiveUp has no turn begin in shards beyond this replica's share.
func (s *Shards) GiveUp(mine int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keep []int
	for shard, h := range s.held {
		if !h.giving {
			keep = append(keep, shard)
		}
	}
	slices.Sort(keep)
	for _, shard := range keep[min(mine, len(keep)):] {
		h := s.held[shard]
		h.giving = true
		for _, end := range h.away {
			end()
		}
		if h.turns == 0 {
			s.poke()
		}
	}
}

// giveIdle releases the shards that are given up and have no turn any more.
func (s *Shards) giveIdle(ctx context.Context) error {
	for shard, h := range s.all() {
		s.mu.Lock()
		idle := h.giving && h.turns == 0
		s.mu.Unlock()
		if !idle {
			continue
		}
		if err := s.release(ctx, shard, h); err != nil {
			return err
		}
	}
	return nil
}

// release gives a shard back. The log has a shard given up for each that was taken: one that never began was neither.
func (s *Shards) release(ctx context.Context, shard int, h *holding) error {
	s.Given(shard)
	h.fence.Stop()
	h.cancel()
	if h.active {
		s.Log.Info("shard given up", "shard", shard)
	} else {
		s.Log.Info("shard given back before it began", "shard", shard)
	}
	_, err := s.write(ctx, h.lease, "")
	s.mu.Lock()
	delete(s.held, shard)
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("release lease of shard %d: %w", shard, err) // it expires
	}
	return nil
}

// take takes free shards up to this replica's share, and begins to work on what it has taken. Where one cannot be taken, it
// still works on the others.
func (s *Shards) take(ctx context.Context, mine int, list []coordination.Lease) error {
	err := s.acquire(ctx, mine, list)
	return errors.Join(err, s.Begin(ctx))
}

// acquire writes this replica into the Leases of free shards.
func (s *Shards) acquire(ctx context.Context, mine int, list []coordination.Lease) error {
	byName := map[string]*coordination.Lease{}
	for i := range list {
		byName[list[i].Name] = &list[i]
	}
	for shard := 0; shard < s.N && s.count() < mine; shard++ {
		if s.all()[shard] != nil {
			continue
		}
		l := byName[shardName(shard)]
		if l == nil {
			l = s.lease(shardName(shard), leaseShard)
		} else if who := holder(l); who != "" && who != s.Identity && s.now().Since(s.seen[l.Name].at) < s.Times.lasts(l) {
			continue
		}
		now := s.now()
		got, err := s.write(ctx, l, s.Identity)
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			continue // another one was faster
		}
		if err != nil {
			return fmt.Errorf("take lease of shard %d: %w", shard, err)
		}
		s.Hold(ctx, shard, got, now)
	}
	return nil
}

// Begin gives turns to the Applications of shards that are held and have none yet. What cannot begin is given back: a shard
// that is held without turns would stand still for as long as its Lease is renewed.
func (s *Shards) Begin(ctx context.Context) error {
	var fresh []int
	held := s.all()
	s.mu.Lock()
	for shard, h := range held {
		if !h.active && !h.giving {
			fresh = append(fresh, shard)
		}
	}
	s.mu.Unlock()
	if len(fresh) == 0 {
		return nil
	}
	slices.Sort(fresh)
	if err := s.Taken(ctx, fresh); err != nil {
		return s.back(ctx, fresh, err)
	}
	s.Log.Info("shards taken", "shards", fresh, "held", len(held), "of", s.N)
	s.mu.Lock()
	for _, shard := range fresh {
		held[shard].active = true
	}
	s.mu.Unlock()
	s.Begun(fresh)
	return nil
}

// back releases what was taken and cannot be worked on.
func (s *Shards) back(ctx context.Context, fresh []int, why error) error {
	errs := []error{fmt.Errorf("take shards: %w", why)}
	for _, shard := range fresh {
		errs = append(errs, s.release(context.WithoutCancel(ctx), shard, s.all()[shard]))
	}
	return errors.Join(errs...)
}

// Hold notes a shard that was taken with a request made at a time.
func (s *Shards) Hold(ctx context.Context, shard int, l *coordination.Lease, at clock.Instant) {
	h := &holding{lease: l, renewed: at, now: s.now}
	h.until.Store(new(at.Add(s.Times.deadline())))
	ctx = context.WithValue(context.WithoutCancel(ctx), fenceKey{}, h)
	h.ctx, h.cancel = context.WithCancel(ctx)
	h.fence = time.AfterFunc(s.Times.deadline()-s.now().Since(at), h.cancel)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[shard] = h
}

// end ends all turns, waits for them, and gives all back.
func (s *Shards) end(ctx context.Context) {
	s.mu.Lock()
	for _, h := range s.held {
		h.giving = true
		h.cancel()
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Times.windUp())
	defer cancel()
	for {
		idle := true
		for shard, h := range s.all() {
			s.mu.Lock()
			busy := h.turns > 0
			s.mu.Unlock()
			if busy {
				idle = false
			} else if err := s.release(ctx, shard, h); err != nil {
				s.Log.Warn("shard not released", "err", err)
			}
		}
		if idle {
			break
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return // the Leases expire
		}
	}
	_ = s.Leases.Delete(ctx, memberName(s.Identity), metav1.DeleteOptions{}) // it expires
}

// write makes a Lease a holder's; free if holder is empty. A Lease that changed since it was read is left alone.
func (s *Shards) write(ctx context.Context, l *coordination.Lease, who string) (*coordination.Lease, error) {
	l = l.DeepCopy()
	l.Labels[labelCount] = strconv.Itoa(s.N)
	now := metav1.NewMicroTime(s.now().Wall)
	seconds := int32(s.Times.duration / time.Second)
	if holder(l) != who {
		l.Spec.AcquireTime = &now
		changes := int32(1)
		if l.Spec.LeaseTransitions != nil {
			changes += *l.Spec.LeaseTransitions
		}
		l.Spec.LeaseTransitions = &changes
	}
	l.Spec.HolderIdentity, l.Spec.RenewTime, l.Spec.LeaseDurationSeconds = &who, &now, &seconds
	if l.ResourceVersion == "" {
		return s.Leases.Create(ctx, l, metav1.CreateOptions{})
	}
	return s.Leases.Update(ctx, l, metav1.UpdateOptions{})
}

func (s *Shards) lease(called, kind string) *coordination.Lease {
	return &coordination.Lease{ObjectMeta: metav1.ObjectMeta{Name: called, Labels: map[string]string{labelShards: kind}}}
}

func holder(l *coordination.Lease) string {
	if l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

func shardName(shard int) string { return LeaseName + "-shard-" + strconv.Itoa(shard) }

// lasts is how long a Lease counts after it was renewed: as its holder sets it, which may have other settings.
func (t Times) lasts(l *coordination.Lease) time.Duration {
	if l.Spec.LeaseDurationSeconds == nil {
		return t.duration
	}
	return max(t.duration, time.Duration(*l.Spec.LeaseDurationSeconds)*time.Second)
}
