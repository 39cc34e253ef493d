package fleet

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
	"github.com/slipway-gitops/slipway/internal/cli/service"
)

// measured says which deliveries are measured.
type measured struct {
	*connect.Common
	noun.Span
	f                                api.LedgerFilter
	app, service, environment, scope string
	agent                            string
}

func (o *measured) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	o.Span.AddFlags(flags, "only operations that ended ")
	flags.Lookup("from").Usage += " (default 30 days before the end)"
	flags.Lookup("to").Usage += " (default now)"
	flags.StringVar(&o.app, "app", "", "only the `application` NAME, NAMESPACE/NAME or AGENT/NAMESPACE/NAME")
	flags.StringVar(&o.agent, "agent", "", "only applications of this `agent`, by id or name")
	flags.StringVar(&o.f.ArgoProject, "project", "", "only those of this Argo `project`")
	flags.StringVar(&o.service, "service", "", "only those of this `service` at that time, by id or name")
	flags.StringVar(&o.environment, "environment", "", "only those of this `environment` at that time, by id or name")
	flags.StringVar(&o.scope, "scope", "", "only those of this `scope` at that time, or below it")
}

// filter is what is asked of a server.
func (o *measured) filter(ctx context.Context) (s *connect.Server, f api.LedgerFilter, err error) {
	f = o.f
	if err = o.Read(&f.From, &f.To); err != nil {
		return nil, f, err
	}
	if o.scope != "" {
		if f.Scope, err = api.ParseScope(o.scope); err != nil {
			return nil, f, iostream.Usagef("--scope: %w", err)
		}
	}
	of := ""
	if o.app != "" {
		if of, f.Namespace, f.Name, err = connect.SplitName(o.app); err != nil {
			return nil, f, err
		}
	}
	if of != "" && o.agent != "" {
		return nil, f, iostream.Usagef("--app names an agent, and so does --agent: leave one of them out")
	}
	if s, err = o.MustServer(); err != nil {
		return nil, f, err
	}
	if f.Agent, err = service.Agent(ctx, s, of+o.agent); err != nil {
		return nil, f, err
	}
	if f.Service, err = service.Service(ctx, s, o.service); err != nil {
		return nil, f, err
	}
	f.Environment, err = service.Environment(ctx, s, o.environment)
	return s, f, err
}

// groups are what figures can be put together by.
func groups() []string {
	return []string{api.GroupApplication, api.GroupService, api.GroupEnvironment, api.GroupArgoProject, api.GroupScope}
}

type doraOptions struct {
	measured
	group, by string
	series    bool
}

func newDORACmd(common *connect.Common) *cobra.Command {
	o := doraOptions{measured: measured{Common: common}}
	cmd := &cobra.Command{
		Use: "dora", Short: "Show how often, how fast and how reliably changes are delivered", Args: cobra.NoArgs,
		Long: "Show the four DORA figures: deployment frequency, lead time from commit to healthy, the share of changes that\n" +
			"failed, and the time to restore. Automatic syncs are included. Times are the median; json and yaml have p90 and p99 as well.",
		Example: "  slipway fleet dora\n  slipway fleet dora --group service --from 2030-05-01 --to 2030-06-01\n" +
			"  slipway fleet dora --environment org.acme.production --by week --series",
		RunE: func(cmd *cobra.Command, _ []string) error { return doraRun(cmd.Context(), &o) },
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&o.group, "group", "", "figures for each `application|service|environment|project|scope` too")
	cmd.Flags().StringVar(&o.by, "by", "", "what a series is made of: `day|week` (default day)")
	cmd.Flags().BoolVar(&o.series, "series", false, "a line for each day or week, in place of groups")
	cmd.MarkFlagsMutuallyExclusive("group", "series")
	fixed(cmd, "group", groups()...)
	fixed(cmd, "by", "day", "week")
	return cmd
}

