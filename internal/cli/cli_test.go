package cli

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/engine/render/worker"
	"github.com/slipway-gitops/slipway/internal/sandbox"
)

func TestMain(m *testing.M) {
	if sandbox.IsLauncher(os.Args) { // and to confine plugins
		sandbox.Launch(os.Args)
		os.Exit(1)
	}
	if worker.IsChild(os.Args) { // the command runs this executable again to render
		if worker.Main(os.Args, os.Stdin, os.Stdout) != nil {
			os.Exit(1)
		}
		return
	}
	testscript.Main(m, map[string]func(){
		"slipway": func() { os.Exit(Run(context.Background(), os.Args[1:], iostream.System())) },
	})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("KUBECONFIG", "")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits},
	})
}

// exits runs a command that must end with the given code: exits 3 slipway diff ...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGS...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		text, ok := strings.CutPrefix(err.Error(), "exit status ")
		if got, err = strconv.Atoi(text); !ok || err != nil {
			ts.Fatalf("%v did not run to its end: %v", args[1:], err)
		}
	}
	if got != want {
		ts.Fatalf("%v exits with %d, want %d", args[1:], got, want)
	}
}

func TestEveryCommandHasHelpAndAnExample(t *testing.T) {
	t.Parallel()
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		if cmd.Short == "" {
			t.Errorf("%s has no short help", cmd.CommandPath())
		}
		if !strings.Contains(cmd.Example, "slipway ") {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	check(newRoot(iostream.Streams{}))
}

func TestExamplesUseFlagsThatExist(t *testing.T) {
	t.Parallel()
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, word := range strings.Fields(cmd.Example) {
			name, isFlag := strings.CutPrefix(word, "--")
			name, _, _ = strings.Cut(name, "=")
			if isFlag && name != "" && cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil && !cmd.HasSubCommands() && !strings.Contains(cmd.Example, "|") {
				t.Errorf("%s has an example with the flag --%s, which it does not have", cmd.CommandPath(), name)
			}
		}
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	check(newRoot(iostream.Streams{}))
}

// TestAFlagIsCalledTheSameEverywhere looks at flags by what they take: whoever has learned one knows it for all commands.
func TestAFlagIsCalledTheSameEverywhere(t *testing.T) {
	t.Parallel()
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			for _, noun := range []string{"environment", "service"} {
				if takes, _ := pflag.UnquoteUsage(flag); takes == noun && flag.Name != noun || flag.Name == "env" {
					t.Errorf("%s calls the flag for a %s --%s, others call it --%s", cmd.CommandPath(), noun, flag.Name, noun)
				}
			}
		})
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	check(newRoot(iostream.Streams{}))
}

func TestExamplesNameCommandsThatExist(t *testing.T) {
	t.Parallel()
	root := newRoot(iostream.Streams{})
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Example) {
			_, call, isCall := strings.Cut(line, "slipway ")
			if !isCall {
				continue
			}
			found, rest, err := root.Find(strings.Fields(call))
			// What has commands below it takes no arguments of its own, unless it says so.
			unknown := found.HasSubCommands() && !strings.Contains(found.Use, " ") && len(rest) > 0 && !strings.HasPrefix(rest[0], "-")
			if err != nil || unknown {
				t.Errorf("%s has an example with a command that there is none of: %s", cmd.CommandPath(), strings.TrimSpace(line))
			}
		}
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	check(root)
}

func TestTableIsAlignedOnATerminalAndTabSeparatedElsewhere(t *testing.T) {
	t.Parallel()
	rows := iostream.Rows{Header: []string{"NAME", "STATE"}}
	rows.Add("web", "Synced")
	rows.Add("a-long-name", "two\nlines\tand \x1b[31mcol\u202eour\u2066")
	for name, c := range map[string]struct {
		tty  bool
		want string
	}{
		"terminal": {true, "NAME          STATE\nweb           Synced\na-long-name   two lines and [31mcolour\n"},
		"pipe":     {false, "web\tSynced\na-long-name\ttwo lines and [31mcolour\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := (iostream.Streams{Out: &out, TTY: c.tty}).Table(&rows); err != nil {
				t.Fatal(err)
			}
			if out.String() != c.want {
				t.Errorf("got %q, want %q", out.String(), c.want)
			}
		})
	}
}
