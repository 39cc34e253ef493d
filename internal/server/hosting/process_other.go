//go:build !linux

package hosting

import "syscall"

// attributes are those of an agent's process: a group of its own. Only Linux ends it with a server that is killed.
func attributes(user int, groups []uint32) *syscall.SysProcAttr {
	out := &syscall.SysProcAttr{Setpgid: true}
	if user != 0 {
		out.Credential = &syscall.Credential{Uid: uint32(user), Gid: uint32(user), Groups: groups}
	}
	return out
}
