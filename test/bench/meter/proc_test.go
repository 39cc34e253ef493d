package meter

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// table is a /proc of our own making.
type table struct {
	t    *testing.T
	root string
}

// put writes the state of a process: times in ticks of 10 ms.
func (p table) put(pid, parent, own, reaped int, children ...int) {
	p.t.Helper()
	dir := filepath.Join(p.root, strconv.Itoa(pid))
	task := filepath.Join(dir, "task", strconv.Itoa(pid))
	if err := os.MkdirAll(task, 0o755); err != nil {
		p.t.Fatal(err)
	}
	var list strings.Builder
	for _, child := range children {
		fmt.Fprintf(&list, "%d ", child)
	}
	line := fmt.Sprintf("%d (a (b) c) S %d 0 0 0 0 0 0 0 0 0 %d 0 %d 0 20 0 1 0 %d 0 0\n", pid, parent, own, reaped, 1000+pid)
	for file, text := range map[string]string{
		filepath.Join(dir, "stat"):      line,
		filepath.Join(task, "children"): list.String(),
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p table) remove(pid int) {
	p.t.Helper()
	if err := os.RemoveAll(filepath.Join(p.root, strconv.Itoa(pid))); err != nil {
		p.t.Fatal(err)
	}
}

// tree reads from the table, with no clock but the ticks.
func (p table) tree(pids ...int) *Tree {
	t := NewTree(pids...)
	t.proc = p.root
	t.clock = func(int) (time.Duration, error) { return 0, errors.New("no such clock") }
	return t
}

func newTable(t *testing.T) table { return table{t: t, root: t.TempDir()} }

func wantCPU(t *testing.T, tree *Tree, want time.Duration) {
	t.Helper()
	got, err := tree.CPU()
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("the tree used %s, want %s", got, want)
	}
}

func TestProcessorTimeAddsLiveAndEndedDescendants(t *testing.T) {
	t.Parallel()
	p := newTable(t)
	p.put(10, 1, 100, 50, 11)
	p.put(11, 10, 20, 5, 12)
	p.put(12, 11, 1, 0)
	p.put(99, 1, 5000, 5000)
	wantCPU(t, p.tree(10), 1760*time.Millisecond)
}

func TestRootsAreCountedOnceEvenBelowEachOther(t *testing.T) {
	t.Parallel()
	p := newTable(t)
	p.put(10, 1, 100, 0, 11)
	p.put(11, 10, 20, 0)
	wantCPU(t, p.tree(10, 11, 10), 1200*time.Millisecond)
}

func TestAChildThatEndsIsNotCountedTwice(t *testing.T) {
	t.Parallel()
	p := newTable(t)
	p.put(10, 1, 100, 0, 11)
	p.put(11, 10, 30, 0)
	tree := p.tree(10)
	wantCPU(t, tree, 1300*time.Millisecond)
	p.remove(11)
	p.put(10, 1, 100, 30)
	wantCPU(t, tree, 1300*time.Millisecond)
}

func TestTimeOfAnOrphanStaysCountedAfterItsEnd(t *testing.T) {
	t.Parallel()
	p := newTable(t)
	p.put(10, 1, 100, 0, 11)
	p.put(11, 10, 0, 0, 12)
	p.put(12, 11, 40, 0)
	tree := p.tree(10)
	wantCPU(t, tree, 1400*time.Millisecond)
	// The middle process ends: the kernel hangs its child below init.
	p.remove(11)
	p.put(10, 1, 100, 0)
	p.put(12, 1, 50, 0)
	wantCPU(t, tree, 1500*time.Millisecond)
	p.remove(12)
	wantCPU(t, tree, 1500*time.Millisecond)
	wantCPU(t, tree, 1500*time.Millisecond)
}

func TestChildrenAreFoundWithoutTheListOfTheKernel(t *testing.T) {
	t.Parallel()
	p := newTable(t)
	p.put(10, 1, 100, 0)
	p.put(11, 10, 20, 0)
	for _, pid := range []string{"10", "11"} {
		if err := os.Remove(filepath.Join(p.root, pid, "task", pid, "children")); err != nil {
			t.Fatal(err)
		}
	}
	wantCPU(t, p.tree(10), 1200*time.Millisecond)
}

func TestARootThatIsGoneIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := newTable(t).tree(10).CPU(); err == nil || !strings.Contains(err.Error(), "process 10") {
		t.Errorf("the error is %v", err)
	}
}

