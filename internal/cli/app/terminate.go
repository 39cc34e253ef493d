package app

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/operate"
)

type terminateOptions struct {
	*connect.Common
	name    string
	reason  string
	dryRun  bool
	async   bool
	timeout time.Duration
}

func newTerminateCmd(common *connect.Common) *cobra.Command {
	o := terminateOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "terminate-op NAME",
		Short: "End the operation under way, before it is done",
		Long: "Ask the agent to end the operation: running hooks are deleted, applied objects stay, and no further attempt is\n" +
			"made. An operation that was requested and has not begun is cancelled.",
		Example: "  slipway app terminate-op web\n  slipway app terminate-op web --async",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return terminateRun(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only print what would be ended")
	cmd.Flags().StringVar(&o.reason, "reason", "", "reason, for the audit log of a server")
	cmd.Flags().BoolVar(&o.async, "async", false, "do not wait for the end of the operation")
	addTimeout(cmd.Flags(), &o.timeout)
	return cmd
}

func terminateRun(ctx context.Context, o terminateOptions) error {
	site, err := o.Site()
	if err != nil {
		return err
	}
	req := api.TerminateRequest{DryRun: o.dryRun, Reason: o.reason}
	answer, err := errand{req, func(app *v1alpha1.Application) (operate.Change, error) {
		return operate.Terminate(app, req, who(), time.Now())
	}}.ask(ctx, site, o.name)
	if err != nil {
		return err
	}
	o.Sayf("%s: %s", o.name, answer.Message)
	if o.async || o.dryRun {
		return nil
	}
	last, err := follow(ctx, site, []string{o.name}, o.timeout, func(_ string, app *connect.Application) (bool, error) {
		return app == nil || !operating(&app.Application), nil
	})
	if err != nil || len(last) == 0 || !answer.Changed {
		return err
	}
	if op := last[0].Status.OperationState; op != nil {
		o.Sayf("%s: %s %s", o.name, op.Phase, op.Message)
	}
	return nil
}
