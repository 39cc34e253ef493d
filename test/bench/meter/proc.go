// Package meter measures what an engine costs: the processor time and the memory of whole process trees, read from
// /proc, and the API requests that reached an API server. It works on Linux only.
package meter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// ticksPerSecond is USER_HZ, the unit of the times in /proc/PID/stat. Linux fixes it at 100 on every
	// architecture that Go supports.
	ticksPerSecond = 100

	// snapshotTries bounds how often a reading is repeated when processes came or went while it was taken.
	snapshotTries = 5
)

// Tree is a set of processes with all their descendants. Processor time of descendants that have ended stays
// counted. It is safe for concurrent use.
type Tree struct {
	proc  string
	roots []int
	clock func(pid int) (time.Duration, error)

	mu    sync.Mutex
	known map[int]member
	// carried is the processor time of members that were adopted by a process outside the tree and then ended:
	// their time went to the foster parent, so no process in the tree accounts for it any more.
	carried time.Duration
}

// member is what was last seen of one process.
type member struct {
	stat stat
	// inside says that the parent belongs to the tree too, and so takes over the time of this process at its end.
	inside bool
	total  time.Duration
}

// NewTree returns the tree below the given process ids. A process named twice, or named beside its own ancestor, is
// counted once.
func NewTree(pids ...int) *Tree {
	return &Tree{proc: "/proc", roots: slices.Clone(pids), clock: processClock, known: map[int]member{}}
}

// CPU returns the user and system time that the tree has used since its processes started. Time of live processes
// is exact to the nanosecond, time of ended ones to one clock tick of 10 ms. It fails when a root process is gone.
func (t *Tree) CPU() (time.Duration, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for range snapshotTries {
		if total, ok, err := t.read(); err != nil || ok {
			return total, err
		}
	}
	// The tree forks faster than it can be read. The last reading is off by what one short process used.
	total, _, err := t.read()
	return total, err
}

// read takes one reading. It reports ok only if no process came or went in between: a child that ends half way
// would be counted twice (once itself, once inside its parent) or not at all.
func (t *Tree) read() (total time.Duration, ok bool, err error) {
	before, err := t.members()
	if err != nil {
		return 0, false, err
	}
	ok = true
	seen := make(map[int]member, len(before))
	for pid, m := range before {
		own, err := t.clock(pid)
		if err != nil {
			own = m.stat.own
		}
		m.total = own + m.stat.reaped
		seen[pid] = m
		total += m.total
	}
	after, err := t.members()
	if err != nil {
		return 0, false, err
	}
	if len(after) != len(before) {
		ok = false
	}
	for pid, m := range after {
		if old, found := before[pid]; !found || old.stat.started != m.stat.started || old.stat.reaped != m.stat.reaped {
			ok = false
		}
	}
	if !ok {
		return total + t.carried, false, nil
	}
	for pid, m := range t.known {
		if now, alive := seen[pid]; (!alive || now.stat.started != m.stat.started) && !m.inside {
			t.carried += m.total
		}
	}
	t.known = seen
	return total + t.carried, true, nil
}

// Members returns the process ids of the tree in ascending order. It fails when a root process is gone.
func (t *Tree) Members() ([]int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	found, err := t.members()
	if err != nil {
		return nil, err
	}
	pids := make([]int, 0, len(found))
	for pid, m := range found {
		pids = append(pids, pid)
		if _, old := t.known[pid]; !old {
			t.known[pid] = m
		}
	}
	slices.Sort(pids)
	return pids, nil
}

// members walks down from the roots, and from members that were seen before: one of those may have lost its parent
// and hang below init by now.
func (t *Tree) members() (map[int]member, error) {
	found := map[int]member{}
	var walk func(pid int, depth int)
	walk = func(pid, depth int) {
		if _, done := found[pid]; done || depth > 64 {
			return
		}
		s, err := t.stat(pid)
		if err != nil {
			return
		}
		found[pid] = member{stat: s}
		for _, child := range t.children(pid) {
			walk(child, depth+1)
		}
	}
	for _, pid := range t.roots {
		walk(pid, 0)
		if _, alive := found[pid]; !alive {
			return nil, fmt.Errorf("read process %d: it is gone; check the log of the engine", pid)
		}
	}
	for pid, m := range t.known {
		if s, err := t.stat(pid); err == nil && s.started == m.stat.started {
			walk(pid, 0)
		}
	}
	for pid, m := range found {
		_, m.inside = found[m.stat.parent]
		found[pid] = m
	}
	return found, nil
}

