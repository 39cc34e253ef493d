package worker

import (
	"sync"
	"time"
)

// pace is the time limit of one job. It counts while the job may run, not while its process stands still.
type pace struct {
	signal func(still bool) // lets the process stand still, or go on
	expire func()           // called once when the time is over; like signal with the lock held

	mu    sync.Mutex
	alarm *time.Timer
	left  time.Duration
	since time.Time
	still bool
	over  bool // the time is over, or the job is
	late  bool
	ran   time.Duration
}

func newPace(limit time.Duration, signal func(still bool), expire func()) *pace {
	p := &pace{signal: signal, expire: expire, left: limit, since: time.Now()}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.alarm = time.AfterFunc(limit, p.ring)
	return p
}

func (p *pace) ring() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over && !p.still && time.Since(p.since) >= p.left {
		p.over, p.late = true, true
		p.expire()
	}
}

// pause lets the process stand still until resume or end.
func (p *pace) pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.still {
		return
	}
	p.alarm.Stop()
	passed := time.Since(p.since)
	p.still, p.left, p.ran = true, max(0, p.left-passed), p.ran+passed
	p.signal(true)
}

// resume lets it go on.
func (p *pace) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.goOn()
	if !p.over {
		p.alarm.Reset(p.left)
	}
}

func (p *pace) goOn() {
	if !p.still {
		return
	}
	p.still, p.since = false, time.Now()
	p.signal(false)
}

// end is called when the job is over, by whatever. It reports whether the time was over before.
func (p *pace) end() (late bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.goOn()
	p.over = true
	p.alarm.Stop()
	return p.late
}

// wall is how long the job has been running, without the time in which it stood still.
func (p *pace) wall() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.still {
		return p.ran
	}
	return p.ran + time.Since(p.since)
}
