// Command retest runs go test so that one random failure does not fail the run: a test that fails runs again, alone and
// once, after all others. If it passes then, it is flaky: the end of the output shows it with its first output, and so does
// the file of -record. More than two flaky tests in that file fail the run, as does a test that fails twice.
//
// Usage: retest [-record file] [-summary] [flags of go test] -- packages
//
// With -summary it runs nothing: it prints the file and fails where that lists too many tests.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

const (
	// maxFlaky is how many flaky tests a run may have.
	maxFlaky = 2
	// maxAgain bounds how many tests run again. A run with more failures has failed whatever comes of them.
	maxAgain = 10
	// interrupted is the exit code of a run that a signal ended.
	interrupted = 130
)

// errFailed ends a run with failures that were printed.
var errFailed = errors.New("tests failed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], "", os.Stdout, os.Stderr)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "retest: interrupted")
		os.Exit(interrupted)
	case errors.Is(err, errFailed):
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "retest:", err)
		os.Exit(1)
	}
}

// config is what the command line says.
type config struct {
	dir      string // where go test runs; empty for the working directory
	record   string // file with flaky tests; empty for none
	summary  bool
	flags    []string // of go test
	packages []string
}

func parse(args []string) (config, error) {
	var c config
	for len(args) > 0 {
		switch {
		case args[0] == "-record" && len(args) > 1:
			c.record, args = args[1], args[2:]
			continue
		case args[0] == "-summary":
			c.summary, args = true, args[1:]
			continue
		}
		break
	}
	if c.summary {
		if c.record == "" || len(args) > 0 {
			return c, errors.New("want -record FILE -summary and nothing else")
		}
		return c, nil
	}
	at := slices.Index(args, "--")
	if at < 0 || at == len(args)-1 {
		return c, errors.New("want -- and packages after the flags of go test")
	}
	c.flags, c.packages = args[:at], args[at+1:]
	return c, nil
}

// verbose reports whether the flags of go test ask for the output of tests that pass.
func (c config) verbose() bool {
	return slices.ContainsFunc(c.flags, func(flag string) bool {
		name, value, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		return strings.HasPrefix(flag, "-") && name == "v" && value != "false"
	})
}

// last returns the last value of a flag of go test that takes one.
func (c config) last(name string) string {
	out := ""
	for i, flag := range c.flags {
		if !strings.HasPrefix(flag, "-") {
			continue
		}
		got, value, inside := strings.Cut(strings.TrimPrefix(strings.TrimLeft(flag, "-"), "test."), "=")
		switch {
		case got != name:
		case inside:
			out = value
		case i+1 < len(c.flags):
			out = c.flags[i+1]
		}
	}
	return out
}

func run(ctx context.Context, args []string, dir string, out, errs io.Writer) error {
	c, err := parse(args)
	if err != nil {
		return err
	}
	c.dir = dir
	book := record{file: c.record}
	if c.summary {
		return book.summary(out)
	}
	s := suite{config: c, out: out, errs: errs, book: &book}
	return s.run(ctx)
}
