package app

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

type listOptions struct {
	*connect.Common
	selector string
	project  string
}

func newListCmd(common *connect.Common) *cobra.Command {
	o := listOptions{Common: common}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List applications with their sync and health status",
		Long: "List applications with their sync and health status: those of all agents at a server, those of one namespace in a cluster.\n" +
			"A flag decides which: --server, or --kubeconfig and --context; otherwise the environment: SLIPWAY_SERVER, or KUBECONFIG.\n" +
			"Then the context that `slipway login` made. Last, the cluster that kubectl would use. It is the same for all commands on\n" +
			"applications. At a server, an application is called by its name, or agent/namespace/name where several have that name, and\n" +
			"-o json of this list prints the server's data of each.",
		Example: "  slipway app list\n  slipway app list -l team=shop -o json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return listRun(cmd.Context(), o) },
	}
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "only applications with these `labels`, for example team=shop")
	cmd.Flags().StringVarP(&o.project, "project", "p", "",
		"only applications of this `AppProject`; those of a project of a server: slipway fleet list --scope")
	return cmd
}

func listRun(ctx context.Context, o listOptions) error {
	if _, err := labels.Parse(o.selector); err != nil {
		return iostream.Usagef("--selector %q: %w", o.selector, err)
	}
	site, err := o.Site()
	if err != nil {
		return err
	}
	apps, err := site.List(ctx, o.selector)
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
	_, served := site.(*connect.Server)
	rows := iostream.Rows{Header: []string{"NAME", "PROJECT", "SYNC", "HEALTH", "REVISION", "DESTINATION", "SOURCE"}}
	if served {
		rows.Header = append(rows.Header, "AGENT", "AS OF")
	}
	for _, app := range kept {
		source := ""
		if sources := app.Spec.EffectiveSources(); len(sources) > 0 {
			source = sourceText(sources[0])
		}
		line := []string{
			app.Name, app.Spec.ProjectName(), syncText(app.Status), string(cmp.Or(app.Status.Health.Status, "Unknown")),
			revisions(app.Status.Sync.Revision, app.Status.Sync.Revisions), destination(app.Spec.Destination), source,
		}
		if served {
			line = append(line, app.Agent+"/"+app.Namespace, asOf(&app))
		}
		rows.Add(line...)
	}
	if n := len(slices.DeleteFunc(slices.Clone(kept), func(a connect.Application) bool { return !a.Age.AgentAway })); n > 0 {
		defer o.Sayf("warning: %d of these are as their agents last reported them, at the time AS OF: the agents are away; "+
			"`slipway agent list` shows how each is", n)
	}
	if rows.Len() == 0 && len(apps) > 0 {
		o.Sayf("no applications of AppProject %s at %s; without --project there are %d", o.project, site.Place(), len(apps))
		return nil
	}
	if rows.Len() == 0 && o.selector != "" {
		o.Sayf("no applications with the labels %s at %s", o.selector, site.Place())
		return nil
	}
	if rows.Len() == 0 {
		o.Sayf("no applications at %s; create one with `slipway app create`", site.Place())
		return nil
	}
	return o.Table(&rows)
}

// asOf is the time that a copy is of which may be out of date; nothing for one that is live.
func asOf(app *connect.Application) string {
	if !app.Age.Stale {
		return ""
	}
	return noun.Time(app.Age.AsOf)
}

// items is the shape of every list in JSON and YAML: {"items": [...]}, each item the resource as it is in the cluster.
func items(apps []connect.Application) map[string]any {
	list := make([]any, 0, len(apps))
	for _, app := range apps {
		list = append(list, app.Raw.Object)
	}
	return map[string]any{"items": list}
}
