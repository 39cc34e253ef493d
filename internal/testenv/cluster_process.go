package testenv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"k8s.io/apimachinery/pkg/util/wait"
)

// outputTail is how much of a cluster's output, in bytes, an error shows.
const outputTail = 4 << 10

// launch is what it takes to start devcluster.
type launch struct {
	binary string
	data   string // the data directory
	use    string // the lock file that keeps it alive
	grace  string
	output string // the file that takes what it prints
	port   int    // of its API server; 0: a free one
	flags  []string
	// session makes it independent of the terminal and signals of this process.
	session bool
}

// start starts devcluster and returns without waiting for anything.
func (l launch) start() (*exec.Cmd, error) {
	if err := os.Remove(filepath.Join(l.data, "ready")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove old ready mark: %w", err)
	}
	output, err := os.OpenFile(l.output, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open output of devcluster: %w", err)
	}
	defer func() { _ = output.Close() }()
	// No context: its starter stops it, or the lock does.
	command := exec.Command(l.binary, append([]string{
		"--data", l.data, "--while-locked", l.use, "--grace", l.grace, "--port", strconv.Itoa(l.port),
	}, l.flags...)...)
	command.Dir = filepath.Dir(l.output)
	command.Stdout, command.Stderr = output, output
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: l.session}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start devcluster: %w", err)
	}
	return command, nil
}

// awaitReady waits for the mark of readiness and returns the path of the
// kubeconfig. ended reports whether the process is gone.
func (l launch) awaitReady(ctx context.Context, ended func() (bool, error)) (string, error) {
	var mark struct {
		Kubeconfig string `json:"kubeconfig"`
	}
	err := wait.PollUntilContextCancel(ctx, probeEvery, true, func(context.Context) (bool, error) {
		data, err := os.ReadFile(filepath.Join(l.data, "ready"))
		if err == nil {
			return true, json.Unmarshal(data, &mark)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		gone, err := ended()
		if err == nil && gone {
			err = errors.New("it ended")
		}
		return false, err
	})
	if err != nil {
		return "", fmt.Errorf("wait for devcluster: %w; its output was:\n%s", err, tail(l.output))
	}
	return mark.Kubeconfig, nil
}

// tail returns the end of a file, or why it cannot be read.
func tail(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err == nil && info.Size() > outputTail {
		if _, err := file.Seek(-outputTail, io.SeekEnd); err != nil {
			return err.Error()
		}
	}
	data, err := io.ReadAll(io.LimitReader(file, outputTail))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// lockFile opens the file at path, making it if needed, and takes a lock on it:
// syscall.LOCK_SH or syscall.LOCK_EX. The lock goes when the file is closed or
// this process ends; children do not inherit it.
func lockFile(ctx context.Context, path string, how int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	// Asking again and again, since a blocking call cannot be given up.
	err = wait.PollUntilContextCancel(ctx, probeEvery, true, func(context.Context) (bool, error) {
		switch err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB); {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
			return false, nil
		default:
			return false, err
		}
	})
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return file, nil
}

// locked reports whether a process holds an exclusive lock on the file at path.
func locked(path string) (bool, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open lock: %w", err)
	}
	defer func() { _ = file.Close() }()
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
