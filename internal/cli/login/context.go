package login

import (
	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
	"github.com/slipway-gitops/slipway/internal/cli/remote"
)

// shown is a context without what is secret.
type shown struct {
	Name      string `json:"name"`
	Current   bool   `json:"current"`
	Server    string `json:"server"`
	User      string `json:"user,omitempty"`
	ExpiresAt string `json:"expiresAt,omitempty"`
	Insecure  bool   `json:"insecure,omitempty"`
}

func newContextCmd(common *connect.Common) *cobra.Command {
	cmd := &cobra.Command{
		Use: "context", Aliases: []string{"contexts"}, Short: "Servers that you are signed in to, and the one that commands use",
		Example: "  slipway context list\n  slipway context use slipway.example.org",
	}
	list := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the contexts",
		Example: "  slipway context list\n  slipway context list -o json", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return listContexts(common) },
	}
	use := &cobra.Command{
		Use: "use NAME", Short: "Make a context the current one", Example: "  slipway context use slipway.example.org", Args: cobra.ExactArgs(1),
		ValidArgsFunction: completeContexts,
		RunE: func(_ *cobra.Command, args []string) error {
			var overruled []string
			err := remote.Update(func(contexts *remote.Contexts) error {
				if _, ok := contexts.Get(args[0]); !ok {
					return missing(args[0])
				}
				contexts.Current = args[0]
				overruled = contexts.Overruled()
				return nil
			})
			if err != nil {
				return err
			}
			common.Sayf("context %s is the current one", args[0])
			for _, problem := range overruled {
				common.Sayf("warning: %s", problem)
			}
			return nil
		},
	}
	remove := &cobra.Command{
		Use: "delete NAME...", Short: "Remove contexts; `slipway logout` also revokes the token", Args: cobra.MinimumNArgs(1),
		Example: "  slipway context delete slipway.example.org", ValidArgsFunction: completeContexts,
		RunE: func(_ *cobra.Command, args []string) error {
			err := remote.Update(func(contexts *remote.Contexts) error {
				for _, name := range args {
					if !contexts.Delete(name) {
						return missing(name)
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			for _, name := range args {
				common.Sayf("context %s is forgotten", name)
			}
			return nil
		},
	}
	none := &cobra.Command{
		Use: "none", Short: "Unset the current context: commands use the cluster of the kubeconfig", Args: cobra.NoArgs,
		Example: "  slipway context none",
		RunE: func(*cobra.Command, []string) error {
			return remote.Update(func(contexts *remote.Contexts) error {
				contexts.Current = ""
				return nil
			})
		},
	}
	cmd.AddCommand(list, use, none, remove)
	return cmd
}

func missing(name string) error {
	return iostream.Usagef("there is no context %q; `slipway context list` shows those that there are", name)
}

func listContexts(common *connect.Common) error {
	contexts, err := remote.Load()
	if err != nil {
		return err
	}
	all := make([]shown, 0, len(contexts.Contexts))
	for _, c := range contexts.Contexts {
		all = append(all, shown{c.Name, c.Name == contexts.Current, c.Server, c.User, noun.Time(c.ExpiresAt), c.Insecure})
	}
	return noun.PrintList(common, all, []string{"CURRENT", "NAME", "SERVER", "USER", "EXPIRES"}, func(c *shown) []string {
		mark := ""
		if c.Current {
			mark = "*"
		}
		return []string{mark, c.Name, c.Server, c.User, c.ExpiresAt}
	}, "no contexts; sign in with `slipway login URL`")
}

func completeContexts(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	contexts, err := remote.Load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return contexts.Names(), cobra.ShellCompDirectiveNoFileComp
}
