// Package access is `slipway role`, `resourcegroup`, `bind` and `access`: the permissions of users.
package access

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
	return []*cobra.Command{newRoleCmd(common), newResourceGroupCmd(common), newBindCmd(common), newAccessCmd(common)}
}

func newRoleCmd(common *connect.Common) *cobra.Command {
	n := &noun.Noun[api.Role, *api.Role]{
		Use: "role", Aliases: []string{"roles"}, Called: "role", Short: "Sets of permissions",
		Entities: (*client.Client).Roles, Name: "org.acme.deployer",
		Header: []string{"BUILT IN", "PERMISSIONS"},
		Row:    func(r *api.Role) []string { return []string{strconv.FormatBool(r.BuiltIn), join(r.Permissions)} },
		Flags: func(flags *pflag.FlagSet) func(*api.Role, func(string) bool) error {
			permissions := flags.StringSlice("permission", nil,
				"`permissions` of the role, which replace earlier ones: names, * for all, application_* for all of a type, "+
					"*_view for a verb of every type")
			return func(r *api.Role, given func(string) bool) error {
				if given("permission") {
					r.Permissions = split[api.Permission](*permissions)
				}
				return nil
			}
		},
		Example: "  slipway role create org.acme.deployer --permission application_view,application_sync,application_logs",
	}
	return n.Cmd(common)
}

func join[S ~string](list []S) string {
	parts := make([]string, 0, len(list))
	for _, s := range list {
		parts = append(parts, string(s))
	}
	return strings.Join(parts, ", ")
}

func split[S ~string](list []string) []S {
	out := make([]S, 0, len(list))
	for _, s := range list {
		out = append(out, S(s))
	}
	return out
}

func newResourceGroupCmd(common *connect.Common) *cobra.Command {
	n := &noun.Noun[api.ResourceGroup, *api.ResourceGroup]{
		Use: "resourcegroup", Aliases: []string{"rg", "resourcegroups"},
		Called: "resource group", Short: "Sets of objects to which a role applies",
		Entities: (*client.Client).ResourceGroups, Name: "org.acme.shop-apps",
		Header: []string{"TYPES", "OBJECTS"},
		Row:    func(g *api.ResourceGroup) []string { return []string{join(g.Types), objectsText(g)} },
		Flags: func(flags *pflag.FlagSet) func(*api.ResourceGroup, func(string) bool) error {
			types := flags.StringSlice("type", nil, "`types` of objects, such as application (default all)")
			all := flags.Bool("all", false, "all objects of these types")
			ids := flags.StringSlice("id", nil, "`ids` of the objects, such as account.prod/argocd/shop")
			// A selector has commas of its own.
			selectors := flags.StringArray("match", nil,
				"`selector` of labels, such as team=shop,tier in (web, api); an object belongs to it when one of several matches")
			return func(g *api.ResourceGroup, given func(string) bool) error {
				if given("type") {
					g.Types = *types
				}
				if given("all") || given("id") || given("match") {
					g.All, g.IDs, g.Selectors = *all, *ids, *selectors
				}
				return nil
			}
		},
		Example: "  slipway resourcegroup create org.acme.shop-apps --type application --match team=shop\n" +
			"  slipway resourcegroup create org.acme.one --id account.prod/argocd/shop",
	}
	return n.Cmd(common)
}

func objectsText(g *api.ResourceGroup) string {
	switch {
	case g.All:
		return "all"
	case len(g.IDs) > 0:
		return join(g.IDs)
	}
	return strings.Join(g.Selectors, " or ")
}

func newBindCmd(common *connect.Common) *cobra.Command {
	n := &noun.Noun[api.Binding, *api.Binding]{
		Use: "bind", Aliases: []string{"binding", "bindings"},
		Called: "binding", Short: "Bindings: roles of users, groups and service accounts at a scope",
		Entities: (*client.Client).Bindings, Name: "org.acme.developers",
		Header: []string{"WHO", "ROLE", "OBJECTS"},
		Row: func(b *api.Binding) []string {
			return []string{b.Principal.Type + " " + b.Principal.ID, b.Role, b.ResourceGroup}
		},
		Flags: func(flags *pflag.FlagSet) func(*api.Binding, func(string) bool) error {
			var who principal
			who.addFlags(flags)
			role := flags.String("role", "", "`id` of the role, such as account.developer")
			group := flags.String("resourcegroup", "", "`id` of the resource group to which the role applies (default all objects)")
			return func(b *api.Binding, given func(string) bool) error {
				p, err := who.read()
				if err != nil {
					return err
				}
				if p != (api.Principal{}) {
					b.Principal = p
				}
				if given("role") {
					b.Role = *role
				}
				if given("resourcegroup") {
					b.ResourceGroup = *group
				}
				return nil
			}
		},
		Example: "  slipway bind create org.acme.developers --group org.acme.developers --role account.developer\n" +
			"  slipway bind create project.acme.shop.ci --serviceaccount org.acme.ci --role org.acme.deployer --resourcegroup org.acme.shop-apps",
	}
	return n.Cmd(common)
}

