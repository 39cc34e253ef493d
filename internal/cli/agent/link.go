package agent

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

func newLinkCmd(common *connect.Common, n *noun.Noun[api.Agent, *api.Agent]) *cobra.Command {
	var reason string
	var dryRun bool
	cmd := &cobra.Command{
		Use: "link ID", Short: "Find services and environments for the applications of an agent that lack one, and make what is missing",
		Args: cobra.ExactArgs(1),
		Long: "Link the applications of an agent that belong to no service or environment: to those that their labels name, otherwise to a\n" +
			"service named like the application, without the name of an environment at its end (checkout-staging is service\n" +
			"checkout in environment staging). The command creates what is missing; --dry-run only lists it.",
		Example:           "  slipway agent link account.prod --dry-run\n  slipway agent link account.prod --reason 'import of our Argo CD'",
		ValidArgsFunction: n.Complete(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			return linkRun(cmd.Context(), common, idOf(args[0]), reason, dryRun)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only list what would be created and linked")
	return cmd
}

func linkRun(ctx context.Context, common *connect.Common, id, reason string, dryRun bool) error {
	s, err := common.MustServer()
	if err != nil {
		return err
	}
	plan, err := s.Client.Because(reason).LinkApplications(ctx, id, dryRun)
	if err != nil {
		return s.Explain(err)
	}
	if common.Output != iostream.Table {
		return common.Print(common.Output, plan)
	}
	made := func(id string, is bool) string {
		if is {
			return id + " (new)"
		}
		return id
	}
	if err := noun.PrintList(common, plan.Items, []string{"APPLICATION", "SERVICE", "ENVIRONMENT", "WHY"}, func(p *api.LinkProposal) []string {
		return []string{p.Application, made(p.Service, p.MakesService), made(p.Environment, p.MakesEnvironment), p.Why}
	}, "all applications of agent "+id+" have the links that follow from their labels and names"); err != nil || len(plan.Items) == 0 {
		return err
	}
	verb := "made and linked"
	if dryRun {
		verb = "nothing is made yet: run it without --dry-run"
	}
	common.Sayf("%d services, %d environments, %d applications: %s", len(plan.Services), len(plan.Environments), len(plan.Items), verb)
	return nil
}
