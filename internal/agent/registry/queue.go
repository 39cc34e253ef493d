package registry

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// Queue holds the Applications that want a turn: each at most once, each worked on by one worker at a time, and the projects
// in turn. One that is asked for during its turn gets another one after it.
type Queue struct {
	work workqueue.TypedDelayingInterface[Name]

	mu    sync.Mutex
	since map[Name]time.Time // when each began to wait
}

// NewQueue returns an empty queue. project says whose an Application is; nil: all are of one project.
func NewQueue(project func(Name) string) *Queue {
	if project == nil {
		project = func(Name) string { return "" }
	}
	work := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[Name]{Queue: &order{project: project, lines: map[string][]Name{}}})
	return &Queue{
		work:  workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[Name]{Queue: work}),
		since: map[Name]time.Time{},
	}
}

// Add queues an Application for a turn as soon as it can have one.
func (q *Queue) Add(id Name) {
	q.mu.Lock()
	if _, waits := q.since[id]; !waits {
		q.since[id] = time.Now()
	}
	q.mu.Unlock()
	q.work.Add(id)
}

// AddAfter queues id once d has passed; it may have had other turns by then.
func (q *Queue) AddAfter(id Name, d time.Duration) { q.work.AddAfter(id, d) }

// Next waits for an Application, which still counts as one that waits; ok is false once the queue is closed.
func (q *Queue) Next() (id Name, ok bool) {
	id, closed := q.work.Get()
	return id, !closed
}

// Begun is called when the turn of what next returned begins, and returns how long it has waited.
func (q *Queue) Begun(id Name) (waited time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if since, known := q.since[id]; known {
		waited = time.Since(since)
		delete(q.since, id)
	}
	return waited
}

// Done ends a turn.
func (q *Queue) Done(id Name) { q.work.Done(id) }

// Close ends the queue: it no longer waits for its turn.
func (q *Queue) Close() { q.work.ShutDown() }

// Waits reports whether an Application waits for its turn.
func (q *Queue) Waits(id Name) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, waits := q.since[id]
	return waits
}

// Depth returns how many wait, and how long the first of them has.
func (q *Queue) Depth() (n int, oldest time.Duration) {
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
	project func(Name) string
	lines   map[string][]Name
	next    []string // the projects that wait; the first one is next
	n       int
}

var _ workqueue.Queue[Name] = (*order)(nil)

// Touch implements workqueue.Queue: being asked for again changes nothing.
func (o *order) Touch(Name) {}

// Push implements workqueue.Queue.
func (o *order) Push(id Name) {
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
func (o *order) Pop() Name {
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

// Late is how long Applications may wait for their turns until that counts as not healthy.
const Late = time.Minute
