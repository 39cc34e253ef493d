// Package iostream is how commands talk: data to standard output as a table, tab-separated lines, JSON or YAML; every
// message to the user to standard error; and errors that carry an exit code.
package iostream

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// Streams are the three standard streams of one command.
type Streams struct {
	In  io.Reader
	Out io.Writer // data only
	Err io.Writer // talk: progress, warnings, hints
	TTY bool      // Out is a terminal: tables are aligned and have a header
}

// System returns the streams of this process. What is written to a terminal is made legible; a file or a pipe gets the bytes
// as they are.
func System() Streams {
	out, terminal := onScreen(os.Stdout)
	talk, _ := onScreen(os.Stderr)
	return Streams{In: os.Stdin, Out: out, Err: talk, TTY: terminal}
}

// Sayf writes lines for a person; control characters of foreign text are left out. A closed standard error is no reason
// to stop, so nothing is returned.
func (s Streams) Sayf(format string, args ...any) {
	var out strings.Builder
	for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		out.WriteString(line[:indent] + Clean(line) + "\n")
	}
	_, _ = io.WriteString(s.Err, out.String())
}

// Live is true where standard error is a terminal, on which Status shows something.
func (s Streams) Live() bool {
	file, ok := Bare(s.Err).(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Status shows a line where standard error is a terminal, in place of the one that was shown before; "" takes it away, which
// must come before any other output. Elsewhere it does nothing.
func (s Streams) Status(line string) {
	if !s.Live() {
		return
	}
	line = Clean(line)
	bare := Bare(s.Err)
	if file, ok := bare.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 1 {
			line = legible.Prefix(line, width-1)
		}
	}
	_, _ = io.WriteString(bare, "\r\x1b[K"+line)
}
