// Package queue decides whose rendering runs next, where all projects share a few workers: projects in turn, by the processor
// time that they have used of late, and short renderings before long ones. It is a value with methods; the time comes in as a
// parameter (of a clock that does not go back, as that of time.Now), and what it decides comes out as moves.
package queue

import (
	"math"
	"time"
)

// Config bounds a Queue. The zero value means the defaults.
type Config struct {
	// Workers is how many renderings run at a time; default 2. From 2 on, one of them is kept for renderings that are
	// known to be quick, and for unknown ones until they have used up a slice.
	Workers int
	// Paused is how many renderings may stand still halfway, at most one of each project; default 2, negative for none. Each
	// keeps its memory.
	Paused int
	// Slice is the processor time that a rendering may use before another one may take its place; default 0.5 s.
	Slice time.Duration
	// Quick is the processor time up to which a rendering is quick; default a slice.
	Quick time.Duration
	// Budget is the processor time that a project may use without a penalty; default 5 s. What it has used shrinks by half
	// in each HalfLife; default 1 min.
	Budget, HalfLife time.Duration
}

func (c Config) withDefaults() Config {
	if c.Workers <= 0 {
		c.Workers = 2
	}
	if c.Paused == 0 {
		c.Paused = 2
	}
	for _, d := range []struct {
		field    *time.Duration
		standard time.Duration
	}{{&c.Slice, 500 * time.Millisecond}, {&c.Budget, 5 * time.Second}, {&c.HalfLife, time.Minute}} {
		if *d.field <= 0 {
			*d.field = d.standard
		}
	}
	if c.Quick <= 0 {
		c.Quick = c.Slice
	}
	return c
}

const (
	// patience is how much of a second of penalty each second of waiting makes up for. With it every project gets its
	// turn, whatever it has used.
	patience = 0.5
	// margin is the advantage, in slices, that a waiting rendering needs to take the place of a running one.
	margin = 4
	// longest is the largest cost that is predicted, in seconds.
	longest = 60.0
	// stretch is how many slices of wall time make a rendering long that uses little processor time.
	stretch = 2
)

// Job names the Application that a rendering is for, and its source.
type Job struct {
	Project string
	App     string // with its namespace
	Source  string // repository, path and chart
}

// ID names a job in a Queue.
type ID uint64

// Act is what is to be done with a job.
type Act int

// The acts.
const (
	Start   Act = iota + 1 // begin, from the beginning
	Pause                  // let it stand still; what it has done is kept
	Resume                 // let it go on
	Restart                // stop it, and forget what it has done; a Start follows later
)

// String is the name of the act.
func (a Act) String() string {
	return map[Act]string{Start: "start", Pause: "pause", Resume: "resume", Restart: "restart"}[a]
}

// Move is one thing to do.
type Move struct {
	ID  ID
	Act Act
}

type state int

const (
	waiting state = iota
	running
	paused
	states
)

// entry is one job.
type entry struct {
	id        ID
	account   *account
	app       *usage
	cost      costKey
	state     state
	predicted float64   // seconds of processor time
	long      bool      // it has given way once
	since     time.Time // it waits, or runs, since then
	spent     time.Duration
}

// Queue holds the jobs that wait, run and stand still. Use it from one goroutine at a time.
type Queue struct {
	cfg      Config
	last     ID
	jobs     map[ID]*entry
	projects map[string]*account
	sweepAt  int // so many projects are worth a look at which of them still matter
	costs    costs
	totals   [states]int
	waits    map[*account]bool // those with jobs that wait or stand still
}

// New returns an empty Queue.
func New(cfg Config) *Queue {
	return &Queue{
		cfg: cfg.withDefaults(), jobs: map[ID]*entry{}, projects: map[string]*account{}, costs: newCosts(), waits: map[*account]bool{},
	}
}

// Add puts a job into the queue.
func (q *Queue) Add(job Job, now time.Time) ID {
	q.last++
	a := q.projects[job.Project]
	if a == nil {
		a = &account{apps: map[string]*usage{}, entries: map[ID]*entry{}}
		q.projects[job.Project] = a
	}
	u := a.apps[job.App]
	if u == nil {
		u = &usage{}
		a.apps[job.App] = u
	}
	if a.in(waiting)+a.in(paused) == 0 {
		a.served = now // it begins to wait
	}
	a.jobs++
	q.move(a, waiting, 1)
	u.jobs++
	e := &entry{id: q.last, account: a, app: u, cost: q.costs.key(job), since: now}
	e.predicted = min(q.costs.predict(e.cost), longest)
	q.jobs[e.id], a.entries[e.id] = e, e
	return e.id
}

