package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// mark begins the line of a flaky test, in the output and in the file. The specs of the user interface write the same.
const mark = "FLAKY "

// record is the list of flaky tests: those of this process, and a file to which all parts of a run add theirs.
type record struct {
	file string
	own  strings.Builder
	many int
}

// add notes a test that failed first and then passed alone.
func (r *record) add(t target) error {
	var entry strings.Builder
	fmt.Fprintf(&entry, "%s%s: failed, then passed alone\n", mark, t)
	for line := range strings.Lines(t.first) {
		entry.WriteString("    " + strings.TrimRight(line, "\n") + "\n")
	}
	r.own.WriteString(entry.String())
	r.many++
	if r.file == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(r.file), 0o750); err != nil {
		return fmt.Errorf("record a flaky test: %w", err)
	}
	file, err := os.OpenFile(r.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("record a flaky test: %w", err)
	}
	_, err = file.WriteString(entry.String())
	return errors.Join(err, file.Close())
}

// print shows the flaky tests of this process, and reports whether the whole run has too many.
func (r *record) print(out io.Writer) (over bool, err error) {
	fmt.Fprint(out, r.own.String())
	many := r.many
	if r.file != "" {
		text, err := r.text()
		if err != nil {
			return false, err
		}
		many = count(text)
	}
	if many > maxFlaky {
		fmt.Fprintf(out, "retest: %d tests are flaky, more than %d\n", many, maxFlaky)
		return true, nil
	}
	return false, nil
}

// summary prints the file, and fails where it lists too many.
func (r *record) summary(out io.Writer) error {
	text, err := r.text()
	if err != nil {
		return err
	}
	fmt.Fprint(out, text)
	if many := count(text); many > maxFlaky {
		fmt.Fprintf(out, "retest: %d tests are flaky, more than %d\nFAIL\n", many, maxFlaky)
		return errFailed
	}
	return nil
}

func (r *record) text() (string, error) {
	text, err := os.ReadFile(r.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the flaky tests: %w", err)
	}
	return string(text), nil
}

func count(text string) int {
	many := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, mark) {
			many++
		}
	}
	return many
}
