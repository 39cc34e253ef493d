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

type syncOptions struct {
	*connect.Common
	requestFlags
	names   []string
	wait    bool
	async   bool
	timeout time.Duration
}

func newSyncCmd(common *connect.Common) *cobra.Command {
	o := syncOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "sync NAME...",
		Short: "Bring the cluster to the desired state in Git",
		Long: "Request a sync, show its progress until the operation has ended, and print the result for each object.\n" +
			"Exit code 1 when the operation failed, 3 when it is not over in time.",
		Example: "  slipway app sync web\n" +
			"  slipway app sync web --revision v1.2.0 --prune\n" +
			"  slipway app sync web --resource apps/Deployment:web --wait\n" +
			"  slipway app sync web --label tier=front --apply-only\n" +
			"  slipway app sync web --local . --dry-run\n" +
			"  slipway app sync web --retry-limit 3 --retry-backoff-duration 10s",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			return syncRun(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	o.addFlags(flags)
	flags.BoolVar(&o.wait, "wait", false, "afterwards, also wait until the application is healthy")
	flags.BoolVar(&o.async, "async", false, "do not wait for the end of the operation")
	addTimeout(flags, &o.timeout)
	cmd.MarkFlagsMutuallyExclusive("wait", "async")
	return cmd
}

func syncRun(ctx context.Context, o syncOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	site, err := o.Site()
	if err != nil {
		return err
	}
	started := time.Now()
	// All requests are made before the first is sent: a wrong flag must not leave half of them under way.
	asked := make(map[string]errand, len(o.names))
	for _, name := range o.names {
		app, err := site.Get(ctx, name)
		if err != nil {
			return err
		}
		if asked[name], err = o.errand(ctx, o.Common, name); err != nil {
			return err
		}
		if _, err := asked[name].change(&app.Application); err != nil && !busy(err) && !elsewhere(site) {
			return usage(err)
		}
	}
	if err := o.carryOut(ctx, site, asked); err != nil || o.async {
		return err
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

// elsewhere reports whether another program makes the change of a request.
func elsewhere(site connect.Site) bool {
	_, server := site.(*connect.Server)
	return server
}

// carryOut sends requests, says what their operations do until they are over, and prints what they did. One that did not
// succeed is an error.
func (o *syncOptions) carryOut(ctx context.Context, site connect.Site, asked map[string]errand) error {
	answers := map[string]api.OperationAnswer{}
	var names []string
	for _, name := range o.names {
		answer, err := o.ask(ctx, site, name, asked[name])
		if err != nil {
			return err
		}
		sayWarnings(o.Common, answer.Warnings)
		if answer.Request == "" { // there is nothing to do
			o.Sayf("%s: %s", name, answer.Message)
			continue
		}
		answers[name] = answer
		names = append(names, name)
		o.Sayf("%s: sync requested", name)
	}
	if o.async || len(names) == 0 {
		return nil
	}
	last, err := follow(ctx, site, names, o.timeout, progress(o.Streams, answers))
	if err != nil {
		return err
	}
	last = slices.DeleteFunc(last, func(app connect.Application) bool { return !isOf(app.Status.OperationState, answers[app.Name]) })
	if err := printResults(o.Common, last); err != nil {
		return err
	}
	for _, app := range last {
		if op := app.Status.OperationState; op.Phase != v1alpha1.OperationSucceeded {
			return fmt.Errorf("sync of %s ended as %s: %s; `slipway app why %s` shows more", app.Name, op.Phase, op.Message, app.Name)
		}
	}
	return nil
}

// ask sends a request. Two operations at a time would hide the first one's result, so it waits for the end of one that is
// under way, such as an automated sync; with --async that is an error.
func (o *syncOptions) ask(ctx context.Context, site connect.Site, name string, e errand) (api.OperationAnswer, error) {
	limited := ctx
	if o.timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	for {
		answer, err := e.ask(limited, site, name)
		if err != nil && limited.Err() != nil && ctx.Err() == nil {
			return answer, iostream.NotYetf("%s: its agent has not taken the request within %s, and may do so in the next minutes still; "+
				"`slipway agent list` shows how agents are",
				name, o.timeout)
		}
		if !busy(err) || o.async {
			return answer, err
		}
		o.Sayf("%s: waiting for the operation under way", name)
		if _, err := follow(ctx, site, []string{name}, o.timeout, idle); err != nil {
			return answer, err
		}
	}
}

// idle is done when no operation is under way.
func idle(name string, app *connect.Application) (bool, error) {
	if app == nil {
		return false, fmt.Errorf("application %s was deleted in the meantime", name)
	}
	return !operating(&app.Application), nil
}

// isOf reports whether an operation is the one that an answer promised.
func isOf(op *v1alpha1.OperationState, answer api.OperationAnswer) bool {
	return op != nil && promised(op.Operation, answer)
}

func promised(op v1alpha1.Operation, answer api.OperationAnswer) bool {
	return slices.Contains(op.Info, v1alpha1.Info{Name: operate.RequestInfo, Value: answer.Request})
}

// progress says what operations are doing, and is done when they have ended. Each is known by the id of its request. One
// that has ended may have been followed by another immediately, such as an automated sync: only the history has it then.
func progress(streams iostream.Streams, answers map[string]api.OperationAnswer) connect.Seen {
	said := map[string]string{}
	return func(name string, app *connect.Application) (bool, error) {
		if app == nil {
			return false, fmt.Errorf("application %s was deleted in the meantime", name)
		}
		have := app.Status.OperationState
		switch answer := answers[name]; {
		case have != nil && promised(have.Operation, answer):
		case answer.Version == "", app.Operation != nil && promised(*app.Operation, answer):
			return false, nil // it has not begun
		default:
			streams.Sayf("%s: it is over, and another operation began; `slipway app history %s` shows what it deployed", name, name)
			return true, nil
		}
		for _, news := range happenings(have) {
			if said[name+" "+news.about] != news.line {
				said[name+" "+news.about] = news.line
				streams.Sayf("%s: %s", name, iostream.Clean(news.line))
			}
		}
		return app.Operation == nil && have.Phase.Completed(), nil
	}
}

// happening is something that an operation reports; a later one about the same thing takes its place.
type happening struct{ about, line string }

// happenings are what people follow of an operation: its hooks, what failed, and what it is at. What it does to every
// other object is printed when it is over.
func happenings(op *v1alpha1.OperationState) []happening {
	var out []happening
	if op.SyncResult != nil {
		for _, r := range op.SyncResult.Resources {
			name := kindText(r.Group, r.Kind) + " " + objectText(r.Namespace, r.Name)
			about := string(r.SyncPhase) + " " + name
			switch {
			case r.HookType != "" && r.HookPhase != "":
				out = append(out, happening{about, strings.TrimSpace(fmt.Sprintf("hook %s, %s: %s %s", name, r.HookType, r.HookPhase, r.Message))})
			case r.Status == v1alpha1.ResultSyncFailed:
				out = append(out, happening{about, fmt.Sprintf("%s: %s %s", name, r.Status, r.Message)})
			}
		}
	}
	return append(out, happening{"", strings.TrimSpace(fmt.Sprintf("%s %s", op.Phase, op.Message))})
}

// printResults prints what the operations did to each object; as JSON and YAML, the operations' states.
func printResults(common *connect.Common, apps []connect.Application) error {
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