// Spent says how much processor time a job has used since its Start.
func (q *Queue) Spent(id ID, cpu time.Duration, now time.Time) {
	e := q.jobs[id]
	if e == nil || cpu <= e.spent {
		return
	}
	more := (cpu - e.spent).Seconds()
	e.account.charge(more, now, q.cfg.HalfLife)
	e.app.charge(more, now, q.cfg.HalfLife)
	e.spent = cpu
}

// Done takes a job out, whatever became of it. whole means that it ended regularly or by its time limit, so that the
// next one like it is likely to cost as much.
func (q *Queue) Done(id ID, cpu time.Duration, whole bool, now time.Time) {
	e := q.jobs[id]
	if e == nil {
		return
	}
	q.Spent(id, cpu, now)
	if whole || e.spent.Seconds() > e.predicted {
		q.costs.learn(e.cost, e.spent.Seconds())
	}
	delete(q.jobs, id)
	delete(e.account.entries, id)
	e.account.jobs--
	e.app.jobs--
	q.move(e.account, e.state, -1)
	q.sweep(e.account, now)
}

// Next says what is to be done now, and when to ask again though nothing happens before; 0 for never. Spent is to be called
// for the running jobs before it.
func (q *Queue) Next(now time.Time) (moves []Move, again time.Duration) {
	for {
		e := q.best(now, q.fits)
		if e == nil {
			break
		}
		moves = append(moves, q.begin(e, now))
	}
	for range q.cfg.Workers {
		out, in := q.exchange(now)
		if out == nil {
			break
		}
		moves = append(moves, q.yield(out, in, now), q.begin(in, now))
	}
	if q.count(waiting)+q.count(paused) > 0 {
		again = q.cfg.Slice / 4
	}
	return moves, again
}

// Waiting is how many jobs wait, those that stand still included.
func (q *Queue) Waiting() int { return q.count(waiting) + q.count(paused) }

func (q *Queue) count(s state) int { return q.totals[s] }

// brief reports whether a job may have the worker that is kept for quick ones.
func (q *Queue) brief(e *entry, now time.Time) bool {
	return !e.long && !q.costs.above(e.cost, q.cfg.Quick.Seconds()) && e.spent < q.cfg.Slice &&
		(e.state != running || now.Sub(e.since) < stretch*q.cfg.Slice)
}

// lengthy is how many of the running jobs are not brief.
func (q *Queue) lengthy(now time.Time) int {
	n := 0
	for _, e := range q.jobs {
		if e.state == running && !q.brief(e, now) {
			n++
		}
	}
	return n
}

// room is how many jobs may run that are not brief.
func (q *Queue) room() int { return max(1, q.cfg.Workers-1) }

// fits returns which of the waiting jobs may begin beside those that run.
func (q *Queue) fits(now time.Time) func(*entry) bool {
	if q.count(running) >= q.cfg.Workers {
		return nil
	}
	if q.lengthy(now) < q.room() {
		return func(*entry) bool { return true }
	}
	return func(e *entry) bool { return q.brief(e, now) }
}

// best returns the job that is first in line among those that may begin; nil for none. First comes the project with the
// smallest claim, then the smallest claim within it.
func (q *Queue) best(now time.Time, among func(time.Time) func(*entry) bool) *entry {
	may := among(now)
	if may == nil {
		return nil
	}
	var first *entry
	var least float64
	for a := range q.waits {
		e, rest := q.bestOf(a, may, now)
		if e == nil {
			continue
		}
		if claim := q.claim(a, rest, now); first == nil || claim < least || claim == least && e.id < first.id {
			first, least = e, claim
		}
	}
	return first
}

// bestOf returns the job of one project that is first in line, and the smallest cost that any of them is expected to have.
func (q *Queue) bestOf(a *account, may func(*entry) bool, now time.Time) (first *entry, rest float64) {
	least := math.Inf(1)
	rest = math.Inf(1)
	for _, e := range a.entries {
		if e.state == running || !may(e) {
			continue
		}
		rest = min(rest, e.rest())
		within := e.app.owed(now, q.cfg.HalfLife) + e.rest() - now.Sub(e.since).Seconds()
		if e.state == paused {
			within = math.Inf(-1) // it has memory, and the place of the next one that would stand still
		}
		if first == nil || within < least || within == least && e.id < first.id {
			first, least = e, within
		}
	}
	return first, rest
}