// children returns the direct children of a process. It asks the kernel for them thread by thread, and looks
// through all processes where the kernel was built without that list.
func (t *Tree) children(pid int) []int {
	tasks, err := os.ReadDir(filepath.Join(t.proc, strconv.Itoa(pid), "task"))
	if err != nil {
		return nil
	}
	var out []int
	for _, task := range tasks {
		text, err := os.ReadFile(filepath.Join(t.proc, strconv.Itoa(pid), "task", task.Name(), "children"))
		if errors.Is(err, os.ErrNotExist) && t.exists(pid, task.Name()) {
			return t.scanChildren(pid)
		}
		for field := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				out = append(out, child)
			}
		}
	}
	return out
}

// exists distinguishes a thread that has ended from a kernel that does not list children.
func (t *Tree) exists(pid int, task string) bool {
	_, err := os.Stat(filepath.Join(t.proc, strconv.Itoa(pid), "task", task))
	return err == nil
}

// scanChildren finds the children of a process by the parent that every process names.
func (t *Tree) scanChildren(pid int) []int {
	entries, err := os.ReadDir(t.proc)
	if err != nil {
		return nil
	}
	var out []int
	for _, entry := range entries {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if s, err := t.stat(child); err == nil && s.parent == pid {
			out = append(out, child)
		}
	}
	return out
}

// stat is the part of /proc/PID/stat that accounting needs.
type stat struct {
	parent int
	// own is the time of the process itself, reaped that of its ended and waited-for descendants.
	own, reaped time.Duration
	// started is the start time in ticks since boot: with the id it names a process for good.
	started uint64
}

func (t *Tree) stat(pid int) (stat, error) {
	text, err := os.ReadFile(filepath.Join(t.proc, strconv.Itoa(pid), "stat"))
	if err != nil {
		return stat{}, fmt.Errorf("read state of process %d: %w", pid, err)
	}
	return parseStat(string(text))
}

// parseStat reads one line of /proc/PID/stat. The command name, second, may hold blanks and brackets of its own;
// the last closing bracket ends it.
func parseStat(line string) (stat, error) {
	end := strings.LastIndexByte(line, ')')
	if end < 0 {
		return stat{}, fmt.Errorf("parse process state %q: no command name", line)
	}
	fields := strings.Fields(line[end+1:])
	// Counted from field 3 of proc_pid_stat(5): 1 is ppid, 11 and 12 utime and stime, 13 and 14 the same of reaped
	// children, 19 the start time.
	if len(fields) < 20 {
		return stat{}, fmt.Errorf("parse process state %q: %d fields", line, len(fields))
	}
	var numbers [5]uint64
	for i, at := range []int{11, 12, 13, 14, 19} {
		n, err := strconv.ParseUint(fields[at], 10, 63)
		if err != nil {
			return stat{}, fmt.Errorf("parse process state %q: %w", line, err)
		}
		numbers[i] = n
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return stat{}, fmt.Errorf("parse process state %q: %w", line, err)
	}
	tick := time.Second / ticksPerSecond
	return stat{
		parent:  parent,
		own:     time.Duration(numbers[0]+numbers[1]) * tick,
		reaped:  time.Duration(numbers[2]+numbers[3]) * tick,
		started: numbers[4],
	}, nil
}

// processClock reads the processor-time clock of another process: all its threads, ended ones too, in nanoseconds,
// where /proc/PID/stat only counts ticks of 10 ms. An idle engine stays below one tick for seconds.
func processClock(pid int) (time.Duration, error) {
	// The id of a process clock is its inverted process id above three bits that say "process" and "scheduler time".
	const schedulerTime = 2
	var at unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|schedulerTime), &at); err != nil {
		return 0, fmt.Errorf("read processor clock of process %d: %w", pid, err)
	}
	return time.Duration(at.Nano()), nil
}

// OwnCPU returns the user and system time of this process alone, without its children.
func OwnCPU() (time.Duration, error) {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0, fmt.Errorf("read own processor time: %w", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}
