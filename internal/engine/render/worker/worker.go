// Package worker runs renderers in child processes, so that a template that runs for ever, eats all memory or breaks out of
// its library does no harm to the agent. A child is the same executable with a hidden argument. It has no environment, no
// open file but its pipes, limits on memory and, on Linux, a system call filter under which it can open no file and no
// socket and start no process: it asks the parent for every file, and the parent answers from the source's Tree.
package worker

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/queue"
)

// ErrMemory is wrapped by the error that says a rendering needed more memory than a child may have. Time and crashes
// are render.ErrTimeout and render.ErrCrash.
var ErrMemory = errors.New("the renderer needed too much memory")

// ErrClosed is returned by Render after Close.
var ErrClosed = errors.New("the render workers are closed")

// Config says how many children there are and what they may use. The zero value means the defaults.
type Config struct {
	Workers int           // children at work at a time, one of which is kept for quick jobs; default 2
	Paused  int           // children that may stand still halfway beside them; default 2, negative for none
	Slice   time.Duration // processor time of a job before another may take its place; default 0.5 s
	Memory  int64         // bytes of data that a child may have; default 1 GiB
	MaxJobs int           // jobs after which a child is replaced; default 500
	MaxRSS  int64         // resident bytes above which a child is replaced after its job; default 256 MiB
	Idle    time.Duration // after which a child without a job is stopped; default 30 s
	// Executable is the program to start, which must call Main when IsChild says so. Default: this executable.
	Executable string
	// KustomizeVersions are the registered names of Kustomize versions (see package kustomize).
	KustomizeVersions []string
	// Done is called for every job that is over; it may be nil.
	Done func(Report)
}

func (c Config) withDefaults() (Config, error) {
	if c.Workers <= 0 {
		c.Workers = 2
	}
	if c.Memory <= 0 {
		c.Memory = 1 << 30
	}
	if c.MaxJobs <= 0 {
		c.MaxJobs = 500
	}
	if c.MaxRSS <= 0 {
		c.MaxRSS = 256 << 20
	}
	if c.Idle <= 0 {
		c.Idle = 30 * time.Second
	}
	if c.Executable == "" {
		exe, err := self()
		if err != nil {
			return c, fmt.Errorf("find the own executable: %w", err)
		}
		c.Executable = exe
	}
	return c, nil
}

// self finds the running executable. The link of the kernel works even after an upgrade replaced the file.
func self() (string, error) {
	const link = "/proc/self/exe"
	if _, err := os.Stat(link); err == nil {
		return link, nil
	}
	return os.Executable()
}

// Renderer is a render.Renderer that runs each job in a child process. Children are started when they are needed, used
// for many jobs one after another, and stopped when they are idle. It is safe for concurrent use. Jobs beyond
// Config.Workers wait in a queue that is fair to the projects they are for; one that takes long can be halted, or stopped
// and begun again, while others have its place.
type Renderer struct {
	cfg  Config
	quit chan struct{} // closed by Close

	mu     sync.Mutex
	queue  *queue.Queue
	jobs   map[queue.ID]*pending
	alarm  *time.Timer // asks the queue again
	idle   []*child    // most recently used last
	closed bool
	wg     sync.WaitGroup // running jobs and stops of idle children
}

var _ render.Renderer = (*Renderer)(nil)

// New returns a Renderer. No process is started yet. Call Close when done.
func New(cfg Config) (*Renderer, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Renderer{
		cfg:   cfg,
		queue: queue.New(queue.Config{Workers: cfg.Workers, Paused: cfg.Paused, Slice: cfg.Slice}),
		jobs:  map[queue.ID]*pending{},
		quit:  make(chan struct{}),
	}
	r.alarm = time.AfterFunc(time.Hour, r.ask)
	r.alarm.Stop()
	return r, nil
}

// take returns an idle child or a new one, and counts a running job.
func (r *Renderer) take() (*child, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, ErrClosed
	}
	r.wg.Add(1)
	var c *child
	for c == nil && len(r.idle) > 0 {
		last := len(r.idle) - 1
		c, r.idle = r.idle[last], r.idle[:last]
		if !c.timer.Stop() {
			c = nil // its stop is under way
		}
	}
	r.mu.Unlock()
	if c != nil {
		r.wg.Done() // the timer, which no longer fires
		return c, nil
	}
	c, err := start(r.cfg)
	if err != nil {
		r.wg.Done()
		return nil, err
	}
	return c, nil
}

// give takes a child back after its job: worn-out and dead ones are stopped, others wait for the next job.
func (r *Renderer) give(c *child) {
	if c.dead || c.jobs >= r.cfg.MaxJobs || c.rss() > r.cfg.MaxRSS {
		c.stop()
		return
	}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		c.stop()
		return
	}
	defer r.mu.Unlock()
	r.wg.Add(1)
	c.timer = time.AfterFunc(r.cfg.Idle, func() {
		defer r.wg.Done()
		r.forget(c)
		c.stop()
	})
	r.idle = append(r.idle, c)
}

func (r *Renderer) forget(c *child) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, have := range r.idle {
		if have == c {
			r.idle = append(r.idle[:i], r.idle[i+1:]...)
			return
		}
	}
}

// Children returns how many children wait for a job.
func (r *Renderer) Children() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.idle)
}

// Close stops all children and waits for them; running jobs fail with ErrClosed. It can be called again.
func (r *Renderer) Close() error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		r.alarm.Stop()
		close(r.quit)
	}
	idle := r.idle
	r.idle = nil
	r.mu.Unlock()
	for _, c := range idle {
		if c.timer.Stop() {
			c.stop()
			r.wg.Done()
		}
	}
	r.wg.Wait()
	return nil
}
