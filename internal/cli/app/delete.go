package app

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/util/retry"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/access"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

type deleteOptions struct {
	*access.Common
	names       []string
	cascade     bool
	propagation string
	wait        bool
	dryRun      bool
	timeout     time.Duration
}

func newDeleteCmd(common *access.Common) *cobra.Command {
	o := deleteOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "delete NAME...",
		Short: "Delete applications, and with them what they deployed",
		Example: "  slipway app delete web --wait\n" +
			"  slipway app delete web --cascade=false    # the objects stay in the cluster",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			return deleteRun(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.cascade, "cascade", true, "also delete the objects that the application deployed")
	cmd.Flags().StringVar(&o.propagation, "propagation", "foreground", "how objects are deleted: `foreground|background`")
	cmd.Flags().BoolVar(&o.wait, "wait", false, "wait until the application is gone")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only list what would be deleted")
	addTimeout(cmd.Flags(), &o.timeout)
	return cmd
}

func deleteRun(ctx context.Context, o deleteOptions) error {
	if o.propagation != "foreground" && o.propagation != "background" {
		return iostream.Usagef("--propagation is foreground or background, not %q", o.propagation)
	}
	cluster, err := o.Connect()
	if err != nil {
		return err
	}
	if o.dryRun {
		return deletePreview(ctx, cluster, o)
	}
	for _, name := range o.names {
		if err := remove(ctx, cluster.Apps, name, o); err != nil {
			return err
		}
	}
	if o.wait {
		_, err := follow(ctx, cluster.Apps, o.names, o.timeout, func(_ string, app *access.Application) (bool, error) {
			return app == nil, nil
		})
		if err != nil {
			return err
		}
	}
	for _, name := range o.names {
		if o.wait {
			o.Sayf("application %s is gone", name)
		} else {
			o.Sayf("application %s is being deleted", name)
		}
	}
	return nil
}

// remove sets the finalizers that say what becomes of the objects, then deletes. An Application that is going already
// cannot get new finalizers and is left as it is.
func remove(ctx context.Context, apps *access.Applications, name string, o deleteOptions) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		app, err := apps.Get(ctx, name)
		if err != nil || app.DeletionTimestamp != nil {
			return err
		}
		want := finalizers(app.Finalizers, o.cascade, o.propagation)
		if !slices.Equal(want, app.Finalizers) {
			_, err := apps.Patch(ctx, name, map[string]any{"metadata": map[string]any{
				"resourceVersion": app.ResourceVersion,
				"finalizers":      want,
			}})
			if err != nil {
				return err
			}
		}
		return apps.Delete(ctx, name, app.UID)
	})
}

// finalizers returns have with exactly the resources finalizer that is asked for, and every other one kept.
func finalizers(have []string, cascade bool, propagation string) []string {
	ours := []string{
		v1alpha1.FinalizerResources, v1alpha1.FinalizerResourcesForeground, v1alpha1.FinalizerResourcesBackground,
	}
	want := slices.DeleteFunc(slices.Clone(have), func(f string) bool { return slices.Contains(ours, f) })
	switch {
	case cascade && propagation == "background":
		want = append(want, v1alpha1.FinalizerResourcesBackground)
	case cascade:
		want = append(want, v1alpha1.FinalizerResources)
	}
	if want == nil {
		return []string{}
	}
	return want
}

func deletePreview(ctx context.Context, cluster *access.Cluster, o deleteOptions) error {
	rows := iostream.Rows{Header: []string{"KIND", "OBJECT"}}
	for _, name := range o.names {
		app, err := cluster.Apps.Get(ctx, name)
		if err != nil {
			return err
		}
		rows.Add(kindText(v1alpha1.Group, v1alpha1.KindApplication), objectText(app.Namespace, app.Name))
		if !o.cascade {
			continue
		}
		for _, r := range app.Status.Resources {
			rows.Add(kindText(r.Group, r.Kind), objectText(r.Namespace, r.Name))
		}
	}
	return o.Streams.Table(&rows)
}
