package shell

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
	"unicode/utf8"
)

// errInterrupted means that the user typed Control-C.
var errInterrupted = errors.New("interrupted")

// Terminal is the one of a process. Its size can change at any time.
type Terminal struct {
	mu            sync.Mutex
	columns, rows int
}

// Resize says how large the terminal is now.
func (t *Terminal) Resize(columns, rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.columns, t.rows = columns, rows
}

func (t *Terminal) size() (columns, rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.columns, t.rows
}

// input is what programs read from.
type input interface {
	// line returns the next line without its end. An error can come with the rest of a line.
	line() (string, error)
	// chunk returns some bytes as they are.
	chunk() ([]byte, error)
}

// piped is an input that is no terminal.
type piped struct{ in *bufio.Reader }

func (p *piped) line() (string, error) {
	line, err := p.in.ReadSlice('\n')
	return string(bytes.TrimRight(line, "\r\n")), err // a line that is too long is an error, and ends the shell
}

func (p *piped) chunk() ([]byte, error) {
	if _, err := p.in.Peek(1); err != nil {
		return nil, err
	}
	some := make([]byte, p.in.Buffered())
	n, err := p.in.Read(some)
	return some[:n], err
}

// typed is an input by a terminal: it shows what is typed, and gives out lines.
type typed struct {
	in   *bufio.Reader
	echo io.Writer
}

// Keys that a terminal acts on.
const (
	keyInterrupt = 0x03
	keyEnd       = 0x04
	keyBell      = 0x07
	keyBackspace = 0x08
	keyKill      = 0x15
	keyDelete    = 0x7f
)

func (t *typed) line() (string, error) {
	var line, shown []byte
	for {
		key, err := t.in.ReadByte()
		if err != nil {
			return string(line), err
		}
		var end error
		done := false
		switch {
		case key == '\r' || key == '\n':
			shown, done = append(shown, '\r', '\n'), true
		case key == keyInterrupt:
			line, shown, done, end = nil, append(shown, '^', 'C', '\r', '\n'), true, errInterrupted
		case key == keyEnd && len(line) == 0:
			done, end = true, io.EOF
		case key == keyBackspace || key == keyDelete:
			if _, size := utf8.DecodeLastRune(line); size > 0 {
				line, shown = line[:len(line)-size], append(shown, '\b', ' ', '\b')
			}
		case key == keyKill:
			for range utf8.RuneCount(line) {
				shown = append(shown, '\b', ' ', '\b')
			}
			line = nil
		case key < ' ' && key != '\t': // a key that means nothing here
		case len(line) == maxLine:
			shown = append(shown, keyBell)
		default:
			line, shown = append(line, key), append(shown, key)
		}
		if done || t.in.Buffered() == 0 {
			if _, err := t.echo.Write(shown); err != nil {
				return "", err
			}
			shown = nil
		}
		if done {
			return string(line), end
		}
	}
}

func (t *typed) chunk() ([]byte, error) {
	line, err := t.line()
	if err != nil {
		return []byte(line), err
	}
	return []byte(line + "\n"), nil
}

// onlcr puts a carriage return before each end of a line, as terminals do.
type onlcr struct{ to io.Writer }

// Write implements io.Writer.
func (o onlcr) Write(text []byte) (int, error) {
	if _, err := o.to.Write(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(text), nil
}
