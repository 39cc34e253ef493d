package worker

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in the data that a filter looks at (struct seccomp_data).
const (
	dataNumber = 0
	dataArch   = 4
	dataArg0   = 16 // low half, on little-endian machines
)

// filterSystemCalls allows the process what a Go program needs that only computes and talks over open pipes. All other
// calls fail with EPERM: opening files, sockets, starting programs, signals to others, changing limits. It is for amd64
// and arm64 and does nothing elsewhere.
func filterSystemCalls() {
	arch, ok := auditArch()
	if !ok {
		return
	}
	filter := program(arch, uint32(unix.Getpid()))
	fprog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != nil {
		return
	}
	// TSYNC puts all threads under the filter together, and those to come inherit it.
	_, _, _ = unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&fprog)))
	runtime.KeepAlive(filter)
}

func auditArch() (uint32, bool) {
	switch runtime.GOARCH {
	case "amd64":
		return unix.AUDIT_ARCH_X86_64, true
	case "arm64":
		return unix.AUDIT_ARCH_AARCH64, true
	}
	return 0, false
}

// allowed are the calls of the Go runtime and, where the program is linked with it, of the C library.
func allowed() []uint32 {
	return append([]uint32{
		unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_CLOSE, unix.SYS_FCNTL,
		unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_MREMAP, unix.SYS_BRK,
		unix.SYS_FUTEX, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY,
		unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_GETPID, unix.SYS_GETTID,
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
		unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_GETRANDOM,
		unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2, unix.SYS_PIPE2,
		unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_DELETE, unix.SYS_SETITIMER,
	}, allowedHere()...)
}

// program is the filter: an allow list, with conditions on threads and signals.
func program(arch, pid uint32) []unix.SockFilter {
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		bits  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		ret   = unix.BPF_RET | unix.BPF_K
	)
	refuse := unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	allow := unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW}
	out := []unix.SockFilter{
		{Code: load, K: dataArch},
		{Code: equal, K: arch, Jt: 1},
		{Code: ret, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: load, K: dataNumber},
		// The C library then falls back to clone, whose flags a filter can see.
		{Code: equal, K: unix.SYS_CLONE3, Jf: 1},
		{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		// Threads yes, processes no.
		{Code: equal, K: unix.SYS_CLONE, Jf: 4},
		{Code: load, K: dataArg0},
		{Code: bits, K: unix.CLONE_THREAD, Jf: 1},
		allow,
		refuse,
		// Signals to own threads: the scheduler of Go uses them.
		{Code: equal, K: unix.SYS_TGKILL, Jf: 4},
		{Code: load, K: dataArg0},
		{Code: equal, K: pid, Jf: 1},
		allow,
		refuse,
	}
	for _, nr := range allowed() {
		out = append(out, unix.SockFilter{Code: equal, K: nr, Jf: 1}, allow)
	}
	return append(out, refuse)
}
