package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
)

// maxOutput bounds what is kept of the output of one test or package: the first half and the last.
const maxOutput = 128 << 10

// event is one line of go test -json.
type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Elapsed     float64
	Output      string
	FailedBuild string
}

// text keeps the beginning and the end of what is written to it.
type text struct{ head, tail []byte }

func (t *text) add(s string) {
	if len(t.head)+len(s) <= maxOutput/2 && len(t.tail) == 0 {
		t.head = append(t.head, s...)
		return
	}
	t.tail = append(t.tail, s...)
	if len(t.tail) > maxOutput {
		const cut = "...\n"
		t.tail = append([]byte(cut), t.tail[len(t.tail)-maxOutput/2:]...)
	}
}

func (t *text) String() string { return string(t.head) + string(t.tail) }

// State of a test.
const (
	running = iota
	paused  // it waits for its turn to run in parallel
	passed
	failed
	skipped
)

// test is what is known of one test or subtest.
type test struct {
	name     string
	state    int
	parallel bool // it called t.Parallel, so it needs nothing of its siblings
	output   text
}

// pkg is what is known of one package.
type pkg struct {
	name   string
	failed bool
	build  bool // it could not be built or set up
	ended  bool // its tests came to their end: no panic, no exit
	order  []*test
	tests  map[string]*test
	output text
}

func (p *pkg) test(name string) *test {
	t := p.tests[name]
	if t == nil {
		t = &test{name: name}
		p.tests[name] = t
		p.order = append(p.order, t)
	}
	return t
}

// tally reads the events of one go test and prints what a person wants to see.
type tally struct {
	out      io.Writer
	verbose  bool
	packages []*pkg
	byName   map[string]*pkg
}

func (y *tally) pkg(name string) *pkg {
	p := y.byName[name]
	if p == nil {
		p = &pkg{name: name, tests: map[string]*test{}}
		y.byName[name] = p
		y.packages = append(y.packages, p)
	}
	return p
}

// read consumes the standard output of go test -json.
func (y *tally) read(from io.Reader) error {
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			y.line(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the output of go test: %w", err)
		}
	}
}

func (y *tally) line(line []byte) {
	var e event
	if !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(line, &e) != nil || e.Action == "" {
		_, _ = y.out.Write(line)
		return
	}
	if e.Action == "build-output" {
		fmt.Fprint(y.out, e.Output)
		return
	}
	if e.Package == "" {
		return
	}
	p := y.pkg(e.Package)
	if e.Test == "" {
		y.ofPackage(p, e)
		return
	}
	y.ofTest(p.test(e.Test), e)
}

func (y *tally) ofPackage(p *pkg, e event) {
	switch e.Action {
	case "output":
		p.output.add(e.Output)
		switch line := strings.TrimSpace(e.Output); {
		case line == "FAIL" || line == "PASS":
			p.ended = true
		case strings.HasSuffix(line, "[build failed]") || strings.HasSuffix(line, "[setup failed]"):
			p.build = true
		}
		if y.verbose {
			fmt.Fprint(y.out, e.Output)
		}
	case "fail":
		p.failed = true
		p.build = p.build || e.FailedBuild != ""
		if y.verbose {
			return
		}
		for _, t := range p.order {
			if t.state == running { // whatever ended the package ended it as well
				fmt.Fprint(y.out, readable(t))
			}
		}
		fmt.Fprint(y.out, p.output.String())
	case "pass", "skip":
		if y.verbose {
			return
		}
		for line := range strings.Lines(p.output.String()) {
			if strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "?   \t") || strings.HasPrefix(line, "coverage:") {
				fmt.Fprint(y.out, line)
			}
		}
	}
}

func (y *tally) ofTest(t *test, e event) {
	switch e.Action {
	case "output":
		t.output.add(e.Output)
		if y.verbose || t.state == failed {
			fmt.Fprint(y.out, e.Output)
		}
	case "pause":
		t.state, t.parallel = paused, true
	case "cont":
		t.state = running
	case "pass", "skip":
		t.state, t.output = passed, text{}
		if e.Action == "skip" {
			t.state = skipped
		}
	case "fail":
		t.state = failed
		if !y.verbose {
			fmt.Fprint(y.out, readable(t))
		}
	}
}

// readable returns the output of a test that failed, its verdict first and without the progress of -v.
func readable(t *test) string {
	var verdict, rest strings.Builder
	for line := range strings.Lines(t.output.String()) {
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case strings.HasPrefix(trimmed, "=== "):
		case strings.HasPrefix(trimmed, "--- FAIL: "+t.name+" "):
			verdict.WriteString(trimmed)
		default:
			rest.WriteString(line)
		}
	}
	if verdict.Len() == 0 {
		return "--- FAIL: " + t.name + " (did not end)\n" + rest.String()
	}
	return verdict.String() + rest.String()
}

// goTest runs go test -json and reads its events. The error is about running it at all, not about tests that fail; code is
// its exit code. It is a group of processes of its own, which gets SIGINT when ctx ends.
func (s *suite) goTest(ctx context.Context, verbose bool, args ...string) (y *tally, code int, err error) {
	y = &tally{out: s.out, verbose: verbose, byName: map[string]*pkg{}}
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Dir = s.dir
	cmd.Stderr = s.errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, 0, fmt.Errorf("run go test: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, 0, fmt.Errorf("run go test: %w", err)
	}
	readErr := y.read(stdout)
	_ = cmd.Wait() // the exit code says it
	if ctx.Err() != nil {
		return nil, 0, fmt.Errorf("run go test: %w", ctx.Err())
	}
	return y, cmd.ProcessState.ExitCode(), readErr
}
