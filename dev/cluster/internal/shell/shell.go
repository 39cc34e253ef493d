// Package shell is the shell of a simulated container: mvdan.cc/sh with a handful of programs, all of them in this process. It
// opens no file but /dev/null, starts no program and opens no connection; it knows what it is given.
package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// ErrNotFound reports that the container has no program of that name.
var ErrNotFound = errors.New("executable file not found in $PATH")

// Exit codes of shells.
const (
	codeUsage    = 2
	codeNotFound = 127
	codeSignal   = 128 // plus the number of the signal
)

// maxLine is the length, in bytes, of a line that the shell reads.
const maxLine = 4096

// nowhere is the directory of temporary files: the interpreter opens files there without asking.
const nowhere = "TMPDIR=/dev/null"

// Process is one command in a container.
type Process struct {
	// Args is the program and its arguments; there is at least the program.
	Args []string
	// Env is the environment: NAME=VALUE.
	Env []string
	// Hostname is the name of the container.
	Hostname string
	// Stdin is what the process reads; nil is empty. A Read that waits must end when the process is to end.
	Stdin io.Reader
	// Stdout and Stderr take what the process writes; with a terminal all of it goes to Stdout.
	Stdout, Stderr io.Writer
	// Terminal is the terminal of the process; nil without.
	Terminal *Terminal
}

// Run runs the process until it ends or ctx does, and returns its exit code, or ErrNotFound when there is no such program.
func (p Process) Run(ctx context.Context) (int, error) {
	stdin := p.Stdin
	if stdin == nil {
		stdin = strings.NewReader("")
	}
	std := streams{out: p.Stdout, err: p.Stderr}
	buffered := bufio.NewReaderSize(stdin, maxLine)
	if p.Terminal != nil {
		std.out = onlcr{p.Stdout}
		std.err = std.out
		std.in = &typed{in: buffered, echo: p.Stdout}
	} else {
		std.in = &piped{in: buffered}
	}
	if len(p.Args) == 0 || !present(p.Args[0]) {
		return 0, fmt.Errorf("exec: %q: %w", strings.Join(p.Args[:min(1, len(p.Args))], ""), ErrNotFound)
	}
	s, err := p.shell(p.Env, std)
	if err != nil {
		return 0, err
	}
	call := &syntax.CallExpr{}
	for i, arg := range p.Args {
		if i == 0 {
			arg = program(arg)
		}
		call.Args = append(call.Args, &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: arg}}})
	}
	return s.run(ctx, call), nil
}

// streams are what a program reads and writes.
type streams struct {
	in       input
	out, err io.Writer
}

// session is one shell.
type session struct {
	*interp.Runner
	process Process
	std     streams
}

// shell starts a shell of the process.
func (p Process) shell(env []string, std streams) (*session, error) {
	s := &session{process: p, std: std}
	missing := func(path string) error { return &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist} }
	var err error
	s.Runner, err = interp.New(
		interp.Dir("/"),
		interp.Env(environ{expand.ListEnviron(append(env[:len(env):len(env)], nowhere)...)}),
		interp.StdIO(nil, std.out, std.err),
		interp.CallHandler(allow),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return s.exec }),
		interp.OpenHandler(open),
		interp.ReadDirHandler2(func(_ context.Context, path string) ([]fs.DirEntry, error) { return nil, missing(path) }),
		interp.StatHandler(func(_ context.Context, path string, _ bool) (fs.FileInfo, error) { return nil, missing(path) }),
		interp.AccessHandler(func(_ context.Context, path string, _ interp.AccessMode) error { return missing(path) }),
	)
	return s, err
}

// environ answers for what the interpreter would otherwise ask the machine: the homes of users, and whose process it is.
type environ struct{ expand.Environ }

// Get implements expand.Environ.
func (e environ) Get(name string) expand.Variable {
	v := e.Environ.Get(name)
	if v.IsSet() {
		return v
	}
	user, home := strings.CutPrefix(name, "HOME ")
	switch {
	case home:
		return expand.Variable{Set: true, Kind: expand.String, Str: "~" + user}
	case name == "HOME":
		return expand.Variable{Set: true, Kind: expand.String, Str: "/"}
	case slices.Contains([]string{"UID", "EUID", "GID"}, name):
		return expand.Variable{Set: true, Kind: expand.String, Str: "0"}
	}
	return v
}

// open opens /dev/null. A container has no other file, and no room for one.
func open(_ context.Context, name string, flag int, _ fs.FileMode) (io.ReadWriteCloser, error) {
	switch {
	case name == "/dev/null":
		return null{}, nil
	case flag&syscall.O_CREAT != 0:
		return nil, &fs.PathError{Op: "create", Path: name, Err: syscall.EROFS}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// null is /dev/null.
type null struct{}

func (null) Read([]byte) (int, error)       { return 0, io.EOF }
func (null) Write(text []byte) (int, error) { return len(text), nil }
func (null) Close() error                   { return nil }

// script runs the commands of a text and returns the exit code of the last.
func (s *session) script(ctx context.Context, text string) int {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), "")
	if err == nil {
		syntax.Walk(file, func(n syntax.Node) bool {
			if stmt, ok := n.(*syntax.Stmt); ok && stmt.Background {
				err = fmt.Errorf("%s: & is not known here", stmt.Pos())
			}
			return true
		})
	}
	if err != nil {
		fmt.Fprintf(s.std.err, "sh: syntax error: %v\n", err)
		return codeUsage
	}
	code := 0
	for _, stmt := range file.Stmts {
		if code = s.run(ctx, stmt); s.Exited() {
			break
		}
	}
	return code
}

// run runs one command.
func (s *session) run(ctx context.Context, node syntax.Node) int {
	var status interp.ExitStatus
	switch err := s.Run(ctx, node); {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	default:
		fmt.Fprintf(s.std.err, "sh: %v\n", err)
		return codeUsage
	}
}

// interactive reads commands and runs them until there are no more.
func (s *session) interactive(ctx context.Context) (code int) {
	for !s.Exited() {
		if s.process.Terminal != nil {
			fmt.Fprint(s.std.out, "$ ")
		}
		line, err := s.std.in.line()
		if errors.Is(err, errInterrupted) {
			code = s.script(ctx, "(exit 130)") // what a program leaves that Control-C ends
			continue
		}
		if err != nil && line == "" {
			break
		}
		if strings.TrimSpace(line) != "" {
			code = s.script(ctx, line)
		}
	}
	return code
}

// program returns the name of a program without the directories that programs are in.
func program(name string) string {
	if dir := path.Dir(name); dir == "/bin" || dir == "/usr/bin" {
		return path.Base(name)
	}
	return name
}
