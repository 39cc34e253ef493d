package gateway

import (
	"log/slog"
	"math"
	"runtime/debug"
	"sync"

	"golang.org/x/time/rate"
)

// How much of one agent may wait in memory, and how fast it may send.
const (
	laneJobs, laneBytes     = 64, 4 << 20
	streamJobs, streamBytes = 1024, 8 << 20
	// A reply comes faster than it is read, and one may have agentapi.MaxReply: as messages it is half as large again. How much
	// is kept of what was read is bounded by maxReplies.
	replyJobs, replyBytes = 1024, maxReplies * 3 / 2
	requestRate, burst    = 200, 1000
	// floodLimit is how many messages too many an agent may send before its connections are cut.
	floodLimit = 2000
)

// lanes do the work of each agent in order, and that of different agents at the same time. A lane without work costs
// nothing.
type lanes struct {
	log    *slog.Logger
	mu     sync.Mutex
	lanes  map[string]*lane
	closed bool
	wg     sync.WaitGroup
}

type lane struct {
	jobs  []laneJob
	bytes int
}

type laneJob struct {
	size int
	run  func()
}

func newLanes(log *slog.Logger) *lanes {
	return &lanes{log: log, lanes: map[string]*lane{}}
}

// add has a job done after those that were added with the same key before, and reports whether there is room for it.
func (l *lanes) add(key string, size, maxJobs, maxBytes int, run func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	at := l.lanes[key]
	if at == nil {
		at = &lane{}
		l.lanes[key] = at
		l.wg.Go(func() { l.work(key, at) })
	} else if len(at.jobs) >= maxJobs || at.bytes+size > maxBytes {
		return false
	}
	at.jobs, at.bytes = append(at.jobs, laneJob{size: size, run: run}), at.bytes+size
	return true
}

// must has a job done that no agent asked for, and that therefore always has room.
func (l *lanes) must(key string, run func()) {
	l.add(key, 0, math.MaxInt, math.MaxInt, run)
}

func (l *lanes) work(key string, at *lane) {
	for {
		l.mu.Lock()
		if len(at.jobs) == 0 {
			delete(l.lanes, key)
			l.mu.Unlock()
			return
		}
		job := at.jobs[0]
		at.jobs = at.jobs[1:]
		at.bytes -= job.size
		l.mu.Unlock()
		l.guard(key, job.run)
	}
}

// guard keeps a panic to the message that caused it.
func (l *lanes) guard(key string, run func()) {
	defer func() {
		if p := recover(); p != nil {
			l.log.Error("a message of an agent caused a panic", "lane", key, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	run()
}

// close takes no more jobs and waits for those that there are.
func (l *lanes) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.wg.Wait()
}

// limits bound how fast each agent may send.
type limits struct {
	mu     sync.Mutex
	agents map[string]*limit
}

type limit struct {
	limiter *rate.Limiter
	over    int
}

func newLimits() *limits { return &limits{agents: map[string]*limit{}} }

// take reports whether an agent may send one more message, and whether it has gone on so long that it is to be cut.
func (l *limits) take(uid string) (ok, flood bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.agents[uid]
	if at == nil {
		at = &limit{limiter: rate.NewLimiter(requestRate, burst)}
		l.agents[uid] = at
	}
	if at.limiter.Allow() {
		return true, false
	}
	if at.over++; at.over < floodLimit {
		return false, false
	}
	at.over = 0
	return false, true
}

func (l *limits) drop(uid string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.agents, uid)
}
