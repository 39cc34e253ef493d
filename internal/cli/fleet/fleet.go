// Package fleet is `slipway fleet` and `slipway job`: the applications of all agents together, and the same done with many.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

// NewCmds returns the commands.
func NewCmds(common *connect.Common) []*cobra.Command {
	return []*cobra.Command{newFleetCmd(common), newJobCmd(common)}
}

func newFleetCmd(common *connect.Common) *cobra.Command {
	cmd := &cobra.Command{
		Use: "fleet", Short: "The applications of all agents: count, find and operate them together",
		Example: "  slipway fleet attention\n  slipway fleet summary\n  slipway fleet list --health Degraded " +
			"--environment org.acme.production\n" +
			"  slipway fleet sync -l team=shop --sync OutOfSync --dry-run",
	}
	cmd.AddCommand(newAttentionCmd(common), newSummaryCmd(common), newListCmd(common), newSyncCmd(common), newRefreshCmd(common),
		newRollbackCmd(common),
		newViewCmd(common), newDORACmd(common), newLevelsCmd(common))
	return cmd
}

// names is the flag --output of commands that can print names alone.
type names struct {
	format *iostream.Format
	only   bool
}

// String is the format as it is written on the command line.
func (n *names) String() string {
	if n.only {
		return "name"
	}
	if n.format == nil { // flags make a value of their own to know what the zero value prints
		return ""
	}
	return n.format.String()
}

// Type is what the help text calls a value.
func (n *names) Type() string { return "table|json|yaml|name" }

// Set reads a format.
func (n *names) Set(text string) error {
	n.only = text == "name"
	if n.only || text == "table" {
		*n.format = iostream.Table
		return nil
	}
	if text == "" || n.format.Set(text) != nil {
		return errors.New("want table, json, yaml or name")
	}
	return nil
}

// addFlags registers it in place of the one that all commands have.
func (n *names) addFlags(common *connect.Common, flags *pflag.FlagSet, what string) {
	n.format = &common.Output
	flags.VarP(n, "output", "o", "print data as a table, json or yaml, or only the ids of "+what)
}

// print prints one name on each line.
func (n *names) print(common *connect.Common, list []string) error {
	for _, name := range list {
		if _, err := fmt.Fprintln(common.Out, iostream.Clean(name)); err != nil {
			return err
		}
	}
	return nil
}

// several joins the words that are not empty.
func several(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), ", ")
}

// fixed completes a flag with words that are known.
func fixed(cmd *cobra.Command, flag string, words ...string) {
	// A flag that is not there shows in the first test of its command.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// interrupted is true where a person wants no more of a command.
func interrupted(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }
