package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

// TestEveryCommandThatIsShownExists reads what people are shown, pages of the documentation, alerts, pages of the user interface and
// messages of the programs, and runs each command line in it as far as its flags: a command or a flag that is gone fails here.
func TestEveryCommandThatIsShownExists(t *testing.T) {
	t.Parallel()
	shown := 0
	for _, place := range []struct{ at, ext string }{
		{"README.md", ".md"},
		{"ARCHITECTURE.md", ".md"},
		{"CONTRIBUTING.md", ".md"},
		{"docs", ".md"},
		{"changelog", ".md"},
		{"deploy", ".yaml"},
		{"web/src", ".tsx"},
		{"web/src", ".ts"},
		{"internal", ".go"},
		{"api", ".go"},
	} {
		top := filepath.Join("..", "..", filepath.FromSlash(place.at))
		err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(file) != place.ext || strings.HasSuffix(file, "_test.go") || strings.Contains(file, ".test.") {
				return err
			}
			raw, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for _, line := range commandLines(string(raw), place.ext == ".md") {
				shown++
				if err := commandExists(line); err != nil {
					t.Errorf("%s shows `slipway %s`: %v", strings.TrimPrefix(file, "../../"), strings.Join(line, " "), err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if shown < 500 { // there are some 1,300
		t.Errorf("only %d commands were found: what looks for them is wrong", shown)
	}
}

func TestACommandThatDoesNotExistIsFound(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"`slipway repo add` with the same URL":                        false,
		"`slipway app synk web`":                                      false,
		"`slipway app sync web --prun`":                               false,
		"`slipway app sync web --prune`":                              true,
		"`slipway app`, `slipway …` and `slipway app COMMAND`":        true,
		"```\n$ slipway app list -o json | jq .\n```":                 true,
		"```\nA=b bin/slipway app list --nothing\n```":                false,
		"```\nslipway app get \\\n  web --nothing\n```":               false,
		"```\nslipway app get web   # see --nothing\n```":             true,
		"```\nslipway app get web && slipway app gett web\n```":       false,
		"```\nx=$(slipway app gett web) || exit\n```":                 false,
		"slipway is a program, and slipway app nothing is no command": true,
	} {
		lines := commandLines(text, true)
		var err error
		for _, line := range lines {
			if wrong := commandExists(line); wrong != nil {
				err = wrong
			}
		}
		if (err == nil) != ok {
			t.Errorf("%q has the commands %q: %v", text, lines, err)
		}
	}
}

// commandLines finds command lines of slipway in a text, as their arguments: in code quotes, and in a page also in blocks of code.
func commandLines(text string, page bool) [][]string {
	var out [][]string
	inside := "[^`\n]" // the text of a quote; one in source code does not go on in another literal
	if page {
		inside = "[^`]"
		var rest strings.Builder
		block := false
		for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
			switch {
			case strings.HasPrefix(strings.TrimSpace(line), "```"):
				block = !block
			case block:
				out = append(out, inShell(line, true)...)
			default:
				rest.WriteString(line)
			}
		}
		text = rest.String()
	}
	built := regexp.MustCompile(`"\s*\+`) // by code, of parts
	for _, m := range regexp.MustCompile("`((?:[A-Za-z0-9_./$-]+ )*?(?:\\./)?(?:bin/)?slipway "+inside+"*)`").FindAllStringSubmatch(text, -1) {
		if !built.MatchString(m[1]) {
			out = append(out, inShell(m[1], false)...)
		}
	}
	return out
}

// inShell finds the commands in a line for a shell. In a block of code the line is a command, or output that shows none.
func inShell(line string, block bool) [][]string {
	begin := regexp.MustCompile(`(^|[;&|(!]|\$ |\bthen|\bdo)\s*(?:[A-Z_]+=\S* )*(?:\./)?(?:bin/)?slipway(\s|$)`)
	if !block {
		begin = regexp.MustCompile(`(^|[\s;&|(!])(?:\./)?(?:bin/)?slipway(\s)`)
	}
	var out [][]string
	for at := begin.FindStringIndex(line); at != nil; at = begin.FindStringIndex(line) {
		line = line[at[1]:]
		out = append(out, words(line))
	}
	return out
}

// words splits the arguments of the first command in a line, as a shell does; what is in quotes is one word.
func words(line string) []string {
	var out []string
	var word strings.Builder
	var quote rune
	in := false
	end := func() {
		if in {
			out = append(out, word.String())
		}
		word.Reset()
		in = false
	}
	for _, r := range line {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, in = r, true
		case unicode.IsSpace(r):
			end()
		case r == '#' && !in, strings.ContainsRune("|;&><)", r):
			end()
			return out
		default:
			in = true
			word.WriteRune(r)
		}
	}
	end()
	return out
}

// commandExists follows the words of a command line through the commands, and looks up its flags.
func commandExists(line []string) error {
	cmd := newRoot(iostream.Streams{})
	cmd.InitDefaultCompletionCmd()
	known := func(name string) *pflag.Flag {
		if flag := cmd.Flags().Lookup(name); flag != nil {
			return flag
		}
		return cmd.InheritedFlags().Lookup(name)
	}
	named := true // words may still name a command
	for i := 0; i < len(line); i++ {
		word := line[i]
		name, isFlag := strings.CutPrefix(word, "--")
		switch {
		case word == "--":
			return nil
		case isFlag:
			name, _, with := strings.Cut(strings.TrimRight(name, ".,:]…"), "=")
			if name == "help" || name == "" {
				continue
			}
			flag := known(name)
			if flag == nil {
				return fmt.Errorf("it has no flag --%s", name)
			}
			if !with && flag.NoOptDefVal == "" {
				i++ // its value
			}
		case strings.HasPrefix(word, "-") && len(word) > 1 && unicode.IsLetter(rune(word[1])):
			short := word[1:2]
			flag := cmd.Flags().ShorthandLookup(short)
			if flag == nil {
				flag = cmd.InheritedFlags().ShorthandLookup(short)
			}
			if flag == nil && short != "h" {
				return fmt.Errorf("it has no flag -%s", short)
			}
			if flag != nil && flag.NoOptDefVal == "" && len(word) == 2 {
				i++
			}
		case named && cmd.HasSubCommands():
			next := below(cmd, word)
			if next == nil {
				if placeholder(word) {
					return nil
				}
				if cmd.Use != cmd.Name() { // it has arguments of its own
					named = false
					continue
				}
				return fmt.Errorf("%s has no command %s", cmd.CommandPath(), word)
			}
			cmd = next
		default:
			named = false
		}
	}
	return nil
}

// placeholder is a word that stands for any command, or for more of it.
func placeholder(word string) bool {
	return strings.ContainsAny(word, "…<[{%$") || strings.HasPrefix(word, "...") || word == strings.ToUpper(word)
}

func below(cmd *cobra.Command, name string) *cobra.Command {
	for _, sub := range cmd.Commands() {
		if sub.Name() == name || sub.HasAlias(name) {
			return sub
		}
	}
	return nil
}
