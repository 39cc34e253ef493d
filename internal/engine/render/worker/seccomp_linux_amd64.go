package worker

import "golang.org/x/sys/unix"

func allowedHere() []uint32 {
	return []uint32{unix.SYS_EPOLL_WAIT, unix.SYS_ARCH_PRCTL, unix.SYS_TIME}
}
