package service

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

type whereOptions struct {
	*connect.Common
	api.ServiceFilter
	scope string
	long  bool
}

func newWhereCmd(common *connect.Common) *cobra.Command {
	o := whereOptions{Common: common}
	cmd := &cobra.Command{
		Use: "where", Short: "Show what runs where: services by environment, with version and since when", Args: cobra.NoArgs,
		Long: "Show what runs where: a line for each service, a column for each environment, with the version that runs there and since\n" +
			"when. The version is the tag of the image, else the version of the chart, else the commit. After it may stand:\n\n" +
			"  <  the environment is behind another one     *  its applications run several versions; the oldest is shown\n" +
			"  !  not healthy                               ~  not synced",
		Example: "  slipway where\n  slipway where --service checkout --long\n  slipway where --drift -o json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return whereRun(cmd.Context(), o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Service, "service", "", "only this `service`, by id or name")
	flags.StringVar(&o.Environment, "environment", "", "only this `environment`, by id or name")
	flags.StringVar(&o.Type, "type", "", "only environments of this type: `Production|PreProduction`")
	flags.StringVar(&o.Region, "region", "", "only environments of this `region`")
	flags.StringVar(&o.ServiceFilter.Agent, "agent", "", "only deployments of this `agent`, by id or name")
	flags.StringVar(&o.scope, "scope", "", "only services of this `scope` or below it")
	flags.BoolVar(&o.Drift, "drift", false, "only services that do not have the same version everywhere")
	flags.BoolVar(&o.long, "long", false, "a line for each service and environment, with instances and what it is behind")
	return cmd
}

func whereRun(ctx context.Context, o whereOptions) error {
	scope, err := api.ParseScope(o.scope)
	if err != nil {
		return iostream.Usagef("--scope: %w", err)
	}
	if o.scope != "" {
		o.Scope = scope
	}
	s, err := o.MustServer()
	if err != nil {
		return err
	}
	if o.Service, err = Service(ctx, s, o.Service); err != nil {
		return err
	}
	if o.Environment, err = Environment(ctx, s, o.Environment); err != nil {
		return err
	}
	if o.ServiceFilter.Agent, err = Agent(ctx, s, o.ServiceFilter.Agent); err != nil {
		return err
	}
	rows, err := s.Client.AllServiceRows(ctx, o.ServiceFilter)
	if err != nil {
		return s.Explain(err)
	}
	nothing := "nothing that you may see runs anywhere: link applications to services with `slipway app link`, or by the label " +
		api.LabelService
	if o.Drift || o.Service+o.Environment+o.Type+o.Region+o.ServiceFilter.Agent+string(o.Scope) != "" {
		nothing = "nothing that you may see passes the filter; `slipway where` alone shows all that runs"
	}
	if o.Output != iostream.Table {
		return noun.PrintList(o.Common, rows, nil, nil, nothing)
	}
	if len(rows) == 0 {
		o.Sayf("%s", nothing)
		return nil
	}
	if o.long {
		return o.Table(list(rows, time.Now()))
	}
	return o.Table(table(rows, time.Now()))
}

// table has a column for each environment.
func table(rows []api.ServiceRow, now time.Time) *iostream.Rows {
	seen := map[string]bool{}
	for _, row := range rows {
		for _, c := range row.Cells {
			seen[c.Environment] = true
		}
	}
	places := slices.Sorted(maps.Keys(seen))
	if seen[""] { // what belongs to none comes last
		places = append(places[1:], "")
	}
	out := &iostream.Rows{Header: []string{"SERVICE"}}
	for _, place := range places {
		if place == "" {
			place = "(none)"
		}
		out.Header = append(out.Header, place)
	}
	for _, row := range rows {
		line := []string{row.Service}
		for _, place := range places {
			text := ""
			for _, c := range row.Cells {
				if c.Environment == place {
					text = cellText(c, behind(row, place), now)
				}
			}
			line = append(line, text)
		}
		out.Add(line...)
	}
	return out
}

func behind(row api.ServiceRow, environment string) *api.ServiceDrift {
	for i := range row.Drift {
		if row.Drift[i].Environment == environment {
			return &row.Drift[i]
		}
	}
	return nil
}

// cellText is a cell in a word or two.
func cellText(c api.ServiceCell, drift *api.ServiceDrift, now time.Time) string {
	text := short(c.Deployed)
	if text == "" {
		text = "?"
	}
	for _, mark := range []struct {
		sign string
		on   bool
	}{{"<", drift != nil}, {"*", c.Mixed}, {"!", c.Health != "Healthy"}, {"~", c.Sync != "Synced"}} {
		if mark.on {
			text += mark.sign
		}
	}
	if !c.Since.IsZero() {
		text += " (" + noun.Ago(c.Since, now) + ")"
	}
	return text
}

// shownCommit is how much of a commit is shown.
const shownCommit = 8

// short is a version as people read it.
func short(d api.Deployed) string {
	if d.Version != "" && d.Version == d.Commit && len(d.Version) > shownCommit {
		return d.Version[:shownCommit]
	}
	return d.Version
}

// list has a line for each service and environment.
func list(rows []api.ServiceRow, now time.Time) *iostream.Rows {
	out := &iostream.Rows{Header: []string{
		"SERVICE", "ENVIRONMENT", "VERSION", "CHART", "COMMIT", "SINCE", "HEALTH", "SYNC", "INSTANCES", "BEHIND", "APPLICATIONS",
	}}
	for _, row := range rows {
		for _, c := range row.Cells {
			late := ""
			if d := behind(row, c.Environment); d != nil {
				late = short(api.Deployed{Version: d.Newest}) + " in " + d.Behind
			}
			version := short(c.Deployed)
			if c.Mixed {
				version += "*"
			}
			var apps []string
			for _, a := range c.Applications {
				apps = append(apps, a.ID)
			}
			out.Add(row.Service, c.Environment, version, c.Chart, short(api.Deployed{Version: c.Commit, Commit: c.Commit}), noun.Ago(c.Since,
				now), c.Health, c.Sync,
				fmt.Sprintf("%d/%d", c.Ready, c.Total), late, strings.Join(apps, ", "))
		}
	}
	return out
}
