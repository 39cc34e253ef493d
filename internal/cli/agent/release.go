package agent

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
	"github.com/slipway-gitops/slipway/internal/statement"
)

func newReleaseCmd(common *connect.Common) *cobra.Command {
	cmd := &cobra.Command{
		Use: "release", Aliases: []string{"releases"}, Short: "Releases of the agent, which signed statements name",
		Example: "  slipway agent release add releases.json\n  slipway agent release list",
	}
	add := &cobra.Command{
		Use: "add FILE", Short: "Add the releases of a signed statement; - for standard input", Args: cobra.ExactArgs(1),
		Example: "  slipway agent release add releases.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := readStatement(common, args[0])
			if err != nil {
				return err
			}
			if _, err := statement.Read(raw); err != nil {
				return err
			}
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			all, err := s.Client.AddAgentReleases(cmd.Context(), raw)
			if err != nil {
				return s.Explain(err)
			}
			return printReleases(common, all)
		},
	}
	list := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the releases that were added, the last first", Args: cobra.NoArgs,
		Example: "  slipway agent release list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			all, err := s.Client.AgentReleases(cmd.Context())
			if err != nil {
				return s.Explain(err)
			}
			return printReleases(common, all)
		},
	}
	cmd.AddCommand(add, list, newSignCmd(common))
	return cmd
}

func printReleases(common *connect.Common, all []api.AgentRelease) error {
	return noun.PrintList(common, all, []string{"VERSION", "DIGEST", "MINIMUM", "ADDED"}, func(r *api.AgentRelease) []string {
		return []string{r.Version, r.Digest, r.Minimum, noun.Time(r.AddedAt)}
	}, "no release was added yet: `slipway agent release add FILE`")
}

// readStatement reads a statement from a file, or from standard input.
func readStatement(common *connect.Common, name string) ([]byte, error) {
	in := common.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("read the statement: %w", err)
		}
		defer file.Close() //nolint:errcheck // it was only read
		in = file
	}
	raw, err := io.ReadAll(io.LimitReader(in, statement.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the statement: %w", err)
	}
	return raw, nil
}

func newSignCmd(common *connect.Common) *cobra.Command {
	var key string
	var release statement.Release
	cmd := &cobra.Command{
		Use: "sign", Short: "Sign a statement that an image is a release, with a key of your own; it needs no server", Args: cobra.NoArgs,
		Long: "Sign a statement that an image is a release, and print it. Use it for images that you build or choose yourself. The agents\n" +
			"need the public half of the key: `openssl pkey -in release.key -pubout`. Ed25519 and ECDSA on P-256 are supported.",
		Example: "  openssl genpkey -algorithm ed25519 -out release.key\n" +
			"  slipway agent release sign --key release.key --version 1.4.0 --digest sha256:9f86… > releases.json",
		RunE: func(*cobra.Command, []string) error {
			switch {
			case key == "":
				return iostream.Usagef("%s", errNoKey)
			case release.Version == "" || release.Digest == "":
				return iostream.Usagef("--version and --digest are needed: they say which image is which version of the agent")
			}
			text, err := os.ReadFile(key)
			if err != nil {
				return fmt.Errorf("read --key: %w", err)
			}
			signer, err := statement.ParseSigner(text)
			if err != nil {
				return fmt.Errorf("read --key: %w", err)
			}
			issued := time.Now().UTC().Truncate(time.Second)
			raw, err := statement.Sign(statement.Statement{Issued: issued, Releases: []statement.Release{release}}, signer)
			if err != nil {
				return err
			}
			_, err = common.Out.Write(raw)
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&key, "key", "", "`file` with the private key (PEM, PKCS #8)")
	flags.StringVar(&release.Version, "version", "", "`version` of the agent in the image, such as 1.4.0")
	flags.StringVar(&release.Digest, "digest", "", "`digest` of the image, sha256:…")
	flags.StringVar(&release.Minimum, "minimum", "", "oldest `version` that an agent of this release may be brought back to by a command")
	flags.StringSliceVar(&release.Platforms, "platform", nil,
		"`platform` that the image runs on, such as linux/amd64; several times for several (default every one)")
	return cmd
}

func newVersionCmd(common *connect.Common) *cobra.Command {
	var labels []string
	var scope string
	cmd := &cobra.Command{
		Use: "version", Short: "Which version agents should run",
		Example: "  slipway agent version set 1.4.0 --label ring=early\n  slipway agent version list",
	}
	list := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Args: cobra.NoArgs,
		Short:   "List the rules that say which version agents should run; the first that an agent matches counts",
		Example: "  slipway agent version list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			v, err := s.Client.AgentVersions(cmd.Context())
			if err != nil {
				return s.Explain(err)
			}
			return printRules(common, v.Rules)
		},
	}
	set := &cobra.Command{
		Use: "set VERSION", Args: cobra.ExactArgs(1),
		Short: "Set which version agents should run: all, those of a scope, or those with some labels",
		Long: "Set which version agents should run. A rule for the same scope and labels is replaced; a new one comes before those that say\n" +
			"less. Nothing changes until `slipway agent upgrade` makes the agents run it.",
		Example: "  slipway agent version set 1.4.0\n  slipway agent version set 1.5.0 --label ring=early\n" +
			"  slipway agent version set 1.3.2 --scope org.acme",
		RunE: func(cmd *cobra.Command, args []string) error {
			selector, err := noun.ReadLabels(labels)
			if err != nil {
				return err
			}
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			v, err := s.Client.AgentVersions(cmd.Context())
			if err != nil {
				return s.Explain(err)
			}
			v.Rules = withRule(v.Rules, api.AgentVersionRule{Scope: api.Scope(scope), Selector: selector, Release: args[0]})
			if v, err = s.Client.SetAgentVersions(cmd.Context(), v); err != nil {
				return s.Explain(err)
			}
			return printRules(common, v.Rules)
		},
	}
	set.Flags().StringSliceVar(&labels, "label", nil, "only agents with this `key=value`; several times for several")
	set.Flags().StringVar(&scope, "scope", "", "only agents in this `scope` or below it")
	cmd.AddCommand(list, set)
	return cmd
}

// withRule puts a rule in place of the one for the same agents, or before those that say less of the agents they are about.
func withRule(rules []api.AgentVersionRule, fresh api.AgentVersionRule) []api.AgentVersionRule {
	same := func(r *api.AgentVersionRule) bool {
		return r.Scope == fresh.Scope && len(r.Selector) == len(fresh.Selector) && api.HasLabels(r.Selector, fresh.Selector)
	}
	for i := range rules {
		if same(&rules[i]) {
			rules[i] = fresh
			return rules
		}
	}
	weight := func(r *api.AgentVersionRule) int { return 2*len(r.Selector) + min(len(r.Scope), 1) }
	for i := range rules {
		if weight(&rules[i]) < weight(&fresh) {
			return append(rules[:i:i], append([]api.AgentVersionRule{fresh}, rules[i:]...)...)
		}
	}
	return append(rules, fresh)
}

func printRules(common *connect.Common, rules []api.AgentVersionRule) error {
	return noun.PrintList(common, rules, []string{"VERSION", "SCOPE", "LABELS"}, func(r *api.AgentVersionRule) []string {
		scope := string(r.Scope)
		if scope == "" {
			scope = "all"
		}
		return []string{r.Release, scope, noun.Labels(r.Selector)}
	}, "no rule says which version agents should run")
}
