// Package service is `slipway service`, `env`, `where` and `instance`: what runs where.
package service

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

// NewCmds returns the commands.
func NewCmds(common *connect.Common) []*cobra.Command {
	return []*cobra.Command{newServiceCmd(common), newEnvironmentCmd(common), newWhereCmd(common), newInstanceCmd(common)}
}

func newServiceCmd(common *connect.Common) *cobra.Command {
	n := &noun.Noun[api.Service, *api.Service]{
		Use: "service", Aliases: []string{"services", "svc"}, Called: "service", Short: "Services, which applications run in environments",
		Entities: (*client.Client).Services, Name: "org.acme.checkout",
		Header: []string{"DISPLAY NAME", "DESCRIPTION"}, Row: func(v *api.Service) []string { return []string{v.DisplayName, v.Description} },
		Example: "  slipway service create org.acme.checkout --display-name Checkout --label team=shop",
	}
	return n.Cmd(common)
}

func environments() *noun.Noun[api.Environment, *api.Environment] {
	return &noun.Noun[api.Environment, *api.Environment]{
		Use: "env", Aliases: []string{"environment", "environments", "envs"}, Called: "environment", Short: "Environments, which services run in",
		Entities: (*client.Client).Environments, Name: "org.acme.production",
		Header: []string{"TYPE", "REGION", "CLUSTERS", "DISPLAY NAME"},
		Row: func(v *api.Environment) []string {
			return []string{v.Type, v.Region, strconv.Itoa(len(v.Clusters)), v.DisplayName}
		},
		Flags: func(flags *pflag.FlagSet) func(*api.Environment, func(string) bool) error {
			kind := flags.String("type", api.EnvironmentPreProduction, "`Production|PreProduction`")
			region := flags.String("region", "", "`name` of where it is")
			clusters := flags.StringArray("cluster", nil, "`agent/cluster` that it has, in place of those of before; repeat for several")
			return func(v *api.Environment, given func(string) bool) error {
				if given("type") || v.Type == "" {
					v.Type = *kind
				}
				if given("region") {
					v.Region = *region
				}
				if !given("cluster") {
					return nil
				}
				v.Clusters = nil
				for _, text := range *clusters {
					agent, cluster, ok := strings.Cut(text, "/")
					if !ok {
						return iostream.Usagef("--cluster %q is no cluster: write AGENT/CLUSTER, as account.prod/%s", text, api.InCluster)
					}
					v.Clusters = append(v.Clusters, api.EnvironmentCluster{Agent: agentID(agent), Cluster: cluster})
				}
				return nil
			}
		},
		Example: "  slipway env create org.acme.production --type Production --region eu-north\n" +
			"  slipway env create staging --cluster account.prod/in-cluster",
	}
}

func newEnvironmentCmd(common *connect.Common) *cobra.Command {
	n := environments()
	cmd := n.Cmd(common)
	cmd.AddCommand(
		newClusterCmd(common, n, "link-cluster", "Assign the applications of a cluster to an environment, unless they name another one", "linked",
			func(v *api.Environment, c api.EnvironmentCluster) (bool, error) {
				v.Clusters = append(v.Clusters, c)
				return true, nil
			}),
		newClusterCmd(common, n, "unlink-cluster", "Take a cluster out of an environment", "unlinked",
			func(v *api.Environment, c api.EnvironmentCluster) (bool, error) {
				for i, have := range v.Clusters {
					if have == c {
						v.Clusters = append(v.Clusters[:i], v.Clusters[i+1:]...)
						return true, nil
					}
				}
				return false, fmt.Errorf("environment %s does not have cluster %s of agent %s: `slipway env get %s -o yaml` shows those that it has",
					v.ID, c.Cluster, c.Agent, v.ID)
			}),
	)
	return cmd
}

// agentID is the id that an argument stands for: a name alone is of the account.
func agentID(arg string) string {
	if strings.Contains(arg, ".") {
		return arg
	}
	return api.ScopeAccount.ID(arg)
}

// newClusterCmd is a command that changes the clusters of an environment.
func newClusterCmd(
	common *connect.Common, n *noun.Noun[api.Environment, *api.Environment], verb, short, did string,
	edit func(*api.Environment, api.EnvironmentCluster) (bool, error),
) *cobra.Command {
	var reason string
	var dryRun bool
	cmd := &cobra.Command{
		Use: verb + " ENVIRONMENT AGENT CLUSTER", Short: short, Args: cobra.ExactArgs(3), ValidArgsFunction: n.Complete(common),
		Example: "  slipway env " + verb + " org.acme.production account.prod in-cluster",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			id, err := resolve(cmd.Context(), s, s.Client.Environments(), "environment", "env", args[0],
				func(v *api.Environment) *api.Meta { return &v.Meta })
			if err != nil {
				return err
			}
			cluster := api.EnvironmentCluster{Agent: agentID(args[1]), Cluster: args[2]}
			changed, err := editEnvironment(cmd.Context(), s.Client.Because(reason).Environments(), id, dryRun,
				func(v *api.Environment) (bool, error) { return edit(v, cluster) })
			if err != nil {
				return s.Explain(err)
			}
			return noun.Done(common, "cluster "+cluster.Cluster+" of agent "+cluster.Agent, did, dryRun, &changed)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only validate at the server, and change nothing")
	return cmd
}

// editTries is how often an environment is read again after another user changed it.
const editTries = 3

func editEnvironment(
	ctx context.Context, all client.Entities[api.Environment], id string, dryRun bool, edit func(*api.Environment) (bool, error),
) (v api.Environment, err error) {
	for range editTries {
		if v, err = all.Get(ctx, id); err != nil {
			return v, err
		}
		if _, err = edit(&v); err != nil {
			return v, err
		}
		changed, failed := all.Update(ctx, id, v, dryRun)
		if api.CodeOf(failed) != api.CodeConflict {
			return changed, failed
		}
		err = failed
	}
	return v, err
}

// resolve finds the id that the user means: an id, or the name of the only one that has it. list is the command that lists
// what there is.
func resolve[T any](ctx context.Context, s *connect.Server, all client.Entities[T], called, list, text string,
	meta func(*T) *api.Meta,
) (string, error) {
	if text == "" || strings.Contains(text, ".") {
		return text, nil
	}
	found, err := all.All(ctx, api.ListOptions{Search: text})
	if err != nil {
		return "", s.Explain(err)
	}
	var ids []string
	for i := range found {
		if m := meta(&found[i]); m.Name == text {
			ids = append(ids, m.ID)
		}
	}
	switch len(ids) {
	case 0:
		return "", fmt.Errorf("there is no %s %q, or you may not see it: `slipway %s list` shows what there is", called, text, list)
	case 1:
		return ids[0], nil
	}
	return "", iostream.Usagef("there are several of that name, give one of these ids: %s", strings.Join(ids, ", "))
}

// Service finds the id of a service by id or name.
func Service(ctx context.Context, s *connect.Server, text string) (string, error) {
	return resolve(ctx, s, s.Client.Services(), "service", "service", text, func(v *api.Service) *api.Meta { return &v.Meta })
}

// Environment finds the id of an environment by id or name.
func Environment(ctx context.Context, s *connect.Server, text string) (string, error) {
	return resolve(ctx, s, s.Client.Environments(), "environment", "env", text, func(v *api.Environment) *api.Meta { return &v.Meta })
}

// Agent finds the id of an agent by id or name.
func Agent(ctx context.Context, s *connect.Server, text string) (string, error) {
	return resolve(ctx, s, s.Client.AgentEntities(), "agent", "agent", text, func(v *api.Agent) *api.Meta { return &v.Meta })
}
