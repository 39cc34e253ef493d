// Package shell is a tiny shell with a handful of programs, all of them in this
// process: what a command in a simulated container runs. It reads no file,
// starts no program and opens no connection; it knows what it is handed.
package shell

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// ErrNotFound says that there is no program of that name in the container.
var ErrNotFound = errors.New("executable file not found in $PATH")

// Exit codes as shells have them.
const (
	codeUsage    = 2
	codeNotFound = 127
	codeSignal   = 128 // and the number of the signal
)

// maxLine is the length, in bytes, of a line that the shell reads.
const maxLine = 4096

// Process is one command in a container.
type Process struct {
	// Args is the program and its arguments; there is at least the program.
	Args []string
	// Env is the environment: NAME=VALUE.
	Env []string
	// Hostname is what the container is called.
	Hostname string
	// Stdin is what the process reads; nil is empty. A Read that waits must end when the process is to end.
	Stdin io.Reader
	// Stdout and Stderr take what the process writes; with a terminal all of it goes to Stdout.
	Stdout, Stderr io.Writer
	// Terminal is the one that the process has; nil without.
	Terminal *Terminal
}

// Run runs the process to its end and returns its exit code, or ErrNotFound
// when there is no such program.
func (p Process) Run() (int, error) {
	stdin := p.Stdin
	if stdin == nil {
		stdin = strings.NewReader("")
	}
	s := &state{env: p.Env, hostname: p.Hostname, terminal: p.Terminal}
	std := streams{out: p.Stdout, err: p.Stderr}
	buffered := bufio.NewReaderSize(stdin, maxLine)
	if p.Terminal != nil {
		std.out = onlcr{p.Stdout}
		std.err = std.out
		std.in = &typed{in: buffered, echo: p.Stdout}
	} else {
		std.in = &piped{in: buffered}
	}
	if len(p.Args) == 0 || find(p.Args[0]) == nil {
		return 0, fmt.Errorf("exec: %q: %w", strings.Join(p.Args[:min(1, len(p.Args))], ""), ErrNotFound)
	}
	return s.call(p.Args, std), nil
}

// streams are what a program reads and writes.
type streams struct {
	in       input
	out, err io.Writer
}

// state is what a shell remembers.
type state struct {
	env      []string
	hostname string
	terminal *Terminal
	last     int  // exit code of the last command
	ended    bool // by exit or exec
}

// variable returns the value of a variable, or nothing.
func (s *state) variable(name string) string {
	if name == "?" {
		return fmt.Sprint(s.last)
	}
	for _, entry := range s.env {
		if key, value, _ := strings.Cut(entry, "="); key == name {
			return value
		}
	}
	return ""
}

// interactive reads commands and runs them until there are no more.
func (s *state) interactive(std streams) int {
	for !s.ended {
		if s.terminal != nil {
			fmt.Fprint(std.out, "$ ")
		}
		line, err := std.in.line()
		if errors.Is(err, errInterrupted) {
			s.last = codeSignal + 2
			continue
		}
		if err != nil && line == "" {
			break
		}
		s.script(line, std)
	}
	return s.last
}

// script runs the commands of a text.
func (s *state) script(text string, std streams) {
	commands, err := parse(text)
	if err != nil {
		fmt.Fprintf(std.err, "sh: syntax error: %v\n", err)
		s.last = codeUsage
		return
	}
	for _, c := range commands {
		if s.ended {
			return
		}
		if c.after == "&&" && s.last != 0 || c.after == "||" && s.last == 0 {
			continue
		}
		s.run(c, std)
	}
}

func (s *state) run(c command, std streams) {
	for _, r := range c.redirects {
		to, err := r.target(std)
		if err != nil {
			fmt.Fprintf(std.err, "sh: %v\n", err)
			s.last = codeUsage
			return
		}
		if r.from == 2 {
			std.err = to
		} else {
			std.out = to
		}
	}
	var args []string
	for _, w := range c.words {
		args = append(args, w.expand(s.variable))
	}
	if len(args) > 0 {
		s.last = s.call(args, std)
	}
}

// call runs one program or builtin and returns its exit code.
func (s *state) call(args []string, std streams) int {
	program := find(args[0])
	if program == nil {
		fmt.Fprintf(std.err, "sh: %s: not found\n", args[0])
		return codeNotFound
	}
	return program(s, args[1:], std)
}

// find returns the program called name, or nil.
func find(name string) func(*state, []string, streams) int {
	if dir := path.Dir(name); dir == "/bin" || dir == "/usr/bin" {
		name = path.Base(name)
	}
	switch name {
	case "sh":
		return runShell
	case "echo":
		return runEcho
	case "cat":
		return runCat
	case "env":
		return runEnv
	case "hostname":
		return runHostname
	case "stty":
		return runStty
	case "command":
		return runCommand
	case "exec":
		return runExec
	case "exit":
		return runExit
	case "true", ":":
		return func(*state, []string, streams) int { return 0 }
	case "false":
		return func(*state, []string, streams) int { return 1 }
	}
	return nil
}
