//go:build unix

package git

import "syscall"

// killGroup ends a command together with everything that it started.
func killGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }
