package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

// askOptions are those of every command that makes a job.
type askOptions struct {
	*connect.Common
	choice
	names
	applications []string
	except       []string
	all          bool
	concurrency  int
	maxFailures  int
	each         time.Duration
	reason       string
	dryRun       bool
	async        bool
	timeout      time.Duration
}

// newAskCmd is a command that has the same done with many applications. fill says what with each.
func newAskCmd(common *connect.Common, verb, short, example string, fill func(*cobra.Command) func(*api.JobRequest) error) *cobra.Command {
	o := askOptions{Common: common}
	cmd := &cobra.Command{
		Use: verb + " [APPLICATION...]", Short: short,
		Long: short + ": those that a filter matches now, the named ones, or with --all every one that you may do this\n" +
			"with. The server makes a job of it, which goes on without this command: Ctrl-C ends the watching, not the job.\n" +
			"Exit code 1 when an application failed or was refused, or the job was stopped; 3 when it is not over in time.",
		Example: example,
	}
	flags := cmd.Flags()
	o.choice.addFlags(common, cmd, true)
	o.names.addFlags(common, flags, "applications")
	flags.BoolVar(&o.all, "all", false, "all applications, where there is no filter")
	flags.StringArrayVar(&o.except, "except", nil, "`application` to leave out of what the filter leaves; can be repeated")
	flags.IntVar(&o.concurrency, "concurrency", api.DefaultJobLimit, "how many at a time, at most "+strconv.Itoa(api.MaxJobLimit))
	flags.IntVar(&o.maxFailures, "max-failures", 0, "after how many that failed or were refused nothing more is begun; 0 for never")
	flags.DurationVar(&o.each, "each", api.DefaultJobTimeout*time.Second, "how long one application may take")
	flags.StringVar(&o.reason, "reason", "", "reason, for the audit log and for later readers")
	flags.BoolVar(&o.dryRun, "dry-run", false, "only list the applications")
	flags.BoolVar(&o.async, "async", false, "do not wait for the end of the job, and print its id")
	flags.DurationVar(&o.timeout, "timeout", 0, "how long to wait; 0 waits without end. The job goes on after it")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "async")
	more := fill(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.applications = args
		request, err := o.request()
		if err == nil {
			err = more(&request)
		}
		if err != nil {
			return err
		}
		return askRun(cmd.Context(), &o, request)
	}
	return cmd
}

func newSyncCmd(common *connect.Common) *cobra.Command {
	example := "  slipway fleet sync -l team=shop --sync OutOfSync --dry-run\n" +
		"  slipway fleet sync --environment staging --concurrency 10 --max-failures 3 --reason 'release 1.2'\n" +
		"  slipway fleet sync web shop account.prod/argocd/orders --prune\n" +
		"  slipway fleet sync --view late --async"
	return newAskCmd(common, "sync", "Sync many applications", example, func(cmd *cobra.Command) func(*api.JobRequest) error {
		var how api.SyncRequest
		flags := cmd.Flags()
		flags.StringArrayVar(&how.Revisions, "revision", nil,
			"`commit`, tag or branch to sync to, instead of the target revision; with several sources, one for each in their order")
		flags.BoolVar(&how.Prune, "prune", false, "delete objects that are no longer wanted")
		flags.BoolVar(&how.Force, "force", false, "recreate objects that cannot be changed in place")
		flags.BoolVar(&how.Replace, "replace", false, "replace objects instead of merging into them (sync option Replace=true)")
		flags.BoolVar(&how.ServerSide, "server-side", false,
			"use server-side apply, even if the application does not (sync option ServerSideApply=true)")
		flags.BoolVar(&how.ApplyOnly, "apply-only", false, "run no hooks")
		flags.StringArrayVar(&how.Options, "sync-option", nil, "`Name=value` to use for this sync in place of the applications' own options")
		return func(r *api.JobRequest) error {
			r.Action, r.Sync = api.JobSync, &how
			return nil
		}
	})
}

func newRefreshCmd(common *connect.Common) *cobra.Command {
	example := "  slipway fleet refresh --agent prod\n  slipway fleet refresh --repo https://git.example.org/shop.git --hard --reason " +
		"'the chart was republished'"
	return newAskCmd(common, "refresh", "Look at Git and the clusters again for many applications",
		example, func(cmd *cobra.Command) func(*api.JobRequest) error {
			hard := cmd.Flags().Bool("hard", false, "use no cache: render again and compare every object at the API server")
			return func(r *api.JobRequest) error {
				r.Action = api.JobRefresh
				if *hard {
					r.Action = api.JobHardRefresh
				}
				return nil
			}
		})
}

func newRollbackCmd(common *connect.Common) *cobra.Command {
	example := "  slipway fleet rollback --service checkout --type Production --reason 'orders are lost'\n" +
		"  slipway fleet rollback --environment production --since 1h --revision 1f2e3d4 --dry-run"
	return newAskCmd(common, "rollback", "Go back to an earlier deployment with many applications",
		example, func(cmd *cobra.Command) func(*api.JobRequest) error {
			revision := cmd.Flags().String("revision", "",
				"to the newest deployment of this `commit` of each, instead of the one before the present one; a prefix of 7 or more will do")
			return func(r *api.JobRequest) error {
				r.Action = api.JobRollback
				if *revision != "" {
					r.Rollback = &api.RollbackRequest{Revision: *revision}
				}
				return nil
			}
		})
}

