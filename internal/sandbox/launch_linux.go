package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/slipway-gitops/slipway/internal/strict"
)

// Bounds of a confined program that are the same for all.
const (
	maxOpenFiles = 1024
	maxProcesses = 4096 // of the user, on the whole machine: it stops a flood only
)

// launch confines the thread that becomes the program.
func launch(args []string) error {
	runtime.LockOSThread()
	unix.CloseOnExec(3)
	var o order
	if err := strict.Decode([]byte(args[2]), &o); err != nil {
		return fmt.Errorf("read order: %w", err)
	}
	if err := limit(o); err != nil {
		return err
	}
	dropPrivileges()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil && !o.Try {
		return fmt.Errorf("%w: no_new_privs: %w", ErrConfine, err)
	}
	if err := lockFiles(o.Read, o.Write); err != nil && !o.Try {
		return fmt.Errorf("%w: Landlock: %w", ErrConfine, err)
	}
	if err := filterCalls(o.Network, os.Getppid()); err != nil && !o.Try {
		return fmt.Errorf("%w: seccomp: %w", ErrConfine, err)
	}
	return syscall.Exec(args[3], args[3:], os.Environ())
}

// limit sets what the kernel counts for each process.
func limit(o order) error {
	for _, l := range []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_DATA, o.Memory},
		{unix.RLIMIT_CPU, o.CPU},
		{unix.RLIMIT_FSIZE, o.File},
		{unix.RLIMIT_NOFILE, maxOpenFiles},
		{unix.RLIMIT_NPROC, maxProcesses},
	} {
		var now unix.Rlimit
		if err := unix.Getrlimit(l.resource, &now); err != nil {
			return os.NewSyscallError("getrlimit", err)
		}
		value := min(l.value, now.Max)
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: value, Max: value}); err != nil {
			return os.NewSyscallError("setrlimit", err)
		}
	}
	return nil
}

// dropPrivileges takes what root may do beyond a user. A process of a user has none of it, and the calls fail.
func dropPrivileges() {
	const locked = 1<<0 | 1<<1 | 1<<2 | 1<<3 // a program gets no capability because it is root's, and none by changing its user
	_ = unix.Prctl(unix.PR_SET_SECUREBITS, locked, 0, 0, 0)
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	_ = unix.Capset(&header, &none[0])
}
