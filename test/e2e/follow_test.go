package e2e

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// followLimit bounds the wait for a line, or for the end, of a command that is followed.
const followLimit = 2 * time.Minute

// followed is a command that goes on while its story does.
type followed struct {
	command *exec.Cmd
	lines   chan string // closed at its end
	seen    []string
}

// cmdFollow starts a command and returns once it has printed a line that contains a text: follow TEXT COMMAND ARG... .
// With no command it goes on with the one that was started; with end instead of TEXT it waits until that ends well, and
// with stop it is interrupted before.
func cmdFollow(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	need(ts, !neg && len(args) > 0 && (len(args) > 1) == (s.followed == nil), "follow TEXT COMMAND ARG..., then follow TEXT | end | stop")
	if s.followed == nil {
		s.followed = startFollowing(ts, args[1:])
	}
	if args[0] == "stop" {
		ts.Check(s.followed.command.Process.Signal(os.Interrupt))
		args = []string{"end"}
	}
	f, limit := s.followed, time.After(followLimit)
	for {
		select {
		case line, more := <-f.lines:
			f.seen = append(f.seen, line)
			switch {
			case !more && args[0] == "end":
				ts.Check(f.command.Wait())
				s.followed = nil
				return
			case !more:
				ts.Fatalf("it ended without %q: %q, %v", args[0], f.seen, f.command.Wait())
			case strings.Contains(line, args[0]) && args[0] != "end":
				return
			}
		case <-limit:
			ts.Fatalf("%s, and no %q: %q", followLimit, args[0], f.seen)
		}
	}
}

func startFollowing(ts *testscript.TestScript, args []string) *followed {
	f := &followed{command: exec.Command(args[0], args[1:]...), lines: make(chan string)}
	f.command.Dir = ts.Getenv("WORK")
	for _, name := range []string{"PATH", "HOME", "KUBECONFIG", "SLIPWAY_SERVER", "SLIPWAY_NAMESPACE", "XDG_CONFIG_HOME"} {
		f.command.Env = append(f.command.Env, name+"="+ts.Getenv(name))
	}
	f.command.Stderr = os.Stderr
	out, err := f.command.StdoutPipe()
	ts.Check(err)
	ts.Check(f.command.Start())
	over := make(chan struct{})
	go f.read(out, over)
	ts.Defer(func() {
		close(over)
		_ = f.command.Process.Kill() // it may have ended
		_ = f.command.Wait()
	})
	return f
}

// read hands on lines until there are no more, or the story is over.
func (f *followed) read(out io.Reader, over <-chan struct{}) {
	defer close(f.lines)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		select {
		case f.lines <- lines.Text():
		case <-over:
			return
		}
	}
}
