package shell

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// runShell is sh: a script with -c, else commands as they are read.
func runShell(s *state, args []string, std streams) int {
	inner := &state{env: s.env, hostname: s.hostname, terminal: s.terminal}
	for len(args) > 0 && (args[0] == "-i" || args[0] == "-l") {
		args = args[1:]
	}
	switch {
	case len(args) == 0:
		return inner.interactive(std)
	case args[0] == "-c" && len(args) > 1:
		inner.script(args[1], std)
		return inner.last
	case args[0] == "-c":
		fmt.Fprintln(std.err, "sh: -c needs a script")
		return codeUsage
	}
	fmt.Fprintf(std.err, "sh: %s: cannot open: No such file\n", args[0])
	return codeNotFound
}

func runEcho(_ *state, args []string, std streams) int {
	end := "\n"
	if len(args) > 0 && args[0] == "-n" {
		args, end = args[1:], ""
	}
	fmt.Fprint(std.out, strings.Join(args, " ")+end)
	return 0
}

// runCat copies what it reads. A container has no files to name.
func runCat(_ *state, args []string, std streams) int {
	for _, name := range args {
		if name != "-" {
			fmt.Fprintf(std.err, "cat: %s: No such file or directory\n", name)
			return 1
		}
	}
	for {
		text, err := std.in.chunk()
		if _, wrong := std.out.Write(text); wrong != nil {
			return 1
		}
		switch {
		case errors.Is(err, errInterrupted):
			return codeSignal + 2
		case errors.Is(err, io.EOF):
			return 0
		case err != nil:
			return 1
		}
	}
}

func runEnv(s *state, _ []string, std streams) int {
	for _, entry := range s.env {
		fmt.Fprintln(std.out, entry)
	}
	return 0
}

func runHostname(s *state, _ []string, std streams) int {
	fmt.Fprintln(std.out, s.hostname)
	return 0
}

// runStty says how large the terminal is: stty size.
func runStty(s *state, args []string, std streams) int {
	switch {
	case len(args) != 1 || args[0] != "size":
		fmt.Fprintln(std.err, "stty: only `stty size` is known here")
		return codeUsage
	case s.terminal == nil:
		fmt.Fprintln(std.err, "stty: standard input is no terminal")
		return 1
	}
	columns, rows := s.terminal.size()
	fmt.Fprintf(std.out, "%d %d\n", rows, columns)
	return 0
}

// runCommand says whether a program is there: command -v NAME.
func runCommand(_ *state, args []string, std streams) int {
	if len(args) != 2 || args[0] != "-v" {
		fmt.Fprintln(std.err, "sh: only `command -v NAME` is known here")
		return codeUsage
	}
	if find(args[1]) == nil {
		return codeNotFound
	}
	fmt.Fprintln(std.out, args[1])
	return 0
}

// runExec runs a program in the place of the shell.
func runExec(s *state, args []string, std streams) int {
	if len(args) == 0 {
		return 0
	}
	s.ended = true
	return s.call(args, std)
}

func runExit(s *state, args []string, std streams) int {
	code := s.last
	if len(args) > 0 {
		number, err := strconv.Atoi(args[0])
		if err != nil || number < 0 {
			fmt.Fprintf(std.err, "sh: exit: illegal number: %s\n", args[0])
			number = codeUsage
		}
		code = number & 0xff
	}
	s.ended = true
	return code
}
