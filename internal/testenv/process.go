package testenv

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// endLimit is how long a program may take to end after a signal, on a machine that has much else to do.
	endLimit = time.Minute
	// tailBytes is how much of a program's log a failed test shows.
	tailBytes = 8 << 10
)

// Process is a program of ours that a test starts, kills and starts again with the same arguments.
type Process struct {
	// Name is what errors call it, Log the file that takes what it prints, over all its starts.
	Name, Log string
	// Env is added to the environment of the test.
	Env []string

	t      testing.TB
	binary string
	args   []string

	mu     sync.Mutex
	cmd    *exec.Cmd
	done   chan struct{}
	starts int
	frozen bool // it was, at some time
}

// NewProcess prepares a program (slipway-agent, slipway-server), whose log goes into dir. It is the one that TEST_SLIPWAY_AGENT
// or TEST_SLIPWAY_SERVER names, else the one in bin, else it is built. It is killed at the end of the test, which removes dir.
func NewProcess(t testing.TB, name, program, dir string, args ...string) *Process {
	t.Helper()
	p := &Process{Name: name, Log: filepath.Join(dir, name+".log"), t: t, binary: Binary(t, program), args: args}
	t.Cleanup(func() {
		p.Kill()
		// Programs that it had started, git above all, end a moment after it, and write until then.
		_ = wait.PollUntilContextTimeout(context.Background(), probeEvery, endLimit, true, func(context.Context) (bool, error) {
			return os.RemoveAll(dir) == nil, nil
		})
	})
	return p
}

// Binary is the path of a program of ours: the one that a variable such as TEST_SLIPWAY_AGENT names, else the one in bin,
// else one that is built. SLIPWAY_SERVER is an address for the command line, and may be set where tests run.
func Binary(t testing.TB, program string) string {
	t.Helper()
	if path := os.Getenv("TEST_" + strings.ToUpper(strings.ReplaceAll(program, "-", "_"))); path != "" {
		return path
	}
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	built := filepath.Join(root, "bin", program)
	if _, err := os.Stat(built); err == nil {
		return built
	}
	path := filepath.Join(t.TempDir(), program)
	command := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./cmd/"+program)
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", program, err, out)
	}
	return path
}

// Start starts the program and waits for nothing.
func (p *Process) Start() {
	p.t.Helper()
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.CommandContext(context.WithoutCancel(p.t.Context()), p.binary, p.args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, append(append(os.Environ(), Outbound), p.Env...)
	if err := cmd.Start(); err != nil {
		p.t.Fatalf("start %s: %v", p.Name, err)
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd, p.done = cmd, done
	p.starts++
}

// Pid is the number of the process that runs.
func (p *Process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd.Process.Pid
}

// Kill ends the program without a warning, as a crash would, and waits for its end.
func (p *Process) Kill() { p.end(syscall.SIGKILL) }

// Stop ends it in order. One that does not end within a minute is killed, and fails the test.
func (p *Process) Stop() { p.end(syscall.SIGTERM) }

func (p *Process) end(how syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(how) // it may have ended already
	select {
	case <-p.done:
	case <-time.After(endLimit):
		_ = p.cmd.Process.Kill()
		<-p.done
		p.t.Errorf("%s did not end within %s of %s", p.Name, endLimit, how)
	}
	p.cmd = nil
}

// Freeze stops the program without ending it, as a machine that is paused would. The result lets it go on.
func (p *Process) Freeze() (thaw func()) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	process := p.cmd.Process
	p.frozen = true
	if err := process.Signal(syscall.SIGSTOP); err != nil {
		p.t.Fatalf("freeze %s: %v", p.Name, err)
	}
	thaw = func() { _ = process.Signal(syscall.SIGCONT) } // it may have been killed
	p.t.Cleanup(thaw)
	return thaw
}

// NothingMissed checks at the end of the test that the program needed no second look, by its metrics at an address, unless it was
// ended, started again or frozen.
func (p *Process) NothingMissed(metrics string) {
	p.t.Helper()
	p.t.Cleanup(func() {
		if p.undisturbed() && !p.t.Failed() {
			NothingMissed(p.t, p.Name, metrics)
		}
	})
}

func (p *Process) undisturbed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil || p.starts > 1 || p.frozen {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Ended reports whether the program ended although the test did not end it.
func (p *Process) Ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return false
	}
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// EndsWithin waits until the program has ended although the test did not end it, and reports whether it has.
func (p *Process) EndsWithin(limit time.Duration) bool {
	p.mu.Lock()
	done := p.done
	p.mu.Unlock()
	select {
	case <-done:
		return true
	case <-time.After(limit):
		return false
	}
}

func (p *Process) output() []byte {
	raw, err := os.ReadFile(p.Log)
	if err != nil {
		return []byte(err.Error())
	}
	return raw
}

// Logged counts how often a text is in the log.
func (p *Process) Logged(text string) int { return bytes.Count(p.output(), []byte(text)) }

// Tail is the end of the log, at most 8 KiB.
func (p *Process) Tail() []byte {
	raw := p.output()
	return raw[max(0, len(raw)-tailBytes):]
}
