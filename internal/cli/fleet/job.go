package fleet

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

func newJobCmd(common *connect.Common) *cobra.Command {
	cmd := &cobra.Command{
		Use: "job", Aliases: []string{"jobs"}, Short: "Jobs, which run one operation on many applications",
		Example: "  slipway job list --state running\n  slipway job stop b7k2m4x6q3w5",
	}
	cmd.AddCommand(newJobListCmd(common), newJobGetCmd(common), newJobStopCmd(common))
	return cmd
}

type jobListOptions struct {
	*connect.Common
	names
	api.JobFilter
	mine  bool
	limit int
}

func newJobListCmd(common *connect.Common) *cobra.Command {
	o := jobListOptions{Common: common}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short: "List jobs, the newest first: your own, and with job_view those of others", Args: cobra.NoArgs,
		Example: "  slipway job list\n  slipway job list --state running --mine -o name",
		RunE:    func(cmd *cobra.Command, _ []string) error { return jobListRun(cmd.Context(), &o) },
	}
	flags := cmd.Flags()
	o.names.addFlags(common, flags, "jobs")
	flags.StringVar(&o.State, "state", "", "only those that are `running|done|stopped`")
	flags.BoolVar(&o.mine, "mine", false, "only your own")
	flags.StringVar(&o.Search, "search", "", "only those with this `text` in id, action, reason or user")
	flags.IntVar(&o.limit, "limit", api.DefaultLimit, "how many at most; 0 for all")
	fixed(cmd, "state", states()...)
	return cmd
}

// states are those of jobs, targetStates those of the applications of one.
func states() []string { return []string{api.JobRunning, api.JobDone, api.JobStopped} }

func targetStates() []string {
	return []string{api.TargetWaiting, api.TargetRunning, api.TargetDone, api.TargetFailed, api.TargetRefused, api.TargetSkipped}
}

func jobListRun(ctx context.Context, o *jobListOptions) error {
	if err := noun.OneOf("state", states(), o.State); err != nil {
		return err
	}
	if o.limit < 0 {
		return iostream.Usagef("--limit is 0 or more")
	}
	s, err := o.MustServer()
	if err != nil {
		return err
	}
	all, _, err := noun.Pages(o.ListOptions, o.limit, func(options api.ListOptions) (api.Page[api.Job], error) {
		return s.Client.Jobs(ctx, api.JobFilter{ListOptions: options, State: o.State}, o.mine)
	})
	if err != nil {
		return s.Explain(err)
	}
	if o.only {
		return o.print(o.Common, ids(all, func(j *api.Job) string { return j.ID }))
	}
	return noun.PrintList(o.Common, all, []string{
		"ID", "STATE", "ACTION", "BY", "CREATED", "APPLICATIONS", "PROGRESS", "REASON", "MESSAGE",
	}, func(j *api.Job) []string {
		return []string{
			j.ID, j.State, j.Request.Action, j.By.Type + ":" + j.By.ID, noun.Time(j.CreatedAt), strconv.FormatInt(j.Counts.Total, 10),
			progress(&j.Counts), j.Request.Reason, j.Message,
		}
	}, "no jobs that you may see; `slipway fleet sync` makes one")
}

type jobGetOptions struct {
	*connect.Common
	names
	id, state string
	wait      bool
	timeout   time.Duration
}

func newJobGetCmd(common *connect.Common) *cobra.Command {
	o := jobGetOptions{Common: common}
	cmd := &cobra.Command{
		Use: "get ID", Short: "Show a job, how far it is, and what came of each application", Args: cobra.ExactArgs(1),
		Long: "Show a job, its progress, and the result for each application. With --wait, the command follows it to its end, with the exit\n" +
			"codes of the command that made it.",
		Example: "  slipway job get b7k2m4x6q3w5\n  slipway job get b7k2m4x6q3w5 --state failed -o name\n  slipway job " +
			"get b7k2m4x6q3w5 --wait",
		ValidArgsFunction: completeJobs(common, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.id = args[0]
			return jobGetRun(cmd.Context(), &o)
		},
	}
	flags := cmd.Flags()
	o.names.addFlags(common, flags, "applications")
	flags.StringVar(&o.state, "state", "", "only applications that are `waiting|running|done|failed|refused|skipped`")
	flags.BoolVar(&o.wait, "wait", false, "follow it until it is over")
	flags.DurationVar(&o.timeout, "timeout", 0, "how long to wait; 0 waits without end")
	cmd.MarkFlagsMutuallyExclusive("wait", "state")
	fixed(cmd, "state", targetStates()...)
	return cmd
}

