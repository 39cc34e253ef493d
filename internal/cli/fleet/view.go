package fleet

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

func newViewCmd(common *connect.Common) *cobra.Command {
	cmd := &cobra.Command{
		Use: "view", Aliases: []string{"views"}, Short: "Saved filters: your own, and everyone's",
		Example: "  slipway fleet view list\n  slipway fleet list --view degraded",
	}
	list := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List your saved filters, and everyone's", Args: cobra.NoArgs,
		Example: "  slipway fleet view list\n  slipway fleet view list -o yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			found, err := s.Client.Views(cmd.Context())
			if err != nil {
				return s.Explain(err)
			}
			return noun.PrintList(common, found.Items, []string{"NAME", "WHOSE", "FILTER", "DESCRIPTION"}, func(v *api.View) []string {
				return []string{v.Name, whose(v.Everyone), words(&v.Filter), v.Description}
			}, "no saved filters; make one with `slipway fleet view save NAME`")
		},
	}
	cmd.AddCommand(list, newViewSaveCmd(common), newViewDeleteCmd(common))
	return cmd
}

func whose(everyone bool) string {
	if everyone {
		return "everyone's"
	}
	return "yours"
}

type saveOptions struct {
	*connect.Common
	choice
	name, description, reason string
	everyone, dryRun          bool
}

func newViewSaveCmd(common *connect.Common) *cobra.Command {
	o := saveOptions{Common: common}
	cmd := &cobra.Command{
		Use: "save NAME", Short: "Save a filter under a name, and replace an existing one", Args: cobra.ExactArgs(1),
		Long: "Ages in the filter are relative to the time of use.\n" +
			"Shared ones require the permission savedview_edit at the account.",
		Example: "  slipway fleet view save degraded --health Degraded,Missing\n" +
			"  slipway fleet view save late --drift-older 2h --type Production --everyone --description 'long out of sync'",
		ValidArgsFunction: completeViews(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return saveRun(cmd.Context(), &o)
		},
	}
	o.addFlags(common, cmd, false)
	cmd.Flags().BoolVar(&o.everyone, "everyone", false, "save it for everyone, not only for yourself")
	cmd.Flags().StringVar(&o.description, "description", "", "`text` that describes it")
	cmd.Flags().StringVar(&o.reason, "reason", "", "why, for the audit")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only validate at the server, and change nothing")
	return cmd
}

func saveRun(ctx context.Context, o *saveOptions) error {
	s, filter, err := o.ask(ctx, o.Common)
	if err != nil {
		return err
	}
	saved, err := s.Client.Because(o.reason).SaveView(ctx,
		api.View{Name: o.name, Everyone: o.everyone, Description: o.description, Filter: filter}, o.dryRun)
	if err != nil {
		return s.Explain(err)
	}
	return noun.Done(o.Common, "saved filter "+o.name, "saved", o.dryRun, &saved)
}

func newViewDeleteCmd(common *connect.Common) *cobra.Command {
	var everyone, dryRun bool
	var reason string
	cmd := &cobra.Command{
		Use: "delete NAME...", Short: "Delete saved filters of your own, or everyone's", Args: cobra.MinimumNArgs(1),
		Example:           "  slipway fleet view delete degraded\n  slipway fleet view delete late --everyone",
		ValidArgsFunction: completeViews(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			for _, name := range args {
				if err := s.Client.Because(reason).DeleteView(cmd.Context(), name, everyone, dryRun); err != nil {
					return s.Explain(err)
				}
				if err := noun.Done(common, "saved filter "+name, "deleted", dryRun, nil); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&everyone, "everyone", false, "delete everyone's, and not your own")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only check whether it could be deleted")
	return cmd
}

func completeViews(common *connect.Common) cobra.CompletionFunc {
	return noun.Complete(common, func(ctx context.Context, s *connect.Server, prefix string) ([]string, error) {
		found, err := s.Client.Views(ctx)
		var out []string
		for _, v := range found.Items {
			if strings.HasPrefix(v.Name, prefix) {
				out = append(out, cobra.CompletionWithDesc(v.Name, v.Description))
			}
		}
		return out, err
	})
}
