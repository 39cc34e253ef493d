package sandbox

import (
	"errors"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reap waits for the processes of a group that was killed and whose first process has been waited for. Those that lost their parent
// are children of this process where it is the first one of a container, and nothing else waits for them.
//
// A process that others wait for is never taken from them: it is the first one of its own group, whose number this group's can have
// become once all of this one are gone.
func reap(group int) {
	for {
		pid, err := ended(group)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil || pid == group:
			return
		}
		_, _ = syscall.Wait4(pid, nil, unix.WALL, nil)
	}
}

// ended waits for a child of a group to end, and leaves it to be waited for.
func ended(group int) (pid int, err error) {
	// What waitid reports of a child: unix.Siginfo has no exported field for the number.
	var info struct {
		signo, errno, code int32
		_                  [unsafe.Sizeof(uintptr(0)) - 4]byte
		pid                int32
		_                  [128]byte
	}
	err = unix.Waitid(unix.P_PGID, group, (*unix.Siginfo)(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOWAIT|unix.WALL, nil)
	return int(info.pid), err
}