func jobGetRun(ctx context.Context, o *jobGetOptions) error {
	if err := noun.OneOf("state", targetStates(), o.state); err != nil {
		return err
	}
	if o.timeout < 0 {
		return iostream.Usagef("--timeout cannot be negative; 0 waits without end")
	}
	s, err := o.MustServer()
	if err != nil {
		return err
	}
	if o.wait {
		f := &follower{Common: o.Common, server: s, id: o.id, seen: map[string]bool{}}
		return f.untilOver(ctx, o.timeout, o.names)
	}
	j, err := s.Client.Job(ctx, o.id)
	if err != nil {
		return s.Explain(err)
	}
	targets, err := client.All(api.ListOptions{}, func(options api.ListOptions) (api.Page[api.JobTarget], error) {
		return s.Client.JobTargets(ctx, o.id, o.state, options)
	})
	switch {
	case err != nil:
		return s.Explain(err)
	case o.only:
		return o.print(o.Common, ids(targets, func(t *api.JobTarget) string { return t.Application }))
	case o.Output != iostream.Table:
		return o.Print(o.Output, map[string]any{"job": j, "targets": targets})
	}
	return printJob(o.Common, &j, targets)
}

func printJob(common *connect.Common, j *api.Job, targets []api.JobTarget) error {
	which := "named applications"
	if j.Request.Filter != nil {
		if which = words(j.Request.Filter); which == "" {
			which = "all applications"
		}
		for _, t := range j.Request.Except {
			which += " --except " + api.ItemID(t.Agent, t.Namespace, t.Name)
		}
	}
	facts := iostream.Rows{Header: []string{"FIELD", "VALUE"}}
	for _, fact := range [][2]string{
		{"id", j.ID},
		{"state", j.State},
		{"message", j.Message},
		{"action", j.Request.Action},
		{"of", which},
		{"by", j.By.Type + ":" + j.By.ID},
		{"reason", j.Request.Reason},
		{"created", noun.Time(j.CreatedAt)},
		{"finished", noun.Time(j.FinishedAt)},
		{"concurrency", strconv.Itoa(j.Request.Limit)},
		{"maxFailures", strings.TrimPrefix(strconv.Itoa(j.Request.StopAfter), "0")},
		{"applications", strconv.FormatInt(j.Counts.Total, 10)},
		{"progress", progress(&j.Counts)},
	} {
		if fact[1] != "" {
			facts.Add(fact[0], fact[1])
		}
	}
	if err := common.Table(&facts); err != nil || len(targets) == 0 {
		return err
	}
	if _, err := common.Out.Write([]byte("\n")); err != nil {
		return err
	}
	return common.Table(targetRows(targets))
}

func newJobStopCmd(common *connect.Common) *cobra.Command {
	var reason string
	var dryRun bool
	cmd := &cobra.Command{
		Use: "stop ID", Short: "Start no further applications of a job; running ones continue", Args: cobra.ExactArgs(1),
		Example:           "  slipway job stop b7k2m4x6q3w5 --reason 'the wrong release'",
		ValidArgsFunction: completeJobs(common, api.JobRunning),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			j, err := s.Client.Because(reason).StopJob(cmd.Context(), args[0], dryRun)
			if err != nil {
				return s.Explain(err)
			}
			did := "begins nothing more: " + progress(&j.Counts)
			if j.State != api.JobRunning {
				did = "is over already: " + progress(&j.Counts)
			} else if dryRun {
				did = "would begin nothing more: " + progress(&j.Counts)
			}
			if common.Output != iostream.Table {
				return common.Print(common.Output, &j)
			}
			common.Sayf("job %s %s", j.ID, did)
			return nil
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only check whether it could be stopped")
	return cmd
}

func completeJobs(common *connect.Common, state string) cobra.CompletionFunc {
	return noun.Complete(common, func(ctx context.Context, s *connect.Server, prefix string) ([]string, error) {
		page, err := s.Client.Jobs(ctx, api.JobFilter{State: state}, false)
		var out []string
		for _, j := range page.Items {
			if strings.HasPrefix(j.ID, prefix) {
				out = append(out, cobra.CompletionWithDesc(j.ID, j.Request.Action+" "+j.Request.Reason))
			}
		}
		return out, err
	})
}
