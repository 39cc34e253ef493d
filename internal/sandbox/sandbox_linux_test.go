package sandbox_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-gitops/slipway/internal/sandbox"
)

// script is a program that a shell runs.
func script(text string, box *sandbox.Box) sandbox.Program {
	return sandbox.Program{
		Path: "/bin/sh", Args: []string{"-c", text}, Env: []string{"PATH=/usr/bin:/bin"}, Output: 1 << 20, Stderr: 1 << 10, Box: box,
	}
}

// boxed is a program that is confined to a directory.
func boxed(t *testing.T, text string) sandbox.Program {
	t.Helper()
	dir := t.TempDir()
	p := script(text, &sandbox.Box{Write: []string{dir}, Memory: 1 << 30, CPU: 20 * time.Second, File: 1 << 20})
	p.Dir = dir
	return p
}

// run runs a program within 20 seconds.
func run(t *testing.T, p sandbox.Program) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	out, err := p.Run(ctx)
	var exit *sandbox.ExitError
	if errors.As(err, &exit) {
		t.Logf("%v: %s", err, exit.Stderr)
	}
	return string(out), err
}

func TestAProgramGetsItsInputAndItsVariablesAlone(t *testing.T) {
	t.Setenv("SANDBOX_TEST_SECRET", "of-the-agent")
	for _, p := range []sandbox.Program{script("", nil), boxed(t, "")} {
		p.Args[1] = `read line; echo "$line $MINE $SANDBOX_TEST_SECRET."; pwd`
		p.Stdin, p.Env = []byte("hello\n"), append(p.Env, "MINE=yes")
		want := p.Dir
		if want == "" {
			want = "/"
		}
		if out, err := run(t, p); err != nil || out != "hello yes .\n"+want+"\n" {
			t.Errorf("%q, %v", out, err)
		}
	}
}

func TestAFailureHasTheCodeAndTheEndOfWhatWasSaid(t *testing.T) {
	t.Parallel()
	for _, p := range []sandbox.Program{script("", nil), boxed(t, "")} {
		p.Args[1] = `for i in 1 2 3 4 5 6 7 8 9; do echo "line $i with some words" >&2; done; echo secret; exit 7`
		p.Stderr = 24
		_, err := run(t, p)
		var exit *sandbox.ExitError
		if !errors.As(err, &exit) || exit.Code != 7 || string(exit.Stderr) != "\nline 9 with some words\n" || strings.Contains(err.Error(), "line") {
			t.Errorf("%v: %+v", err, exit)
		}
	}
	_, err := run(t, script(`kill -SEGV $$`, nil))
	var exit *sandbox.ExitError
	if !errors.As(err, &exit) || exit.Signal != "SIGSEGV" {
		t.Errorf("%v", err)
	}
}

func TestAProgramThatIsNotThereCannotBeStarted(t *testing.T) {
	t.Parallel()
	for _, p := range []sandbox.Program{script("", nil), boxed(t, "")} {
		p.Path = "/usr/bin/no-such-program"
		if _, err := run(t, p); !errors.Is(err, sandbox.ErrStart) || !strings.Contains(err.Error(), "no such file") {
			t.Errorf("%v", err)
		}
	}
}

// gone waits until the process with a number has ended.
func gone(t *testing.T, number string) {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 10_000)
	if err != nil || n != 1 {
		_ = unix.Kill(pid, unix.SIGKILL)
		t.Errorf("process %d is still there: %v", pid, err)
	}
}

func TestAProgramThatHangsEndsWithItsProcesses(t *testing.T) {
	t.Parallel()
	for _, p := range []sandbox.Program{script("", nil), boxed(t, "")} {
		if p.Dir == "" {
			p.Dir = t.TempDir()
		}
		pipe := filepath.Join(p.Dir, "pipe")
		if err := unix.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		p.Args[1] = `sleep 600 & echo $! > pipe; sleep 600`
		ctx, cancel := context.WithCancel(t.Context())
		said := make(chan string, 1)
		go func() {
			raw, _ := os.ReadFile(pipe)
			said <- string(raw)
			cancel()
		}()
		if _, err := p.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("%v", err)
		}
		gone(t, <-said)
	}
}

func TestNoProcessOutlivesTheProgram(t *testing.T) {
	t.Parallel()
	for _, p := range []sandbox.Program{script("", nil), boxed(t, "")} {
		p.Args[1] = `sleep 600 >/dev/null 2>&1 & echo $!`
		out, err := run(t, p)
		if err != nil {
			t.Fatal(err)
		}
		gone(t, out)
		p.Args[1] = `sleep 600 & echo $!` // and it holds the pipe
		if out, err = run(t, p); err != nil {
			t.Fatal(err)
		}
		gone(t, out)
	}
}

