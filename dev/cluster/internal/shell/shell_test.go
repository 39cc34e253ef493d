package shell

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestCommands(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, stdin string
		args        []string
		out, err    string
		code        int
	}{
		{name: "echo", args: []string{"echo", "a", "b  c"}, out: "a b  c\n"},
		{name: "echo without an end", args: []string{"/bin/echo", "-n", "a"}, out: "a"},
		{name: "cat", args: []string{"cat"}, stdin: "one\ntwo", out: "one\ntwo"},
		{name: "cat of nothing", args: []string{"cat"}},
		{name: "cat of a file of the host", args: []string{"cat", "/etc/passwd"}, err: "cat: /etc/passwd: No such file or directory\n", code: 1},
		{name: "env", args: []string{"env"}, out: "A=1\nB=two words\n"},
		{name: "hostname", args: []string{"hostname"}, out: "web-0\n"},
		{name: "exit", args: []string{"sh", "-c", "exit 7"}, code: 7},
		{name: "exit of the last command", args: []string{"sh", "-c", "false; exit"}, code: 1},
		{name: "what comes after exit", args: []string{"sh", "-c", "exit 3; echo no"}, code: 3},
		{name: "no number", args: []string{"sh", "-c", "exit x"}, err: "invalid exit status code: \"x\"\n", code: 2},
		{name: "unknown", args: []string{"sh", "-c", "ls /; echo $?"}, out: "127\n", err: "sh: ls: not found\n"},
		{name: "quotes and variables", args: []string{"sh", "-c", `echo '$A "x"' "$B!" ${A}2 \$A "" $C.`}, out: "$A \"x\" two words! 12 $A  .\n"},
		{name: "and, or", args: []string{"sh", "-c", "false && echo no || echo yes; true || echo no"}, out: "yes\n"},
		{name: "redirections", args: []string{"sh", "-c", "echo a >&2; ls 2>/dev/null; ls >/dev/null 2>&1; echo b 1>&2 > /dev/null"}, err: "a\n"},
		{name: "a file to write", args: []string{"sh", "-c", "echo a > /tmp/x"}, err: "create /tmp/x: read-only file system\n", code: 1},
		{name: "a pipe", args: []string{"sh", "-c", "env | cat"}, out: "A=1\nB=two words\n"},
		{name: "an open quote", args: []string{"sh", "-c", "echo 'a"}, err: "sh: syntax error: 1:6: reached EOF without closing quote `'`\n", code: 2},
		{name: "nothing to go on with", args: []string{"sh", "-c", "true &&"}, err: "sh: syntax error: 1:6: `&&` must be followed by a statement\n", code: 2},
		{name: "a script by the input", args: []string{"sh"}, stdin: "echo a # all\n\nexit 4\necho b\n", out: "a\n", code: 4},
		{name: "the choice of a shell", args: []string{"sh", "-c", "command -v bash >/dev/null 2>&1 && exec bash; exec sh"}, stdin: "echo here\n", out: "here\n"},
		{name: "a program of the host as a script", args: []string{"sh", "/bin/ls"}, err: "sh: /bin/ls: cannot open: No such file\n", code: 127},
		{name: "a loop", args: []string{"sh", "-c", "for i in a b; do echo $i; done"}, out: "a\nb\n"},
		{name: "a command in the background", args: []string{"sh", "-c", "cat & echo a"}, err: "sh: syntax error: 1:1: & is not known here\n", code: 2},
		{name: "a script of the host", args: []string{"sh", "-c", ". /etc/profile"}, err: "sh: .: not found\n", code: 127},
		{name: "a file of the host to read", args: []string{"sh", "-c", "cat < /etc/passwd"}, err: "open /etc/passwd: file does not exist\n", code: 1},
		{name: "names of files of the host", args: []string{"sh", "-c", "echo /etc/pass*"}, out: "/etc/pass*\n"},
		{
			name: "the users of the host", args: []string{"sh", "-c", "echo ~ ~root x=~root:~root $HOME $UID $EUID $GID"},
			out: "/ ~root x=~root:~root / 0 0 0\n",
		},
		{name: "programs of the host", args: []string{"sh", "-c", "command -v ls; type ls; cd /etc; command ls"}, err: "sh: type: not found\nsh: cd: not found\nsh: only `command -v NAME` is known here\n", code: 2},
		{name: "no terminal", args: []string{"stty", "size"}, err: "stty: standard input is no terminal\n", code: 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out, errors bytes.Buffer
			code, err := Process{
				Args: test.args, Env: []string{"A=1", "B=two words"}, Hostname: "web-0",
				Stdin: strings.NewReader(test.stdin), Stdout: &out, Stderr: &errors,
			}.Run(t.Context())
			if err != nil || code != test.code {
				t.Errorf("code %d, error %v; want code %d", code, err, test.code)
			}
			if out.String() != test.out || errors.String() != test.err {
				t.Errorf("it says %q and %q, want %q and %q", out.String(), errors.String(), test.out, test.err)
			}
		})
	}
}

