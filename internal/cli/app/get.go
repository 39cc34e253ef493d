package app

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/why"
)

type getOptions struct {
	*connect.Common
	name    string
	refresh bool
	timeout time.Duration
}

func newGetCmd(common *connect.Common) *cobra.Command {
	o := getOptions{Common: common}
	cmd := &cobra.Command{
		Use:     "get NAME",
		Short:   "Show one application: status, conditions, last operation and objects",
		Example: "  slipway app get web\n  slipway app get web --refresh -o yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return getRun(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.refresh, "refresh", false, "read Git and the cluster again first")
	addTimeout(cmd.Flags(), &o.timeout)
	return cmd
}

func getRun(ctx context.Context, o getOptions) error {
	if o.refresh {
		silent := *o.Common
		silent.Output = iostream.Table
		if err := refreshRun(ctx, refreshOptions{Common: &silent, names: []string{o.name}, timeout: o.timeout}); err != nil {
			return err
		}
	}
	site, err := o.Site()
	if err != nil {
		return err
	}
	app, err := site.Get(ctx, o.name)
	if err != nil {
		return err
	}
	if app.Age.Stale {
		o.Sayf("warning: %s", old(&app))
	}
	if o.Output != iostream.Table {
		return o.Print(o.Output, app.Raw.Object)
	}
	status := why.Revisions(why.Facts{App: &app.Application})
	if server, ok := site.(*connect.Server); ok {
		at, err := server.Application(ctx, o.name)
		if err == nil {
			var told api.RevisionStatus
			if told, err = at.RevisionStatus(ctx); err == nil {
				status = told
			}
		}
		if err != nil {
			status.Warnings = append(status.Warnings, fmt.Sprintf("where the branches are is not known: %v", server.Explain(err)))
		}
	}
	sayWarnings(o.Common, status.Warnings)
	rows := facts(&app.Application, status, time.Now())
	if app.Agent != "" {
		rows.Add("Agent", app.Agent)
	}
	if app.Age.Stale {
		rows.Add("As of", asOf(&app))
	}
	if err := o.Streams.Table(rows); err != nil {
		return err
	}
	resources := resourceRows(app.Status.Resources)
	if resources.Len() == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(o.Out); err != nil {
		return err
	}
	return o.Streams.Table(resources)
}

// old says why a server's copy may be out of date.
func old(app *connect.Application) string {
	if app.Age.AgentAway {
		return fmt.Sprintf("agent %s is away: this is its last report, of %s; `slipway agent get %s` shows how the agent is",
			app.Agent, asOf(app), app.Agent)
	}
	return fmt.Sprintf("agent %s no longer reports this application since %s: it was deleted, or the agent does not watch its namespace",
		app.Agent, asOf(app))
}

// facts are the lines "what: value" above the objects.
func facts(app *v1alpha1.Application, status api.RevisionStatus, now time.Time) *iostream.Rows {
	rows := &iostream.Rows{Header: []string{"FIELD", "VALUE"}}
	rows.Add("Name", app.Namespace+"/"+app.Name)
	rows.Add("Project", app.Spec.ProjectName())
	rows.Add("Destination", destination(app.Spec.Destination))
	for _, s := range app.Spec.EffectiveSources() {
		rows.Add("Source", sourceText(s))
	}
	rows.Add("Sync policy", policyText(app.Spec.SyncPolicy))
	rows.Add("Sync", syncText(app.Status))
	for _, f := range why.RevisionFacts(status, now) {
		rows.Add(f[0], f[1])
	}
	health := string(app.Status.Health.Status)
	if app.Status.Health.Message != "" {
		health += ": " + app.Status.Health.Message
	}
	rows.Add("Health", health)
	for _, c := range app.Status.Conditions {
		rows.Add(string(c.Type), c.Message)
	}
	if op := app.Status.OperationState; op != nil {
		rows.Add("Operation", string(op.Phase)+": "+op.Message)
		rows.Add("Started", timeText(&op.StartedAt))
		rows.Add("Finished", timeText(op.FinishedAt))
	}
	if app.DeletionTimestamp != nil {
		rows.Add("Deleting since", timeText(app.DeletionTimestamp))
	}
	for _, url := range app.Status.Summary.ExternalURLs {
		rows.Add("URL", url)
	}
	return rows
}

func resourceRows(resources []v1alpha1.ResourceStatus) *iostream.Rows {
	rows := &iostream.Rows{Header: []string{"KIND", "OBJECT", "SYNC", "HEALTH", "WAVE", "MESSAGE"}}
	for _, r := range resources {
		message := ""
		if r.Health != nil {
			message = r.Health.Message
		}
		switch {
		case r.Hook:
			message = "hook " + message
		case r.Leftover():
			message = "no longer wanted " + message
		}
		rows.Add(kindText(r.Group, r.Kind), objectText(r.Namespace, r.Name), string(r.Status), healthText(r.Health),
			strconv.FormatInt(r.SyncWave, 10), message)
	}
	return rows
}
