package sandbox_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-gitops/slipway/internal/sandbox"
)

// adopt makes this process the parent of those that lose theirs, as the first one of a container is.
func adopt(t *testing.T) {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) })
}

// bystander is a child that has ended with code 7 and was not waited for.
func bystander(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "exit 7")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestNoProcessOfAProgramIsLeftToBeWaitedFor(t *testing.T) { //nolint:paralleltest // it is about all children of this process
	adopt(t)
	other := bystander(t)
	fails := boxed(t, "")
	fails.Path = "/usr/bin/no-such-program"
	for _, p := range []sandbox.Program{
		script(`sleep 600 & sleep 600 & exit 0`, nil), boxed(t, `sleep 600 & sleep 600 & exit 0`),
		boxed(t, `(sleep 600 & sleep 600) & (true &); (sh -c 'sleep 600 & sleep 600' &); exit 3`),
		boxed(t, `(exec 1>&- 2>&-; sleep 600 & sleep 600) & kill -KILL $$`), fails,
	} {
		_, err := run(t, p)
		if exit := new(sandbox.ExitError); err != nil && !errors.As(err, &exit) && !errors.Is(err, sandbox.ErrStart) {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := boxed(t, `sleep 600 & sleep 600`).Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	var exit *exec.ExitError
	if err := other.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("another child was taken from who waits for it: %v", err)
	}
	if err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil); !errors.Is(err, unix.ECHILD) {
		stats, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, name := range stats {
			if raw, _ := os.ReadFile(name); strings.Contains(string(raw), " "+strconv.Itoa(os.Getpid())+" ") {
				t.Logf("%s", raw)
			}
		}
		t.Errorf("there are children still: %v", err)
	}
}

// cloneWord has this program make a process with flags of clone, and exit with the number of the error.
const cloneWord = "clone"

func clone(flags string) {
	number, err := strconv.Atoi(flags)
	if err != nil {
		os.Exit(125)
	}
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(number), 0, 0, 0, 0, 0)
	if pid == 0 && errno == 0 {
		_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	os.Exit(int(errno))
}

func TestAConfinedProcessCannotMakeAChildOfTheAgent(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for flags, want := range map[int]unix.Errno{int(unix.SIGCHLD): 0, int(unix.SIGCHLD) | unix.CLONE_PARENT: unix.EPERM} {
		p := boxed(t, "")
		p.Path, p.Args = self, []string{cloneWord, strconv.Itoa(flags)}
		p.Box.Read, p.Box.Memory = []string{filepath.Dir(self)}, 1<<50 // the race detector takes much
		_, err := run(t, p)
		var exit *sandbox.ExitError
		if want == 0 && err != nil || want != 0 && (!errors.As(err, &exit) || exit.Code != int(want)) {
			t.Errorf("with flags %#x: %v, want %v", flags, err, want)
		}
	}
}