func doraRun(ctx context.Context, o *doraOptions) error {
	if o.by != "" && o.by != "day" && o.by != "week" {
		return iostream.Usagef("--by is day or week, not %q", o.by)
	}
	if err := noun.OneOf("group", groups(), o.group); err != nil {
		return err
	}
	s, f, err := o.filter(ctx)
	if err != nil {
		return err
	}
	report, err := s.Client.DORA(ctx, api.DORAFilter{LedgerFilter: f, Group: o.group, Week: o.by == "week"})
	if err != nil {
		return s.Explain(err)
	}
	if o.Output != iostream.Table {
		return o.Print(o.Output, report)
	}
	rows := &iostream.Rows{Header: []string{
		"OF", "DEPLOYMENTS", "AUTOMATIC", "PER DAY", "LEAD TIME", "CHANGES", "FAILURES", "FAILURE RATE", "TIME TO RESTORE", "NOT RESTORED",
	}}
	if o.series {
		for _, p := range report.Series {
			addDORA(rows, p.From.Format(time.DateOnly), &p.DORA)
		}
	}
	for _, g := range report.Groups {
		addDORA(rows, or(g.Name, "(none)"), &g.DORA)
	}
	addDORA(rows, "all", &report.DORA)
	if report.More > 0 {
		o.Sayf("%s more: narrow the filter to see them", count(int64(report.More), "group"))
	}
	return o.Table(rows)
}

func addDORA(rows *iostream.Rows, of string, d *api.DORA) {
	rate := ""
	if d.FailureRate != nil {
		rate = fmt.Sprintf("%.0f%%", *d.FailureRate*100)
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	rows.Add(of, number(d.Deployments), number(d.Automatic), fmt.Sprintf("%.2f", d.PerDay), seconds(d.LeadTime.P50), number(d.Changes),
		number(d.Failures), rate,
		seconds(d.Restore.P50), number(d.Unrestored))
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// seconds is a quantile as people read it; "" for none.
func seconds(q *float64) string {
	if q == nil {
		return ""
	}
	d := time.Duration(*q * float64(time.Second))
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(time.Second / 10).String()
	}
	return d.Round(time.Second).String()
}

type levelOptions struct {
	measured
	limit int
}

func newLevelsCmd(common *connect.Common) *cobra.Command {
	o := levelOptions{measured: measured{Common: common}}
	cmd := &cobra.Command{
		Use: "slo", Aliases: []string{"service-levels"},
		Short: "Show how long each stage of a delivery takes, for all and for each application", Args: cobra.NoArgs,
		Long: "Show how long first deployments of revisions took: from commit to detected by the agent, to rendered, to the last object\n" +
			"applied, to healthy, and all of it. Each column has p50 / p99; json and yaml have p90 as well. The slowest applications come\n" +
			"first.",
		Example: "  slipway fleet slo --from 168h\n  slipway fleet slo --environment org.acme.production -o json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return levelsRun(cmd.Context(), &o) },
	}
	o.addFlags(cmd)
	cmd.Flags().IntVar(&o.limit, "limit", 20, "how many applications at most")
	return cmd
}

func levelsRun(ctx context.Context, o *levelOptions) error {
	if o.limit < 0 {
		return iostream.Usagef("--limit is 0 or more")
	}
	s, f, err := o.filter(ctx)
	if err != nil {
		return err
	}
	found, err := s.Client.ServiceLevels(ctx, f)
	if err != nil {
		return s.Explain(err)
	}
	if o.Output != iostream.Table {
		return o.Print(o.Output, found)
	}
	rows := &iostream.Rows{Header: []string{
		"APPLICATION", "DELIVERIES", "DETECTED P50/P99", "RENDERED P50/P99", "APPLIED P50/P99", "HEALTHY P50/P99", "WHOLE P50/P99",
	}}
	addLevel(rows, "all", &found.All)
	shown := found.Applications[:min(o.limit, len(found.Applications))]
	for i := range shown {
		addLevel(rows, shown[i].Application, &shown[i])
	}
	if more := found.More + len(found.Applications) - len(shown); more > 0 {
		o.Sayf("%s more: raise --limit, or narrow the filter", count(int64(more), "application"))
	}
	return o.Table(rows)
}

func addLevel(rows *iostream.Rows, of string, l *api.ServiceLevel) {
	both := func(q api.Quantiles) string {
		if q.P50 == nil {
			return ""
		}
		return seconds(q.P50) + " / " + seconds(q.P99)
	}
	rows.Add(of, strconv.FormatInt(l.Deliveries, 10), both(l.Detected), both(l.Rendered), both(l.Applied), both(l.Healthy), both(l.Whole))
}
