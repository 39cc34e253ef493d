package fleet

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

// kinds are what a summary counts by, in the order in which it is printed.
func kinds(s *api.FleetSummary) []struct {
	name string
	of   api.FleetCounts
} {
	return []struct {
		name string
		of   api.FleetCounts
	}{
		{"attention", s.Attention},
		{"sync", s.Sync},
		{"health", s.Health},
		{"phase", s.Phase},
		{"drift", s.DriftAge},
		{"version", s.Version},
		{"environment", s.Environment},
		{"region", s.Region},
		{"service", s.Service},
		{"agent", s.Agent},
		{"cluster", s.Cluster},
		{"project", s.ArgoProject},
		{"scope", s.Scope},
		{"label", s.Label},
	}
}

type summaryOptions struct {
	*connect.Common
	choice
	by  []string
	top int
}

func newSummaryCmd(common *connect.Common) *cobra.Command {
	o := summaryOptions{Common: common}
	var names []string
	for _, kind := range kinds(&api.FleetSummary{}) {
		names = append(names, kind.name)
	}
	cmd := &cobra.Command{
		Use: "summary", Short: "Count applications by their properties and state", Args: cobra.NoArgs,
		Example: "  slipway fleet summary\n  slipway fleet summary --by health --by drift --environment org.acme.production\n" +
			"  slipway fleet summary --by version --service checkout -o json",
		RunE: func(cmd *cobra.Command, _ []string) error { return summaryRun(cmd.Context(), o, names) },
	}
	o.addFlags(common, cmd, true)
	cmd.Flags().StringSliceVar(&o.by, "by", nil, "count only by this: `"+strings.Join(names, "|")+"`; repeat for several")
	cmd.Flags().IntVar(&o.top, "top", 10, "how many values of a kind at most; json and yaml have up to 100")
	fixed(cmd, "by", names...)
	return cmd
}

func summaryRun(ctx context.Context, o summaryOptions, known []string) error {
	for _, name := range o.by {
		if !slices.Contains(known, name) {
			return iostream.Usagef("--by %q is nothing that is counted: give one of %s", name, strings.Join(known, ", "))
		}
	}
	if o.top < 1 {
		return iostream.Usagef("--top is at least 1")
	}
	s, filter, err := o.ask(ctx, o.Common)
	if err != nil {
		return err
	}
	found, err := s.Client.FleetSummary(ctx, filter)
	if err != nil {
		return s.Explain(err)
	}
	if o.Output != iostream.Table {
		return o.Print(o.Output, found)
	}
	return o.Table(summaryRows(&found, o.by, o.top))
}

func summaryRows(found *api.FleetSummary, by []string, top int) *iostream.Rows {
	rows := &iostream.Rows{Header: []string{"BY", "VALUE", "APPLICATIONS"}}
	add := func(by, value string, n int64) { rows.Add(by, value, strconv.FormatInt(n, 10)) }
	add("total", "", found.Total)
	add("held", "", found.Held)
	add("stale", "", found.Stale)
	for _, kind := range kinds(found) {
		if len(by) > 0 && !slices.Contains(by, kind.name) {
			continue
		}
		rest, shown := kind.of.Others, kind.of.Values[:min(top, len(kind.of.Values))]
		for _, c := range shown {
			value := c.Value
			if value == "" {
				value = "(none)"
			}
			add(kind.name, value, c.Count)
		}
		for _, c := range kind.of.Values[len(shown):] {
			rest += c.Count
		}
		if more := kind.of.Distinct - len(shown); more > 0 {
			add(kind.name, fmt.Sprintf("(%d others)", more), rest)
		}
	}
	return rows
}

type listOptions struct {
	*connect.Common
	choice
	names
	sort  string
	limit int
}

func newListCmd(common *connect.Common) *cobra.Command {
	o := listOptions{Common: common}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List applications", Args: cobra.NoArgs,
		Example: "  slipway fleet list --health Degraded,Missing\n  slipway fleet list --drift-older 2h --sort driftSince\n" +
			"  slipway fleet list --service checkout --version 1.4.2 -o name",
		RunE: func(cmd *cobra.Command, _ []string) error { return listRun(cmd.Context(), &o) },
	}
	o.choice.addFlags(common, cmd, true)
	o.names.addFlags(common, cmd.Flags(), "applications")
	cmd.Flags().StringVar(&o.sort, "sort", "",
		"`field` to sort by, with - before it the other way round: name, sync, health, driftSince, finishedAt and more")
	cmd.Flags().IntVar(&o.limit, "limit", 0, "how many at most; 0 for all")
	return cmd
}

func listRun(ctx context.Context, o *listOptions) error {
	if o.limit < 0 {
		return iostream.Usagef("--limit is 0 or more")
	}
	s, filter, err := o.ask(ctx, o.Common)
	if err != nil {
		return err
	}
	all, total, err := noun.Pages(api.ListOptions{Sort: o.sort}, o.limit, func(options api.ListOptions) (api.Page[api.Application], error) {
		return s.Client.FleetApplications(ctx, filter, options)
	})
	if err != nil {
		return s.Explain(err)
	}
	if o.only {
		return o.print(o.Common, ids(all, func(a *api.Application) string { return a.ID }))
	}
	now := time.Now()
	err = noun.PrintList(o.Common, all, []string{
		"APPLICATION", "SYNC", "HEALTH", "PHASE", "VERSION", "SERVICE", "ENVIRONMENT", "DESTINATION", "DRIFT", "NOTES",
	},
		func(a *api.Application) []string {
			return []string{
				a.ID, a.Sync, a.Health, a.Phase, shortVersion(a.Version), a.Service, a.Environment, a.Destination,
				noun.Ago(a.DriftSince, now), notes(a),
			}
		}, "no application that you may see passes the filter")
	if more := total - int64(len(all)); err == nil && more > 0 && o.Output == iostream.Table {
		o.Sayf("there are %d more: raise --limit", more)
	}
	return err
}

// notes say what else a person wants to know of an application.
func notes(a *api.Application) string {
	held, stale := "", ""
	if a.Held && !slices.Contains(a.Conditions, "Held") {
		held = "held"
	}
	switch {
	case a.AgentAway:
		stale = "agent away, as of " + noun.Time(a.AsOf)
	case a.Stale:
		stale = "stale since " + noun.Time(a.AsOf)
	}
	return several(append([]string{held, stale}, a.Conditions...)...)
}

// shortVersion is a version as people read it.
func shortVersion(text string) string {
	if len(text) == 40 && strings.Trim(text, "0123456789abcdef") == "" { // a commit
		return text[:8]
	}
	return text
}

func ids[T any](all []T, id func(*T) string) []string {
	out := make([]string, len(all))
	for i := range all {
		out[i] = id(&all[i])
	}
	return out
}
