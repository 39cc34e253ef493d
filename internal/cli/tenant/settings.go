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
			"  slipway settings set --command-retention-days 14 --dry-run\n" +
			"  slipway settings set --banner 'Maintenance on Saturday from 20:00 UTC' --banner-severity warning",
		RunE: func(cmd *cobra.Command, _ []string) error { return settingsRun(cmd.Context(), o, cmd.Flags().Changed) },
	}
	flags := cmd.Flags()
	flags.IntVar(&o.wanted.AuditRetentionDays, "audit-retention-days", 0, "`days` that entries of the audit are kept; 0 for ever")
	flags.IntVar(&o.wanted.CommandRetentionDays, "command-retention-days", 0, "`days` that finished commands are kept, 1 at least")
	flags.StringVar(&o.wanted.Banner.Text, "banner", "", "`text` at the top of every page; empty for none")
	flags.StringVar(&o.wanted.Banner.URL, "banner-url", "", "`address` that the banner leads to")
	flags.StringVar(&o.wanted.Banner.Severity, "banner-severity", "", "how the banner looks: info, warning or critical")
	flags.BoolVar(&o.wanted.Banner.Permanent, "banner-permanent", false, "readers cannot dismiss the banner")
	flags.BoolVar(&o.wanted.Badges, "badges", false, "applications have status badges, which need no session")
	flags.BoolVar(&o.dryRun, "dry-run", false, "only validate at the server, and change nothing")
	flags.StringVar(&o.reason, "reason", "", "why, for the audit")
	cmd.MarkFlagsOneRequired("audit-retention-days", "command-retention-days", "banner", "banner-url", "banner-severity",
		"banner-permanent", "badges")
	return cmd
}

// bannerOf is the banner that was there with what is given. Without a text there is none.
func bannerOf(was, wanted api.Banner, given func(string) bool) api.Banner {
	if given("banner") {
		was.Text = wanted.Text
		if wanted.Text == "" {
			return api.Banner{}
		}
	}
	if given("banner-url") {
		was.URL = wanted.URL
	}
	if given("banner-severity") {
		was.Severity = wanted.Severity
	}
	if given("banner-permanent") {
		was.Permanent = wanted.Permanent
	}
	return was
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
	now.Banner = bannerOf(now.Banner, o.wanted.Banner, given)
	if given("badges") {
		now.Badges = o.wanted.Badges
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
