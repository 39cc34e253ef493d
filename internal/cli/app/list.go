package app

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/internal/cli/access"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

type listOptions struct {
	*access.Common
	selector string
	project  string
}

func newListCmd(common *access.Common) *cobra.Command {
	o := listOptions{Common: common}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List applications with their sync and health status",
		Example: "  slipway app list\n  slipway app list -l team=shop -o json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return listRun(cmd.Context(), o) },
	}
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "only applications with these `labels`, for example team=shop")
	cmd.Flags().StringVarP(&o.project, "project", "p", "", "only applications of this `project`")
	return cmd
}

func listRun(ctx context.Context, o listOptions) error {
	cluster, err := o.Connect()
	if err != nil {
		return err
	}
	apps, err := cluster.Apps.List(ctx, o.selector)
	if err != nil {
		return err
	}
	kept := apps[:0]
	for _, app := range apps {
		if o.project == "" || app.Spec.ProjectName() == o.project {
			kept = append(kept, app)
		}
	}
	if o.Output != iostream.Table {
		return o.Print(o.Output, items(kept))
	}
	rows := iostream.Rows{Header: []string{"NAME", "PROJECT", "SYNC", "HEALTH", "REVISION", "DESTINATION", "SOURCE"}}
	for _, app := range kept {
		source := ""
		if sources := app.Spec.EffectiveSources(); len(sources) > 0 {
			source = sourceText(sources[0])
		}
		rows.Add(app.Name, app.Spec.ProjectName(), syncText(app.Status), string(cmp.Or(app.Status.Health.Status, "Unknown")),
			revisions(app.Status.Sync.Revision, app.Status.Sync.Revisions), destination(app.Spec.Destination), source)
	}
	if rows.Len() == 0 {
		o.Sayf("no applications in namespace %s; create one with `slipway app create`", o.Namespace)
		return nil
	}
	return o.Table(&rows)
}

// items is the shape of every list in JSON and YAML: {"items": [...]}, each item the resource as it is in the cluster.
func items(apps []access.Application) map[string]any {
	list := make([]any, 0, len(apps))
	for _, app := range apps {
		list = append(list, app.Raw.Object)
	}
	return map[string]any{"items": list}
}
