// Package sandbox runs a program of the administrator to its end: within bounds of time and output, without processes that outlive
// it, and, where that is asked for, confined so that what it processes cannot make it do harm.
package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// Errors of a run. They are wrapped.
var (
	// ErrOutput says that the program wrote more than it may.
	ErrOutput = errors.New("the program wrote too much")
	// ErrStart says that the program could not be started.
	ErrStart = errors.New("the program could not be started")
	// ErrConfine says that this machine has no means to confine programs.
	ErrConfine = errors.New("this machine cannot confine programs")
)

// ExitError says that a program failed, or was ended for what it took.
type ExitError struct {
	Code   int    // -1 where a signal ended it
	Signal string // "" where none did
	Stderr []byte // the end of what it wrote there; it can hold secrets
}

// Error does not show what the program wrote.
func (e *ExitError) Error() string {
	if e.Signal != "" {
		return "the program was ended by the signal " + e.Signal
	}
	return fmt.Sprintf("the program ended with code %d", e.Code)
}

// Program is one run of a program. All its processes are in one group, which ends with the program and with the context.
type Program struct {
	Path   string // absolute
	Args   []string
	Env    []string // all variables that it gets
	Dir    string   // where it starts; "" is the root
	Stdin  []byte
	Output int64 // bytes of its output; the group is killed for more
	Stderr int64 // bytes of the end of its other output that are kept for an ExitError
	Box    *Box  // nil: it is trusted, and not confined
}

// Box is what a confined program may do. The directories of programs and libraries can be read, and nothing else beside these; there
// is no network, no look at other processes, no new privilege, and none of its processes can leave its group.
type Box struct {
	Read    []string      // files and directories that can be read and executed too
	Write   []string      // directories that can be written to too
	Memory  int64         // bytes of data of each process
	CPU     time.Duration // processor time of each process
	File    int64         // bytes of each file that it writes
	Network bool          // whether it may connect to others
	// Try runs the program where the machine lacks the means to confine it, as far as it has them.
	Try bool
	// Launcher is a program whose main calls Launch; "" is this one.
	Launcher string
}

// grace is how long the pipes of a group that was killed may stay open.
const grace = 2 * time.Second

// Run runs the program and returns its output, also with an ExitError. The context must end at some time.
func (p Program) Run(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := &bounded{most: p.Output, over: func() { cancel(ErrOutput) }}
	last := &tail{most: int(p.Stderr)}
	cmd := exec.CommandContext(ctx, p.Path, p.Args...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = p.Env, p.Dir, bytes.NewReader(p.Stdin), out, last, grace
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would mean all of this process
	}
	if cmd.Dir == "" {
		cmd.Dir = "/"
	}
	cmd.SysProcAttr = group()
	cmd.Cancel = func() error { return killGroup(cmd.Process.Pid) }
	said := func() error { return nil }
	if p.Box != nil {
		report, err := p.Box.prepare(cmd)
		if err != nil {
			return nil, err
		}
		defer report.close()
		said = report.read
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	if err := said(); err != nil {
		_ = killGroup(cmd.Process.Pid)
		_ = waitGroup(cmd)
		return nil, err
	}
	err := waitGroup(cmd)
	switch {
	case out.full:
		return nil, fmt.Errorf("%w: more than %d bytes", ErrOutput, p.Output)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return out.kept.Bytes(), nil
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out.kept.Bytes(), &ExitError{Code: exit.ExitCode(), Signal: signalOf(exit.ProcessState), Stderr: last.kept}
	}
	return nil, fmt.Errorf("run %s: %w", p.Path, err)
}

// bounded keeps output up to a bound.
type bounded struct {
	kept bytes.Buffer
	most int64
	full bool
	over func()
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if int64(b.kept.Len()+len(p)) > b.most {
		b.full = true
		b.over()
		return 0, ErrOutput
	}
	return b.kept.Write(p)
}

// tail keeps the end of what is written.
type tail struct {
	kept []byte
	most int
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p[max(0, len(p)-t.most):]...)
	if over := len(t.kept) - t.most; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// executable is the program that launches others.
func (b *Box) executable() (string, error) {
	if b.Launcher != "" {
		return b.Launcher, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrStart, err)
	}
	return self, nil
}