// request is what is known without a server.
func (o *askOptions) request() (r api.JobRequest, err error) {
	switch {
	case len(o.applications) > 0 && (o.given() || o.all):
		return r, iostream.Usagef("give names of applications or a filter, not both")
	case o.given() && o.all:
		return r, iostream.Usagef("--all is for no filter at all: leave one of them out")
	case len(o.applications) == 0 && !o.given() && !o.all:
		return r, iostream.Usagef("choose applications with a filter, by name, or --all; --dry-run lists them")
	case len(o.applications) > 0 && len(o.except) > 0:
		return r, iostream.Usagef("--except is for a filter or --all: leave out the names in its place")
	case len(o.except) > api.MaxJobExcept:
		return r, iostream.Usagef("--except can be given %d times at most: narrow the filter", api.MaxJobExcept)
	case o.concurrency < 1 || o.concurrency > api.MaxJobLimit:
		return r, iostream.Usagef("--concurrency is from 1 to %d", api.MaxJobLimit)
	case o.maxFailures < 0:
		return r, iostream.Usagef("--max-failures is 0 or more")
	case o.each < time.Second || o.each > 24*time.Hour:
		return r, iostream.Usagef("--each is from 1s to 24h")
	case o.timeout < 0:
		return r, iostream.Usagef("--timeout cannot be negative; 0 waits without end")
	}
	r = api.JobRequest{Limit: o.concurrency, StopAfter: o.maxFailures, Timeout: int(o.each / time.Second), Reason: o.reason}
	return r, o.check()
}

func askRun(ctx context.Context, o *askOptions, request api.JobRequest) error {
	s, err := o.MustServer()
	if err != nil {
		return err
	}
	if len(o.applications) == 0 {
		filter, err := o.filter(ctx, s)
		if err != nil {
			return err
		}
		// A saved filter can be empty; then it is every application, which the user must request.
		if words(&filter) == "" && !o.all {
			return iostream.Usagef("saved filter %s matches every application: use --all instead if that is intended", o.view)
		}
		request.Filter = &filter
	}
	if request.Targets, err = targetsOf(ctx, s, o.applications); err != nil {
		return err
	}
	if request.Except, err = targetsOf(ctx, s, o.except); err != nil {
		return err
	}
	plan, err := s.Client.CreateJob(ctx, request, o.dryRun)
	switch {
	case err != nil && interrupted(ctx):
		return errors.New("interrupted before the server answered; `slipway job list --mine` shows whether there is a job")
	case err != nil:
		return s.Explain(err)
	case o.dryRun:
		return printPlan(o, &plan)
	case o.async:
		return printAsked(o, &plan.Job)
	}
	o.Sayf("job %s: %s of %s", plan.Job.ID, plan.Job.Request.Action, count(plan.Job.Counts.Total, "application"))
	f := &follower{Common: o.Common, server: s, id: plan.Job.ID, seen: map[string]bool{}}
	return f.untilOver(ctx, o.timeout, o.names)
}

// targetsOf finds applications by their names, each once.
func targetsOf(ctx context.Context, s *connect.Server, names []string) (out []api.Target, err error) {
	for _, name := range names {
		target, err := s.Target(ctx, name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, target) {
			out = append(out, target)
		}
	}
	return out, nil
}

func printPlan(o *askOptions, plan *api.JobPlan) error {
	if o.only {
		return o.print(o.Common, ids(plan.Targets, func(t *api.JobTarget) string { return t.Application }))
	}
	if o.Output != iostream.Table {
		return o.Print(o.Output, plan)
	}
	rows := iostream.Rows{Header: []string{"APPLICATION", "STATE", "MESSAGE"}}
	for _, t := range plan.Targets {
		rows.Add(t.Application, t.State, t.Message)
	}
	if err := o.Table(&rows); err != nil {
		return err
	}
	n := plan.Job.Counts
	o.Sayf("%s of %s; nothing was changed", plan.Job.Request.Action,
		several(count(n.Waiting, "application"), some(n.Refused, "would be refused")))
	if more := n.Total - int64(len(plan.Targets)); more > 0 {
		o.Sayf("%d of them are not listed", more)
	}
	return nil
}

func printAsked(o *askOptions, j *api.Job) error {
	if o.Output != iostream.Table {
		return o.Print(o.Output, j)
	}
	o.Sayf("%s of %s requested; `slipway job get %s --wait` follows it, `slipway job stop %s` stops it",
		j.Request.Action, count(j.Counts.Total, "application"), j.ID, j.ID)
	_, err := fmt.Fprintln(o.Out, j.ID)
	return err
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.FormatInt(n, 10) + " " + what + "s"
}

func some(n int64, what string) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10) + " " + what
}

// took is how long an application took; "" where it did not begin or is not over.
func took(t *api.JobTarget) string {
	if t.StartedAt.IsZero() || t.FinishedAt.IsZero() {
		return ""
	}
	return t.FinishedAt.Sub(t.StartedAt).Round(time.Second / 10).String()
}

// targetRows are the applications of a job with what came of each.
func targetRows(targets []api.JobTarget) *iostream.Rows {
	rows := &iostream.Rows{Header: []string{"APPLICATION", "STATE", "STARTED", "TOOK", "MESSAGE"}}
	for i := range targets {
		t := &targets[i]
		rows.Add(t.Application, t.State, noun.Time(t.StartedAt), took(t), t.Message)
	}
	return rows
}