func TestParseStatRefusesWhatIsNoState(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "1 (x", "1 (x) S 1 2 3", "1 (x) S a 0 0 0 0 0 0 0 0 0 1 1 1 1 20 0 1 0 5 0 0", "1 (x) S 1 0 0 0 0 0 0 0 0 0 1 -1 1 1 20 0 1 0 5 0 0"} {
		if got, err := parseStat(line); err == nil {
			t.Errorf("%q was read as %+v", line, got)
		}
	}
}

// shell runs a script that says "ready" once and then waits for its input to end.
func shell(t *testing.T, script string) (pid int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	cmd := exec.CommandContext(ctx, "sh", "-c", script+"; echo ready; read end")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
		cancel()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the shell said %q: %v", line, err)
	}
	return cmd.Process.Pid
}

func TestARealTreeCountsWhatItsChildrenUsed(t *testing.T) {
	t.Parallel()
	const loop = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
	calm, busy := NewTree(shell(t, "true")), NewTree(shell(t, "sh -c '"+loop+"'"))
	base, err := calm.CPU()
	if err != nil {
		t.Fatal(err)
	}
	used, err := busy.CPU()
	if err != nil {
		t.Fatal(err)
	}
	if used < base+20*time.Millisecond || used > 30*time.Second {
		t.Errorf("a loop in a child cost %s, nothing cost %s", used, base)
	}
	again, err := busy.CPU()
	if err != nil {
		t.Fatal(err)
	}
	if again < used || again > used+10*time.Millisecond {
		t.Errorf("a waiting tree went from %s to %s", used, again)
	}
}

func TestMemoryOfARealProcessIsRead(t *testing.T) {
	t.Parallel()
	tree := NewTree(os.Getpid())
	block := make([]byte, 64<<20)
	for i := range block {
		block[i] = byte(i)
	}
	got, err := tree.Memory()
	if err != nil {
		t.Fatal(err)
	}
	if got.RSS < 64<<20 || got.HWM < 64<<20 || got.PSS > got.RSS || block[1] != 1 {
		t.Errorf("a process with 64 MiB reads as %+v", got)
	}
}

func TestSamplerKeepsThePeakSinceTheLastTake(t *testing.T) {
	t.Parallel()
	p := newTable(t)
	p.put(10, 1, 0, 0, 11)
	p.put(11, 10, 0, 0)
	write := func(pid, name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(p.root, pid, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("10", "smaps_rollup", "00-ff ---p [rollup]\nRss:    300 kB\nPss:    200 kB\nPss_Dirty: 7 kB\n")
	write("10", "status", "Name:\tx\nVmHWM:\t  900 kB\nVmRSS:\t  300 kB\n")
	write("11", "status", "Name:\ty\nVmHWM:\t  800 kB\nVmRSS:\t   50 kB\n")
	s := NewSampler(t.Context(), p.tree(10))
	defer s.Close()
	want := Memory{RSS: 350 << 10, PSS: 250 << 10, HWM: 900 << 10}
	if diff := cmp.Diff(want, s.Take()); diff != "" {
		t.Errorf("the first peak differs (-want +got):\n%s", diff)
	}
	write("11", "status", "VmRSS:\t 10 kB\n")
	s.Take()
	want = Memory{RSS: 310 << 10, PSS: 210 << 10, HWM: 900 << 10}
	if diff := cmp.Diff(want, s.Take()); diff != "" {
		t.Errorf("a later peak remembers an earlier one (-want +got):\n%s", diff)
	}
}

func TestAChildThatStillRunsInItsParentsMemoryIsNotCountedTwice(t *testing.T) {
	t.Parallel()
	p := newTable(t)
	p.put(10, 1, 0, 0, 11, 12)
	p.put(11, 10, 0, 0)
	p.put(12, 10, 0, 0)
	for pid, text := range map[int][2]string{10: {"agent", "PPid:\t1\n"}, 11: {"agent", "PPid:\t10\n"}, 12: {"git", "PPid:\t10\n"}} {
		dir := filepath.Join(p.root, strconv.Itoa(pid))
		for name, content := range map[string]string{
			"cmdline": text[0], "status": "Name:\tx\n" + text[1], "smaps_rollup": "Rss: 100 kB\nPss: 50 kB\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := p.tree(10).Memory()
	if err != nil || got.RSS != 200<<10 || got.PSS != 100<<10 {
		t.Errorf("Memory() = %+v, %v; want that of the agent and of git", got, err)
	}
}
