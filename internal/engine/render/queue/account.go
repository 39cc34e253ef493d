package queue

import (
	"container/list"
	"hash/maphash"
	"math"
	"time"
)

// usage is processor time that was used, in seconds. It shrinks as time goes by.
type usage struct {
	debt float64
	at   time.Time
	jobs int
}

// owed is what is left of it now.
func (u *usage) owed(now time.Time, halfLife time.Duration) float64 {
	if u.debt == 0 {
		return 0
	}
	// A clock that goes back makes nothing larger.
	return u.debt * math.Exp2(-max(0, now.Sub(u.at).Seconds())/halfLife.Seconds())
}

func (u *usage) charge(seconds float64, now time.Time, halfLife time.Duration) {
	u.debt, u.at = u.owed(now, halfLife)+seconds, now
}

// settled reports whether nothing is lost by forgetting it.
func (u *usage) settled(now time.Time, halfLife time.Duration) bool {
	return u.jobs == 0 && u.owed(now, halfLife) < 0.01
}

// account is what is known of a project.
type account struct {
	usage

	entries map[ID]*entry
	apps    map[string]*usage
	sweepAt int // so many applications are worth a look at which of them still matter
	counts  [states]int
	served  time.Time // when one of its jobs began last, or when it began to wait
}

func (a *account) in(s state) int { return a.counts[s] }

func (q *Queue) move(a *account, s state, by int) {
	a.counts[s] += by
	q.totals[s] += by
	if a.counts[waiting]+a.counts[paused] > 0 {
		q.waits[a] = true
	} else {
		delete(q.waits, a)
	}
}

// minSweep is how many projects, and applications of one, are kept without a look at whether they still matter.
const minSweep = 64

// maxIdle bounds how many projects without jobs, and how many applications without jobs of one project, are kept.
const maxIdle = 4096

// sweep forgets projects, and applications of one of them, that have no job and have paid what they used.
func (q *Queue) sweep(a *account, now time.Time) {
	if len(a.apps) > max(a.sweepAt, minSweep) {
		for name, u := range a.apps {
			if u.settled(now, q.cfg.HalfLife) || u.jobs == 0 && len(a.apps) > maxIdle {
				delete(a.apps, name)
			}
		}
		a.sweepAt = min(2*len(a.apps), maxIdle)
	}
	if len(q.projects) > max(q.sweepAt, minSweep) {
		for name, a := range q.projects {
			if a.settled(now, q.cfg.HalfLife) || a.jobs == 0 && len(q.projects) > maxIdle {
				delete(q.projects, name)
			}
		}
		q.sweepAt = min(2*len(q.projects), maxIdle)
	}
}

// maxCosts bounds how many costs are remembered.
const maxCosts = 20_000

// firstGuess is the cost of a rendering when none is known, in seconds.
const firstGuess = 0.2

// costKey is a keyed hash: no two jobs can be made to share one.
type costKey uint64

// costs remembers what renderings cost the last time.
type costs struct {
	seed    maphash.Seed
	known   map[costKey]*list.Element
	order   *list.List // of *cost, last used first
	average float64
}

type cost struct {
	key     costKey
	seconds float64
}

func newCosts() costs {
	return costs{seed: maphash.MakeSeed(), known: map[costKey]*list.Element{}, order: list.New(), average: firstGuess}
}

func (c *costs) key(job Job) costKey { return costKey(maphash.Comparable(c.seed, job)) }

// predict returns the last cost, or the average where there is none.
func (c *costs) predict(k costKey) float64 {
	e, ok := c.known[k]
	if !ok {
		return c.average
	}
	c.order.MoveToFront(e)
	return e.Value.(*cost).seconds
}

// above reports whether the last cost is known, and more than that.
func (c *costs) above(k costKey, seconds float64) bool {
	e, ok := c.known[k]
	return ok && e.Value.(*cost).seconds > seconds
}

func (c *costs) learn(k costKey, seconds float64) {
	c.average += (min(seconds, 1) - c.average) / 16
	if e, ok := c.known[k]; ok {
		e.Value.(*cost).seconds = seconds
		c.order.MoveToFront(e)
		return
	}
	c.known[k] = c.order.PushFront(&cost{k, seconds})
	if c.order.Len() > maxCosts {
		last := c.order.Back()
		delete(c.known, last.Value.(*cost).key)
		c.order.Remove(last)
	}
}
