package agent

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// queue holds the Applications that want a turn: each at most once, each worked on by one worker at a time, and the projects
// in turn. One that is asked for during its turn gets another one after it.
type queue struct {
	work workqueue.TypedDelayingInterface[name]

	mu    sync.Mutex
	since map[name]time.Time // when each began to wait
}

// newQueue returns an empty queue. project says whose an Application is; nil: all are of one project.
func newQueue(project func(name) string) *queue {
	if project == nil {
		project = func(name) string { return "" }
	}
	work := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[name]{Queue: &order{project: project, lines: map[string][]name{}}})
	return &queue{
		work:  workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[name]{Queue: work}),
		since: map[name]time.Time{},
	}
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

// next waits for an Application, which still counts as one that waits; ok is false once the queue is closed.
func (q *queue) next() (id name, ok bool) {
	id, closed := q.work.Get()
	return id, !closed
}

// begun is called when the turn of what next returned begins, and returns how long it has waited.
func (q *queue) begun(id name) (waited time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if since, known := q.since[id]; known {
		waited = time.Since(since)
		delete(q.since, id)
	}
	return waited
}

func (q *queue) done(id name) { q.work.Done(id) }

func (q *queue) close() { q.work.ShutDown() }

// waits reports whether an Application waits for its turn.
func (q *queue) waits(id name) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, waits := q.since[id]
	return waits
}

// depth returns how many wait, and how long the first of them has.
func (q *queue) depth() (n int, oldest time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, since := range q.since {
		oldest = max(oldest, time.Since(since))
	}
	return len(q.since), oldest
}

// order gives each project that waits one turn after the other, so that a commit to many Applications of one does not hold up
// the others. Within a project, first come is first served.
type order struct {
	project func(name) string
	lines   map[string][]name
	next    []string // the projects that wait; the first one is next
	n       int
}

var _ workqueue.Queue[name] = (*order)(nil)

// Touch implements workqueue.Queue: being asked for again changes nothing.
func (o *order) Touch(name) {}

// Push implements workqueue.Queue.
func (o *order) Push(id name) {
	p := o.project(id)
	if len(o.lines[p]) == 0 {
		o.next = append(o.next, p)
	}
	o.lines[p] = append(o.lines[p], id)
	o.n++
}

// Len implements workqueue.Queue.
func (o *order) Len() int { return o.n }

// Pop implements workqueue.Queue. It is not called when nothing waits.
func (o *order) Pop() name {
	p := o.next[0]
	line := o.lines[p]
	o.next = o.next[1:]
	if len(line) == 1 {
		delete(o.lines, p)
	} else {
		o.lines[p] = line[1:]
		o.next = append(o.next, p)
	}
	o.n--
	return line[0]
}
