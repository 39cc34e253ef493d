package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/internal/agent"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

var update = flag.Bool("update", false, "write the reference pages anew")

// Marks around what the test writes into a page; the rest of the page is written by hand.
const (
	beginMark = "<!-- generated: begin; go test ./internal/cli -run Reference -update -->\n"
	endMark   = "<!-- generated: end -->\n"
)

func TestReferencePagesSayWhatTheProgramsSay(t *testing.T) {
	// Defaults come from the environment; the pages are about nobody's in particular.
	for name, value := range map[string]string{"HOME": "/home/you", "XDG_DATA_HOME": "", "SLIPWAY_NAMESPACE": "", "TMPDIR": ""} {
		t.Setenv(name, value)
	}
	var text bytes.Buffer
	root := newRoot(iostream.Streams{In: strings.NewReader(""), Out: &text, Err: &text})
	pages := map[string]string{"cli.md": commands(root), "agent.md": flagTable(agent.Command().Flags())}
	for name, want := range pages {
		file := filepath.Join("..", "..", "docs", "reference", name)
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, found := strings.Cut(string(raw), beginMark)
		got, after, closed := strings.Cut(rest, endMark)
		if !found || !closed {
			t.Fatalf("%s has no marks around its generated part", file)
		}
		if *update {
			if err := os.WriteFile(file, []byte(before+beginMark+want+endMark+after), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s is out of date; run go test ./internal/cli -run Reference -update (-want +got):\n%s", file, d)
		}
	}
}

// commands describes a command and those below it, in the order of their names.
func commands(cmd *cobra.Command) string {
	var b strings.Builder
	b.WriteString("\n## " + cmd.CommandPath() + "\n\n")
	about := cmd.Long
	if about == "" {
		about = cmd.Short + "."
	}
	b.WriteString(about + "\n\n```\n" + cmd.UseLine() + "\n```\n")
	if cmd.Example != "" {
		b.WriteString("\nExamples:\n\n```\n" + unindent(cmd.Example) + "\n```\n")
	}
	flags := cmd.NonInheritedFlags()
	if flags.HasAvailableFlags() {
		title := "Flags"
		if !cmd.HasParent() {
			title = "Flags of every command"
		}
		b.WriteString("\n" + title + ":\n" + flagTable(flags))
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" && sub.Name() != "completion" {
			b.WriteString(commands(sub))
		}
	}
	return b.String()
}

func flagTable(flags *pflag.FlagSet) string {
	var b strings.Builder
	b.WriteString("\n| flag | default | |\n|---|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if kind != "" {
			name += " " + kind
		}
		value := f.DefValue
		switch value {
		case "", "[]", "false":
			value = ""
		default:
			value = "`" + value + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", cell(name), value, cell(usage))
	})
	return b.String()
}

// cell keeps a text from ending its cell of a table, and what looks like a tag from being one.
func cell(text string) string { return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text) }

func unindent(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return strings.Join(lines, "\n")
}
