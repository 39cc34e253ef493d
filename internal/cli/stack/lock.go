package stack

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// errRunning says that another process holds the lock of the data directory.
var errRunning = errors.New("another `slipway up` runs on this data directory")

// take locks the data directory for this process and notes its id. The lock goes with the process, however it ends.
func (d dir) take() (*os.File, error) {
	file, err := os.OpenFile(d.lock(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: stop it with `slipway down --data %s`", errRunning, d)
		}
		return nil, fmt.Errorf("lock %s: %w", d, err)
	}
	if err := replaceFile(d.pid(), []byte(strconv.Itoa(os.Getpid())+"\n")); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// owner returns the process that holds the lock, 0 if it is free. The returned file is for waiting; the caller
// closes it.
func (d dir) owner() (int, *os.File, error) {
	file, err := os.OpenFile(d.lock(), os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, fmt.Errorf("open lock: %w", err)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	switch {
	case err == nil:
		return 0, file, nil
	case !errors.Is(err, unix.EWOULDBLOCK):
		_ = file.Close()
		return 0, nil, fmt.Errorf("look at lock: %w", err)
	}
	raw, err := os.ReadFile(d.pid())
	if err != nil {
		_ = file.Close()
		return 0, nil, fmt.Errorf("find process: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil || pid <= 1 {
		_ = file.Close()
		return 0, nil, fmt.Errorf("find process: %s does not hold a process id", d.pid())
	}
	return pid, file, nil
}

// released returns when the lock is free. It cannot be interrupted: the holder must be about to end.
func released(file *os.File) error {
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_SH)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
