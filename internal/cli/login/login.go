// Package login is `slipway login`, `logout`, `whoami`, `password` and `context`: servers, and the user at each of them.
package login

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
	"github.com/slipway-gitops/slipway/internal/cli/remote"
)

// NewCmds returns the commands.
func NewCmds(common *connect.Common) []*cobra.Command {
	return []*cobra.Command{newLoginCmd(common), newLogoutCmd(common), newWhoamiCmd(common), newPasswordCmd(common), newContextCmd(common)}
}

type loginOptions struct {
	*connect.Common
	url          string
	name         string
	username     string
	passwordFile string
	newFile      string
	stdin        bool
	tokenFile    string
	tokenStdin   bool
	sso          bool
	caFile       string
	insecure     bool
	timeout      time.Duration
}

func newLoginCmd(common *connect.Common) *cobra.Command {
	o := loginOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "login URL",
		Short: "Sign in to a server, and use it for further commands",
		Long: "Sign in to a server and store a token for it in a context, which becomes the current one. " +
			"The command reads the password from the terminal,\n" +
			"a file or standard input, never from an argument. Contexts are stored in slipway/config.json below $XDG_CONFIG_HOME\n" +
			"(~/.config), which only you can read.",
		Example: "  slipway login https://slipway.example.org\n" +
			"  slipway login https://slipway.example.org --username ada --password-stdin < password\n" +
			"  slipway login https://slipway.example.org --sso\n" +
			"  slipway login https://slipway.example.org --token-stdin --ca-file ca.pem < token",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.url = args[0]
			return loginRun(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.name, "name", "", "`name` of the context (default the server's host and port)")
	flags.StringVar(&o.username, "username", "", "`name` of the user (default: ask)")
	flags.StringVar(&o.passwordFile, "password-file", "", "`file` with the password")
	flags.BoolVar(&o.stdin, "password-stdin", false, "read the password from standard input")
	flags.StringVar(&o.newFile, "new-password-file", "", "`file` with the new password, if the current one was set for you")
	flags.StringVar(&o.tokenFile, "token-file", "", "`file` with a token to sign in with, in place of a password")
	flags.BoolVar(&o.tokenStdin, "token-stdin", false, "read a token to sign in with from standard input")
	flags.BoolVar(&o.sso, "sso", false, "sign in with the identity provider, in a browser")
	flags.StringVar(&o.caFile, "ca-file", "", "PEM `file` with certificates that sign the server's")
	flags.BoolVar(&o.insecure, "insecure", false,
		"do not check the server's certificate, and allow plain HTTP; an attacker on the network can read and change the traffic")
	flags.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long to wait for the browser")
	cmd.MarkFlagsMutuallyExclusive("password-file", "password-stdin", "token-file", "token-stdin", "sso")
	cmd.MarkFlagsMutuallyExclusive("username", "token-file")
	cmd.MarkFlagsMutuallyExclusive("username", "token-stdin")
	cmd.MarkFlagsMutuallyExclusive("username", "sso")
	return cmd
}

// maxCA bounds a file of certificates.
const maxCA = 1 << 20

