package tenant

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

func newSettingsCmd(common *connect.Common) *cobra.Command {
	cmd := &cobra.Command{
		Use: "settings", Short: "Settings of the server",
		Example: "  slipway settings get\n  slipway settings set --audit-retention-days 730",
	}
	cmd.AddCommand(newSettingsGetCmd(common), newSettingsSetCmd(common))
	return cmd
}

func newSettingsGetCmd(common *connect.Common) *cobra.Command {
	return &cobra.Command{
		Use: "get", Short: "Show them", Args: cobra.NoArgs, Example: "  slipway settings get\n  slipway settings get -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			found, err := s.Client.Settings(cmd.Context())
			if err != nil {
				return s.Explain(err)
			}
			return noun.Print(common, found)
		},
	}
}

type settingsOptions struct {
	*connect.Common
	wanted api.Settings
	reason string
	dryRun bool
}

func newSettingsSetCmd(common *connect.Common) *cobra.Command {
	o := settingsOptions{Common: common}
	cmd := &cobra.Command{
		Use: "set", Short: "Change the given ones, and keep the others", Args: cobra.NoArgs,
		Example: "  slipway settings set --audit-retention-days 730 --reason 'the auditors ask for two years'\n" +
			"  slipway settings set --command-retention-days 14 --dry-run",
		RunE: func(cmd *cobra.Command, _ []string) error { return settingsRun(cmd.Context(), o, cmd.Flags().Changed) },
	}
	flags := cmd.Flags()
	flags.IntVar(&o.wanted.AuditRetentionDays, "audit-retention-days", 0, "`days` that entries of the audit are kept; 0 for ever")
	flags.IntVar(&o.wanted.CommandRetentionDays, "command-retention-days", 0, "`days` that finished commands are kept, 1 at least")
	flags.BoolVar(&o.dryRun, "dry-run", false, "only validate at the server, and change nothing")
	flags.StringVar(&o.reason, "reason", "", "why, for the audit")
	cmd.MarkFlagsOneRequired("audit-retention-days", "command-retention-days")
	return cmd
}

func settingsRun(ctx context.Context, o settingsOptions, given func(string) bool) error {
	s, err := o.MustServer()
	if err != nil {
		return err
	}
	now, err := s.Client.Settings(ctx) // with its version: a concurrent change by another user is refused
	if err != nil {
		return s.Explain(err)
	}
	if given("audit-retention-days") {
		now.AuditRetentionDays = o.wanted.AuditRetentionDays
	}
	if given("command-retention-days") {
		now.CommandRetentionDays = o.wanted.CommandRetentionDays
	}
	made, err := s.Client.Because(o.reason).SetSettings(ctx, now, o.dryRun)
	if err != nil {
		return s.Explain(err)
	}
	if o.Output == iostream.Table && !o.dryRun {
		o.Sayf("settings of server %s changed", s.Name.Server)
	}
	return noun.Print(o.Common, made)
}
