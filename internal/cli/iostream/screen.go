package iostream

import (
	"bytes"
	"io"
	"math"
	"os"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// screen is a terminal. Much of what is printed was written by others: names, messages, logs, manifests. A terminal obeys
// escape sequences and characters that turn the direction of a line, so these are shown in place of being sent.
type screen struct {
	to   io.Writer
	mu   sync.Mutex
	rest []byte // the beginning of a character, or of a line break, that goes on in the next write
}

// Screen is a writer that shows on a terminal what is written to it, made legible. A character that never comes to its end is
// left out.
func Screen(terminal io.Writer) io.Writer { return &screen{to: terminal} }

// Bare is the terminal behind a [Screen], and any other writer as it is: for programs that run in the terminal, and for
// colors of ours around a text that is legible already.
func Bare(w io.Writer) io.Writer {
	if s, is := w.(*screen); is {
		return s.to
	}
	return w
}

// Write shows p. It returns len(p) where all of it was written or is kept for the next write.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := append(s.rest, p...) //nolint:gocritic // rest is made again below
	end := len(text) - unfinished(text)
	s.rest = bytes.Clone(text[end:])
	if _, err := io.WriteString(s.to, legible.Text(string(text[:end]), math.MaxInt)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// unfinished is how many bytes at the end of a text may mean something else with those that follow.
func unfinished(text []byte) int {
	if bytes.HasSuffix(text, []byte("\r")) {
		return 1
	}
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		last := text[len(text)-n:]
		if utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// onScreen makes a Screen of a file that is a terminal.
func onScreen(file *os.File) (w io.Writer, terminal bool) {
	if term.IsTerminal(int(file.Fd())) {
		return Screen(file), true
	}
	return file, false
}
