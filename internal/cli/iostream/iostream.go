// Package iostream is how commands talk: data to standard output as a table, tab-separated lines, JSON or YAML; everything
// said to a person to standard error; and errors that carry an exit code.
package iostream

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Streams are the three standard streams of one command.
type Streams struct {
	In  io.Reader
	Out io.Writer // data only
	Err io.Writer // talk: progress, warnings, hints
	TTY bool      // Out is a terminal: tables are aligned and have a header
}

// System returns the streams of this process.
func System() Streams {
	return Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, TTY: term.IsTerminal(int(os.Stdout.Fd()))}
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
