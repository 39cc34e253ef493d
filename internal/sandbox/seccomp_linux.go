package sandbox

import (
	"errors"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in the data that a filter looks at (struct seccomp_data), on machines with the low half first.
const (
	dataNumber = 0
	dataArch   = 4
	dataArg0   = 16
)

// Instructions of a filter.
const (
	load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	equal  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	least  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	bits   = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	result = unix.BPF_RET | unix.BPF_K
)

// outside are the flags of clone that make new name spaces, and the one that makes a child of the own parent, which is the agent.
const outside = unix.CLONE_PARENT | unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// refused are calls that a program which makes manifests has no need for. Those that change the group or the session are among them:
// a process that cannot leave its group cannot outlive it.
func refused() []uint32 {
	return append([]uint32{
		unix.SYS_SETSID, unix.SYS_SETPGID,
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL,
		unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_KCMP,
		unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_FSOPEN,
		unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_BY_HANDLE_AT,
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
		unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_ACCT,
	}, refusedHere()...)
}

// filterCalls refuses system calls of this thread, and of the program that it becomes. agent is the process that must not be
// signalled.
func filterCalls(network bool, agent int) error {
	var arch uint32
	switch runtime.GOARCH {
	case "amd64":
		arch = unix.AUDIT_ARCH_X86_64
	case "arm64":
		arch = unix.AUDIT_ARCH_AARCH64
	default:
		return errors.New("there is no filter for " + runtime.GOARCH)
	}
	filter := program(arch, network, uint32(agent))
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return errno
	}
	return nil
}

func fails(with unix.Errno) unix.SockFilter {
	return unix.SockFilter{Code: result, K: unix.SECCOMP_RET_ERRNO | uint32(with)}
}

// program is the filter: a list of calls that are refused, with conditions on sockets, signals and new processes.
func program(arch uint32, network bool, agent uint32) []unix.SockFilter {
	out := []unix.SockFilter{
		{Code: load, K: dataArch},
		{Code: equal, K: arch, Jt: 1},
		{Code: result, K: unix.SECCOMP_RET_KILL_PROCESS}, // another numbering of the calls
		{Code: load, K: dataNumber},
		{Code: least, K: 0x40000000, Jf: 1}, // the numbering of x32
		fails(unix.ENOSYS),
		// The C library then falls back to clone, whose flags a filter can see.
		{Code: equal, K: unix.SYS_CLONE3, Jf: 1},
		fails(unix.ENOSYS),
	}
	for _, nr := range refused() {
		out = append(out, unix.SockFilter{Code: equal, K: nr, Jf: 1}, fails(unix.EPERM))
	}
	out = append(out, when(unix.SYS_CLONE, unix.SockFilter{Code: bits, K: outside, Jf: 1}, fails(unix.EPERM))...)
	out = append(out, socket(network)...)
	out = append(out, when(unix.SYS_PRLIMIT64, unix.SockFilter{Code: equal, K: 0, Jt: 1}, fails(unix.EPERM))...) // its own
	// The agent and its group, the first process of a container, and all processes.
	self, all := uint32(1), ^uint32(0)
	var targets []unix.SockFilter
	for _, pid := range []uint32{agent, -agent, self, all} {
		targets = append(targets, unix.SockFilter{Code: equal, K: pid, Jf: 1}, fails(unix.EPERM))
	}
	out = append(out, when(unix.SYS_KILL, targets...)...)
	out = append(out, when(unix.SYS_TGKILL, targets[0], targets[1], targets[4], targets[5])...)
	return append(out, unix.SockFilter{Code: result, K: unix.SECCOMP_RET_ALLOW})
}

// when applies checks to the first argument of a call, and allows the call where none ends it. The number of the call is loaded
// before, and is no longer loaded after it for that call alone.
func when(call uint32, checks ...unix.SockFilter) []unix.SockFilter {
	out := []unix.SockFilter{
		{Code: equal, K: call, Jf: uint8(len(checks) + 2)},
		{Code: load, K: dataArg0},
	}
	out = append(out, checks...)
	return append(out, unix.SockFilter{Code: result, K: unix.SECCOMP_RET_ALLOW})
}

// socket refuses sockets: all, or all but those of the internet.
func socket(network bool) []unix.SockFilter {
	if !network {
		return []unix.SockFilter{{Code: equal, K: unix.SYS_SOCKET, Jf: 1}, fails(unix.EACCES)}
	}
	permitted := unix.SockFilter{Code: result, K: unix.SECCOMP_RET_ALLOW}
	return when(unix.SYS_SOCKET,
		unix.SockFilter{Code: equal, K: unix.AF_INET, Jf: 1}, permitted,
		unix.SockFilter{Code: equal, K: unix.AF_INET6, Jf: 1}, permitted,
		unix.SockFilter{Code: equal, K: unix.AF_NETLINK, Jf: 1}, permitted, // lists interfaces
		fails(unix.EACCES))
}
