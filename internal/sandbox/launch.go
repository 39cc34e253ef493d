package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// word is the hidden argument that makes a program a launcher.
const word = "sandbox-launch"

// IsLauncher reports whether args, as in os.Args, ask the program to launch another one. A program that uses a Box must test this
// before anything else, and then call Launch.
func IsLauncher(args []string) bool { return len(args) >= 4 && args[1] == word }

// Launch confines this process and makes it the program that args name. It returns only to exit.
func Launch(args []string) {
	report := os.NewFile(3, "report")
	if err := launch(args); err != nil && report != nil {
		kind := "start"
		if errors.Is(err, ErrConfine) {
			kind = "confine"
		}
		_, _ = fmt.Fprintf(report, "%s\n%s", kind, err)
	}
}

// order is what a launcher is asked for.
type order struct {
	Read, Write       []string
	Memory, CPU, File uint64
	Network, Try      bool
}

// report is the other end of what a launcher says: nothing, once the program runs.
type report struct{ from, to *os.File }

func (r *report) close() { _, _ = r.from.Close(), r.to.Close() }

// maxReport bounds what is read of a report.
const maxReport = 4 << 10

// read waits until the program runs, or could not be started.
func (r *report) read() error {
	_ = r.to.Close() // the launcher has the one that counts
	raw, err := io.ReadAll(io.LimitReader(r.from, maxReport))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStart, err)
	}
	kind, text, said := strings.Cut(string(raw), "\n")
	switch {
	case !said:
		return nil
	case kind == "confine":
		return fmt.Errorf("%w: %s", ErrConfine, strings.TrimPrefix(text, ErrConfine.Error()+": "))
	}
	return fmt.Errorf("%w: %s", ErrStart, text)
}

// prepare turns a command into one of the launcher.
func (b *Box) prepare(cmd *exec.Cmd) (*report, error) {
	self, err := b.executable()
	if err != nil {
		return nil, err
	}
	spec, err := json.Marshal(order{
		Read: b.Read, Write: b.Write, Network: b.Network, Try: b.Try,
		Memory: uint64(b.Memory), CPU: uint64(b.CPU.Seconds()), File: uint64(b.File),
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	cmd.Args = append([]string{self, word, string(spec), cmd.Path}, cmd.Args[1:]...)
	cmd.Path, cmd.Err = self, nil
	cmd.ExtraFiles = []*os.File{to}
	return &report{from: from, to: to}, nil
}