func TestAProgramOfTheHostIsNotThere(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"bash"}, {"/usr/bin/git"}, {"../../bin/sh"}, {"./sh"}, {""}, {}} {
		if _, err := (Process{Args: args, Stdout: io.Discard, Stderr: io.Discard}).Run(t.Context()); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q gives %v, want ErrNotFound", args, err)
		}
	}
}

func TestATerminalShowsWhatIsTypedAndHasASize(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, typed, shown string
		code               int
	}{
		{"a command", "echo hi\rexit 5\r", "$ echo hi\r\nhi\r\n$ exit 5\r\n", 5},
		{"the size", "stty size\n\x04", "$ stty size\r\n24 80\r\n$ ", 0},
		{"a correction", "echp\x7fo é\x7fe\r\x04", "$ echp\b \bo é\b \be\r\ne\r\n$ ", 0},
		{"all of a line", "no\x15echo\r\x04", "$ no\b \b\b \becho\r\n\r\n$ ", 0},
		{"an interruption", "never\x03exit\r", "$ never^C\r\n$ exit\r\n", 130},
		{"an interruption of a program", "cat\ra\r\x03exit\r", "$ cat\r\na\r\na\r\n^C\r\n$ exit\r\n", 130},
		{"the end of the input of a program", "cat\ra\r\x04echo b\r\x04", "$ cat\r\na\r\na\r\n$ echo b\r\nb\r\n$ ", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			terminal := &Terminal{}
			terminal.Resize(80, 24)
			code, err := Process{Args: []string{"sh"}, Stdin: strings.NewReader(test.typed), Stdout: &out, Terminal: terminal}.Run(t.Context())
			if err != nil || code != test.code || out.String() != test.shown {
				t.Errorf("it shows %q and ends with %d, %v; want %q and %d", out.String(), code, err, test.shown, test.code)
			}
		})
	}
}

// The interpreter makes files of its own in the directory of temporary files, and opens what looks like one without asking.
func TestATemporaryFileIsNotThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var errors bytes.Buffer
	script := "TMPDIR=" + dir + "; echo a > " + dir + "/sh-interp-0; echo a > /tmp/sh-interp-slipway"
	code, err := Process{Args: []string{"sh", "-c", script}, Env: []string{"TMPDIR=" + dir}, Stdout: io.Discard, Stderr: &errors}.Run(t.Context())
	if err != nil || code == 0 || strings.Count(errors.String(), "read-only file system") != 2 {
		t.Errorf("it ends with %d, %v and says %q", code, err, errors.String())
	}
}

func TestALineHasABound(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 100*maxLine) + "\rexit\r"
	var out bytes.Buffer
	if _, err := (Process{Args: []string{"sh"}, Stdin: strings.NewReader(long), Stdout: &out, Terminal: &Terminal{}}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "a"); got < maxLine || got > 3*maxLine {
		t.Errorf("%d characters are kept of a line, want about %d", got, maxLine)
	}
}
