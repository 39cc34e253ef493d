package hosting

import "syscall"

// attributes are those of an agent's process: a group of its own, and an end with the server.
func attributes(user int, groups []uint32) *syscall.SysProcAttr {
	out := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if user != 0 {
		out.Credential = &syscall.Credential{Uid: uint32(user), Gid: uint32(user), Groups: groups}
	}
	return out
}
