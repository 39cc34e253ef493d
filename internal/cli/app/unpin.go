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

type unpinOptions struct {
	*connect.Common
	name    string
	reason  string
	dryRun  bool
	async   bool
	timeout time.Duration
}

func newUnpinCmd(common *connect.Common) *cobra.Command {
	o := unpinOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "unpin NAME",
		Short: "End a rollback: follow Git again",
		Long: "Remove the pin that `slipway app rollback` has set, and wait until the agent follows it. Where automated sync is on,\n" +
			"the present revision in Git is deployed, even if it was in quarantine; `slipway app wait` waits for that.\n" +
			"Exit code 3 when the agent has not reacted in time.",
		Example: "  slipway app unpin web\n  slipway app unpin web --dry-run",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return unpinRun(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only print the pin of the application")
	cmd.Flags().StringVar(&o.reason, "reason", "", "reason, for the audit log of a server")
	cmd.Flags().BoolVar(&o.async, "async", false, "do not wait until the agent follows it")
	addTimeout(cmd.Flags(), &o.timeout)
	return cmd
}

func unpinRun(ctx context.Context, o unpinOptions) error {
	site, err := o.Site()
	if err != nil {
		return err
	}
	req := api.UnpinRequest{DryRun: o.dryRun, Reason: o.reason}
	answer, err := errand{req, func(app *v1alpha1.Application) (operate.Change, error) {
		return operate.Unpin(app, req, who(), time.Now())
	}}.ask(ctx, site, o.name)
	if err != nil {
		return err
	}
	o.Sayf("%s: %s", o.name, answer.Message)
	if o.dryRun || o.async {
		return nil
	}
	_, err = follow(ctx, site, []string{o.name}, o.timeout, unpinned)
	return err
}

// unpinned is done when the agent no longer reports a pin: until then its status is from before.
func unpinned(name string, app *connect.Application) (bool, error) {
	if app == nil {
		return false, fmt.Errorf("application %s was deleted in the meantime", name)
	}
	return conditionOf(&app.Application, v1alpha1.ConditionPinned) == nil, nil
}