func readCA(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	f, err := os.Open(file) //nolint:gosec // the user names it
	if err != nil {
		return "", fmt.Errorf("read CA: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	raw, err := io.ReadAll(io.LimitReader(f, maxCA+1))
	if err != nil || len(raw) > maxCA {
		return "", fmt.Errorf("read CA: %s is no file of certificates: give one in PEM", file)
	}
	return string(raw), nil
}

func loginRun(ctx context.Context, o loginOptions) error {
	at, err := client.ParseServer(o.url)
	if err != nil {
		return iostream.Usagef("%w", err)
	}
	ca, err := readCA(o.caFile)
	if err != nil {
		return err
	}
	found := remote.Context{Name: o.name, Server: at.String(), CA: ca, Insecure: o.insecure}
	if found.Name == "" {
		found.Name = at.Host
	}
	if strings.Contains(found.Name, "/") {
		return iostream.Usagef("the name of a context must not contain a slash, which marks an address")
	}
	if o.insecure {
		o.Sayf("warning: --insecure: the server's certificate is not checked, and an attacker on the network can read and change the traffic")
	}
	c, err := found.Client(o.Version)
	if err != nil {
		return err
	}
	defer c.Close()
	if found.Token, err = o.signIn(ctx, c); err != nil {
		return err
	}
	who, err := c.With(found.Token).Whoami(ctx)
	if err != nil {
		return connect.ExplainServer(err, found.Server)
	}
	found.User, found.ExpiresAt = who.Principal.ID, who.ExpiresAt
	var overruled []string
	err = remote.Update(func(contexts *remote.Contexts) error {
		contexts.Use(found)
		overruled = contexts.Overruled()
		return nil
	})
	if err != nil {
		return err
	}
	o.Sayf("signed in to %s as %s; context %s is the current one", found.Server, who.Principal.ID, found.Name)
	for _, problem := range overruled {
		o.Sayf("warning: %s", problem)
	}
	return nil
}

// signIn gives the token to go on with.
func (o *loginOptions) signIn(ctx context.Context, c *client.Client) (string, error) {
	switch {
	case o.tokenStdin:
		return o.Secret("token", "-")
	case o.tokenFile != "":
		return o.Secret("token", o.tokenFile)
	case o.sso:
		return o.singleSignOn(ctx, c)
	}
	methods, err := c.SignInMethods(ctx)
	if err != nil {
		return "", connect.ExplainServer(err, c.Server())
	}
	if !methods.Password {
		return "", iostream.NotLoggedInf("server %s takes no passwords: sign in with --sso, or with a token (--token-stdin)", c.Server())
	}
	if o.username == "" {
		if o.username, err = o.Line("user name"); err != nil {
			return "", err
		}
	}
	file := o.passwordFile
	if o.stdin {
		file = "-"
	}
	password, err := o.Secret("password of "+o.username, file)
	if err != nil {
		return "", err
	}
	in := api.SignIn{Username: o.username, Password: password, Token: tokenName()}
	session, err := c.SignIn(ctx, in)
	if err == nil && o.newFile != "" {
		o.Sayf("warning: --new-password-file is not used, since you chose the current password yourself: `slipway password` changes it")
	}
	if api.CodeOf(err) == api.CodeForbidden && err != nil {
		o.Sayf("this password was set for you: choose your own now")
		if in.Password, err = o.chooseFirst(ctx, c, in); err != nil {
			return "", err
		}
		session, err = c.SignIn(ctx, in)
	}
	if err != nil {
		if api.CodeOf(err) == api.CodeUnauthenticated {
			return "", iostream.NotLoggedInf("%w", err)
		}
		return "", err
	}
	return session.Token, nil
}

// chooseFirst asks a user whose password another user or the server chose to choose their own.
func (o *loginOptions) chooseFirst(ctx context.Context, c *client.Client, in api.SignIn) (string, error) {
	if o.newFile == "" && !o.Terminal() {
		return "", iostream.NotLoggedInf("choose a password of your own: sign in at a terminal, or give --new-password-file")
	}
	chosen, err := newPassword(o.Streams, o.newFile)
	if err != nil {
		return "", err
	}
	if err := c.ChooseFirst(ctx, in, chosen); err != nil {
		return "", err
	}
	o.Sayf("password changed")
	return chosen, nil
}

// newPassword reads a password from a file, or asks for it twice.
func newPassword(streams iostream.Streams, file string) (string, error) {
	chosen, err := streams.Secret("new password", file)
	if err != nil || file != "" {
		return chosen, err
	}
	again, err := streams.Secret("new password again", "")
	if err == nil && again != chosen {
		return "", iostream.Usagef("the two new passwords differ: try again")
	}
	return chosen, err
}

// tokenName says in lists of tokens where one is used.
func tokenName() string {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower("cli-"+host))
	return strings.Trim(name[:min(len(name), api.MaxName)], "-")
}

func newLogoutCmd(common *connect.Common) *cobra.Command {
	return &cobra.Command{
		Use: "logout [CONTEXT]", Short: "Sign out: revoke the token of a context, and remove it", Args: cobra.MaximumNArgs(1),
		Example: "  slipway logout\n  slipway logout slipway.example.org", ValidArgsFunction: completeContexts,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			return logoutRun(cmd.Context(), common, name)
		},
	}
}

