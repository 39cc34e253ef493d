// Package agent is `slipway agent`: the agents of a server, and how they come into their clusters.
package agent

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

// tokenVariable is the variable of the environment that hands the registration token on: to `slipway agent install` and
// to slipway-agent.
const tokenVariable = "SLIPWAY_REGISTRATION_TOKEN"

// NewCmd returns the command `agent` with its verbs.
func NewCmd(common *connect.Common) *cobra.Command {
	n := agents()
	cmd := n.Cmd(common)
	for _, sub := range cmd.Commands() {
		switch sub.Name() {
		case "create":
			sub.Short = "Create an agent, and print the commands that install it"
			sub.Long = sub.Short + ".\n\nThe one-time token in them is shown once and expires soon; `slipway agent register` makes another.\n" +
				"With --hosted there are none: the server runs the agent, on a cluster that its operator has prepared."
		case "delete":
			sub.Short = "Delete agents from the server; their deployed objects stay, and so do their installations in the clusters"
		}
	}
	cmd.AddCommand(
		newRegisterCmd(common, n), newManifestCmd(common, n), newRolesCmd(common), newInstallCmd(common, n), newWaitCmd(common, n),
		newRotateCmd(common, n), newRevokeCmd(common, n), newCommandsCmd(common, n), newMappingCmd(common, n), newLinkCmd(common, n),
		newPromoteCmd(common), newUpgradeCmd(common), newReleaseCmd(common), newVersionCmd(common),
	)
	return cmd
}

func agents() *noun.Noun[api.Agent, *api.Agent] {
	return &noun.Noun[api.Agent, *api.Agent]{
		Use: "agent", Aliases: []string{"agents"}, Called: "agent", Short: "Agents, which keep clusters in sync with Git",
		Entities: (*client.Client).AgentEntities, Name: "account.prod",
		Header: []string{"STATE", "SINCE", "VERSION", "ENGINE", "KUBERNETES", "PENDING", "LAG", "MESSAGE"},
		Row: func(a *api.Agent) []string {
			s := &a.Status
			lag := ""
			if s.LagSeconds > 0 {
				lag = time.Duration(s.LagSeconds * float64(time.Second)).Round(time.Second).String()
			}
			message := s.Message
			if h := a.Hosted; h != nil && h.State != api.HostRunning {
				message = strings.TrimSuffix(h.State+" on "+h.Cluster+": "+h.Message, ": ")
			}
			return []string{
				s.State, noun.Ago(s.Since, time.Now()), s.Version, cmp.Or(s.Engine, a.Engine, api.EngineSlipway), s.Kubernetes,
				fmt.Sprint(s.Pending), lag, message,
			}
		},
		Flags: func(flags *pflag.FlagSet) func(*api.Agent, func(string) bool) error {
			namespaced := flags.Bool("namespaced", false, "restrict the agent to its own namespace")
			engine := flags.String("engine", "",
				"what the agent is installed for: `slipway|argocd`, its own engine, or an Argo CD that is in the cluster already and stays as it is")
			autoCreate := flags.Bool("auto-create", false, "create services and environments for new applications that belong to none")
			hosted := flags.Bool("hosted", false, "the server runs the agent beside itself; set at creation, and cannot be changed")
			cluster := flags.String("cluster", "",
				"with --hosted: `name` of the cluster, as the operator of the server calls it (default the only one that you may use)")
			return func(a *api.Agent, given func(string) bool) error {
				if given("cluster") && !*hosted {
					return iostream.Usagef("--cluster is for agents that the server runs: give --hosted too")
				}
				if *hosted {
					a.Hosted = &api.Hosting{Cluster: *cluster}
				}
				if given("namespaced") {
					a.Namespaced = *namespaced
				}
				if given("engine") {
					a.Engine = *engine
				}
				if given("auto-create") {
					a.AutoCreate = *autoCreate
				}
				return nil
			}
		},
		Create: func(ctx context.Context, common *connect.Common, s *connect.Server, a *api.Agent, dryRun bool) error {
			made, err := s.Client.CreateAgent(ctx, *a, dryRun)
			if err != nil {
				return err
			}
			if dryRun {
				return noun.Done(common, "agent "+made.Agent.ID, "created", true, &made.Agent)
			}
			return tell(ctx, common, s, made, "created")
		},
		Example: "  slipway agent create prod --label region=eu\n  slipway agent create project.acme.shop.edge --hosted --cluster edge\n  " +
			"slipway agent create org.acme.edge --description 'the shop in Oslo'\n" +
			"  slipway agent create beside --engine argocd    # for a cluster with an Argo CD, which stays as it is",
	}
}

