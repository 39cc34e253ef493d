package core

import (
	"container/list"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/address"
)

// Limits is how often a caller may send requests. What is zero has a default.
type Limits struct {
	// PerSecond and Burst are for each user or service account: 50 and 200.
	PerSecond float64
	Burst     int
	// AddressPerSecond and AddressBurst are for each IP address, of IPv6 each /64: 200 and 1000. Many users share one.
	AddressPerSecond float64
	AddressBurst     int
	// SignInPerMinute and SignInBurst are for each of these and routes that sign in, and once more for beginning to: 20 and 10.
	SignInPerMinute float64
	SignInBurst     int
}

func (l Limits) withDefaults() Limits {
	or := func(v *float64, d float64) {
		if *v <= 0 {
			*v = d
		}
	}
	orInt := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	or(&l.PerSecond, 50)
	orInt(&l.Burst, 200)
	or(&l.AddressPerSecond, 200)
	orInt(&l.AddressBurst, 1000)
	or(&l.SignInPerMinute, 20)
	orInt(&l.SignInBurst, 10)
	return l
}

// maxBuckets bounds the memory; the one that was seen longest ago is forgotten first.
const maxBuckets = 10000

// limiter holds a bucket for every recent caller.
type limiter struct {
	limits Limits
	now    func() time.Time

	mu      sync.Mutex
	buckets map[string]*list.Element
	order   *list.List
	// watching is how many streams of events each caller has open.
	watching map[api.Principal]int
}

// maxWatching is how many streams (events, logs, terminals, trees) a caller may have open: one must not take the place of all.
const maxWatching = 100

// Open counts a stream, until what it gives is called.
func (l *limiter) Open(p api.Principal) (closed func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watching[p] >= maxWatching {
		return nil, &api.Error{
			Code:    api.CodeTooMany,
			Message: "too many streams are open: close one, and read several types of objects from one stream of events", RetryAfter: 1,
		}
	}
	l.watching[p]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.watching[p]--; l.watching[p] == 0 {
			delete(l.watching, p)
		}
	}, nil
}

type bucket struct {
	key   string
	limit *rate.Limiter
}

func newLimiter(l Limits, now func() time.Time) *limiter {
	return &limiter{
		limits: l.withDefaults(), now: now, buckets: map[string]*list.Element{}, order: list.New(), watching: map[api.Principal]int{},
	}
}

// address counts a request from an address, or from its network, if its owner has all of that. Trying to come
// in counts apart, and so does beginning to, which keeps a row for a while.
func (l *limiter) address(ip string, route *Route) error {
	ip = address.Network(ip)
	if err := l.take("ip "+ip, l.limits.AddressPerSecond, l.limits.AddressBurst); err != nil {
		return err
	}
	switch {
	case route.Access != Public:
		return nil
	case route.Audit != "":
		return l.take("signin "+ip, l.limits.SignInPerMinute/60, l.limits.SignInBurst)
	case route.Begins:
		return l.take("begin "+ip, l.limits.SignInPerMinute/60, l.limits.SignInBurst)
	}
	return nil
}

func (l *limiter) principal(p api.Principal) error {
	return l.take(p.Type+" "+p.ID, l.limits.PerSecond, l.limits.Burst)
}

func (l *limiter) take(key string, perSecond float64, burst int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	element, ok := l.buckets[key]
	if !ok {
		if l.order.Len() >= maxBuckets {
			oldest := l.order.Back()
			if b, isBucket := l.order.Remove(oldest).(*bucket); isBucket {
				delete(l.buckets, b.key)
			}
		}
		element = l.order.PushFront(&bucket{key, rate.NewLimiter(rate.Limit(perSecond), burst)})
		l.buckets[key] = element
	}
	l.order.MoveToFront(element)
	b, ok := element.Value.(*bucket)
	if !ok || b.limit.AllowN(l.now(), 1) {
		return nil
	}
	wait := max(1, int(1/perSecond+0.999))
	return &api.Error{Code: api.CodeTooMany, Message: "too many requests: wait for the time in Retry-After and try again", RetryAfter: wait}
}
