package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/internal/engine/render"
)

const (
	// grace is how long a child may take to leave once its input is closed.
	grace = 2 * time.Second
	// maxStderr is how much of a dying child's last output is kept, to report why it died. None of it is shown: it can
	// quote input.
	maxStderr = 16 << 10
)

// child is one process. Only one goroutine uses it at a time.
type child struct {
	cfg    Config
	cmd    *exec.Cmd
	conn   *conn
	in     io.Closer // the child's input: closing it asks the child to leave
	stderr *words
	timer  *time.Timer   // while it is idle
	pace   *pace         // of its present or last job
	before time.Duration // processor time that was used before that job
	jobs   int
	heard  bool // it asked or answered something in this job
	dead   bool // the process is of no use any more
	gone   bool // it has been waited for
}

// start starts a child. It answers when it gets its first job.
func start(cfg Config) (*child, error) {
	cmd := exec.Command(cfg.Executable, arg, strconv.FormatInt(cfg.Memory, 10))
	// Empty and not nil, which would mean the environment of the parent.
	cmd.Env = []string{}
	cmd.Dir = "/"
	cmd.SysProcAttr = processAttributes()
	said := &words{}
	cmd.Stderr = said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start render worker: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start render worker: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start render worker: %w; check the limits on processes and memory", err)
	}
	return &child{cfg: cfg, cmd: cmd, conn: newConn(out, in), in: in, stderr: said}, nil
}

// begin gives a job its time limit, which starts now. It comes before run.
func (c *child) begin(req render.Request) {
	c.before = c.cpu()
	c.pace = newPace(time.Duration(req.Limits.Seconds)*time.Second,
		func(still bool) { halt(c.cmd.Process, still) },
		func() { kill(c.cmd.Process) })
}

// run does one job. Whatever ends it early kills the child. It calls off when nothing may be sent to the process any more.
func (c *child) run(ctx context.Context, quit <-chan struct{}, req render.Request, off func()) (render.Result, error) {
	finished := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-ctx.Done():
		case <-quit:
		case <-finished:
			return
		}
		kill(c.cmd.Process)
	})
	c.jobs++
	c.heard = false
	res, err := c.talk(req)
	close(finished)
	watch.Wait()
	late := c.pace.end()
	off() // from here on the process may be waited for, and its number may become that of another
	if err == nil {
		c.dead = late // it was just in time, and is still stopped
		return res, nil
	}
	var broken *brokenError
	if !errors.As(err, &broken) {
		// After a panic the state of the libraries is unknown.
		c.dead = errors.Is(err, render.ErrCrash)
		return res, err
	}
	c.dead = true
	res = render.Result{Tool: req.Tool, Deps: render.Deps{Cluster: true}}
	where := fmt.Sprintf("render %s as %s", req.Source.Path, req.Tool)
	select {
	case <-quit:
		return res, ErrClosed
	default:
	}
	switch {
	case ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return res, ctx.Err()
	case late || ctx.Err() != nil:
		limit := time.Duration(req.Limits.Seconds) * time.Second
		return res, fmt.Errorf("%s: %w: it was stopped after %s; look for a template that loops, or make the source smaller", where,
			render.ErrTimeout, limit)
	}
	return res, fmt.Errorf("%s: %w", where, c.autopsy(broken))
}

// cpu returns the processor time that the child has used in its whole life. Where that is not known it is the wall time of its
// job, and of those before it.
func (c *child) cpu() time.Duration {
	if used, ok := cpuOf(c.cmd.Process); ok {
		return used
	}
	if c.pace == nil {
		return 0
	}
	return c.before + c.pace.wall()
}

// spent returns the processor time of the present job.
func (c *child) spent() time.Duration { return max(0, c.cpu()-c.before) }

// total is spent once the job is over. A process that is of no use any more is waited for.
func (c *child) total() time.Duration {
	if !c.dead {
		return c.spent()
	}
	c.stop()
	return max(0, c.cmd.ProcessState.UserTime()+c.cmd.ProcessState.SystemTime()-c.before)
}

// autopsy waits for a child that broke off and reports why.
func (c *child) autopsy(broken *brokenError) error {
	if broken.protocol {
		kill(c.cmd.Process)
		c.wait()
		return fmt.Errorf("%w: it sent something unexpected; report this with the source that causes it", render.ErrCrash)
	}
	c.wait()
	said := c.stderr.String()
	if starved(said) || killed(c.cmd.ProcessState) {
		return fmt.Errorf("%w: more than %d MiB; look for a template or a value that multiplies, or make the source smaller",
			ErrMemory, c.cfg.Memory>>20)
	}
	if strings.Contains(said, "stack overflow") || strings.Contains(said, "stack exceeds") {
		return fmt.Errorf("%w: it nested too deeply; look for a template that includes itself", render.ErrCrash)
	}
	return fmt.Errorf("%w: %s; report this with the source that causes it", render.ErrCrash, c.cmd.ProcessState)
}

// starved reports whether the last words of a child are those of the runtime when it gets no more memory, be it for the
// heap, for its own tables or for the stack of a thread.
func starved(said string) bool {
	return slices.ContainsFunc([]string{
		"out of memory", "cannot allocate memory", "cannot map pages", "cannot reserve arena", "errno=12",
		"failed to create new OS thread", "pthread_create failed",
	}, func(words string) bool { return strings.Contains(said, words) })
}

// stop asks the child to leave, and makes it after a while.
func (c *child) stop() {
	if c.gone {
		return
	}
	if c.dead {
		kill(c.cmd.Process)
	}
	// A child between two jobs sees the end of its input and leaves.
	_ = c.in.Close()
	t := time.AfterFunc(grace, func() { kill(c.cmd.Process) })
	c.wait()
	t.Stop()
}

func (c *child) wait() {
	if c.gone {
		return
	}
	c.gone = true
	// What it ended with is in ProcessState.
	_ = c.cmd.Wait()
	_ = c.in.Close()
}

// rss returns the resident bytes of the child, 0 if the system does not report it.
func (c *child) rss() int64 {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(c.cmd.Process.Pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(raw)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// words keeps the first bytes that are written to it: a dying Go program says why before it lists goroutines.
type words struct {
	mu  sync.Mutex
	buf []byte
}

// Write takes everything and keeps what has room.
func (t *words) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := maxStderr - len(t.buf); room > 0 {
		t.buf = append(t.buf, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

func (t *words) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
