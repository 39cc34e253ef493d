package app

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/operate"
)

type driftRevertOptions struct{ someObjects }

func newDriftRevertCmd(common *connect.Common) *cobra.Command {
	o := driftRevertOptions{someObjects{Common: common}}
	cmd := &cobra.Command{
		Use:   "revert NAME [OBJECT...]",
		Short: "Revert changes made in the cluster",
		Long: "Sync the objects that drifted, or only those given as [GROUP/]KIND:[NAMESPACE/]NAME, without\n" +
			"hooks and without deleting anything. Allowed drift of them is no longer allowed.\n" +
			"Exit code 1 when the operation failed, 3 when it is not over in time.",
		Example: "  slipway app drift revert web\n  slipway app drift revert web apps/Deployment:shop/web",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name, o.objects = args[0], args[1:]
			return driftRevertRun(cmd.Context(), o)
		},
	}
	o.addFlags(cmd.Flags(), "only list what would be reverted")
	return cmd
}

func driftRevertRun(ctx context.Context, o driftRevertOptions) error {
	objects, err := parseObjects(o.objects)
	if err != nil {
		return err
	}
	site, err := o.Site()
	if err != nil {
		return err
	}
	req := api.RevertRequest{Objects: objects, DryRun: o.dryRun, Reason: o.reason}
	by := who()
	var drifted []object.Key
	e := errand{req, func(app *v1alpha1.Application) (operate.Change, error) {
		return operate.Revert(app, req, drifted, by, time.Now())
	}}
	if !elsewhere(site) && len(objects) == 0 {
		list, err := readDrift(ctx, o.Common, o.name)
		if err != nil {
			return err
		}
		for _, d := range list.Items {
			if d.Error != "" {
				o.Sayf("warning: %s %s cannot be compared, and is left as it is: %s", kindText(d.Group, d.Kind),
					objectText(d.Namespace, d.Name), d.Error)
				continue
			}
			drifted = append(drifted, object.Key{Group: d.Group, Kind: d.Kind, Namespace: d.Namespace, Name: d.Name})
		}
	}
	if !o.dryRun {
		return o.carryOut(ctx, site, e)
	}
	answer, err := e.ask(ctx, site, o.name)
	if err != nil {
		return err
	}
	for _, r := range answer.Objects {
		o.Sayf("%s: would put back %s %s", o.name, kindText(r.Group, r.Kind), objectText(r.Namespace, r.Name))
	}
	if len(answer.Objects) == 0 {
		o.Sayf("%s: %s", o.name, answer.Message)
	}
	return nil
}
