// Package rig starts and stops what a benchmark stands on: a cluster, a Git server and the engine under test. Every
// process it starts ends with this one, however this one ends.
package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// stopGrace is how long a process may take to end after it was asked to.
	stopGrace = 10 * time.Second
	// pollInterval is how often a start that has no event to wait for is looked at.
	pollInterval = 20 * time.Millisecond
	// tailBytes is how much of a log an error shows.
	tailBytes = 2000
)

// Process is a running child.
type Process struct {
	name string
	log  string
	cmd  *exec.Cmd
	done chan struct{}
	// failure is how the process ended; set before done closes.
	failure error
}

// start runs a program with its output in a log file. What is in env comes on top of the environment.
func start(name, log string, argv []string, env ...string) (*Process, error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("create log of %s: %w", name, err)
	}
	defer func() { _ = out.Close() }()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Env = out, out, append(append(os.Environ(), "SLIPWAY_OUTBOUND_ALLOW=127.0.0.0/8,::1,localhost"), env...)
	// The kernel kills the child with its parent, even one that was killed itself; a group of its own keeps a Ctrl-C
	// in the terminal away from it, so that this process decides on the order of the end.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &Process{name: name, log: log, cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.failure = cmd.Wait()
	}()
	return p, nil
}

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stop asks the process to end, kills it when it does not within ten seconds, and waits for it. It may be called
// more than once.
func (p *Process) Stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
		return
	case <-time.After(stopGrace):
	}
	_ = syscall.Kill(-p.PID(), syscall.SIGKILL)
	<-p.done
}

// ended describes a process that ended on its own, with the end of its log.
func (p *Process) ended() error {
	//nolint:errorlint // there is no failure where it ended well
	return fmt.Errorf("run %s: it ended (%v); the end of its log %s is:\n%s", p.name, p.failure, p.log, tail(p.log))
}

// until looks again and again whether the process is ready.
func (p *Process) until(ctx context.Context, ready func() bool) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for !ready() {
		select {
		case <-p.done:
			return p.ended()
		case <-ctx.Done():
			return fmt.Errorf("wait for %s to be ready: %w; the end of its log %s is:\n%s", p.name, ctx.Err(), p.log, tail(p.log))
		case <-tick.C:
		}
	}
	return nil
}

// tail returns the end of a log.
func tail(file string) string {
	in, err := os.Open(file)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = in.Close() }()
	if info, err := in.Stat(); err == nil && info.Size() > tailBytes {
		if _, err := in.Seek(-tailBytes, io.SeekEnd); err != nil {
			return err.Error()
		}
	}
	text, err := io.ReadAll(io.LimitReader(in, tailBytes))
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(text))
}

// freeAddress returns a loopback address that nothing listens on. Another process may take it before it is used;
// the start then fails with a message that says so.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find free port: %w", err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return "", fmt.Errorf("release port: %w", err)
	}
	return address, nil
}

// get fetches a page from loopback, whole.
func get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", url, err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", url, err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(io.LimitReader(answer.Body, 64<<20))
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", url, err)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch %s: the answer is %s", url, answer.Status)
	}
	return page, nil
}

// Machine facts come from files of one line; "" where there are none.
func firstLine(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return string(bytes.TrimSpace(line))
}

// program finds a binary that is named by a path, and says how to get it when it is not there.
func program(path, hint string) (string, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", path, err)
	}
	if _, err := os.Stat(full); errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("find %s: it is not there; %s", path, hint)
	}
	return full, nil
}
