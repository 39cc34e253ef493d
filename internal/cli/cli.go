// Package cli is the command `slipway`: the root of its commands and how their errors become exit codes.
package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/internal/cli/access"
	"github.com/slipway-gitops/slipway/internal/cli/act"
	"github.com/slipway-gitops/slipway/internal/cli/agent"
	"github.com/slipway-gitops/slipway/internal/cli/app"
	"github.com/slipway-gitops/slipway/internal/cli/audit"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/declare"
	"github.com/slipway-gitops/slipway/internal/cli/fleet"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/ledger"
	"github.com/slipway-gitops/slipway/internal/cli/login"
	"github.com/slipway-gitops/slipway/internal/cli/notify"
	"github.com/slipway-gitops/slipway/internal/cli/offline"
	"github.com/slipway-gitops/slipway/internal/cli/people"
	"github.com/slipway-gitops/slipway/internal/cli/service"
	"github.com/slipway-gitops/slipway/internal/cli/setting"
	"github.com/slipway-gitops/slipway/internal/cli/stack"
	"github.com/slipway-gitops/slipway/internal/cli/support"
	"github.com/slipway-gitops/slipway/internal/cli/tenant"
)

// Run runs one command line, without the program's name, and returns the exit code.
func Run(ctx context.Context, args []string, streams iostream.Streams) int {
	root := newRoot(streams)
	root.SetArgs(args)
	return streams.Report(root.ExecuteContext(ctx))
}

func newRoot(streams iostream.Streams) *cobra.Command {
	common := &connect.Common{Streams: streams, Version: version}
	root := &cobra.Command{
		Use:   "slipway",
		Short: "GitOps delivery for Kubernetes clusters",
		Long: "Slipway keeps Kubernetes clusters in sync with Git. It reads Argo CD's Application resources as they are.\n\n" +
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
	root.AddCommand(declare.NewCmds(common)...)
	root.AddCommand(act.NewCmd(common))
	root.AddCommand(login.NewCmds(common)...)
	root.AddCommand(agent.NewCmd(common))
	root.AddCommand(fleet.NewCmds(common)...)
	root.AddCommand(tenant.NewCmds(common)...)
	root.AddCommand(service.NewCmds(common)...)
	root.AddCommand(people.NewCmds(common)...)
	root.AddCommand(access.NewCmds(common)...)
	root.AddCommand(setting.NewCmds(common)...)
	root.AddCommand(audit.NewCmd(common))
	root.AddCommand(notify.NewCmd(common))
	root.AddCommand(ledger.NewCmd(common))
	root.AddCommand(stack.NewCmds(common)...)
	root.AddCommand(support.NewCmd(common))
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
			return usage(cmd, plainly(err))
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

// plainly says which flags do not go together, or which are missing, as people would.
func plainly(err error) error {
	text := err.Error()
	_, rest, ok := strings.Cut(text, "[")
	group, tail, closed := strings.Cut(rest, "]")
	if !ok || !closed {
		return err
	}
	flags := func(names string) string { return "--" + strings.Join(strings.Fields(names), ", --") }
	switch {
	case strings.HasPrefix(text, "at least one of"):
		return fmt.Errorf("give one of %s", flags(group))
	case strings.Contains(tail, "none of the others can be"):
		if _, given, ok := strings.Cut(tail, "["); ok {
			given, _, _ = strings.Cut(given, "]")
			return fmt.Errorf("%s do not go together: give one of them", flags(given))
		}
	case strings.Contains(tail, "must all be set"):
		return fmt.Errorf("%s go together: give all of them", flags(group))
	}
	return err
}
