package agent

import (
	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

func newMappingCmd(common *connect.Common, n *noun.Noun[api.Agent, *api.Agent]) *cobra.Command {
	cmd := &cobra.Command{
		Use: "mapping", Aliases: []string{"mappings"}, Short: "Which AppProjects of an agent's cluster belong to which projects",
		Example: "  slipway agent mapping set account.prod shop acme.shop\n  slipway agent mapping list account.prod",
	}
	cmd.AddCommand(newMappingListCmd(common, n), newMappingSetCmd(common, n), newMappingDeleteCmd(common, n))
	return cmd
}

func newMappingListCmd(common *connect.Common, n *noun.Noun[api.Agent, *api.Agent]) *cobra.Command {
	return &cobra.Command{
		Use: "list AGENT", Aliases: []string{"ls"}, Short: "List the mappings of an agent", Args: cobra.ExactArgs(1),
		Example: "  slipway agent mapping list account.prod", ValidArgsFunction: n.Complete(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			all, err := s.Client.Mappings(cmd.Context(), idOf(args[0]))
			if err != nil {
				return s.Explain(err)
			}
			return noun.PrintList(common, all, []string{"AGENT", "ARGO PROJECT", "PROJECT"}, func(m *api.Mapping) []string {
				return []string{m.Agent, m.ArgoProject, m.Project}
			}, "no mappings: all of the agent's belongs to its own scope")
		},
	}
}

func newMappingSetCmd(common *connect.Common, n *noun.Noun[api.Agent, *api.Agent]) *cobra.Command {
	return &cobra.Command{
		Use: "set AGENT APPPROJECT PROJECT", Short: "Assign the objects of an AppProject to a project", Args: cobra.ExactArgs(3),
		Example: "  slipway agent mapping set account.prod shop acme.shop", ValidArgsFunction: n.Complete(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			m, err := s.Client.SetMapping(cmd.Context(), idOf(args[0]), api.Mapping{ArgoProject: args[1], Project: args[2]})
			if err != nil {
				return s.Explain(err)
			}
			return noun.Done(common, "mapping of "+args[1]+" to "+args[2], "set", false, &m)
		},
	}
}

func newMappingDeleteCmd(common *connect.Common, n *noun.Noun[api.Agent, *api.Agent]) *cobra.Command {
	return &cobra.Command{
		Use: "delete AGENT APPPROJECT", Short: "Assign the objects of an AppProject to the scope of its agent again", Args: cobra.ExactArgs(2),
		Example: "  slipway agent mapping delete account.prod shop", ValidArgsFunction: n.Complete(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			if err := s.Client.DeleteMapping(cmd.Context(), idOf(args[0]), args[1]); err != nil {
				return s.Explain(err)
			}
			return noun.Done(common, "mapping of "+args[1], "deleted", false, nil)
		},
	}
}
