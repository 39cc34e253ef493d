package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// group puts a process into a group of its own, and lets it die with its parent.
func group() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup ends all processes of a group. That there is none is what is wanted.
func killGroup(pid int) error {
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// waitGroup waits until a program has ended, and ends what it left in its group. The program is waited for last: until then its number,
// and that of the group, is no other's.
func waitGroup(cmd *exec.Cmd) error {
	group := cmd.Process.Pid
	for errors.Is(unix.Waitid(unix.P_PID, group, nil, unix.WEXITED|unix.WNOWAIT, nil), syscall.EINTR) {
	}
	_ = killGroup(group)
	err := cmd.Wait()
	reap(group)
	return err
}

// signalOf is the name of the signal that ended a process; "" for none.
func signalOf(s *os.ProcessState) string {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return unix.SignalName(status.Signal())
	}
	return ""
}
