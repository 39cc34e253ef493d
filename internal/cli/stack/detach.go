package stack

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// readyEnv holds the number of the file descriptor on which a detached `slipway up` talks to the one that started it:
// lines of progress, and at last readyLine. The end of the stream without it means that starting failed.
const (
	readyEnv  = "SLIPWAY_UP_PARENT_FD"
	readyLine = "ready"
	childFD   = 3
)

// parent is the other end; the zero value is a `slipway up` that no process waits for.
type parent struct{ pipe *os.File }

func openParent() (*parent, error) {
	text := os.Getenv(readyEnv)
	if text == "" {
		return &parent{}, nil
	}
	fd, err := strconv.Atoi(text)
	if err != nil || fd != childFD {
		return nil, fmt.Errorf("%s is for internal use: unset it", readyEnv)
	}
	// Children of ours must neither hold the pipe open nor take the variable for theirs.
	unix.CloseOnExec(fd)
	if err := os.Unsetenv(readyEnv); err != nil {
		return nil, fmt.Errorf("clear %s: %w", readyEnv, err)
	}
	return &parent{pipe: os.NewFile(uintptr(fd), "parent")}, nil
}

func (p *parent) there() bool { return p.pipe != nil }

// say passes a line on. A parent that has gone is no reason to stop.
func (p *parent) say(text string) {
	if p.pipe != nil {
		_, _ = p.pipe.WriteString("+" + strings.ReplaceAll(text, "\n", "\n+") + "\n")
	}
}

func (p *parent) ready() {
	_, _ = p.pipe.WriteString(readyLine + "\n")
	p.close()
}

func (p *parent) close() {
	if p.pipe != nil {
		_ = p.pipe.Close()
		p.pipe = nil
	}
}

// detach runs this command again in the background and returns when it is ready.
func detach(ctx context.Context, d dir, o upOptions) error {
	if pid, file, err := d.owner(); err != nil {
		return err
	} else if file != nil {
		_ = file.Close()
		if pid != 0 {
			return fmt.Errorf("%w (process %d): stop it with `slipway down --data %s`", errRunning, pid, d)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	log, err := os.OpenFile(d.log(), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	defer func() { _ = log.Close() }()
	read, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make pipe: %w", err)
	}
	defer func() { _ = read.Close() }()
	cmd := exec.Command(self, o.childArgs(d)...)
	cmd.Env = append(os.Environ(), readyEnv+"="+strconv.Itoa(childFD))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{write}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		_ = write.Close()
		return fmt.Errorf("start in the background: %w", err)
	}
	_ = write.Close()
	interrupted := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	defer interrupted()
	if !followChild(bufio.NewScanner(read), o.Sayf) {
		err := cmd.Wait()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			err = errors.New("it ended early")
		}
		return fmt.Errorf("start in the background: %w\n%s\nthe whole log is in %s", err, tail(d.log(), 25), d.log())
	}
	f, err := readFacts(d)
	if err != nil {
		return err
	}
	if err := announce(o.Common, d, f); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// followChild passes on what the child says and reports whether it became ready.
func followChild(scanner *bufio.Scanner, say func(string, ...any)) bool {
	for scanner.Scan() {
		line := scanner.Text()
		if line == readyLine {
			return true
		}
		if text, ok := strings.CutPrefix(line, "+"); ok {
			say("%s", text)
		}
	}
	return false
}

// childArgs is the command line of the one in the background.
func (o *upOptions) childArgs(d dir) []string {
	args := []string{
		"up", "--data", string(d), "--namespace", o.Namespace, "--port", strconv.Itoa(o.port), "--nodes", strconv.Itoa(o.nodes),
		"--demo=" + strconv.FormatBool(o.demo), "--tour=" + strconv.FormatBool(o.tour), "--timeout", o.timeout.String(),
	}
	if o.alone {
		args = append(args, "--no-server")
	}
	if o.Kubeconfig != "" {
		args = append(args, "--kubeconfig", o.Kubeconfig)
	}
	if o.Context != "" {
		args = append(args, "--context", o.Context)
	}
	return args
}

func (d dir) writeFacts(f facts) error {
	raw, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("encode facts: %w", err)
	}
	return replaceFile(d.file("up.json"), append(raw, '\n'))
}

func readFacts(d dir) (facts, error) {
	var f facts
	raw, err := os.ReadFile(d.file("up.json"))
	if err == nil {
		err = json.Unmarshal(raw, &f)
	}
	if err != nil {
		return f, fmt.Errorf("read what runs: %w", err)
	}
	return f, nil
}