func logoutRun(ctx context.Context, common *connect.Common, name string) error {
	contexts, err := remote.Load()
	if err != nil {
		return err
	}
	if name == "" {
		name = common.ServerName
	}
	if name == "" {
		name = contexts.Current
	}
	found, ok := contexts.Get(name)
	if !ok {
		return iostream.NotLoggedInf("there is no context %q; `slipway context list` shows those that there are", name)
	}
	c, err := found.Client(common.Version)
	if err == nil {
		err = c.SignOut(ctx)
	}
	saveErr := remote.Update(func(contexts *remote.Contexts) error {
		contexts.Delete(name)
		return nil
	})
	if saveErr != nil {
		return saveErr
	}
	if err != nil && api.CodeOf(err) != api.CodeUnauthenticated {
		return fmt.Errorf("context %s is forgotten, but its token is valid until %s, because the server could not be reached: %w", name,
			noun.Time(found.ExpiresAt), err)
	}
	common.Sayf("signed out of %s", found.Server)
	return nil
}

func newWhoamiCmd(common *connect.Common) *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Show your user at the server, and your permissions", Args: cobra.NoArgs,
		Example: "  slipway whoami\n  slipway whoami -o json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return whoamiRun(cmd.Context(), common) },
	}
}

func whoamiRun(ctx context.Context, common *connect.Common) error {
	s, err := common.MustServer()
	if err != nil {
		return err
	}
	who, err := s.Client.Whoami(ctx)
	if err != nil {
		return s.Explain(err)
	}
	if common.Output != iostream.Table {
		return common.Print(common.Output, who)
	}
	rows := &iostream.Rows{Header: []string{"FIELD", "VALUE"}}
	rows.Add("Server", s.Name.Server)
	rows.Add("Context", s.Name.Name)
	rows.Add("Who", who.Principal.Type+" "+who.Principal.ID)
	if len(who.Groups) > 0 {
		rows.Add("Groups", strings.Join(who.Groups, ", "))
	}
	if who.Token != nil {
		rows.Add("Token", who.Token.Name+" ("+who.Token.ID+")")
	}
	if !who.ExpiresAt.IsZero() {
		rows.Add("Until", noun.Time(who.ExpiresAt))
	}
	for _, g := range who.Grants {
		line := fmt.Sprintf("%d permissions", len(g.Permissions))
		if g.Role != "" {
			line = g.Role + " by " + g.Binding
		}
		if g.Partial {
			line += ", for some objects"
		}
		rows.Add("At "+string(g.Scope), line)
	}
	return common.Table(rows)
}

type passwordOptions struct {
	currentFile string
	newFile     string
	endTokens   bool
}

func newPasswordCmd(common *connect.Common) *cobra.Command {
	var o passwordOptions
	cmd := &cobra.Command{
		Use: "password", Short: "Change your own password at the server; all other sessions end", Args: cobra.NoArgs,
		Example: "  slipway password\n  slipway password --end-tokens\n  slipway password --current-file old.txt --new-file new.txt",
		RunE:    func(cmd *cobra.Command, _ []string) error { return passwordRun(cmd.Context(), common, o) },
	}
	cmd.Flags().StringVar(&o.currentFile, "current-file", "", "`file` with the present password (default: ask)")
	cmd.Flags().StringVar(&o.newFile, "new-file", "", "`file` with the new password, - for standard input (default: ask)")
	cmd.Flags().BoolVar(&o.endTokens, "end-tokens", false, "revoke your API tokens too, except the one that you are signed in with here")
	return cmd
}

func passwordRun(ctx context.Context, common *connect.Common, o passwordOptions) error {
	s, err := common.MustServer()
	if err != nil {
		return err
	}
	change := api.PasswordChange{EndTokens: o.endTokens}
	if change.Current, err = common.Secret("password of now", o.currentFile); err != nil {
		return err
	}
	if change.New, err = newPassword(common.Streams, o.newFile); err != nil {
		return err
	}
	if err := s.Client.ChangePassword(ctx, change); err != nil {
		return s.Explain(err)
	}
	common.Sayf("password changed")
	return nil
}
