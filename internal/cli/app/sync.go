package app

import (
	"context"
	"fmt"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"k8s.io/client-go/util/retry"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/access"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

type syncOptions struct {
	*access.Common
	names     []string
	revision  string
	prune     bool
	dryRun    bool
	force     bool
	resources []string
	options   []string
	wait      bool
	async     bool
	timeout   time.Duration
}

// requestInfo names the entry of an operation's info by which we find our own request in the status.
const requestInfo = "slipway-request"

func newSyncCmd(common *access.Common) *cobra.Command {
	o := syncOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "sync NAME...",
		Short: "Bring the cluster to what Git says, now",
		Long: "Ask for a sync, wait until the operation has ended and print what it did to each object.\n" +
			"Exit code 1 when the operation failed, 3 when it is not over in time.",
		Example: "  slipway app sync web\n" +
			"  slipway app sync web --revision v1.2.0 --prune\n" +
			"  slipway app sync web --resource apps:Deployment:web --wait",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			return syncRun(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.revision, "revision", "", "`commit`, tag or branch to sync to, instead of the target revision")
	flags.BoolVar(&o.prune, "prune", false, "delete objects that are no longer wanted")
	flags.BoolVar(&o.dryRun, "dry-run", false, "only try the changes out against the API server")
	flags.BoolVar(&o.force, "force", false, "ask for objects that cannot be changed in place to be recreated; an agent of this version names it in a condition and does not do it")
	flags.StringArrayVar(&o.resources, "resource", nil, "only this `GROUP:KIND:[NAMESPACE/]NAME`; repeat for several")
	flags.StringArrayVar(&o.options, "sync-option", nil, "`Name=value` to use for this sync in place of the application's own options")
	flags.BoolVar(&o.wait, "wait", false, "afterwards, also wait until the application is healthy")
	flags.BoolVar(&o.async, "async", false, "only ask, do not wait for the end of the operation")
	addTimeout(flags, &o.timeout)
	cmd.MarkFlagsMutuallyExclusive("wait", "async")
	return cmd
}

func syncRun(ctx context.Context, o syncOptions) error {
	op, err := o.request()
	if err != nil {
		return err
	}
	cluster, err := o.Connect()
	if err != nil {
		return err
	}
	started := time.Now()
	for _, name := range o.names {
		if err := o.ask(ctx, cluster.Apps, name, op); err != nil {
			return err
		}
		o.Sayf("%s: sync asked for", name)
	}
	if o.async {
		return nil
	}
	last, err := follow(ctx, cluster.Apps, o.names, o.timeout, progress(o.Streams, op))
	if err != nil {
		return err
	}
	if err := printResults(o.Common, last); err != nil {
		return err
	}
	for _, app := range last {
		if op := app.Status.OperationState; op.Phase != v1alpha1.OperationSucceeded {
			return fmt.Errorf("sync of %s ended as %s: %s; `slipway app get %s` shows more", app.Name, op.Phase, op.Message, app.Name)
		}
	}
	if !o.wait || o.dryRun {
		return nil
	}
	rest := time.Duration(0)
	if o.timeout > 0 {
		rest = max(o.timeout-time.Since(started), time.Second)
	}
	silent := *o.Common
	silent.Output = iostream.Table
	return waitRun(ctx, waitOptions{Common: &silent, names: o.names, healthy: true, operation: true, timeout: rest})
}

// request builds the operation from the flags.
func (o *syncOptions) request() (*v1alpha1.Operation, error) {
	resources := make([]v1alpha1.SyncOperationResource, 0, len(o.resources))
	for _, text := range o.resources {
		r, err := parseResource(text)
		if err != nil {
			return nil, err
		}
		resources = append(resources, r)
	}
	who := "slipway"
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	sync := &v1alpha1.SyncOperation{
		Revision: o.revision, Prune: o.prune, DryRun: o.dryRun, Resources: resources, SyncOptions: o.options,
	}
	if o.force {
		sync.SyncStrategy = &v1alpha1.SyncStrategy{Hook: &v1alpha1.SyncStrategyHook{Force: true}}
	}
	return &v1alpha1.Operation{
		Sync:        sync,
		InitiatedBy: v1alpha1.OperationInitiator{Username: who},
		Info:        []v1alpha1.Info{{Name: requestInfo, Value: uuid.NewString()}},
	}, nil
}

// parseResource reads GROUP:KIND:[NAMESPACE/]NAME; the group of core kinds is empty.
func parseResource(text string) (v1alpha1.SyncOperationResource, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 || parts[1] == "" || parts[2] == "" {
		return v1alpha1.SyncOperationResource{}, iostream.Usagef(
			"--resource %q is not GROUP:KIND:NAME, for example apps:Deployment:web or :Service:web", text)
	}
	r := v1alpha1.SyncOperationResource{Group: parts[0], Kind: parts[1], Name: parts[2]}
	if namespace, name, ok := strings.Cut(parts[2], "/"); ok {
		r.Namespace, r.Name = namespace, name
	}
	return r, nil
}

// ask writes the operation. Two at a time would hide the first one's result, so it waits for the end of one that is
// under way, such as an automated sync; with --async that is an error.
func (o *syncOptions) ask(ctx context.Context, apps *access.Applications, name string, op *v1alpha1.Operation) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		app, err := apps.Get(ctx, name)
		if err != nil {
			return err
		}
		if operating(&app.Application) {
			if app, err = o.awaitEnd(ctx, apps, name); err != nil {
				return err
			}
		}
		_, err = apps.Patch(ctx, name, map[string]any{
			"metadata":  map[string]any{"resourceVersion": app.ResourceVersion},
			"operation": op,
		})
		return err
	})
}