// claim orders waiting jobs of different projects: the smallest one is first.
func (q *Queue) claim(a *account, rest float64, now time.Time) float64 {
	return q.penalty(a, now) + rest - patience*now.Sub(a.served).Seconds()
}

// hold is what a running job is worth beside the claims of those that wait. A job that has run long is likely to run long.
func (q *Queue) hold(e *entry, now time.Time) float64 {
	return q.penalty(e.account, now) + max(e.rest(), e.spent.Seconds())
}

// penalty is what a project has used beyond its budget, and a tenth of what is within.
func (q *Queue) penalty(a *account, now time.Time) float64 {
	owed, budget := a.owed(now, q.cfg.HalfLife), q.cfg.Budget.Seconds()
	return max(0, owed-budget) + min(owed, budget)/10
}

// rest is the processor time that a job is expected to need yet.
func (e *entry) rest() float64 { return max(0, e.predicted-e.spent.Seconds()) }

// exchange finds a running job that is to give way, and the waiting one that takes its place.
func (q *Queue) exchange(now time.Time) (out, in *entry) {
	if q.Waiting() == 0 {
		return nil, nil
	}
	var last, least *entry // with the largest hold, and with the least that would be lost
	for _, e := range q.jobs {
		if e.state != running || q.brief(e, now) || now.Sub(e.since) < q.cfg.Slice {
			continue
		}
		if last == nil || q.hold(e, now) > q.hold(last, now) || q.hold(e, now) == q.hold(last, now) && e.id > last.id {
			last = e
		}
		if least == nil || e.spent < least.spent || e.spent == least.spent && e.id > least.id {
			least = e
		}
	}
	if last == nil {
		return nil, nil
	}
	if q.lengthy(now) > q.room() {
		brief := func(now time.Time) func(*entry) bool { return func(e *entry) bool { return q.brief(e, now) } }
		if in = q.best(now, brief); in != nil {
			return q.intruder(last, least, in, now), in
		}
	}
	others := func(time.Time) func(*entry) bool { return func(e *entry) bool { return e.account != last.account } }
	in = q.best(now, others)
	if in == nil || !q.pausable(last, in) && last.account.in(paused) == 0 ||
		q.claim(in.account, in.rest(), now)+margin*q.cfg.Slice.Seconds() >= q.hold(last, now) {
		return nil, nil
	}
	return last, in
}

// intruder returns which job gives way to a brief one, where more than may have workers are not brief: one of the same
// project, else the last in line if it can stand still, else the one that loses least.
func (q *Queue) intruder(last, least, in *entry, now time.Time) *entry {
	var own *entry
	for _, e := range in.account.entries {
		if e.state == running && !q.brief(e, now) && now.Sub(e.since) >= q.cfg.Slice &&
			(own == nil || e.spent < own.spent || e.spent == own.spent && e.id > own.id) {
			own = e
		}
	}
	switch {
	case own != nil:
		return own
	case q.pausable(last, in):
		return last
	}
	return least
}

// pausable reports whether out may stand still while in runs.
func (q *Queue) pausable(out, in *entry) bool {
	still := q.count(paused)
	if in.state == paused {
		still--
	}
	return still < q.cfg.Paused && out.account != in.account && out.account.in(paused) == 0
}

// yield takes a running job from its worker.
func (q *Queue) yield(out, in *entry, now time.Time) Move {
	out.long = true
	out.predicted = min(longest, max(out.predicted, 2*out.spent.Seconds()))
	q.costs.learn(out.cost, out.predicted)
	if q.pausable(out, in) {
		q.set(out, paused, now)
		return Move{out.id, Pause}
	}
	q.set(out, waiting, now)
	out.spent = 0
	return Move{out.id, Restart}
}

// begin gives a worker to a job.
func (q *Queue) begin(e *entry, now time.Time) Move {
	act := Start
	if e.state == paused {
		act = Resume
	}
	e.account.served = now
	q.set(e, running, now)
	return Move{e.id, act}
}

func (q *Queue) set(e *entry, s state, now time.Time) {
	q.move(e.account, e.state, -1)
	if s != running && e.account.in(waiting)+e.account.in(paused) == 0 {
		e.account.served = now
	}
	e.state, e.since = s, now
	q.move(e.account, s, 1)
}
