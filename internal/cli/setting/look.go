package setting

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// projectHelp is the help of --project for commands that look into a repository.
const projectHelp = "`name` of the AppProject of the application, whose rules apply (default \"default\")"

func newRefsCmd(common *connect.Common) *cobra.Command {
	var req api.RepositoryRefsRequest
	cmd := &cobra.Command{
		Use: "refs URL", Short: "Have an agent list branches and tags of a repository, or its charts", Args: cobra.ExactArgs(1),
		Long: "List the revisions that an application can deploy: branches and tags of Git, " +
			"charts of a Helm repository.\n" +
			"The agent looks with its credentials, and only where the project permits the repository.",
		Example: "  slipway repo refs https://git.example.org/shop.git\n  slipway repo refs https://git.example.org/shop.git --search v1. " +
			"--agent account.prod\n" +
			"  slipway repo refs https://charts.example.org --type helm",
		RunE: func(cmd *cobra.Command, args []string) error {
			req.RepoURL = args[0]
			return refsRun(cmd.Context(), common, req)
		},
	}
	cmd.Flags().StringVar(&req.ArgoProject, "project", "", projectHelp)
	cmd.Flags().StringVar(&req.Type, "type", "", "`git|helm|oci`, if the agent has no setting for it")
	cmd.Flags().StringVar(&req.Search, "search", "", "only names with this `text` in them")
	return cmd
}

func refsRun(ctx context.Context, common *connect.Common, req api.RepositoryRefsRequest) error {
	if req.Type != "" {
		if err := noun.OneOf("type", []string{"git", "helm", "oci"}, req.Type); err != nil {
			return err
		}
	}
	s, agent, err := looker(ctx, common)
	if err != nil {
		return err
	}
	found, err := s.Client.RepositoryRefs(ctx, agent, req)
	if err != nil {
		return s.Explain(err)
	}
	if found.Truncated {
		common.Sayf("there are more than are listed: narrow it with --search")
	}
	if common.Output != iostream.Table {
		return common.Print(common.Output, found)
	}
	rows := iostream.Rows{Header: []string{"NAME", "TYPE", "AT"}}
	for _, b := range found.Branches {
		kind := "branch"
		if b.Name == found.Default {
			kind = "default branch"
		}
		rows.Add(b.Name, kind, b.Commit)
	}
	for _, t := range found.Tags {
		rows.Add(t.Name, "tag", t.Commit)
	}
	for i := range found.Charts {
		c := &found.Charts[i]
		rows.Add(c.Name, "chart", strings.Join(c.Versions[:min(5, len(c.Versions))], ", "))
	}
	if rows.Len() == 0 {
		common.Sayf("nothing that an application could be deployed at")
		return nil
	}
	return common.Table(&rows)
}

func newPathsCmd(common *connect.Common) *cobra.Command {
	var req api.RepositoryPathsRequest
	cmd := &cobra.Command{
		Use: "paths URL [PATH]", Short: "List a directory of a repository through an agent, and the tool that renders it",
		Args: cobra.RangeArgs(1, 2),
		Example: "  slipway repo paths https://git.example.org/shop.git\n  slipway repo paths https://git.example.org/shop.git " +
			"apps/web --revision v1.2.0",
		RunE: func(cmd *cobra.Command, args []string) error {
			req.RepoURL, req.Path = args[0], strings.Join(args[1:], "")
			return pathsRun(cmd.Context(), common, req)
		},
	}
	cmd.Flags().StringVar(&req.ArgoProject, "project", "", projectHelp)
	cmd.Flags().StringVar(&req.Revision, "revision", "", "`branch`, tag or commit (default the repository's own branch)")
	cmd.Flags().StringVar(&req.Plugin, "plugin", "", "`name` of a config management plugin, to list its parameters")
	return cmd
}

func pathsRun(ctx context.Context, common *connect.Common, req api.RepositoryPathsRequest) error {
	s, agent, err := looker(ctx, common)
	if err != nil {
		return err
	}
	found, err := s.Client.RepositoryPaths(ctx, agent, req)
	if err != nil {
		return s.Explain(err)
	}
	for _, w := range found.Warnings {
		common.Sayf("warning: %s", iostream.Clean(w))
	}
	if found.Truncated {
		common.Sayf("there is more than is listed: look into a directory of it")
	}
	if common.Output != iostream.Table {
		return common.Print(common.Output, found)
	}
	rows := iostream.Rows{Header: []string{"PATH", "TYPE", "RENDERED BY"}}
	for _, x := range found.Items {
		rows.Add(x.Path, x.Type, x.Tool)
	}
	if rows.Len() > 0 {
		if err := common.Table(&rows); err != nil {
			return err
		}
	}
	if err := announced(common, found.Details); err != nil {
		return err
	}
	common.Sayf("%s", summary(&found))
	return nil
}

// announced prints the parameters of a plugin.
func announced(common *connect.Common, details *api.SourceDetails) error {
	if details == nil || len(details.Parameters) == 0 {
		return nil
	}
	rows := iostream.Rows{Header: []string{"PARAMETER", "TYPE", "REQUIRED", "DEFAULT", "DESCRIPTION"}}
	for _, p := range details.Parameters {
		value := p.String
		switch p.CollectionType {
		case "array":
			value = strings.Join(p.Array, ", ")
		case "map":
			var pairs []string
			for _, key := range slices.Sorted(maps.Keys(p.Map)) {
				pairs = append(pairs, key+"="+p.Map[key])
			}
			value = strings.Join(pairs, ", ")
		}
		required := "no"
		if p.Required {
			required = "yes"
		}
		rows.Add(p.Name, cmp.Or(p.CollectionType, p.ItemType, "string"), required, value, cmp.Or(p.Tooltip, p.Title))
	}
	return common.Table(&rows)
}

// summary says what an application of the directory would be.
func summary(p *api.RepositoryPaths) string {
	where := p.Path
	if where == "" {
		where = "the root"
	}
	if p.Tool == "" {
		return fmt.Sprintf("%s at %s has nothing to deploy", where, legible.Revision(p.Revision, 10))
	}
	text := fmt.Sprintf("%s at %s is rendered by %s", where, legible.Revision(p.Revision, 10), p.Tool)
	if p.Details != nil && p.Details.Helm != nil {
		text += fmt.Sprintf(": chart %s %s", p.Details.Helm.Name, p.Details.Helm.Version)
	}
	if len(p.ValueFiles) > 0 {
		text += ", with values " + strings.Join(p.ValueFiles, ", ")
	}
	return iostream.Clean(text)
}

// looker is the server, and the agent that looks into a repository.
func looker(ctx context.Context, common *connect.Common) (*connect.Server, string, error) {
	s, err := common.MustServer()
	if err != nil {
		return nil, "", err
	}
	agent, err := s.TheAgent(ctx)
	return s, agent.ID, err
}
