// Package people is `slipway user`, `group`, `serviceaccount` and `token`: the users of a server.
package people

import (
	"context"
	"fmt"
	"slices"
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
	return []*cobra.Command{newUserCmd(common), newGroupCmd(common), newServiceAccountCmd(common), newTokenCmd(common)}
}

func newUserCmd(common *connect.Common) *cobra.Command {
	var passwordFile string
	n := &noun.Noun[api.User, *api.User]{
		Use: "user", Aliases: []string{"users"}, Called: "user", Short: "Users who sign in",
		Entities: (*client.Client).Users, ID: noun.Named, Name: "ada",
		Header: []string{"DISPLAY NAME", "EMAIL", "ORIGIN", "DISABLED", "GROUPS"},
		Row: func(u *api.User) []string {
			return []string{u.DisplayName, u.Email, u.Origin, strconv.FormatBool(u.Disabled), strings.Join(u.Groups, ", ")}
		},
		Flags: func(flags *pflag.FlagSet) func(*api.User, func(string) bool) error {
			email := flags.String("email", "", "`address` of mail")
			disabled := flags.Bool("disabled", false, "the user cannot sign in, and their sessions and tokens are invalid")
			return func(u *api.User, given func(string) bool) error {
				if given("email") {
					u.Email = *email
				}
				if given("disabled") {
					u.Disabled = *disabled
				}
				return nil
			}
		},
		Create: func(ctx context.Context, common *connect.Common, s *connect.Server, u *api.User, dryRun bool) error {
			in := api.UserCreate{User: *u}
			if passwordFile != "" {
				var err error
				if in.Password, err = common.Secret("password of "+u.Name, passwordFile); err != nil {
					return err
				}
			}
			made, err := s.Client.CreateUser(ctx, in, dryRun)
			if err != nil {
				return err
			}
			if made.Password != "" && common.Output == iostream.Table {
				common.Sayf("user %s created; the first password, which is shown once and must be changed at the first sign-in:", made.ID)
				_, err := fmt.Fprintln(common.Out, made.Password)
				return err
			}
			return noun.Done(common, "user "+made.ID, "created", dryRun, &made)
		},
		Example: "  slipway user create ada --display-name 'Ada Lovelace' --email ada@example.org\n" +
			"  slipway user create bob --password-file bob.txt",
	}
	cmd := n.Cmd(common)
	for _, sub := range cmd.Commands() {
		if sub.Name() == "create" {
			sub.Flags().StringVar(&passwordFile, "password-file", "",
				"`file` with the first password, - for standard input (default: the server makes one)")
		}
	}
	cmd.AddCommand(&cobra.Command{
		Use: "reset-password NAME", Short: "Give a user a new password, which is shown once and must be changed at the next sign-in; " +
			"their sessions and API tokens end",
		Example: "  slipway user reset-password ada", Args: cobra.ExactArgs(1), ValidArgsFunction: n.Complete(common),
		RunE: func(cmd *cobra.Command, args []string) error { return resetRun(cmd.Context(), common, args[0]) },
	})
	return cmd
}

func resetRun(ctx context.Context, common *connect.Common, user string) error {
	s, err := common.MustServer()
	if err != nil {
		return err
	}
	out, err := s.Client.ResetPassword(ctx, user)
	if err != nil {
		return s.Explain(err)
	}
	if common.Output != iostream.Table {
		return common.Print(common.Output, out)
	}
	common.Sayf("user %s has a new password, which is shown once and must be changed at the next sign-in:", user)
	_, err = fmt.Fprintln(common.Out, out.Password)
	return err
}

func newGroupCmd(common *connect.Common) *cobra.Command {
	n := &noun.Noun[api.Group, *api.Group]{
		Use: "group", Aliases: []string{"groups"}, Called: "group", Short: "Sets of users",
		Entities: (*client.Client).Groups, Name: "org.acme.developers",
		Header: []string{"MEMBERS", "CLAIM"},
		Row:    func(g *api.Group) []string { return []string{strings.Join(g.Members, ", "), g.Claim} },
		Flags: func(flags *pflag.FlagSet) func(*api.Group, func(string) bool) error {
			members := flags.StringSlice("member", nil, "`users` of the group, which replace earlier ones; separated by commas, or repeat")
			claim := flags.String("claim", "", "`value` of the identity provider's group claim that makes its bearer a member")
			return func(g *api.Group, given func(string) bool) error {
				if given("member") {
					g.Members = *members
				}
				if given("claim") {
					g.Claim = *claim
				}
				return nil
			}
		},
		Example: "  slipway group create org.acme.developers --member ada,bob --claim acme-developers",
	}
	cmd := n.Cmd(common)
	change := func(use, short, verb string, edit func(have, given []string) []string) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Example: "  slipway group " + verb + " org.acme.developers ada bob", Args: cobra.MinimumNArgs(2),
			ValidArgsFunction: n.Complete(common),
			RunE: func(cmd *cobra.Command, args []string) error {
				return membersRun(cmd.Context(), common, args[0], func(have []string) []string { return edit(have, args[1:]) })
			},
		}
	}
	cmd.AddCommand(
		change("add-member ID USER...", "Add users to a group", "add-member", func(have, given []string) []string {
			for _, user := range given {
				if !slices.Contains(have, user) {
					have = append(have, user)
				}
			}
			return have
		}),
		change("remove-member ID USER...", "Take users out of a group", "remove-member", func(have, given []string) []string {
			return slices.DeleteFunc(have, func(user string) bool { return slices.Contains(given, user) })
		}),
	)
	return cmd
}

func membersRun(ctx context.Context, common *connect.Common, id string, edit func([]string) []string) error {
	s, err := common.MustServer()
	if err != nil {
		return err
	}
	groups := s.Client.Groups()
	g, err := groups.Get(ctx, id)
	if err != nil {
		return s.Explain(err)
	}
	g.Members = edit(g.Members)
	if g, err = groups.Update(ctx, id, g, false); err != nil {
		return s.Explain(err)
	}
	return noun.Done(common, "group "+id, "changed", false, &g)
}

func newServiceAccountCmd(common *connect.Common) *cobra.Command {
	n := &noun.Noun[api.ServiceAccount, *api.ServiceAccount]{
		Use: "serviceaccount", Aliases: []string{"sa", "serviceaccounts"}, Called: "service account", Short: "Programs that use the API",
		Entities: (*client.Client).ServiceAccounts, Name: "org.acme.ci",
		Header: []string{"DISPLAY NAME", "DISABLED"},
		Row:    func(a *api.ServiceAccount) []string { return []string{a.DisplayName, strconv.FormatBool(a.Disabled)} },
		Flags: func(flags *pflag.FlagSet) func(*api.ServiceAccount, func(string) bool) error {
			disabled := flags.Bool("disabled", false, "its tokens are invalid")
			return func(a *api.ServiceAccount, given func(string) bool) error {
				if given("disabled") {
					a.Disabled = *disabled
				}
				return nil
			}
		},
		Example: "  slipway serviceaccount create org.acme.ci --description 'deploys from CI'",
	}
	return n.Cmd(common)
}
