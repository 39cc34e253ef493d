package app

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/access"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/operate"
)

type deleteOptions struct {
	*access.Common
	names       []string
	cascade     bool
	propagation string
	wait        bool
	reason      string
	dryRun      bool
	forget      bool
	timeout     time.Duration
}

func newDeleteCmd(common *access.Common) *cobra.Command {
	o := deleteOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "delete NAME...",
		Short: "Delete applications, and with them what they deployed",
		Example: "  slipway app delete web --wait\n" +
			"  slipway app delete web --cascade=false    # the objects stay in the cluster\n" +
			"  slipway app delete account.old/argocd/web --forget    # at a server, when its agent is gone",
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
	cmd.Flags().StringVar(&o.reason, "reason", "", "why, for the audit of a server")
	cmd.Flags().BoolVar(&o.forget, "forget", false, "at a server: only forget its copy, of an application that the agent does not tell of any more")
	addTimeout(cmd.Flags(), &o.timeout)
	for _, flag := range []string{"cascade", "propagation", "wait", "dry-run"} {
		cmd.MarkFlagsMutuallyExclusive("forget", flag)
	}
	return cmd
}

func deleteRun(ctx context.Context, o deleteOptions) error {
	if o.propagation != "foreground" && o.propagation != "background" {
		return iostream.Usagef("--propagation is foreground or background, not %q", o.propagation)
	}
	site, err := o.Site()
	if err != nil {
		return err
	}
	if o.forget {
		return forget(ctx, site, o)
	}
	if o.dryRun {
		return deletePreview(ctx, site, o)
	}
	req := api.DeleteApplicationRequest{Cascade: o.cascade, Propagation: o.propagation, Reason: o.reason}
	e := errand{req, func(app *v1alpha1.Application) (operate.Change, error) { return operate.Delete(app, req) }}
	for _, name := range o.names {
		if _, err := e.ask(ctx, site, name); err != nil {
			return err
		}
	}
	if o.wait {
		_, err := follow(ctx, site, o.names, o.timeout, func(_ string, app *access.Application) (bool, error) {
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

func deletePreview(ctx context.Context, site access.Site, o deleteOptions) error {
	rows := iostream.Rows{Header: []string{"KIND", "OBJECT"}}
	for _, name := range o.names {
		app, err := site.Get(ctx, name)
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

// forget has a server forget its copies. Nothing is asked of an agent.
func forget(ctx context.Context, site access.Site, o deleteOptions) error {
	server, ok := site.(*access.Server)
	if !ok {
		return iostream.Usagef("--forget is about a server's copy: sign in with `slipway login URL`, or give --server")
	}
	for _, name := range o.names {
		target, err := server.Target(ctx, name)
		if err != nil {
			return err
		}
		if err := server.Client.Because(o.reason).ApplicationObjects().Forget(ctx, target); err != nil {
			return server.Explain(err)
		}
		o.Sayf("application %s is forgotten", name)
	}
	return nil
}
