package meter

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// SampleInterval is how often a Sampler looks at the memory of a tree.
const SampleInterval = 50 * time.Millisecond

// Memory is what the processes of a tree hold in main memory, in bytes.
type Memory struct {
	// RSS is the sum of the resident sets. Pages that processes share count once for each of them.
	RSS int64
	// PSS is the sum of the proportional sets: a shared page counts once in all. It is 0 where the kernel does not
	// let us read it.
	PSS int64
	// HWM is the highest resident set that the kernel ever saw on the first root process alone.
	HWM int64
}

// Peak is the larger of two readings, field by field.
func (m Memory) Peak(other Memory) Memory {
	return Memory{RSS: max(m.RSS, other.RSS), PSS: max(m.PSS, other.PSS), HWM: max(m.HWM, other.HWM)}
}

// Judged is the figure to hold against a target: PSS where it is known, else RSS.
func (m Memory) Judged() int64 {
	if m.PSS > 0 {
		return m.PSS
	}
	return m.RSS
}

// Memory reads the memory of the tree now. Processes that end in the meantime are left out.
func (t *Tree) Memory() (Memory, error) {
	pids, err := t.Members()
	if err != nil {
		return Memory{}, err
	}
	var sum Memory
	for _, pid := range pids {
		dir := filepath.Join(t.proc, strconv.Itoa(pid))
		if t.borrows(dir) {
			continue
		}
		rollup := kilobytes(filepath.Join(dir, "smaps_rollup"), "Rss:", "Pss:")
		if rollup[0] == 0 {
			rollup[0] = kilobytes(filepath.Join(dir, "status"), "VmRSS:")[0]
			// One process without PSS makes the sum too small to be reported beside the others.
			rollup[1] = rollup[0]
		}
		sum.RSS += rollup[0]
		sum.PSS += rollup[1]
	}
	if len(t.roots) > 0 {
		sum.HWM = kilobytes(filepath.Join(t.proc, strconv.Itoa(t.roots[0]), "status"), "VmHWM:")[0]
	}
	return sum, nil
}

// borrows reports whether a process still runs in the memory of its parent: between vfork and exec a child is listed
// with all that its parent has, and would count twice. It is then called just like its parent.
func (t *Tree) borrows(dir string) bool {
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return false
	}
	_, rest, found := strings.Cut(string(status), "\nPPid:")
	parent, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	if !found {
		return false
	}
	own, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil || len(own) == 0 {
		return false
	}
	other, err := os.ReadFile(filepath.Join(t.proc, parent, "cmdline"))
	return err == nil && bytes.Equal(own, other)
}

// kilobytes reads lines such as "VmRSS:  120 kB" and returns the values in bytes, in the order of the names; 0 for
// what is not there.
func kilobytes(file string, names ...string) []int64 {
	out := make([]int64, len(names))
	text, err := os.ReadFile(file)
	if err != nil {
		return out
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		for i, name := range names {
			rest, found := strings.CutPrefix(lines.Text(), name)
			if !found {
				continue
			}
			if n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64); err == nil {
				out[i] = n * 1024
			}
		}
	}
	return out
}

// Sampler keeps the peak memory of a tree. Start it with NewSampler and end it with Close.
type Sampler struct {
	tree *Tree
	stop context.CancelFunc
	done chan struct{}

	mu   sync.Mutex
	peak Memory
}

// NewSampler reads the memory of the tree every SampleInterval until Close is called or ctx ends.
func NewSampler(ctx context.Context, tree *Tree) *Sampler {
	ctx, stop := context.WithCancel(ctx)
	s := &Sampler{tree: tree, stop: stop, done: make(chan struct{})}
	go s.run(ctx)
	return s
}

func (s *Sampler) run(ctx context.Context) {
	defer close(s.done)
	tick := time.NewTicker(SampleInterval)
	defer tick.Stop()
	for {
		s.sample()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Sampler) sample() {
	// An engine that is gone shows up where its processor time is read; there the error is reported.
	now, err := s.tree.Memory()
	if err != nil {
		return
	}
	s.mu.Lock()
	s.peak = s.peak.Peak(now)
	s.mu.Unlock()
}

// Take returns the peak since the last Take and begins a new one.
func (s *Sampler) Take() Memory {
	s.sample()
	s.mu.Lock()
	defer s.mu.Unlock()
	peak := s.peak
	s.peak = Memory{}
	return peak
}

// Close ends the sampling and waits for it. It may be called more than once.
func (s *Sampler) Close() {
	s.stop()
	<-s.done
}
