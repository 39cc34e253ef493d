package shard

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"
	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	leaseclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/slipway-gitops/slipway/internal/clock"
)

// crew is the set of replicas, by the Leases as they were listed.
type crew struct {
	members []string // replicas that share the Applications as this one does, this one included
	all     []string // the same, and those who share them in another way
	// stranger shares the Applications in another way, and may hold shards; "" for none. works says that it does.
	stranger string
	works    bool
	// announced says that the Lease of this replica, as it is to be, was in the list: a replica that lists later knows of it.
	announced bool
}

// share is how many of n shards a member holds: members in order have one more than the others while there is a rest.
func share(n int, members []string, who string) int {
	slices.Sort(members)
	members = slices.Compact(members)
	at := slices.Index(members, who)
	if at < 0 {
		return 0
	}
	out := n / len(members)
	if at < n%len(members) {
		out++
	}
	return out
}

// survey lists the Leases after this replica has announced itself. Of two that begin at a time and share in different
// ways at least one so sees the other.
func (s *Shards) survey(ctx context.Context) ([]coordination.Lease, error) {
	for range 2 {
		list, err := s.Leases.List(ctx, metav1.ListOptions{LabelSelector: labelShards})
		if err != nil {
			return nil, fmt.Errorf("list leases: %w", err)
		}
		if err := s.look(ctx, list.Items); err != nil || s.crew.announced {
			return list.Items, err
		}
	}
	return nil, fmt.Errorf("the lease of this replica, %s, was written and is not listed", memberName(s.Identity))
}

// look notes the state of Leases and the replicas, and announces this replica.
func (s *Shards) look(ctx context.Context, list []coordination.Lease) error {
	now := s.now()
	s.crew = crew{}
	fresh := map[string]sighting{LeaseName: s.seen[LeaseName]}
	me := memberName(s.Identity)
	var own *coordination.Lease
	var strangers []string
	for i := range list {
		l := &list[i]
		at := sighting{l.ResourceVersion, now}
		if old, ok := s.seen[l.Name]; ok && old.version == l.ResourceVersion {
			at = old
		}
		fresh[l.Name] = at
		if l.Labels[labelShards] != leaseMember {
			continue
		}
		age := now.Since(at.at)
		switch {
		case l.Name == me:
			own = l
		case age >= s.Times.duration:
			// It died, or comes back with a new one. A replica that joins need not wait for it.
			_ = s.Leases.Delete(ctx, l.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &l.ResourceVersion}})
		case holder(l) == "":
		case l.Labels[labelCount] == strconv.Itoa(s.N):
			s.crew.members = append(s.crew.members, holder(l))
		default:
			s.crew.all = append(s.crew.all, holder(l))
			if l.Labels[labelWaits] == "" {
				strangers = append(strangers, holder(l))
			}
		}
	}
	s.seen = fresh
	s.crew.members = append(s.crew.members, s.Identity)
	s.crew.all = append(s.crew.all, s.crew.members...)
	s.crew.meet(strangers, list)
	return s.announce(ctx, own)
}

// meet notes who of some strangers matters most: one that holds shards, or the first by name.
func (c *crew) meet(strangers []string, list []coordination.Lease) {
	if len(strangers) == 0 {
		return
	}
	c.stranger = slices.Min(strangers)
	for i := range list {
		if l := &list[i]; l.Labels[labelShards] == leaseShard && slices.Contains(strangers, holder(l)) {
			c.stranger, c.works = holder(l), true
		}
	}
}

// announce says that this replica is there, and whether it waits, unless its Lease says so.
func (s *Shards) announce(ctx context.Context, own *coordination.Lease) error {
	said := own != nil && holder(own) == s.Identity && (own.Labels[labelWaits] != "") == s.waits && own.Labels[labelCount] == strconv.Itoa(s.N)
	if s.crew.announced = said; said && own.Spec.RenewTime != nil {
		if age := s.now().Wall.Sub(own.Spec.RenewTime.Time); age >= 0 && age < s.Times.retry() {
			return nil
		}
	}
	if own == nil {
		own = s.lease(memberName(s.Identity), leaseMember)
	}
	delete(own.Labels, labelWaits)
	if s.waits {
		own.Labels[labelWaits] = "true"
	}
	_, err := s.write(ctx, own, s.Identity)
	return err
}

// cleared reports whether this replica may take shards: no replica that shares the Applications in another way, or not at
// all, works on them or is about to. Where there is one, a replica that holds nothing says that it waits: of two that begin at a
// time the one with the greater name does, so that the other one can begin.
func (s *Shards) cleared(ctx context.Context) (bool, error) {
	alone, err := s.alone(ctx)
	if err != nil {
		return false, err
	}
	who := s.crew.stranger
	behind := alone != "" || who != "" && (s.crew.works || who < s.Identity)
	if who == "" {
		who = alone
	}
	if who != "" {
		s.Log.Warn("a replica with another --shards works on the Applications; waiting for its end", "replica", who)
	}
	if waits := behind && s.count() == 0; waits != s.waits {
		s.waits = waits // nothing is taken before that is announced
		return false, nil
	}
	return who == "" && !s.waits, nil
}

// alone is a replica that does not share the Applications, and works on all of them; "" for none.
func (s *Shards) alone(ctx context.Context) (string, error) {
	l, err := s.Leases.Get(ctx, LeaseName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read leader lease: %w", err)
	}
	if s.seen[LeaseName].version != l.ResourceVersion {
		s.seen[LeaseName] = sighting{l.ResourceVersion, s.now()}
	}
	who := holder(l)
	if who == "" || slices.Contains(s.crew.all, who) || s.now().Since(s.seen[LeaseName].at) >= s.Times.lasts(l) {
		return "", nil
	}
	return who, nil
}

// AwaitShards waits until no replica works on a part of the Applications: this one, which holds the leader's Lease, works on
// all. An agent that may not list Leases has none that shares.
func (a *Leader) AwaitShards(ctx context.Context) error {
	client, err := leaseclient.NewForConfig(a.REST)
	if err != nil {
		return fmt.Errorf("make client for leases: %w", err)
	}
	times, seen := a.Times, map[string]sighting{}
	ticker := time.NewTicker(times.look())
	defer ticker.Stop()
	for {
		list, err := client.Leases(a.Namespace).List(ctx, metav1.ListOptions{LabelSelector: labelShards})
		switch {
		case apierrors.IsForbidden(err):
			return nil
		case err != nil && ctx.Err() == nil:
			a.Log.Warn("leases of shards", "err", err)
		case err == nil:
			who := sharer(list.Items, seen, times, a.Identity)
			if who == "" {
				return nil
			}
			a.Log.Warn("a replica with --shards works on the Applications; waiting for its end", "replica", who)
		}
		select {
		case <-ctx.Done():
			return nil // the caller sees that
		case <-ticker.C:
		}
	}
}

// sharer is a replica that works, or is about to work, on a part of the Applications; "" for none.
func sharer(list []coordination.Lease, seen map[string]sighting, times Times, me string) string {
	for i := range list {
		l := &list[i]
		if seen[l.Name].version != l.ResourceVersion {
			seen[l.Name] = sighting{l.ResourceVersion, clock.Now()}
		}
		if who := holder(l); who != "" && who != me && l.Labels[labelWaits] == "" && clock.Now().Since(seen[l.Name].at) < times.lasts(l) {
			return who
		}
	}
	return ""
}

// memberName is that of a replica's Lease: by hash, since an identity may be no name of an object.
func memberName(identity string) string {
	return LeaseName + "-member-" + strconv.FormatUint(xxhash.Sum64String(identity), 16)
}