func TestAConfinedProcessCannotLeaveItsGroup(t *testing.T) {
	t.Parallel()
	p := boxed(t, `command -v setsid >/dev/null || exit 9; setsid sleep 600 >/dev/null 2>&1 & echo $!`)
	out, err := run(t, p)
	if err != nil {
		t.Fatal(err)
	}
	gone(t, out)
	if out, err := run(t, boxed(t, `setsid -w sh -c 'echo it left' || exit 3`)); err == nil {
		t.Errorf("it prints %q", out)
	}
}

func TestTooMuchOutputEndsAProgram(t *testing.T) {
	t.Parallel()
	for _, p := range []sandbox.Program{script("", nil), boxed(t, "")} {
		p.Args[1] = `yes` // without an end
		if _, err := run(t, p); !errors.Is(err, sandbox.ErrOutput) {
			t.Errorf("%v", err)
		}
		p.Args[1] = `head -c 1000000 /dev/zero >&2; echo end >&2; exit 2`
		_, err := run(t, p)
		var exit *sandbox.ExitError
		if !errors.As(err, &exit) || len(exit.Stderr) > 1<<10 || !strings.HasSuffix(string(exit.Stderr), "end\n") {
			t.Errorf("%v", err)
		}
	}
}

func TestAConfinedProgramReachesNothingOfTheAgent(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte("plum-tree"), 0o644); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	host, port, _ := net.SplitHostPort(listener.Addr().String())
	self := strconv.Itoa(os.Getpid())
	for name, text := range map[string]string{
		"a file of the agent":       `cat ` + secret,
		"a link to it":              `ln -s ` + secret + ` here; cat here`,
		"the directory":             `ls ` + filepath.Dir(secret),
		"another place to write":    `echo x > ` + filepath.Dir(secret) + `/new`,
		"a temporary directory":     `ls /tmp`,
		"a token of the pod":        `ls /var/run /run`,
		"the environment":           `cat /proc/` + self + `/environ`,
		"the command line":          `cat /proc/` + self + `/cmdline`,
		"the memory":                `cat /proc/` + self + `/maps`,
		"a signal to the agent":     `kill -0 ` + self,
		"a signal to all":           `kill -0 -1`,
		"a connection":              `exec 3<>/dev/tcp/` + host + `/` + port,
		"a new name space":          `unshare -U true`,
		"a file of another process": `ls /proc/1/root`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := boxed(t, text)
			p.Path = "/bin/bash"
			if out, err := run(t, p); err == nil {
				t.Errorf("it prints %q", out)
			}
			if _, err := run(t, script(`true`, p.Box)); err != nil {
				t.Errorf("the control: %v", err)
			}
		})
	}
}

func TestAConfinedProgramCanWork(t *testing.T) {
	t.Parallel()
	p := boxed(t, `set -e; mkdir -p a/b; echo hello > a/b/c; mv a/b/c d; ln -s d e; cat e | tr a-z A-Z; date >/dev/null; chmod 700 d
timeout 5 echo in time; f=$(mktemp ./XXXXXX); rm $f; (sleep 600 & kill $!; wait $! || true); echo done | tee /dev/null`)
	if out, err := run(t, p); err != nil || out != "HELLO\nin time\ndone\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestAConfinedProgramIsBounded(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"memory":         `x=$(head -c 200000000 /dev/zero | tr '\0' a); echo ${#x}`,
		"processor time": `while :; do :; done`,
		"a large file":   `head -c 2000000 /dev/zero > large`,
		"a dump":         `ulimit -c unlimited`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := boxed(t, text)
			p.Path = "/bin/bash"
			p.Box.Memory, p.Box.CPU = 64<<20, time.Second
			_, err := run(t, p)
			var exit *sandbox.ExitError
			if !errors.As(err, &exit) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestTheNetworkIsThereWhereItIsAllowed(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	host, port, _ := net.SplitHostPort(listener.Addr().String())
	p := boxed(t, `exec 3<>/dev/tcp/`+host+`/`+port+` && echo connected`)
	p.Path, p.Box.Network = "/bin/bash", true
	if out, err := run(t, p); err != nil || out != "connected\n" {
		t.Errorf("%q, %v", out, err)
	}
}
