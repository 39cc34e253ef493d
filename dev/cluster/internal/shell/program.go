package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
)

// inner are the builtins that ask nothing of the machine.
//
//nolint:gochecknoglobals // table
var inner = []string{
	":", "[", "break", "continue", "echo", "eval", "exec", "exit", "false", "printf", "return", "set", "shift", "test", "true", "unset",
}

// outer are the programs that the session runs.
//
//nolint:gochecknoglobals // table
var outer = []string{"cat", "env", "hostname", "sh", "stty"}

// present reports whether a container can run the program on its own.
func present(name string) bool {
	name = program(name)
	return slices.Contains(outer, name) || slices.Contains([]string{"[", "echo", "false", "printf", "test", "true"}, name)
}

// unknown comes before the name of a builtin that is not known here; it keeps the interpreter from running it.
const unknown = "\x00"

// allow sends each call either to a builtin that asks nothing of the machine, or to exec.
func allow(_ context.Context, args []string) ([]string, error) {
	name := program(args[0])
	if !slices.Contains(inner, name) && interp.IsBuiltin(name) {
		name = unknown + name
	}
	return append([]string{name}, args[1:]...), nil
}

// exec runs a program.
func (s *session) exec(ctx context.Context, args []string) error {
	hc := interp.HandlerCtx(ctx)
	std := streams{in: s.std.in, out: hc.Stdout, err: hc.Stderr}
	if hc.Stdin != nil {
		std.in = &piped{in: bufio.NewReaderSize(hc.Stdin, maxLine)}
	}
	code := 0
	switch name := strings.TrimPrefix(args[0], unknown); program(name) {
	case "sh":
		code = s.process.sh(ctx, args[1:], hc.Env, std)
	case "cat":
		code = cat(args[1:], std)
	case "env":
		fmt.Fprint(std.out, lines(environment(hc.Env)))
	case "hostname":
		fmt.Fprintln(std.out, s.process.Hostname)
	case "stty":
		code = stty(s.process.Terminal, args[1:], std)
	case "command":
		code = command(args[1:], std)
	default:
		fmt.Fprintf(std.err, "sh: %s: not found\n", name)
		code = codeNotFound
	}
	if code != 0 {
		return interp.ExitStatus(code)
	}
	return nil
}

// environment is the environment of a program.
func environment(of expand.Environ) (env []string) {
	of.Each(func(name string, v expand.Variable) bool {
		if entry := name + "=" + v.String(); v.Exported && v.Kind == expand.String && entry != nowhere {
			env = append(env, entry)
		}
		return true
	})
	slices.Sort(env)
	return env
}

// lines ends each text with a new line.
func lines(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return strings.Join(texts, "\n") + "\n"
}

// sh runs the script after -c, or else commands as they are read.
func (p Process) sh(ctx context.Context, args []string, env expand.Environ, std streams) int {
	for len(args) > 0 && (args[0] == "-i" || args[0] == "-l") {
		args = args[1:]
	}
	s, err := p.shell(environment(env), std)
	switch {
	case err != nil:
		fmt.Fprintf(std.err, "sh: %v\n", err)
	case len(args) == 0:
		return s.interactive(ctx)
	case args[0] == "-c" && len(args) > 1:
		return s.script(ctx, args[1])
	case args[0] == "-c":
		fmt.Fprintln(std.err, "sh: -c needs a script")
	default:
		fmt.Fprintf(std.err, "sh: %s: cannot open: No such file\n", args[0])
		return codeNotFound
	}
	return codeUsage
}

// cat copies what it reads. A container has no files to name.
func cat(args []string, std streams) int {
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

// stty writes the size of the terminal: stty size.
func stty(t *Terminal, args []string, std streams) int {
	switch {
	case len(args) != 1 || args[0] != "size":
		fmt.Fprintln(std.err, "stty: only `stty size` is known here")
		return codeUsage
	case t == nil:
		fmt.Fprintln(std.err, "stty: standard input is no terminal")
		return 1
	}
	columns, rows := t.size()
	fmt.Fprintf(std.out, "%d %d\n", rows, columns)
	return 0
}

// command writes the name of a program that is there: command -v NAME.
func command(args []string, std streams) int {
	if len(args) != 2 || args[0] != "-v" {
		fmt.Fprintln(std.err, "sh: only `command -v NAME` is known here")
		return codeUsage
	}
	if !present(args[1]) && !slices.Contains(inner, args[1]) {
		return codeNotFound
	}
	fmt.Fprintln(std.out, args[1])
	return 0
}
