package app

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/operate"
)

type restoreOptions struct {
	someObjects
	list bool
	from string
}

func newRestoreCmd(common *connect.Common) *cobra.Command {
	o := restoreOptions{someObjects: someObjects{Common: common}}
	cmd := &cobra.Command{
		Use:   "restore NAME [OBJECT...]",
		Short: "Bring back objects that an earlier deployment had and that are gone",
		Long: "Apply objects, named as [GROUP/]KIND:[NAMESPACE/]NAME, as the newest deployment made them that had all of them, or\n" +
			"the deployment of --from. They are not pruned until Git has them again. With --from and no object, all that this\n" +
			"deployment had and that is gone. Without either, or with --list, list what could be restored.\n" +
			"What an object held besides its manifest, such as the data of a volume, does not come back.",
		Example: "  slipway app restore web --list\n  slipway app restore web ConfigMap:shop/settings\n  slipway app restore web --from 3",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name, o.objects = args[0], args[1:]
			return restoreRun(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.list, "list", false, "list what could be restored")
	cmd.Flags().StringVar(&o.from, "from", "", "`id` of the deployment to take the objects from; slipway app history lists them")
	o.addFlags(cmd.Flags(), "only list what would be restored")
	return cmd
}

func restoreRun(ctx context.Context, o restoreOptions) error {
	objects, err := parseObjects(o.objects)
	if err != nil {
		return err
	}
	req := api.RestoreRequest{Objects: objects, DryRun: o.dryRun, Reason: o.reason}
	if o.from != "" {
		id, err := operate.ParseID(o.from)
		if err != nil {
			return iostream.Usagef("--from: %w; `slipway app history %s` lists them", err, o.name)
		}
		req.From = &id
	}
	if o.list {
		req.Objects = nil
	}
	listing := o.list || len(objects) == 0 && o.from == ""
	req.DryRun = req.DryRun || listing
	site, app, err := find(ctx, o.Common, o.name)
	if err != nil {
		return err
	}
	e := errand{request: req}
	if !elsewhere(site) {
		if e, err = o.atCluster(ctx, req); err != nil {
			return err
		}
	}
	switch {
	case listing:
		answer, err := e.ask(ctx, site, o.name)
		if err != nil {
			return err
		}
		sayWarnings(o.Common, answer.Warnings)
		return o.print(app, answer.Objects)
	case o.dryRun:
		answer, err := e.ask(ctx, site, o.name)
		if err != nil {
			return err
		}
		sayWarnings(o.Common, answer.Warnings)
		for _, r := range answer.Objects {
			o.Sayf("%s: would bring back %s %s from deployment %d", o.name, kindText(r.Group, r.Kind), objectText(r.Namespace, r.Name),
				numberOf(r.Deployment))
		}
		if len(answer.Objects) == 0 {
			o.Sayf("%s: %s", o.name, answer.Message)
		}
		return nil
	}
	return o.carryOut(ctx, site, e)
}

// atCluster looks at what deployments made, and at what of it is there.
func (o *restoreOptions) atCluster(ctx context.Context, req api.RestoreRequest) (errand, error) {
	cluster, app, err := connectToOwn(ctx, o.Common, o.name)
	if err != nil {
		return errand{}, err
	}
	past, err := o.past(ctx, cluster, app, req.From)
	if err != nil {
		return errand{}, usage(err)
	}
	alive := map[object.Key]bool{}
	if len(req.Objects) == 0 {
		if alive, err = living(ctx, cluster, past); err != nil {
			return errand{}, err
		}
	}
	by := who()
	return errand{req, func(app *v1alpha1.Application) (operate.Change, error) {
		return operate.Restore(app, req, past, alive, by, time.Now())
	}}, nil
}

// past renders the deployments of the history, the newest first, or the one that is asked for. One that cannot be
// rendered any more is left out, with a warning.
func (o *restoreOptions) past(ctx context.Context, cluster *connect.Cluster, app *v1alpha1.Application,
	from *int64,
) ([]operate.Version, error) {
	entries, err := operate.Past(app, from)
	if err != nil {
		return nil, err
	}
	var out []operate.Version
	for _, entry := range entries {
		sources, at := operate.Deployed(entry)
		objects, err := desired(ctx, o.Common, cluster, operate.AsDeployed(app, sources, at), nil, "")
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			o.Sayf("warning: deployment %d, %s, is left out: %v", entry.ID, revisions("", at), err)
			continue
		}
		kept, err := operate.Lasting(objects)
		if err != nil {
			return nil, err
		}
		out = append(out, operate.Version{Entry: entry, Objects: kept})
	}
	return out, nil
}

// living finds which objects of deployments are in the cluster.
func living(ctx context.Context, cluster *connect.Cluster, past []operate.Version) (map[object.Key]bool, error) {
	there := &v1alpha1.Application{}
	for _, c := range operate.Candidates(past) {
		k := c.Manifest.Key
		there.Status.Resources = append(there.Status.Resources,
			v1alpha1.ResourceStatus{Group: k.Group, Version: c.Manifest.Version, Kind: k.Kind, Namespace: k.Namespace, Name: k.Name})
	}
	live, err := liveManifests(ctx, cluster, there)
	if err != nil {
		return nil, err
	}
	alive := make(map[object.Key]bool, len(live))
	for _, m := range live {
		alive[m.Key] = true
	}
	return alive, nil
}

// print lists what could be brought back.
func (o *restoreOptions) print(app *v1alpha1.Application, list []api.OperationObject) error {
	if o.Output != iostream.Table {
		items := make([]any, 0, len(list))
		for _, r := range list {
			items = append(items, map[string]any{
				"group": r.Group, "kind": r.Kind, "namespace": r.Namespace, "name": r.Name, "deployment": numberOf(r.Deployment),
			})
		}
		return o.Print(o.Output, map[string]any{"items": items})
	}
	revision := map[int64]string{}
	for i := range app.Status.History {
		_, at := operate.Deployed(&app.Status.History[i])
		revision[app.Status.History[i].ID] = revisions("", at)
	}
	rows := iostream.Rows{Header: []string{"KIND", "OBJECT", "DEPLOYMENT", "REVISION"}}
	for _, r := range list {
		id := numberOf(r.Deployment)
		rows.Add(kindText(r.Group, r.Kind), objectText(r.Namespace, r.Name), strconv.FormatInt(id, 10), revision[id])
	}
	if rows.Len() == 0 {
		o.Sayf("%s: nothing that was deployed is gone", o.name)
		return nil
	}
	return o.Streams.Table(&rows)
}

// numberOf is the deployment that an answer names. An agent of another version may leave the first one, 0, out.
func numberOf(id *int64) int64 {
	if id == nil {
		return 0
	}
	return *id
}
