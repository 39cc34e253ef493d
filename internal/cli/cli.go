// Package cli is the command `slipway`: the root of its commands and how their errors become exit codes.
package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/internal/cli/access"
	"github.com/slipway-gitops/slipway/internal/cli/app"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/offline"
	"github.com/slipway-gitops/slipway/internal/cli/stack"
)

// Run runs one command line, without the program's name, and returns the exit code.
func Run(ctx context.Context, args []string, streams iostream.Streams) int {
	root := newRoot(streams)
	root.SetArgs(args)
	return streams.Report(root.ExecuteContext(ctx))
}

func newRoot(streams iostream.Streams) *cobra.Command {
	common := &access.Common{Streams: streams}
	root := &cobra.Command{
		Use:   "slipway",
		Short: "Deliver what Git says to Kubernetes clusters",
		Long: "Slipway keeps Kubernetes clusters at what Git says. It reads Argo CD's Application resources as they are.\n\n" +
			"Exit codes: 0 ok, 1 error, 2 wrong usage, 3 differs or not synced, 4 not logged in.",
		Example:       "  slipway up --detach\n  slipway app list\n  slipway render --app app.yaml --repo .",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	common.AddFlags(root.PersistentFlags())
	root.PersistentFlags().VarP(&common.Output, "output", "o", "print data as json or yaml instead of a table")
	root.AddCommand(app.NewCmd(common))
	root.AddCommand(offline.NewCmds(common)...)
	root.AddCommand(stack.NewCmds(common)...)
	root.AddCommand(newVersionCmd(common))
	asUsage(root)
	return root
}

// asUsage gives the errors that cobra itself finds the exit code of wrong usage, and makes a noun without a verb one.
func asUsage(cmd *cobra.Command) {
	usage := func(cmd *cobra.Command, err error) error {
		return iostream.Usagef("%w; see `%s --help`", err, cmd.CommandPath())
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.SetFlagErrorFunc(usage)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := cmd.ValidateFlagGroups(); err != nil {
			return usage(cmd, err)
		}
		return nil
	}
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return usage(cmd, err)
			}
			return nil
		}
	}
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.Args = cobra.ArbitraryArgs
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				hint := ""
				if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
					hint = fmt.Sprintf(", did you mean %s?", strings.Join(near, " or "))
				}
				return usage(cmd, fmt.Errorf("unknown command %q%s", args[0], hint))
			}
			return cmd.Help()
		}
	}
	for _, sub := range cmd.Commands() {
		asUsage(sub)
	}
}
