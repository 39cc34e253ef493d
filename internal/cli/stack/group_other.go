//go:build !linux

package stack

import "syscall"

// ownGroup keeps Ctrl-C on the terminal from children, which we stop in order ourselves.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
