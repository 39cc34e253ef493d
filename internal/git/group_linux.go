package git

import "syscall"

// ownGroup starts a command in a process group of its own, which also dies with this process.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
