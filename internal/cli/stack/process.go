package stack

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// process is one child with its output in a file.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when it has ended
	err  error         // valid after done
}

// find returns the program called name: beside this executable, or where the environment variable says.
func find(name, env string) (string, error) {
	if path := os.Getenv(env); path != "" {
		return path, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find %s: %w", name, err)
	}
	if resolved, err := filepath.EvalSymlinks(self); err == nil {
		self = resolved
	}
	path := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is not beside %s: build it (make build) or set %s", name, self, env)
	}
	return path, nil
}

// spawn starts a program. Its output goes to the file log, and line by line to seen where that is not nil. More is added
// to the environment.
func spawn(name, path string, args []string, log string, seen func(line string), more ...string) (*process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &process{name: name, log: log, done: make(chan struct{}), cmd: exec.Command(path, args...)}
	p.cmd.Env = append(os.Environ(), more...)
	p.cmd.SysProcAttr = ownGroup()
	p.cmd.WaitDelay = 5 * time.Second // its children may hold the output open
	var out io.Writer = file
	if seen != nil {
		out = &lines{to: file, seen: seen}
	}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	started := make(chan error)
	go func() {
		defer close(p.done)
		defer func() { _ = file.Close() }()
		// On Linux the child gets a signal at the death of the thread that made it, so that thread must stay.
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		<-p.done
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// ended is the error of a process that was not meant to end, with the end of its output.
func (p *process) ended() error {
	why := "it ended without an error"
	if p.err != nil {
		why = p.err.Error()
	}
	return fmt.Errorf("%s stopped: %s\n%s\nthe whole log is in %s", p.name, why, tail(p.log, 15), p.log)
}

// stop asks the process to end and waits; after grace it is killed.
func (p *process) stop(grace time.Duration) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// lines copies to a file and hands on whole lines. Writes come from one goroutine.
type lines struct {
	to   io.Writer
	seen func(string)
	rest []byte
}

func (l *lines) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		i := slices.Index(l.rest, '\n')
		if i < 0 {
			break
		}
		l.seen(string(l.rest[:i]))
		l.rest = l.rest[i+1:]
	}
	if len(l.rest) > 64<<10 {
		l.rest = nil // not a line that is waited for
	}
	return l.to.Write(b)
}

// tail returns the last n lines of a file, indented.
func tail(path string, n int) string {
	file, err := os.Open(path)
	if err != nil {
		return "  (no log)"
	}
	defer func() { _ = file.Close() }()
	const window = 64 << 10
	if size, err := file.Seek(0, io.SeekEnd); err == nil {
		_, _ = file.Seek(max(0, size-window), io.SeekStart)
	}
	var last []string
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, window+1)
	for scanner.Scan() {
		last = append(last, "  "+scanner.Text())
		if len(last) > n {
			last = last[1:]
		}
	}
	if len(last) == 0 || scanner.Err() != nil && !errors.Is(scanner.Err(), bufio.ErrTooLong) {
		return "  (the log is empty)"
	}
	return strings.Join(last, "\n")
}
