package app

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/family"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/inspect"
)

type treeOptions struct {
	*connect.Common
	name   string
	follow bool
}

func newTreeCmd(common *connect.Common) *cobra.Command {
	o := treeOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "tree NAME",
		Short: "Show the objects of an application and what they own: ReplicaSets, Pods, Jobs, ...",
		Long: "Show the objects of an application and what they own. With --follow, through a server, continue with a line for each object\n" +
			"that is added, changed or removed, until it is interrupted.",
		Example: "  slipway app tree web\n  slipway app tree web -o json\n  slipway app tree web --follow",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			if o.follow {
				return followTree(cmd.Context(), o)
			}
			return treeRun(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "go on with what changes")
	return cmd
}

func treeRun(ctx context.Context, o treeOptions) error {
	app, answer, err := o.read(ctx)
	if err != nil {
		return err
	}
	sayWarnings(o.Common, answer.Warnings)
	roots := answer.Items
	if o.Output != iostream.Table {
		return o.Print(o.Output, map[string]any{"items": roots})
	}
	if !o.TTY {
		rows := iostream.Rows{}
		inspect.Walk(roots, func(depth int, parent, node *api.TreeNode) {
			above := ""
			if parent != nil {
				above = kindText(parent.Group, parent.Kind) + " " + objectText(parent.Namespace, parent.Name)
			}
			rows.Add(kindText(node.Group, node.Kind), objectText(node.Namespace, node.Name), node.Sync, node.Health, node.Message, above)
		})
		return o.Streams.Table(&rows)
	}
	return drawTree(o.Out, fmt.Sprintf("%s  %s", app.Name, state(app.Status)), roots)
}

// read reads the tree: the agent does at a server, this program at a cluster.
func (o *treeOptions) read(ctx context.Context) (*v1alpha1.Application, api.TreeAnswer, error) {
	server, err := o.Server()
	if err != nil {
		return nil, api.TreeAnswer{}, err
	}
	if server != nil {
		app, err := server.Get(ctx, o.name)
		if err != nil {
			return nil, api.TreeAnswer{}, err
		}
		at, err := server.Application(ctx, o.name)
		if err != nil {
			return nil, api.TreeAnswer{}, err
		}
		answer, err := at.Tree(ctx)
		return &app.Application, answer, server.Explain(err)
	}
	cluster, app, err := connectToOwn(ctx, o.Common, o.name)
	if err != nil {
		return nil, api.TreeAnswer{}, err
	}
	roots, warnings, err := family.Read(ctx, cluster, app.Status.Resources)
	return app, api.TreeAnswer{Items: roots, Warnings: warnings}, err
}

// drawTree draws nodes below a title with lines for a terminal.
func drawTree(w io.Writer, title string, roots []*api.TreeNode) error {
	if _, err := fmt.Fprintln(w, iostream.Clean(title)); err != nil {
		return err
	}
	return drawLevel(w, "", roots)
}

func drawLevel(w io.Writer, indent string, nodes []*api.TreeNode) error {
	for i, n := range nodes {
		branch, below := "├─ ", "│  "
		if i == len(nodes)-1 {
			branch, below = "└─ ", "   "
		}
		line := kindText(n.Group, n.Kind) + " " + objectText(n.Namespace, n.Name)
		for _, word := range []string{n.Sync, n.Health, n.Message} {
			if word != "" {
				line += "  " + word
			}
		}
		if _, err := fmt.Fprintln(w, indent+branch+iostream.Clean(line)); err != nil {
			return err
		}
		if err := drawLevel(w, indent+below, n.Children); err != nil {
			return err
		}
	}
	return nil
}
