package app

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/operate"
)

type refreshOptions struct {
	*connect.Common
	names   []string
	hard    bool
	async   bool
	timeout time.Duration
}

func newRefreshCmd(common *connect.Common) *cobra.Command {
	o := refreshOptions{Common: common}
	cmd := &cobra.Command{
		Use:     "refresh NAME...",
		Short:   "Read Git and the cluster again, now",
		Example: "  slipway app refresh web\n  slipway app refresh web --hard",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			return refreshRun(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.hard, "hard", false, "use no cache: render again and compare every object by a dry run of the API server")
	cmd.Flags().BoolVar(&o.async, "async", false, "do not wait until it is done")
	addTimeout(cmd.Flags(), &o.timeout)
	return cmd
}

func refreshRun(ctx context.Context, o refreshOptions) error {
	site, err := o.Site()
	if err != nil {
		return err
	}
	req := api.RefreshRequest{Hard: o.hard}
	e := errand{req, func(app *v1alpha1.Application) (operate.Change, error) {
		return operate.Refresh(app, req, who(), time.Now())
	}}
	for _, name := range o.names {
		if _, err := e.ask(ctx, site, name); err != nil {
			return err
		}
	}
	if o.async {
		return nil
	}
	last, err := follow(ctx, site, o.names, o.timeout, func(name string, app *connect.Application) (bool, error) {
		if app == nil {
			return false, fmt.Errorf("application %s was deleted in the meantime", name)
		}
		_, asked := app.Annotations[v1alpha1.AnnotationRefresh]
		return !asked, nil
	})
	if err != nil {
		return err
	}
	if o.Output != iostream.Table {
		return o.Print(o.Output, items(last))
	}
	for _, app := range last {
		o.Sayf("%s: %s", app.Name, state(app.Status))
	}
	return nil
}
