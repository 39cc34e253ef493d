package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

// manifestFlag reports whether a flag takes a file of objects that somebody wrote.
func manifestFlag(flag *pflag.Flag) bool {
	if takes, _ := pflag.UnquoteUsage(flag); takes != "file" {
		return false
	}
	return flag.Shorthand == "f" || slices.Contains([]string{"settings", "desired", "live"}, flag.Name) || flag.Name == "app"
}

// TestEveryCommandNamesFileAndLineOfWhatHasTwoMeanings finds the commands that read files by their flags, so that a new one is
// here as well. None of them gets as far as a cluster or a server.
func TestEveryCommandNamesFileAndLineOfWhatHasTwoMeanings(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	t.Setenv("HOME", t.TempDir())
	good := filepath.Join(t.TempDir(), "good.yaml")
	write(t, good, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm}\n")
	kinds := map[string]string{"projectset": "AppProject", "agent roles": "AppProject", "appset": "ApplicationSet"}
	found := 0
	eachCommand(newRoot(iostream.Streams{}), func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if !manifestFlag(flag) {
				return
			}
			found++
			kind := "Application"
			for word, k := range kinds {
				if strings.Contains(cmd.CommandPath(), word) {
					kind = k
				}
			}
			head := "apiVersion: argoproj.io/v1alpha1\nkind: " + kind + "\nmetadata:\n  name: web\n"
			for line, text := range map[int]string{
				5: head + "  NAME: other\n",
				6: head + "spec:\n  Template: {}\n  Source: {}\n  SourceRepos: []\n",
				7: head + "spec: {}\n# a comment\nspec: {}\n",
			} {
				t.Run(fmt.Sprintf("%s --%s %d", cmd.CommandPath(), flag.Name, line), func(t *testing.T) {
					file := filepath.Join(t.TempDir(), "given.yaml")
					write(t, file, text)
					said := complain(t, cmd, flag, file, good)
					if !strings.Contains(said, "given.yaml:") || line != 6 && !strings.Contains(said, fmt.Sprintf("given.yaml:%d: ", line)) {
						t.Errorf("line %d is wrong, and it says: %s", line, said)
					}
				})
			}
		})
	})
	if found < 10 {
		t.Errorf("only %d flags take a file: the test does not find them any more", found)
	}
}

// complain runs a command with a file for one flag, and with what else it needs, and returns what it says of it.
func complain(t *testing.T, cmd *cobra.Command, flag *pflag.Flag, file, good string) string {
	t.Helper()
	args := strings.Fields(cmd.CommandPath())[1:]
	if cmd.Name() == "edit" || strings.Contains(cmd.CommandPath(), "action run") {
		args = append(args, "web")
	}
	args = append(args, "--"+flag.Name, file)
	cmd.LocalFlags().VisitAll(func(other *pflag.Flag) {
		if other.Name != flag.Name && manifestFlag(other) && other.Name != "settings" && flag.Name != "file" {
			args = append(args, "--"+other.Name, good)
		}
		if other.Name == "repo" && flag.Name == "app" {
			args = append(args, "--repo", t.TempDir())
		}
	})
	var out, said bytes.Buffer
	t.Logf("slipway %s", strings.Join(args, " "))
	code := Run(t.Context(), args, iostream.Streams{In: strings.NewReader(""), Out: &out, Err: &said})
	if code == iostream.CodeOK || out.Len() > 0 {
		t.Errorf("slipway %s ends with %d and prints %q", strings.Join(args, " "), code, out.String())
	}
	return said.String()
}

func eachCommand(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, sub := range cmd.Commands() {
		eachCommand(sub, f)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
