package worker

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// confine takes from the process what rendering does not need. Limits must work; the filter of system calls is left
// out silently where the kernel or the container runtime does not allow one.
func confine(memory int64) error {
	limits := []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_DATA, uint64(memory)},
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_FSIZE, 0},
		{unix.RLIMIT_NOFILE, 16},
	}
	for _, l := range limits {
		// Lowering a limit below what is already in use is fine: it counts for what is asked for from now on.
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.value, Max: l.value}); err != nil {
			return os.NewSyscallError("setrlimit", err)
		}
	}
	filterSystemCalls()
	return nil
}

// processAttributes puts the child into a process group of its own and lets it die with its parent.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// kill ends the process group of p.
func kill(p *os.Process) {
	// Both fail where the process has ended, which is what is wanted.
	if err := syscall.Kill(-p.Pid, syscall.SIGKILL); err != nil {
		_ = p.Kill()
	}
}

// killed reports whether the kernel ended the process, as it does when memory of the machine or the container is short.
func killed(s *os.ProcessState) bool {
	w, ok := s.Sys().(syscall.WaitStatus)
	return ok && w.Signaled() && w.Signal() == syscall.SIGKILL
}

// halt lets the process group of p stand still, or go on.
func halt(p *os.Process, still bool) {
	signal := syscall.SIGCONT
	if still {
		signal = syscall.SIGSTOP
	}
	// It fails where the process has ended, and then there is nothing to halt.
	_ = syscall.Kill(-p.Pid, signal)
}
