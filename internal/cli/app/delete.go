package app

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/operate"
)

type deleteOptions struct {
	*connect.Common
	names       []string
	cascade     bool
	propagation string
	wait        bool
	reason      string
	dryRun      bool
	forget      bool
	timeout     time.Duration
}

func newDeleteCmd(common *connect.Common) *cobra.Command {
	o := deleteOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "delete NAME...",
		Short: "Delete applications with their objects",
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
	cmd.Flags().StringVar(&o.reason, "reason", "", "reason, for the audit log of a server")
	cmd.Flags().BoolVar(&o.forget, "forget", false, "at a server: delete only its copy, of an application that the agent no longer reports")
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
	by := who()
	e := errand{req, func(app *v1alpha1.Application) (operate.Change, error) {
		return operate.Delete(app, req, by, time.Now())
	}}
	for _, name := range o.names {
		if _, err := e.ask(ctx, site, name); err != nil {
			return err
		}
	}
	if o.wait {
		return deleteWait(ctx, site, o)
	}
	for _, name := range o.names {
		o.Sayf("application %s is being deleted", name)
	}
	return nil
}

// deleteWait waits until the applications are gone, and names what stays. What a deletion waits for is printed when it is
// first seen.
func deleteWait(ctx context.Context, site connect.Site, o deleteOptions) error {
	kept, held := map[string]string{}, map[string]string{}
	_, err := follow(ctx, site, o.names, o.timeout, func(name string, app *connect.Application) (bool, error) {
		if app == nil {
			return true, nil
		}
		if c := conditionOf(&app.Application, v1alpha1.ConditionKept); c != nil {
			kept[name] = c.Message
		}
		if c := conditionOf(&app.Application, v1alpha1.ConditionDeletionError); c != nil && held[name] != c.Message {
			held[name] = c.Message
			o.Sayf("%s: %s", name, c.Message)
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	for _, name := range o.names {
		o.Sayf("application %s is gone", name)
		if text := kept[name]; text != "" {
			o.Sayf("%s: %s", name, text)
		}
	}
	return nil
}

func deletePreview(ctx context.Context, site connect.Site, o deleteOptions) error {
	rows := iostream.Rows{Header: []string{"KIND", "OBJECT", "STAYS"}}
	for _, name := range o.names {
		app, err := site.Get(ctx, name)
		if err != nil {
			return err
		}
		rows.Add(kindText(v1alpha1.Group, v1alpha1.KindApplication), objectText(app.Namespace, app.Name), "")
		if !o.cascade {
			continue
		}
		answer, err := foresee(ctx, site, name, o)
		if err != nil {
			return err
		}
		for _, w := range answer.Warnings {
			o.Sayf("%s: %s", name, w)
		}
		for _, r := range answer.Objects {
			rows.Add(kindText(r.Group, r.Kind), objectText(r.Namespace, r.Name), r.Stays)
		}
	}
	return o.Streams.Table(&rows)
}

// foresee asks what would go. A server asks its agent; at a cluster only the list of objects says something.
func foresee(ctx context.Context, site connect.Site, name string, o deleteOptions) (api.OperationAnswer, error) {
	req := api.DeleteApplicationRequest{Cascade: true, Propagation: o.propagation, DryRun: true}
	answer, err := errand{req, func(app *v1alpha1.Application) (operate.Change, error) {
		return operate.Delete(app, req, who(), time.Now())
	}}.ask(ctx, site, name)
	if err != nil {
		return answer, err
	}
	if _, atServer := site.(*connect.Server); atServer {
		return answer, nil
	}
	for i := range answer.Objects {
		if r := &answer.Objects[i]; r.Kind == "CustomResourceDefinition" && r.Group == "apiextensions.k8s.io" {
			r.Stays = "unless it has the sync option Delete=true"
		}
	}
	return answer, nil
}

// forget has a server forget its copies. Nothing is asked of an agent.
func forget(ctx context.Context, site connect.Site, o deleteOptions) error {
	server, ok := site.(*connect.Server)
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
