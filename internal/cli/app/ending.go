package app

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/operate"
)

// ending is a command that ends something of one application: its operation, or its pin.
type ending struct {
	*connect.Common
	name    string
	reason  string
	dryRun  bool
	async   bool
	timeout time.Duration
}

// cmd completes the command. dryRun and async describe the flags; end asks for the end, and ended waits for it.
func (o *ending) cmd(cmd *cobra.Command, dryRun, async string, end func() errand,
	ended func(context.Context, connect.Site, api.OperationAnswer) error,
) *cobra.Command {
	cmd.Args = cobra.ExactArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.name = args[0]
		site, err := o.Site()
		if err != nil {
			return err
		}
		answer, err := end().ask(cmd.Context(), site, o.name)
		if err != nil {
			return err
		}
		o.Sayf("%s: %s", o.name, answer.Message)
		if o.dryRun || o.async {
			return nil
		}
		return ended(cmd.Context(), site, answer)
	}
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, dryRun)
	cmd.Flags().StringVar(&o.reason, "reason", "", "reason, for the audit log of a server")
	cmd.Flags().BoolVar(&o.async, "async", false, async)
	addTimeout(cmd.Flags(), &o.timeout)
	return cmd
}

func newTerminateCmd(common *connect.Common) *cobra.Command {
	o := &ending{Common: common}
	return o.cmd(&cobra.Command{
		Use:   "terminate-op NAME",
		Short: "End the operation under way, before it is done",
		Long: "Ask the agent to end the operation: running hooks are deleted, applied objects stay, and no further attempt is\n" +
			"made. An operation that was requested and has not begun is cancelled.",
		Example: "  slipway app terminate-op web\n  slipway app terminate-op web --async",
	}, "only print what would be ended", "do not wait for the end of the operation", func() errand {
		req := api.TerminateRequest{DryRun: o.dryRun, Reason: o.reason}
		return errand{req, func(app *v1alpha1.Application) (operate.Change, error) {
			return operate.Terminate(app, req, who(), time.Now())
		}}
	}, o.terminated)
}

// terminated waits until no operation is under way, and prints how it ended.
func (o *ending) terminated(ctx context.Context, site connect.Site, answer api.OperationAnswer) error {
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

func newUnpinCmd(common *connect.Common) *cobra.Command {
	o := &ending{Common: common}
	return o.cmd(&cobra.Command{
		Use:   "unpin NAME",
		Short: "End a rollback: follow Git again",
		Long: "Remove the pin that `slipway app rollback` has set, and wait until the agent follows it. Where automated sync is on,\n" +
			"the present revision in Git is deployed, even if it was in quarantine; `slipway app wait` waits for that.\n" +
			"Exit code 3 when the agent has not reacted in time.",
		Example: "  slipway app unpin web\n  slipway app unpin web --dry-run",
	}, "only print the pin of the application", "do not wait until the agent follows it", func() errand {
		req := api.UnpinRequest{DryRun: o.dryRun, Reason: o.reason}
		return errand{req, func(app *v1alpha1.Application) (operate.Change, error) {
			return operate.Unpin(app, req, who(), time.Now())
		}}
	}, func(ctx context.Context, site connect.Site, _ api.OperationAnswer) error {
		_, err := follow(ctx, site, []string{o.name}, o.timeout, unpinned)
		return err
	})
}

// unpinned is done when the agent no longer reports a pin: until then its status is from before.
func unpinned(name string, app *connect.Application) (bool, error) {
	if app == nil {
		return false, fmt.Errorf("application %s was deleted in the meantime", name)
	}
	return conditionOf(&app.Application, v1alpha1.ConditionPinned) == nil, nil
}
