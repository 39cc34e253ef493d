package people

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

func newTokenCmd(common *connect.Common) *cobra.Command {
	cmd := &cobra.Command{
		Use: "token", Aliases: []string{"tokens"}, Short: "Tokens, with which programs act as a user or a service account",
		Example: "  slipway token create ci --permission application_view,application_sync --scope org.acme --expires 720h\n  slipway token list",
	}
	cmd.AddCommand(newTokenListCmd(common), newTokenGetCmd(common), newTokenCreateCmd(common), newTokenDeleteCmd(common))
	return cmd
}

// ownerOf reads who a token belongs to: a user, or a service account by its id.
func ownerOf(id string) api.Principal {
	switch {
	case id == "":
		return api.Principal{}
	case strings.Contains(id, "."):
		return api.Principal{Type: api.PrincipalServiceAccount, ID: id}
	}
	return api.Principal{Type: api.PrincipalUser, ID: id}
}

const ownerHelp = "`user`, or id of a service account"

func newTokenListCmd(common *connect.Common) *cobra.Command {
	var owner string
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List tokens, without their secrets", Args: cobra.NoArgs,
		Example: "  slipway token list\n  slipway token list --owner org.acme.ci\n  slipway token list --owner '*'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			all, err := allTokens(cmd.Context(), s, ownerOf(owner))
			if err != nil {
				return s.Explain(err)
			}
			now := time.Now()
			return noun.PrintList(common, all, []string{
				"ID", "NAME", "OWNER", "SCOPE", "PERMISSIONS", "EXPIRES", "USED BEFORE",
			}, func(t *api.Token) []string {
				return []string{
					t.ID, t.Name, t.Owner.ID, string(t.Scope), permissionsText(t.Permissions), noun.Time(t.ExpiresAt), noun.Ago(t.LastUsedAt, now),
				}
			}, "no tokens; make one with `slipway token create`")
		},
	}
	cmd.Flags().StringVar(&owner, "owner", "", ownerHelp+"; * for all that you may see (default you)")
	return cmd
}

func allTokens(ctx context.Context, s *connect.Server, owner api.Principal) ([]api.Token, error) {
	return client.All(api.ListOptions{}, func(options api.ListOptions) (api.Page[api.Token], error) {
		return s.Client.Tokens(ctx, owner, options)
	})
}

func permissionsText(list []api.Permission) string {
	if len(list) == 0 {
		return "all of the owner"
	}
	parts := make([]string, 0, len(list))
	for _, p := range list {
		parts = append(parts, string(p))
	}
	return strings.Join(parts, ", ")
}

func newTokenGetCmd(common *connect.Common) *cobra.Command {
	return &cobra.Command{
		Use: "get ID", Short: "Show a token, without its secret", Args: cobra.ExactArgs(1),
		Example: "  slipway token get 01J9Z6B7Y5", ValidArgsFunction: completeTokens(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			t, err := s.Client.Token(cmd.Context(), args[0])
			if err != nil {
				return s.Explain(err)
			}
			return noun.Print(common, t)
		},
	}
}

type tokenOptions struct {
	*connect.Common
	name        string
	owner       string
	scope       string
	permissions []string
	expires     time.Duration
	dryRun      bool
}

func newTokenCreateCmd(common *connect.Common) *cobra.Command {
	o := tokenOptions{Common: common}
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a token; its secret is printed once", Args: cobra.ExactArgs(1),
		Example: "  slipway token create laptop\n" +
			"  slipway token create deploy --owner org.acme.ci --permission application_view,application_sync --scope org.acme > token\n" +
			"  SLIPWAY_SERVER=https://slipway.example.org SLIPWAY_TOKEN=$(cat token) slipway app list",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return tokenRun(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.owner, "owner", "", ownerHelp+" of the token (default you)")
	cmd.Flags().StringVar(&o.scope, "scope", "", "`scope` of the token (default everywhere)")
	cmd.Flags().StringSliceVar(&o.permissions, "permission", nil,
		"`permissions` of the token, separated by commas, or repeat (default all of its owner)")
	cmd.Flags().DurationVar(&o.expires, "expires", 0, "how long it counts, at most a year (default 30 days)")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only validate at the server, and create nothing")
	return cmd
}

func tokenRun(ctx context.Context, o tokenOptions) error {
	scope, err := api.ParseScope(o.scope)
	if err != nil {
		return iostream.Usagef("--scope: %w", err)
	}
	if o.expires < 0 {
		return iostream.Usagef("--expires cannot be negative")
	}
	token := api.Token{Name: o.name, Owner: ownerOf(o.owner)}
	if o.scope != "" {
		token.Scope = scope
	}
	for _, p := range o.permissions {
		token.Permissions = append(token.Permissions, api.Permission(p))
	}
	if o.expires > 0 {
		token.ExpiresAt = time.Now().Add(o.expires).UTC().Truncate(time.Second)
	}
	s, err := o.MustServer()
	if err != nil {
		return err
	}
	made, err := s.Client.CreateToken(ctx, token, o.dryRun)
	if err != nil {
		return s.Explain(err)
	}
	if o.Output != iostream.Table {
		return o.Print(o.Output, made)
	}
	if o.dryRun {
		o.Sayf("token %s would be created", o.name)
		return nil
	}
	o.Sayf("token %s (%s) of %s is valid until %s; its secret, which is shown once:", made.Name, made.ID, made.Owner.ID,
		noun.Time(made.ExpiresAt))
	_, err = fmt.Fprintln(o.Out, made.Secret)
	return err
}

func newTokenDeleteCmd(common *connect.Common) *cobra.Command {
	return &cobra.Command{
		Use: "delete ID...", Short: "Revoke tokens", Args: cobra.MinimumNArgs(1),
		Example: "  slipway token delete 01J9Z6B7Y5", ValidArgsFunction: completeTokens(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			for _, id := range args {
				if err := s.Client.DeleteToken(cmd.Context(), id); err != nil {
					return s.Explain(err)
				}
				common.Sayf("token %s deleted", id)
			}
			return nil
		},
	}
}

func completeTokens(common *connect.Common) cobra.CompletionFunc {
	return noun.Complete(common, func(ctx context.Context, s *connect.Server, prefix string) ([]string, error) {
		all, err := allTokens(ctx, s, api.Principal{})
		var out []string
		for i := range all {
			if strings.HasPrefix(all[i].ID, prefix) {
				out = append(out, cobra.CompletionWithDesc(all[i].ID, all[i].Name))
			}
		}
		return out, err
	})
}