// tell prints how an agent joins.
func tell(ctx context.Context, common *connect.Common, s *connect.Server, made api.AgentRegistration, did string) error {
	if h := made.Agent.Hosted; h != nil {
		if common.Output != iostream.Table {
			return common.Print(common.Output, made)
		}
		common.Sayf("agent %s %s. The server runs it on cluster %s; its applications are in namespace %s:\n"+
			"slipway agent wait %s && slipway app list --agent %s -n %s", made.Agent.ID, did, h.Cluster, h.Namespace, made.Agent.ID,
			made.Agent.ID, h.Namespace)
		return nil
	}
	made.Commands = joinCommands(ctx, common, s, made)
	if common.Output != iostream.Table {
		return common.Print(common.Output, made)
	}
	common.Sayf("agent %s %s. Its cluster joins with the first command; KUBECONFIG is that of the cluster. Where no pods run, such as in a\n"+
		"development cluster, the second one runs the agent by hand. One-time token, valid until %s:\n", made.Agent.ID, did,
		noun.Time(made.ExpiresAt))
	if s.Name.CA != "" {
		common.Sayf("ca.pem stands for a copy of the file that --ca-file named at `slipway login`; the first command uses it automatically.\n")
	}
	for _, line := range made.Commands {
		if _, err := fmt.Fprintln(common.Out, line); err != nil {
			return err
		}
	}
	return nil
}

// joinCommands are what to run where the kubeconfig of the agent's cluster is. The token is in the environment: arguments
// can be seen by every user of the machine.
func joinCommands(ctx context.Context, common *connect.Common, s *connect.Server, made api.AgentRegistration) []string {
	address := s.Name.Server // good for us; the server may know a better one for others
	if info, err := s.Client.Info(ctx); err == nil && info.PublicURL != "" {
		address = info.PublicURL
	}
	trust := ""
	switch {
	case s.Name.CA != "":
		trust = " --server-ca ca.pem"
	case s.Name.Insecure:
		trust = " --insecure-skip-verify"
	}
	engine := ""
	if made.Agent.Engine != "" && made.Agent.Engine != api.EngineSlipway {
		engine = " --engine " + made.Agent.Engine
	}
	secret := tokenVariable + "=" + made.Token
	return []string{
		fmt.Sprintf("%s slipway agent install %s --namespace %s --kubeconfig \"$KUBECONFIG\"", secret, made.Agent.ID, common.Namespace),
		fmt.Sprintf("%s slipway-agent --server %s --namespace %s --kubeconfig \"$KUBECONFIG\" --data %s%s%s",
			secret, address, common.Namespace, "slipway-agent-"+strings.ReplaceAll(made.Agent.ID, ".", "-"), trust, engine),
	}
}

func newRegisterCmd(common *connect.Common, n *noun.Noun[api.Agent, *api.Agent]) *cobra.Command {
	return &cobra.Command{
		Use: "register ID", Short: "Create a new registration token; the agent's present key is valid until the token is used",
		Args:    cobra.ExactArgs(1),
		Example: "  slipway agent register account.prod", ValidArgsFunction: n.Complete(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			made, err := s.Client.RegisterAgent(cmd.Context(), idOf(args[0]))
			if err != nil {
				return s.Explain(err)
			}
			did := "has a new registration token"
			if made.Agent.Hosted != nil {
				did = "is registered again"
			}
			return tell(cmd.Context(), common, s, made, did)
		},
	}
}