// awaitEnd waits until no operation is under way.
func (o *syncOptions) awaitEnd(ctx context.Context, apps *access.Applications, name string) (access.Application, error) {
	if o.async {
		return access.Application{}, fmt.Errorf(
			"application %s has an operation under way; wait with `slipway app wait %s --operation`, then try again", name, name)
	}
	o.Sayf("%s: waiting for the operation under way", name)
	last, err := follow(ctx, apps, []string{name}, o.timeout, func(_ string, app *access.Application) (bool, error) {
		if app == nil {
			return false, fmt.Errorf("application %s was deleted meanwhile", name)
		}
		return !operating(&app.Application), nil
	})
	if err != nil {
		return access.Application{}, err
	}
	return last[0], nil
}

// progress says what an operation is doing and is done when it has ended.
func progress(streams iostream.Streams, op *v1alpha1.Operation) access.Seen {
	said := map[string]string{}
	return func(name string, app *access.Application) (bool, error) {
		if app == nil {
			return false, fmt.Errorf("application %s was deleted meanwhile", name)
		}
		have := app.Status.OperationState
		if have == nil || !slices.Equal(have.Operation.Info, op.Info) {
			return false, nil
		}
		if line := fmt.Sprintf("%s: %s %s", name, have.Phase, have.Message); line != said[name] {
			said[name] = line
			streams.Sayf("%s", iostream.Clean(line))
		}
		return app.Operation == nil && have.Phase.Completed(), nil
	}
}

// printResults prints what the operations did to each object; as JSON and YAML, the operations' states.
func printResults(common *access.Common, apps []access.Application) error {
	if common.Output != iostream.Table {
		list := make([]any, 0, len(apps))
		for _, app := range apps {
			list = append(list, map[string]any{"name": app.Name, "operationState": app.Status.OperationState})
		}
		return common.Print(common.Output, map[string]any{"items": list})
	}
	rows := iostream.Rows{Header: []string{"APPLICATION", "KIND", "OBJECT", "RESULT", "MESSAGE"}}
	for _, app := range apps {
		if app.Status.OperationState.SyncResult == nil {
			continue
		}
		for _, r := range app.Status.OperationState.SyncResult.Resources {
			result := string(r.Status)
			if r.HookType != "" {
				result = string(r.HookPhase)
			}
			rows.Add(app.Name, kindText(r.Group, r.Kind), objectText(r.Namespace, r.Name), result, r.Message)
		}
	}
	if rows.Len() == 0 {
		return nil
	}
	return common.Streams.Table(&rows)
}
