package agent

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// queue holds the Applications that want a turn: each at most once, each worked on by one worker at a time. One that
// is asked for during its turn gets another one after it.
type queue struct {
	work workqueue.TypedDelayingInterface[name]

	mu    sync.Mutex
	since map[name]time.Time // when each began to wait
}

func newQueue() *queue {
	return &queue{work: workqueue.NewTypedDelayingQueue[name](), since: map[name]time.Time{}}
}

func (q *queue) add(id name) {
	q.mu.Lock()
	if _, waits := q.since[id]; !waits {
		q.since[id] = time.Now()
	}
	q.mu.Unlock()
	q.work.Add(id)
}

// addAfter queues id once d has passed; it may have had other turns by then.
func (q *queue) addAfter(id name, d time.Duration) { q.work.AddAfter(id, d) }

// next waits for an Application and returns how long it has waited; ok is false once the queue is closed.
func (q *queue) next() (id name, waited time.Duration, ok bool) {
	id, closed := q.work.Get()
	if closed {
		return id, 0, false
	}
	q.mu.Lock()
	if since, known := q.since[id]; known {
		waited = time.Since(since)
		delete(q.since, id)
	}
	q.mu.Unlock()
	return id, waited, true
}

func (q *queue) done(id name) { q.work.Done(id) }

func (q *queue) close() { q.work.ShutDown() }

// depth returns how many wait, and how long the first of them has.
func (q *queue) depth() (n int, oldest time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, since := range q.since {
		oldest = max(oldest, time.Since(since))
	}
	return len(q.since), oldest
}
