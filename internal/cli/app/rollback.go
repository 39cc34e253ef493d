package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/operate"
)

type rollbackOptions struct {
	*connect.Common
	name     string
	id       string
	revision string
	reason   string
	dryRun   bool
	async    bool
	timeout  time.Duration
}

func newRollbackCmd(common *connect.Common) *cobra.Command {
	o := rollbackOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "rollback NAME [ID]",
		Short: "Go back to an earlier deployment, and stay there until Git has something newer",
		Long: "Deploy an earlier deployment of `slipway app history` again; without ID, the one before the\n" +
			"present one. It works while automated sync is on: the application stays pinned there, and the present revision in Git is in\n" +
			"quarantine, until a commit changes what the application renders, or until `slipway app unpin`.\n" +
			"Exit code 3 when it is not over in time, or is held.",
		Example: "  slipway app rollback web --reason 'orders are lost'\n  slipway app rollback web 3\n  slipway app " +
			"rollback web --revision 1f2e3d4",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			if len(args) > 1 {
				o.id = args[1]
			}
			return rollbackRun(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.revision, "revision", "",
		"the newest deployment of this `commit`, instead of an id; a prefix of 7 or more will do")
	cmd.Flags().StringVar(&o.reason, "reason", "", "reason, for later readers")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only print the deployment")
	cmd.Flags().BoolVar(&o.async, "async", false, "do not wait until it is deployed")
	addTimeout(cmd.Flags(), &o.timeout)
	return cmd
}

func rollbackRun(ctx context.Context, o rollbackOptions) error {
	req, err := o.request()
	if err != nil {
		return err
	}
	site, err := o.Site()
	if err != nil {
		return err
	}
	by := who()
	var pin *v1alpha1.Pin // as it is set at a cluster
	answer, err := errand{req, func(app *v1alpha1.Application) (operate.Change, error) {
		c, err := operate.Rollback(app, req, by, time.Now())
		pin = c.Pin
		return c, err
	}}.ask(ctx, site, o.name)
	if err != nil {
		return err
	}
	if pin == nil {
		pin = &v1alpha1.Pin{
			ID: numberOf(answer.Deployment), Revisions: answer.Revisions, Reason: req.Reason,
			Quarantine: v1alpha1.Quarantine{Revisions: answer.Quarantine},
		}
	}
	if o.Output != iostream.Table {
		if err := o.Print(o.Output, pin); err != nil {
			return err
		}
	}
	o.Sayf("%s: %s", o.name, answer.Message)
	if o.dryRun || o.async {
		return nil
	}
	return o.await(ctx, site, pin, answer)
}

// request reads the flags.
func (o *rollbackOptions) request() (api.RollbackRequest, error) {
	req := api.RollbackRequest{Revision: o.revision, Reason: o.reason, DryRun: o.dryRun}
	if o.id != "" {
		id, err := operate.ParseID(o.id)
		if err != nil {
			return req, iostream.Usagef("%w; `slipway app history %s` lists them", err, o.name)
		}
		req.ID = &id
	}
	return req, usage(operate.CheckRollback(req))
}

// await waits until the earlier deployment is there.
func (o *rollbackOptions) await(ctx context.Context, site connect.Site, pin *v1alpha1.Pin, answer api.OperationAnswer) error {
	seen := o.arrival(pin)
	if answer.Request != "" {
		seen = progress(o.Streams, map[string]api.OperationAnswer{o.name: answer})
	}
	last, err := follow(ctx, site, []string{o.name}, o.timeout, seen)
	if err != nil {
		return err
	}
	for _, app := range last {
		if have := app.Status.OperationState; isOf(have, answer) {
			if have.Phase != v1alpha1.OperationSucceeded {
				return fmt.Errorf("going back ended as %s: %s", have.Phase, have.Message)
			}
			o.Sayf("%s: %s, deployed %s", app.Name, state(app.Status), revisions(have.SyncResult.Revision, have.SyncResult.Revisions))
			continue
		}
		o.Sayf("%s: %s at %s", app.Name, state(app.Status), revisions(app.Status.Sync.Revision, app.Status.Sync.Revisions))
	}
	return nil
}

// arrival is done when an Application with auto-sync is at the revision of its pin.
func (o *rollbackOptions) arrival(pin *v1alpha1.Pin) connect.Seen {
	said := ""
	return func(name string, app *connect.Application) (bool, error) {
		if app == nil {
			return false, fmt.Errorf("application %s was deleted in the meantime", name)
		}
		noticed := conditionOf(&app.Application, v1alpha1.ConditionPinned)
		if noticed == nil || !strings.Contains(noticed.Message, fmt.Sprintf("(deployment %d)", pin.ID)) {
			return false, nil // its status is from before
		}
		if held := conditionOf(&app.Application, v1alpha1.ConditionHeld); held != nil {
			return false, iostream.NotYetf("%s is pinned, but not there yet: %s", name, held.Message)
		}
		op := app.Status.OperationState
		there := op != nil && op.SyncResult != nil && operate.Whole(op.Operation.Sync) &&
			slices.Equal(revisionsOf(op.SyncResult.Revision, op.SyncResult.Revisions), pin.Revisions)
		if there {
			if line := fmt.Sprintf("%s: %s %s", name, op.Phase, op.Message); line != said {
				said = line
				o.Sayf("%s", iostream.Clean(line))
			}
			if op.Phase.Completed() && op.Phase != v1alpha1.OperationSucceeded {
				return false, fmt.Errorf("going back ended as %s: %s", op.Phase, op.Message)
			}
		}
		at := revisionsOf(app.Status.Sync.Revision, app.Status.Sync.Revisions)
		return slices.Equal(at, pin.Revisions) && app.Status.Sync.Status == v1alpha1.SyncStatusSynced && !operating(&app.Application), nil
	}
}

func revisionsOf(one string, several []string) []string {
	if len(several) == 0 && one != "" {
		return []string{one}
	}
	return several
}

// conditionOf returns the first condition of a type; nil where there is none.
func conditionOf(app *v1alpha1.Application, t v1alpha1.ConditionType) *v1alpha1.ApplicationCondition {
	for i, c := range app.Status.Conditions {
		if c.Type == t {
			return &app.Status.Conditions[i]
		}
	}
	return nil
}
