package app

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/internal/cli/access"
	"github.com/slipway-gitops/slipway/internal/cli/family"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

type treeOptions struct {
	*access.Common
	name string
}

func newTreeCmd(common *access.Common) *cobra.Command {
	o := treeOptions{Common: common}
	return &cobra.Command{
		Use:     "tree NAME",
		Short:   "Show the objects of an application and what they own: ReplicaSets, Pods, Jobs, ...",
		Example: "  slipway app tree web\n  slipway app tree web -o json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return treeRun(cmd.Context(), o)
		},
	}
}

func treeRun(ctx context.Context, o treeOptions) error {
	cluster, err := o.Connect()
	if err != nil {
		return err
	}
	app, err := cluster.Apps.Get(ctx, o.name)
	if err != nil {
		return err
	}
	if err := inCluster(&app.Application); err != nil {
		return err
	}
	roots, warnings, err := family.Read(ctx, cluster, app.Status.Resources)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		o.Sayf("warning: %s", w)
	}
	if o.Output != iostream.Table {
		return o.Print(o.Output, map[string]any{"items": roots})
	}
	if !o.TTY {
		rows := iostream.Rows{}
		family.Walk(roots, func(depth int, parent, node *family.Node) {
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

// drawTree draws nodes below a title with lines for a terminal.
func drawTree(w io.Writer, title string, roots []*family.Node) error {
	if _, err := fmt.Fprintln(w, title); err != nil {
		return err
	}
	return drawLevel(w, "", roots)
}

func drawLevel(w io.Writer, indent string, nodes []*family.Node) error {
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
