// Package damp bounds how often something that repeats is reported: the first time immediately, then once in a window, with the
// number of times in between.
package damp

import (
	"sync"
	"time"
)

// Report reports one occurrence. more is for how many earlier ones it stands as well, 0 for none, and since is when the one before
// these was reported.
type Report func(more int, since time.Time)

// Damper holds back what repeats. Make it with New, and end with FlushAll. It is safe for concurrent use.
type Damper[K comparable] struct {
	window time.Duration

	mu   sync.Mutex
	open map[K]*spell
}

// spell is a window in which occurrences of one key are held back.
type spell struct {
	since time.Time
	held  int
	last  Report // of the last one that is held back; nil for none
	timer *time.Timer
}

// New makes a Damper that lets one occurrence of a key through in each window.
func New[K comparable](window time.Duration) *Damper[K] {
	return &Damper[K]{window: window, open: map[K]*spell{}}
}

// Offer reports an occurrence of a key, now or at the end of the window in which an earlier one was reported. Of those that are held
// back only the last is reported.
func (d *Damper[K]) Offer(key K, report Report) {
	d.mu.Lock()
	s := d.open[key]
	if s != nil {
		s.held++
		s.last = report
		d.mu.Unlock()
		return
	}
	d.begin(key)
	d.mu.Unlock()
	report(0, time.Time{})
}

// begin opens a window. Callers hold the lock.
func (d *Damper[K]) begin(key K) {
	s := &spell{since: time.Now()}
	s.timer = time.AfterFunc(d.window, func() { d.end(key, s) })
	d.open[key] = s
}

// end closes a window, reports what was held back in it, and then opens the next one.
func (d *Damper[K]) end(key K, s *spell) {
	d.mu.Lock()
	if d.open[key] != s { // it was closed since
		d.mu.Unlock()
		return
	}
	delete(d.open, key)
	if s.last != nil {
		d.begin(key)
	}
	d.mu.Unlock()
	s.report()
}

// report reports what was held back.
func (s *spell) report() {
	if s.last != nil {
		s.last(s.held-1, s.since)
	}
}

// Flush reports what is held back of a key, and ends its window.
func (d *Damper[K]) Flush(key K) {
	d.mu.Lock()
	s := d.open[key]
	delete(d.open, key)
	d.mu.Unlock()
	if s != nil {
		s.timer.Stop()
		s.report()
	}
}

// FlushAll reports everything that is held back, and ends all windows.
func (d *Damper[K]) FlushAll() {
	d.mu.Lock()
	open := d.open
	d.open = map[K]*spell{}
	d.mu.Unlock()
	for _, s := range open {
		s.timer.Stop()
		s.report()
	}
}
