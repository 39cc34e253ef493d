package iostream

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// maxSecret bounds what is read as a secret: a private key or the configuration of a cluster, not a file by mistake.
const maxSecret = 128 << 10

// Secret reads something that must not be an argument, where every process of the machine could see it: from a file, from
// standard input where the file is "-", or by asking at a terminal where it is "". A line break at its end is not part of it.
func (s Streams) Secret(what, file string) (string, error) {
	if file == "" {
		return s.ask(what)
	}
	in := s.In
	if file != "-" {
		f, err := os.Open(file) //nolint:gosec // the user names it
		if err != nil {
			return "", fmt.Errorf("read %s: %w", what, err)
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxSecret+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", what, err)
	case len(raw) > maxSecret:
		return "", fmt.Errorf("read %s: there are more than %d bytes; give another file", what, maxSecret)
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(raw), "\n"), "\r")
	if text == "" {
		return "", Usagef("the %s is empty: put it into the file, or on standard input", what)
	}
	return text, nil
}

// Terminal is true where a person can be asked.
func (s Streams) Terminal() bool {
	in, ok := s.In.(*os.File)
	return ok && term.IsTerminal(int(in.Fd()))
}

func (s Streams) ask(what string) (string, error) {
	in, ok := s.In.(*os.File)
	if !ok || !s.Terminal() {
		return "", Usagef("there is no terminal to ask for the %s at: give it with a flag that names a file, or on standard input", what)
	}
	if _, err := fmt.Fprintf(s.Err, "%s: ", what); err != nil {
		return "", err
	}
	raw, err := term.ReadPassword(int(in.Fd()))
	_, _ = fmt.Fprintln(s.Err) // the line break that was not echoed
	if err != nil {
		return "", fmt.Errorf("read %s: %w", what, err)
	}
	if len(raw) == 0 {
		return "", errors.New("nothing was given: try again")
	}
	return string(raw), nil
}

// Line asks for a line that is no secret.
func (s Streams) Line(what string) (string, error) {
	if !s.Terminal() {
		return "", Usagef("there is no terminal to ask for the %s at: give it with a flag", what)
	}
	if _, err := fmt.Fprintf(s.Err, "%s: ", what); err != nil {
		return "", err
	}
	// One byte at a time: what follows belongs to the next reader.
	var line []byte
	for one := make([]byte, 1); len(line) < maxSecret; {
		n, err := s.In.Read(one)
		if n == 0 && err != nil {
			break
		}
		if one[0] == '\n' {
			break
		}
		line = append(line, one[0])
	}
	text := strings.TrimSpace(string(line))
	if text == "" {
		return "", errors.New("nothing was given: try again")
	}
	return text, nil
}
