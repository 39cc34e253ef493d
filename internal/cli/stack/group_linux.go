package stack

import "syscall"

// ownGroup keeps Ctrl-C on the terminal from children, which we stop in order ourselves, and ends them with us should
// we be killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