// idOf is the id that an argument stands for: a name alone is of the account.
func idOf(arg string) string {
	if strings.Contains(arg, ".") {
		return arg
	}
	return api.ScopeAccount.ID(arg)
}

// simple is a verb with one agent and a reason.
func simple(common *connect.Common, n *noun.Noun[api.Agent, *api.Agent], verb, short, did string,
	do func(context.Context, *client.Client, string) error,
) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: verb + " ID", Short: short, Args: cobra.ExactArgs(1), Example: "  slipway agent " + verb +
			" account.prod --reason 'laptop was stolen'",
		ValidArgsFunction: n.Complete(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			if err := do(cmd.Context(), s.Client.Because(reason), idOf(args[0])); err != nil {
				return s.Explain(err)
			}
			common.Sayf("agent %s %s", idOf(args[0]), did)
			return nil
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	return cmd
}

func newRotateCmd(common *connect.Common, n *noun.Noun[api.Agent, *api.Agent]) *cobra.Command {
	return simple(common, n, "rotate", "Rotate the keys of an agent", "has new keys",
		func(ctx context.Context, c *client.Client, id string) error { return c.RotateAgent(ctx, id) })
}

func newRevokeCmd(common *connect.Common, n *noun.Noun[api.Agent, *api.Agent]) *cobra.Command {
	return simple(common, n, "revoke", "Revoke the key of an agent, and close its connection immediately",
		"is revoked; `slipway agent register` lets it in again",
		func(ctx context.Context, c *client.Client, id string) error { return c.RevokeAgent(ctx, id) })
}

func newCommandsCmd(common *connect.Common, n *noun.Noun[api.Agent, *api.Agent]) *cobra.Command {
	return &cobra.Command{
		Use: "commands ID", Short: "List the commands of an agent, with their results", Args: cobra.ExactArgs(1),
		Example: "  slipway agent commands account.prod", ValidArgsFunction: n.Complete(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			page, err := s.Client.AgentCommands(cmd.Context(), idOf(args[0]), api.ListOptions{})
			if err != nil {
				return s.Explain(err)
			}
			return noun.PrintList(common, page.Items, []string{
				"ID", "TIME", "WHO", "WHAT", "OBJECT", "STATUS", "MESSAGE",
			}, func(c *api.Command) []string {
				return []string{c.ID, noun.Time(c.CreatedAt), c.By.ID, c.Kind, c.Object.ID, c.Status, c.Message}
			}, "it has received no commands")
		},
	}
}

func newWaitCmd(common *connect.Common, n *noun.Noun[api.Agent, *api.Agent]) *cobra.Command {
	var timeout time.Duration
	var state string
	cmd := &cobra.Command{
		Use: "wait ID", Short: "Wait until an agent is in a state; exit code 3 if it is not in time", Args: cobra.ExactArgs(1),
		Example: "  slipway agent wait account.prod --timeout 1m", ValidArgsFunction: n.Complete(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			return waitRun(cmd.Context(), common, idOf(args[0]), state, timeout)
		},
	}
	cmd.Flags().StringVar(&state, "state", api.AgentConnected, "`Connected|Degraded|Disconnected|Never|Revoked`")
	cmd.Flags().DurationVar(&timeout, "timeout", 2*time.Minute, "how long to wait")
	return cmd
}

// lookAgain is how often an agent is looked at without an event.
const lookAgain = 2 * time.Second

func waitRun(ctx context.Context, common *connect.Common, id, state string, timeout time.Duration) error {
	s, err := common.MustServer()
	if err != nil {
		return err
	}
	last := ""
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	for {
		a, err := s.Client.AgentEntities().Get(ctx, id)
		switch {
		case err == nil && a.Status.State == state:
			common.Sayf("agent %s is %s", id, state)
			return nil
		case err == nil:
			last = a.Status.State + " " + a.Status.Message
		case ctx.Err() == nil:
			return s.Explain(err)
		}
		select {
		case <-ctx.Done():
			return iostream.NotYetf("agent %s is not %s after %s: it is %s", id, state, timeout, strings.TrimSpace(last))
		case <-ticker.C:
		}
	}
}
