package git

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// impose puts the limits on a process and on those that it has started already. What it starts later inherits them.
func (l limits) impose(pid int) {
	if l == (limits{}) {
		return
	}
	for resource, most := range map[int]int64{unix.RLIMIT_FSIZE: l.file, unix.RLIMIT_DATA: l.memory} {
		if most > 0 {
			// A process that is gone needs no limit.
			_ = unix.Prlimit(pid, resource, &unix.Rlimit{Cur: uint64(most), Max: uint64(most)}, nil)
		}
	}
	_ = unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	tasks, _ := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	for _, task := range tasks {
		children, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/task/" + task.Name() + "/children")
		for child := range strings.FieldsSeq(string(children)) {
			if id, err := strconv.Atoi(child); err == nil {
				l.impose(id)
			}
		}
	}
}