// principal are the flags that name the principal.
type principal struct{ user, group, account string }

func (p *principal) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&p.user, "user", "", "`name` of a user")
	flags.StringVar(&p.group, "group", "", "`id` of a group, such as org.acme.developers")
	flags.StringVar(&p.account, "serviceaccount", "", "`id` of a service account, such as org.acme.ci")
}

func (p *principal) read() (api.Principal, error) {
	var out []api.Principal
	for _, x := range []api.Principal{
		{Type: api.PrincipalUser, ID: p.user}, {Type: api.PrincipalGroup, ID: p.group}, {Type: api.PrincipalServiceAccount, ID: p.account},
	} {
		if x.ID != "" {
			out = append(out, x)
		}
	}
	switch len(out) {
	case 0:
		return api.Principal{}, nil
	case 1:
		return out[0], nil
	}
	return api.Principal{}, iostream.Usagef("give one of --user, --group and --serviceaccount")
}

func newAccessCmd(common *connect.Common) *cobra.Command {
	cmd := &cobra.Command{
		Use: "access", Short: "Check whether a user may do something, and why",
		Example: "  slipway access can application_sync account.prod/argocd/shop\n  slipway access explain application_sync org.acme --user ada",
	}
	cmd.AddCommand(
		newCanCmd(common, "can", "Print yes or no with the reason; exit code 3 for no", true),
		newCanCmd(common, "explain", "Explain why a user or a service account has a permission, or not; exit code 0 for both", false),
		newPermissionsCmd(common),
	)
	return cmd
}

type canOptions struct {
	*connect.Common
	principal
	permission string
	what       string
	labels     []string
	exits      bool
}

func newCanCmd(common *connect.Common, verb, short string, exits bool) *cobra.Command {
	o := canOptions{Common: common, exits: exits}
	cmd := &cobra.Command{
		Use:   verb + " [WHO] ACTION WHAT",
		Short: short,
		Long: short + ".\n\nWHO is the name or e-mail of a user, user:NAME, group:ID or serviceaccount:ID; left out it is you. " +
			"ACTION is a permission, such as\n" +
			"application_sync (`slipway access permissions` lists them). WHAT is the id of an object, " +
			"such as account.prod/argocd/shop, or a scope:\n" +
			"account, org.ORG or project.ORG.PROJECT, for anything there.",
		Example: fmt.Sprintf("  slipway access %s application_sync account.prod/argocd/shop\n  slipway access %s ada@example.org "+
			"application_sync org.acme\n"+
			"  slipway access %s group:org.acme.developers application_exec project.acme.shop --label team=shop", verb, verb, verb),
		Args: cobra.RangeArgs(2, 3),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 1 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return texts(api.Permissions()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.permission, o.what = args[len(args)-2], args[len(args)-1]
			who := ""
			if len(args) == 3 {
				who = args[0]
			}
			return canRun(cmd.Context(), o, who)
		},
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().StringArrayVar(&o.labels, "label", nil, "`key=value` to assume of objects at a scope; repeat for several")
	return cmd
}

func texts[S ~string](list []S) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		out = append(out, string(s))
	}
	return out
}

func canRun(ctx context.Context, o canOptions, text string) error {
	asked, err := readWho(text)
	if err != nil {
		return err
	}
	flagged, err := o.read()
	if err != nil {
		return err
	}
	if flagged != (api.Principal{}) {
		if text != "" {
			return iostream.Usagef("give WHO or a flag for it, not both")
		}
		asked = flagged
	}
	q := api.AccessQuestion{Permission: api.Permission(o.permission)}
	if scope := api.Scope(o.what); scope.Valid() {
		q.Scope = scope
	} else {
		q.Object = o.what
	}
	if q.Labels, err = noun.ReadLabels(o.labels); err != nil {
		return err
	}
	s, err := o.MustServer()
	if err != nil {
		return err
	}
	if q.Principal, err = known(ctx, s.Client, asked); err != nil {
		return s.Explain(err)
	}
	answer, err := s.Client.Can(ctx, q)
	if err != nil {
		return s.Explain(err)
	}
	if err := printAnswer(o.Common, answer); err != nil {
		return err
	}
	if o.exits && !answer.Allowed {
		return iostream.Differs()
	}
	return nil
}

func printAnswer(common *connect.Common, answer api.AccessAnswer) error {
	if common.Output != iostream.Table {
		return common.Print(common.Output, answer)
	}
	word := "no"
	if answer.Allowed {
		word = "yes"
	}
	_, err := fmt.Fprintf(common.Out, "%s: %s\n", word, iostream.Clean(answer.Why))
	return err
}

func newPermissionsCmd(common *connect.Common) *cobra.Command {
	return &cobra.Command{
		Use: "permissions", Short: "List all permissions", Example: "  slipway access permissions", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return noun.PrintList(common, api.Permissions(), []string{"PERMISSION", "TYPE", "VERB"}, func(p *api.Permission) []string {
				return []string{string(*p), p.Type(), p.Verb()}
			}, "")
		},
	}
}
