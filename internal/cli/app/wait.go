package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

type waitOptions struct {
	*connect.Common
	names     []string
	synced    bool
	healthy   bool
	operation bool
	revision  string
	timeout   time.Duration
}

func newWaitCmd(common *connect.Common) *cobra.Command {
	o := waitOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "wait NAME...",
		Short: "Wait until applications are synced, healthy and idle",
		Long: "Wait until applications are synced, healthy and without a running operation, or only for what --synced, --healthy and\n" +
			"--operation name; with --revision, at that commit.\n" +
			"Exit code 3 when the time is over before that.",
		Example: "  slipway app wait web --timeout 2m\n" +
			"  slipway app wait web shop --synced --revision $(git rev-parse HEAD)",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			return waitRun(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.synced, "synced", false, "wait until the cluster matches Git")
	cmd.Flags().BoolVar(&o.healthy, "healthy", false, "wait until every object is healthy")
	cmd.Flags().BoolVar(&o.operation, "operation", false, "wait until no operation is requested or running")
	cmd.Flags().StringVar(&o.revision, "revision", "", "and until this `commit` is the one compared with; a prefix of 7 or more will do")
	addTimeout(cmd.Flags(), &o.timeout)
	return cmd
}

func addTimeout(flags *pflag.FlagSet, timeout *time.Duration) {
	*timeout = time.Minute
	flags.Var((*patience)(timeout), "timeout", "how long to wait; 0 waits without end")
}

// patience is a duration that is not negative.
type patience time.Duration

// String is the duration.
func (p *patience) String() string { return time.Duration(*p).String() }

// Type is what the help calls it.
func (p *patience) Type() string { return "duration" }

// Set reads it.
func (p *patience) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = errors.New("it cannot be negative; 0 waits without end")
	}
	if err == nil {
		*p = patience(d)
	}
	return err
}

func waitRun(ctx context.Context, o waitOptions) error {
	if o.revision != "" && len(o.revision) < 7 {
		return iostream.Usagef("--revision %s is too short; give at least 7 characters", o.revision)
	}
	site, err := o.Site()
	if err != nil {
		return err
	}
	if !o.synced && !o.healthy && !o.operation {
		o.synced, o.healthy, o.operation = true, true, true
	}
	last, err := follow(ctx, site, o.names, o.timeout, func(name string, app *connect.Application) (bool, error) {
		if app == nil {
			return false, fmt.Errorf("application %s does not exist at %s; `slipway app list` shows those that do", name, site.Place())
		}
		return o.reached(&app.Application), nil
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

// reached reports whether app is in the state that is waited for. A status from before the end of the last operation does not
// say in which state that has left the objects.
func (o *waitOptions) reached(app *v1alpha1.Application) bool {
	if (o.synced || o.healthy) && outdated(app.Status) {
		return false
	}
	if o.synced && app.Status.Sync.Status != v1alpha1.SyncStatusSynced {
		return false
	}
	if o.healthy && app.Status.Health.Status != v1alpha1.HealthHealthy {
		return false
	}
	if o.operation && operating(app) {
		return false
	}
	return o.revision == "" || atRevision(app.Status.Sync, o.revision)
}

// outdated reports whether the objects have not been compared since the last operation ended. A dry run changes nothing.
func outdated(status v1alpha1.ApplicationStatus) bool {
	op := status.OperationState
	if op == nil || op.FinishedAt == nil || op.Operation.Sync != nil && op.Operation.Sync.DryRun {
		return false
	}
	return status.ReconciledAt != nil && status.ReconciledAt.Before(op.FinishedAt)
}

func atRevision(sync v1alpha1.SyncStatus, revision string) bool {
	if len(sync.Revisions) == 0 {
		return strings.HasPrefix(sync.Revision, revision)
	}
	return slices.ContainsFunc(sync.Revisions, func(r string) bool { return strings.HasPrefix(r, revision) })
}

// follow watches until seen says done for every name, and returns the Applications as they were then, in the order of
// names without repetitions. When the time is over, the error says in what state the others are, with exit code 3.
func follow(ctx context.Context, apps connect.Site, names []string, timeout time.Duration,
	seen connect.Seen,
) ([]connect.Application, error) {
	limited := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	last := map[string]connect.Application{}
	waiting := map[string]string{}
	for _, name := range names {
		waiting[name] = "not seen"
	}
	err := apps.Follow(limited, names, func(name string, app *connect.Application) (bool, error) {
		done, err := seen(name, app)
		switch {
		case app == nil:
			waiting[name] = "not there"
		default:
			last[name] = *app
			waiting[name] = state(app.Status)
			if operating(&app.Application) {
				waiting[name] += ", operation under way"
			}
		}
		if done {
			delete(waiting, name)
		}
		return done, err
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, tooLate(waiting, timeout)
	}
	if err != nil {
		return nil, err
	}
	var out []connect.Application
	for _, name := range names {
		if app, ok := last[name]; ok {
			out = append(out, app)
			delete(last, name)
		}
	}
	return out, nil
}

func tooLate(waiting map[string]string, timeout time.Duration) error {
	names := slices.Sorted(maps.Keys(waiting))
	texts := make([]string, 0, len(names))
	for _, name := range names {
		texts = append(texts, fmt.Sprintf("%s is %s", name, waiting[name]))
	}
	return iostream.NotYetf("after %s %s; `slipway app why %s` shows why", timeout, strings.Join(texts, "; "), names[0])
}
